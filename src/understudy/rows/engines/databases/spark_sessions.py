"""Sessions of Spark: in this process, on a cluster, or through a server of Spark Connect."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import local
from typing import Any

from understudy.errors import DataError, UsageError
from understudy.rows.engines.databases.database import asking
from understudy.system.extras import require

_CONNECT = "sc://"
# PySpark writes every failure of a query to the terminal by these, with the cells that it quotes.
_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
# A server that does not answer is asked again after 0.05, 0.2, 0.8, 3.2 and 12.8 seconds; by
# default Spark Connect would try for ten minutes.
_RETRIES = 5
_SETTINGS = {
    "spark.app.name": "understudy",
    # Its own log lines may quote cells.
    "spark.log.level": "OFF",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def spark(address: str) -> Iterator[Any]:
    """A session as ibis has it; one that was there before stays.

    Args:
        address: `spark://local[2]`, `spark://host:7077`, or `sc://host:15002` of Spark Connect.
    """
    import ibis

    require("pyspark", extra="spark")
    start = _remote if address.startswith(_CONNECT) else _classic
    with start(address) as session, quiet_spark():
        with asking(), without_advice():
            backend = ibis.pyspark.connect(session)
        yield backend


@contextmanager
def quiet_spark() -> Iterator[None]:
    """Keep PySpark's messages about failed queries off the terminal: they may quote cells."""
    from pyspark.logger import PySparkLogger

    with ExitStack() as after:
        for log in map(PySparkLogger.getLogger, _LOGS):
            after.callback(setattr, log, "disabled", log.disabled)
            log.disabled = True
        yield


@contextmanager
def without_advice() -> Iterator[None]:
    """Keep PySpark's advice for programmers off the terminal, such as which pandas it prefers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def active(session: Any) -> Iterator[None]:
    """Make a session of Spark Connect the active one of this thread for a while.

    What a server keeps for a session comes back as the active session's. That is another one where
    the caller had its own before.
    """
    held = getattr(type(session), "_active_session", None)
    if not isinstance(held, local):
        yield
        return
    before = getattr(held, "session", None)
    held.session = session
    try:
        yield
    finally:
        held.session = before


@contextmanager
def _classic(address: str) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    own = SparkSession.getActiveSession() is None
    place = address.removeprefix("spark://")
    wanted = place if place.startswith("local") else address
    builder = SparkSession.builder.master(wanted)
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    try:
        with without_advice():
            _start_java(wanted)
            session = builder.getOrCreate()
    except Exception:
        raise DataError(
            "Spark cannot be started or reached; check its address, and that Java 17 or newer is "
            "installed"
        ) from None
    try:
        _check_master(session.sparkContext.master, wanted)
        yield session
    finally:
        if own:
            session.stop()


def _start_java(master: str) -> None:
    """Start Java for this process, unless it runs already; what it would say goes nowhere.

    It writes to the file descriptors themselves, past the streams of Python: before its log is
    switched off, and where an executor fails, with the cells that the failure quotes.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    settings = SparkConf().setMaster(master).setAll(list(_SETTINGS.items()))
    unheard = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    SparkContext._ensure_initialized(gateway=launch_gateway(settings, unheard), conf=settings)


def _check_master(found: str, wanted: str) -> None:
    """Refuse another cluster than the one that was named: a table of that name may be on both."""
    if found != wanted:
        raise UsageError(
            f"this process has a Spark session on {found} already, and cannot have one on "
            f"{wanted}; stop it, name that one, or give its table as ibis has it"
        )


@contextmanager
def _remote(address: str) -> Iterator[Any]:
    """A session of ours on a server; sessions that this process has elsewhere are left alone."""
    for package in ("grpc", "grpc_status", "google.rpc", "zstandard", "pandas"):
        require(package, extra="spark")
    try:
        with without_advice():
            session = _connected(address)
    except Exception:
        raise DataError(
            "the Spark Connect server cannot be reached; check its address, as "
            "sc://host:15002, and its token"
        ) from None
    try:
        yield session
    finally:
        session.stop()


def _connected(address: str) -> Any:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    str(session.version)
    return session
