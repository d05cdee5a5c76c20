"""What all tests share: examples without a clock, and never the user's own ledger."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.cluster import scheduler
from support.databases import mysql_database
from support.order import place
from support.servers import mariadb, postgres, spark, spark_connect
from support.summaries import shown
from support.wheels import build
from understudy.privacy.preflight import Preflight
from understudy.rows.engines.cluster_connection import Cluster
from understudy.rows.engines.cluster_start import connected

# Kernels compile on their first call, so that a time limit for each example means nothing. In CI
# the same examples come every time; elsewhere new ones are tried.
# `scripts/check` asks for a quick profile, and `scripts/check --full` for a long one.
settings.register_profile("understudy", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("full", deadline=None, max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "understudy")

# A shell that starts tests in the background has them ignore interrupts, and what they start too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests name a ledger of their own each; what runs outside of them, as fixtures of a whole session
# do, must not find the user's either.
_LEDGERS = Path(tempfile.mkdtemp(prefix="understudy-tests-"))
_numbers = itertools.count()
os.environ["UNDERSTUDY_LEDGER"] = str(_LEDGERS / "ledger")
os.environ["UNDERSTUDY_CACHE"] = str(_LEDGERS / "cache")
os.environ["XDG_STATE_HOME"] = str(_LEDGERS / "state")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever is of the full tier is slow too, so that "not slow" leaves both out.

    Tests of one server come together, and so to one worker, which starts it once.
    """
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker("slow")
    items.sort(key=place)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show the lines that tests recorded for a reader, as the times of a newcomer's path."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    if lines := shown(reports):
        terminalreporter.section("measured")
        terminalreporter.write("\n".join([*lines, ""]))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays: looking for garbage in it takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that nobody else has; a folder for each of thousands of tests would take longer."""
    number = next(_numbers)
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(_LEDGERS / f"{number}.jsonl"))
    monkeypatch.setenv("XDG_STATE_HOME", str(_LEDGERS / f"state{number}"))


@pytest.fixture(autouse=True)
def _patient_preflight(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once in a thousand runs a preflight refuses rows that fit; its own tests alone allow that."""
    if "preflight" not in request.path.name:
        monkeypatch.setattr(Preflight, "false_alarms", Fraction(1, 10**9))


# For a file of tests and not for the session: idle, a cluster takes a tenth of a core.
@pytest.fixture(scope="module")
def dask_scheduler() -> Iterator[Any]:
    with scheduler(2) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(dask_scheduler: Any) -> Iterator[Cluster]:
    with connected(dask_scheduler.scheduler_address, timeout=60) as found:
        yield found


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    with mariadb() as server:
        yield mysql_database(server)


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    with spark() as session:
        yield session


@pytest.fixture(scope="session")
def spark_connect_server() -> Iterator[str]:
    with spark_connect() as address:
        yield address


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel and the sdist of this tree."""
    return build(tmp_path_factory.mktemp("dist"))
