"""Files read in blocks: speed beside the memory engine, and memory as files grow.

The largest file has 100 million rows and takes about 2 GB of a temporary folder.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.measuring import Work, apart
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped, write_uniform
from understudy.methods import Nist
from understudy.rows.sources import Access, open_source

_ALL, _LITTLE = str(10**12), str(200 * 10**6)


def run(board: Scoreboard) -> None:
    """Not far from the memory engine's speed, and as much memory for ten times the rows."""
    rows = board.size.pick(10**6, 20_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_uniform(adult_shaped(), rows, folder / "part.parquet")
        small, large = repeated(folder, 10), repeated(folder, 100)
        at_once, in_blocks = apart(prepare, small, _ALL), apart(prepare, small, _LITTLE)
        grown = apart(prepare, large, _LITTLE)
    speed = at_once["cpu_seconds"] / in_blocks["cpu_seconds"]
    what = f"{10 * rows:,} rows in blocks, speed of the memory engine"
    board.add(what, speed, "×", 0.6, at_most=False)
    more = grown["peak"] / in_blocks["peak"]
    board.add(f"peak memory of {100 * rows:,} rows, times that of {10 * rows:,}", more, "×", 1.1)
    found = {"small, at once": at_once, "small, in blocks": in_blocks, "large, in blocks": grown}
    board.details += [{"file": name, **spent} for name, spent in found.items()]


def repeated(folder: Path, times: int) -> str:
    """A file of one part many times over."""
    part = pq.read_table(folder / "part.parquet")
    path = folder / f"{times}.parquet"
    with pq.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(part)
    return str(path)


def prepare(path: str, memory: str) -> Work:
    """One fit of a file in so much memory."""
    return partial(_fit, path, int(memory))


def _fit(path: str, memory: int) -> None:
    schema = adult_shaped()
    with open_source(path, schema, Access(memory=memory)) as source:
        Nist(schema, epsilon=1, delta=1e-9).fit(source, ledger=None)
