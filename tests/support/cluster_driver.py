"""The driver of a Spark cluster: a process has one session of this kind, so it is a new process.

It counts a Parquet file on the cluster, as memory does, before and after the file is replaced; then
it kills the executors, and writes how the next question was refused.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from support.counted import ROWS, SCHEMA, check_same
from understudy.errors import DataError
from understudy.facts.codec.persons import Persons
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.sources import Access, open_source

_SPELLINGS = ["Zoe\u0308", "Zo\xeb", " Zo\xeb\t", "zo\xeb", "", None, "a\0b", "Ann"]
_NAMES = [*_SPELLINGS * 10, *(f"person {i}" for i in range(120))]


def main(address: str, folder: Path, worker: int) -> None:
    """Examine the cluster; an assertion that fails ends the process with an error."""
    rows = ROWS.append_column("who", pa.array(_NAMES))
    place = folder / "people.parquet"
    pq.write_table(rows, place)
    persons = Persons("who", 3)
    with (
        open_source(rows, SCHEMA, Access(persons=persons)) as memory,
        open_source(address, SCHEMA, Access(table=str(place), persons=persons)) as source,
    ):
        assert isinstance(source, DatabaseSource)
        check_same(source, memory)
        pq.write_table(rows.slice(0, 5), place)
        check_same(source, memory)
        executors = children(worker)
        assert executors
        for executor in executors:
            os.kill(executor, signal.SIGKILL)
        try:
            [marginal] = source.count([("b",)])
        except DataError as error:
            sys.stdout.write(f"refused: {error}\n")
        else:
            sys.stdout.write(f"counted: {int(marginal.counts.sum())}\n")


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    listed = [int(child) for thread in threads for child in thread.read_text().split()]
    return [each for child in listed for each in (*children(child), child)]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
