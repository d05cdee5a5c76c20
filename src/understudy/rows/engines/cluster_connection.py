"""A Dask cluster: reached, asked within bounded time, and its failures reported in our words.

What workers and the scheduler say may quote rows, or bury the reason under pages. So errors of our
own pass as they are, every other one is replaced, and Dask's messages are kept off the terminal.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pkgutil import resolve_name
from typing import Any, TypeVar

from understudy.errors import CapacityError, DataError, UnderstudyError, UsageError
from understudy.system.extras import require

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

LOCAL = "local"
DEFAULT_TIMEOUT = 60.0

EXTRA = "cluster"
_ADDRESS = re.compile(r"(tcp|tls)://([^\s/:]+|\[[0-9a-fA-F:]+\]):\d{1,5}")
_SECONDS_BETWEEN_LOOKS = 1.0
# What is bounded by itself is cut off so many seconds later.
GRACE = 3.0
# Results are added up by so many, then the sums by so many.
_BRANCHES = 8


def check_address(address: str) -> str:
    """The address, when it is one that a cluster can have."""
    if address != LOCAL and not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"cluster is {address!r}; give tcp://HOST:PORT or tls://HOST:PORT of a Dask "
            f"scheduler, or {LOCAL}"
        )
    return address


@dataclass(frozen=True)
class Cluster:
    """Workers that run our functions on their side.

    Attributes:
        client: Dask's own connection, whose loop runs in a thread of its own.
        address: what messages call the cluster.
        timeout: for how many seconds it may be without workers, or silent.
    """

    client: Any
    address: str
    timeout: float

    def check_versions(self) -> None:
        """Refuse a cluster without workers, and one that would not run the same code.

        The scheduler needs it too: it unpacks what the workers are to do.
        """
        from understudy.system.version import __version__

        asked = (resolve_name, "understudy.system.version:__version__")
        with self._failing():
            self._await_workers()
            found = self._everywhere(*asked, passed=ImportError)
            try:
                found.append(self._answer(self.client.run_on_scheduler, *asked))
            except ImportError as absent:
                found.append(absent)
        others = [version for version in found if version != __version__]
        if others:
            raise UsageError(self._other_versions(others, __version__))

    def _other_versions(self, others: list[object], wanted: str) -> str:
        named = sorted({version for version in others if isinstance(version, str)})
        which = f" and not {', '.join(named)}" if named else ""
        return (
            f"cluster {self.address}: its scheduler and all of its workers must have understudy "
            f"{wanted}{which}; install it there"
        )

    def on_every_worker(self, function: Callable[..., T], *arguments: object) -> list[T]:
        """Return the result of a function on each worker."""
        with self._failing():
            return self._everywhere(function, *arguments)

    @property
    def memory(self) -> int | None:
        """The bytes that the narrowest worker has for one task; None where none has a limit."""
        workers = self._workers().values()
        limits = [w["memory_limit"] // w["nthreads"] for w in workers if w.get("memory_limit")]
        return min(limits, default=None)

    def each(self, function: Callable[[T, S], R], items: Sequence[T], shared: S) -> list[R]:
        """A function of every item, in their order."""
        return self.total(partial(_listed, function), items, shared, _joined)

    def total(
        self,
        function: Callable[[T, S], R],
        items: Sequence[T],
        shared: S,
        add: Callable[[list[R]], R],
    ) -> R:
        """A function of every item, added up on the cluster by a tree; only the sum comes here.

        A task whose worker died is run again elsewhere. No part of a sum is used before all of it
        is there.
        """
        delayed = require("dask", extra=EXTRA).delayed
        common = delayed(shared, name=f"understudy-{uuid.uuid4().hex}", traverse=False)
        task, sum_up = (delayed(partial(_guarded, f), pure=False) for f in (function, add))
        level = [task(item, common) for item in items]
        while len(level) > 1:
            level = [sum_up(level[i : i + _BRANCHES]) for i in range(0, len(level), _BRANCHES)]
        with self._failing():
            result: R = self._outlasted(self._computed(level[0]))
        return result

    async def _computed(self, work: Any) -> Any:
        future = self.client.compute(work)
        try:
            # A failed task is skipped, then asked for its error: raised, it would be logged.
            for result in await self.client.gather([future], errors="skip"):
                return result
            raise await future.exception() or ConnectionError
        finally:
            future.release()

    def _await_workers(self) -> None:
        try:
            self._answer(self.client.wait_for_workers, 1, timeout=self.timeout)
        except TimeoutError:
            raise self._without_workers() from None

    def _everywhere(
        self,
        function: Callable[..., Any],
        *arguments: object,
        passed: type[Exception] | tuple[()] = (),
    ) -> list[Any]:
        """Return every worker's result within the time allowed, with errors of the passed type."""
        said = self._answer(self.client.run, function, *arguments, on_error="return").values()
        for error in said:
            if isinstance(error, Exception) and not isinstance(error, passed):
                raise error
        return list(said)

    def _outlasted(self, asked: Coroutine[Any, Any, T]) -> T:
        """An answer, however long it takes, while there are workers to wait for."""
        pending = asyncio.run_coroutine_threadsafe(asked, self.client.loop.asyncio_loop)
        seen = time.monotonic()
        try:
            while True:
                with suppress(TimeoutError):
                    return pending.result(_SECONDS_BETWEEN_LOOKS)
                if any(worker["status"] == "running" for worker in self._workers().values()):
                    seen = time.monotonic()
                elif time.monotonic() - seen > self.timeout:
                    raise self._without_workers()
        finally:
            pending.cancel()

    def _answer(self, ask: Callable[..., Awaitable[Any]], *arguments: Any, **options: Any) -> Any:
        """An answer that does not take long; asked on the loop, where Dask expects it."""

        async def asked() -> Any:
            return await ask(*arguments, **options)

        return within(self.timeout + GRACE, asked(), self.client.loop.asyncio_loop)

    def _workers(self) -> dict[str, Any]:
        """Return the scheduler's facts about its workers; none if it is silent."""
        try:
            return dict(self._answer(self.client.scheduler.identity)["workers"])
        except (OSError, TimeoutError):
            return {}

    def _without_workers(self) -> DataError:
        return DataError(
            f"cluster {self.address}: was silent or had no running worker for {self.timeout:g} s; "
            "start it, give its workers more memory, or wait longer with --cluster-timeout"
        )

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Failures of the cluster in our words."""
        killed = require("distributed", extra=EXTRA).KilledWorker
        try:
            yield
        except UnderstudyError as error:
            # Without the frames of the cluster, whose variables hold counts.
            raise error.with_traceback(None) from None
        except killed:
            raise DataError(
                f"cluster {self.address}: one task ended several workers; give them more "
                "memory, or write the Parquet files in smaller row groups"
            ) from None
        except Exception as error:
            raise DataError(
                f"cluster {self.address}: was lost or failed ({type(error).__name__}); see that "
                "its scheduler runs, and that every worker has the same packages"
            ) from None


def _guarded(function: Callable[..., R], *arguments: object) -> R:
    """A function on a worker, whose errors say nothing that is not ours."""
    try:
        return function(*arguments)
    except Exception as error:
        refused = _in_our_words(error)
    # Raised out here, it carries no trace of the error that it replaces.
    raise refused


def _in_our_words(error: Exception) -> UnderstudyError:
    if isinstance(error, UnderstudyError):
        error.__context__ = error.__cause__ = None
        return error.with_traceback(None)
    if isinstance(error, MemoryError):
        return CapacityError(
            "memory ran out on a worker of the cluster; use fewer bins or values, or larger workers"
        )
    return DataError(
        f"a worker of the cluster failed at its task ({type(error).__name__}); see that all "
        "workers have the same packages and sound files"
    )


def _listed(function: Callable[..., R], *arguments: object) -> list[R]:
    return [function(*arguments)]


def _joined(lists: list[list[R]]) -> list[R]:
    return [item for items in lists for item in items]


def within(seconds: float, asked: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    """Return the result of a coroutine on another thread's loop, within some time."""
    pending = asyncio.run_coroutine_threadsafe(asked, loop)
    try:
        return pending.result(seconds)
    finally:
        pending.cancel()
