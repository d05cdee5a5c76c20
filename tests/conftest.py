"""What all tests share: examples without a clock, and never the user's own ledger."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from support.cluster import scheduler
from support.servers import postgres
from understudy.engines.connection import Cluster
from understudy.engines.reaching import connected

# Kernels compile on their first call, so that a time limit for each example means nothing. In CI
# the same examples come every time; elsewhere new ones are tried.
settings.register_profile("understudy", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "understudy")

# A shell that starts tests in the background has them ignore interrupts, and what they start too.
signal.signal(signal.SIGINT, signal.default_int_handler)


# Tests name a ledger of their own each; what runs outside of them, as fixtures of a whole session
# do, must not find the user's either.
os.environ["UNDERSTUDY_LEDGER"] = str(Path(tempfile.mkdtemp(prefix="understudy-tests-")) / "ledger")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "default-ledger.jsonl"))


@pytest.fixture(scope="session")
def dask_scheduler() -> Iterator[Any]:
    with scheduler(2) as started:
        yield started


@pytest.fixture(scope="session")
def cluster(dask_scheduler: Any) -> Iterator[Cluster]:
    with connected(dask_scheduler.scheduler_address, timeout=60) as found:
        yield found


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with postgres() as address:
        yield address
