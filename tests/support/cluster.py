"""A cluster of two processes on this machine, and codecs that misbehave on its workers."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from understudy.errors import DataError
from understudy.facts.codec import Codec, Encoding
from understudy.system.extras import require

_WORKER = "from distributed.cli.dask_worker import main; main()"
_WITHOUT_UNDERSTUDY = "import sys; sys.modules['understudy'] = None"


@contextmanager
def scheduler(workers: int) -> Iterator[Any]:
    """A scheduler in this process with some workers in others, for this machine alone."""
    distributed = require("distributed", extra="cluster")
    with warnings.catch_warnings(action="ignore"):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        )
    with cluster:
        yield cluster


@contextmanager
def lone_worker(address: str, *, lacks_understudy: bool = False) -> Iterator[int]:
    """A worker that nobody starts again when it dies; its process id."""
    code = f"{_WITHOUT_UNDERSTUDY}; {_WORKER}" if lacks_understudy else _WORKER
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    process = subprocess.Popen(
        [sys.executable, "-c", code, address, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def write_partitions(rows: pa.Table, folder: Path, cuts: Sequence[int]) -> Path:
    """A folder of Parquet files, cut before these rows; equal cuts leave a file empty."""
    folder.mkdir(parents=True)
    edges = [0, *sorted(cuts), rows.num_rows]
    for number, (start, end) in enumerate(pairwise(edges)):
        pq.write_table(rows.slice(start, end - start), folder / f"part-{number}.parquet")
    return folder


@dataclass(frozen=True)
class Pausing(Codec):
    """The first worker to encode rows leaves its process id at `mark` and then waits."""

    _: KW_ONLY
    mark: Path

    def encode(self, rows: pa.Table) -> Encoding:
        """The codes of the rows, by all workers but the first."""
        if rows.num_rows:
            try:
                with self.mark.open("x") as file:
                    file.write(f"{os.getpid()}\n")
            except FileExistsError:
                return super().encode(rows)
            time.sleep(600)
        return super().encode(rows)

    def paused(self) -> int:
        """Waits for the worker that pauses; its process id."""
        for _ in range(6000):
            if self.mark.exists() and self.mark.read_text().endswith("\n"):
                return int(self.mark.read_text())
            time.sleep(0.01)
        raise AssertionError("no worker came within a minute")


@dataclass(frozen=True)
class Deadly(Codec):
    """No worker survives encoding rows."""

    def encode(self, rows: pa.Table) -> Encoding:
        """Ends the process, unless there are no rows."""
        if rows.num_rows:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(rows)


@dataclass(frozen=True)
class Failing(Codec):
    """Encoding rows fails with a message, in an error of ours or of another package."""

    _: KW_ONLY
    message: str
    ours: bool

    def encode(self, rows: pa.Table) -> Encoding:
        """Raises, unless there are no rows."""
        if rows.num_rows:
            raise DataError(self.message) if self.ours else ValueError(self.message)
        return super().encode(rows)
