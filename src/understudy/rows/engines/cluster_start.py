"""Reaching a Dask cluster, or starting one on this machine, and leaving it with nothing behind."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from understudy.errors import DataError
from understudy.rows.engines.cluster_connection import (
    DEFAULT_TIMEOUT,
    EXTRA,
    GRACE,
    LOCAL,
    Cluster,
    check_address,
    within,
)
from understudy.system.extras import require

_SECONDS_TO_CLOSE = 10.0
_LOUD = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")
# Private counts stay out of spill files. A local worker that pauses would wait for memory for ever.
_LOCAL_SETTINGS = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}


@contextmanager
def connected(address: str, *, timeout: float = DEFAULT_TIMEOUT) -> Iterator[Cluster]:
    """A cluster with workers that can run our code; `local` starts its own, and ends it."""
    check_address(address)
    distributed = require("distributed", extra=EXTRA)
    with _quiet(), _reached(distributed, address, timeout) as client:
        cluster = Cluster(client, address, timeout)
        cluster.check_versions()
        yield cluster


@contextmanager
def _reached(distributed: Any, address: str, timeout: float) -> Iterator[Any]:
    if address != LOCAL:
        with _client(distributed, address, timeout, None) as client:
            yield client
        return
    with (
        _local(distributed) as cluster,
        _client(distributed, cluster.scheduler_address, timeout, cluster.security) as client,
    ):
        yield client


@contextmanager
def _client(distributed: Any, address: str, timeout: float, security: Any) -> Iterator[Any]:
    with _loop() as loop:
        try:
            asked = _connecting(distributed, address, timeout, security)
            client = within(timeout + GRACE, asked, loop)
        except Exception:
            raise DataError(
                f"cluster {address}: no Dask scheduler answered within {timeout:g} s; check the "
                "address, and for tls:// the certificates in Dask's configuration"
            ) from None
        try:
            yield client
        finally:
            with _signals_later():
                within(_SECONDS_TO_CLOSE, _ended(client), loop)


async def _connecting(distributed: Any, address: str, timeout: float, security: Any) -> Any:
    """A connection on this loop; Dask's own timeout does not cover a server that stays silent."""
    with warnings.catch_warnings(action="ignore"):
        client = distributed.Client(
            address, timeout=timeout, security=security, asynchronous=True, set_as_default=False
        )
        try:
            return await asyncio.wait_for(client, timeout)
        except BaseException:
            await _ended(client)
            raise


async def _ended(client: Any) -> None:
    """Close a connection; do not fail if it is gone."""
    with suppress(Exception):
        await asyncio.wait_for(client.close(), GRACE)
    # Else it would be closed again when it is forgotten, and wait for a loop that has ended.
    client.status = "closed"


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_SECONDS_TO_CLOSE)


@contextmanager
def _local(distributed: Any) -> Iterator[Any]:
    """A cluster of processes on this machine, reached by nobody else.

    Whoever can connect to a scheduler can run code there. Certificates made for this run alone
    keep other accounts of the machine out.
    """
    settings = require("dask", extra=EXTRA).config
    has_keys = importlib.util.find_spec("cryptography") is not None
    security = distributed.Security.temporary() if has_keys else None
    with tempfile.TemporaryDirectory(prefix="understudy-") as folder:
        with (
            settings.set(_LOCAL_SETTINGS | {"temporary-directory": folder}),
            warnings.catch_warnings(action="ignore"),
            _signals_later(),
            _deaf_children(),
        ):
            cluster = distributed.LocalCluster(
                host="127.0.0.1",
                security=security,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        try:
            yield cluster
        finally:
            with suppress(Exception), _signals_later():
                cluster.close(timeout=_SECONDS_TO_CLOSE)


@contextmanager
def _signals_later() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until this is over: half a cluster could not be ended cleanly."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for first in came[:1]:
            signal.raise_signal(first)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes and threads started here do not hear Ctrl-C, which a terminal sends to all.

    This process hears it, and ends them.
    """
    # Started later, it would make the thread that starts it hear again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """No word of Dask's on the terminal."""
    loggers = [logging.getLogger(name) for name in _LOUD]
    before = [(logger.handlers, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [logging.NullHandler()], False
    try:
        yield
    finally:
        for logger, (handlers, propagate) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate = handlers, propagate
