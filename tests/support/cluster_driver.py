"""The driver of a Spark cluster: a process has one session of this kind, so it is a new process.

It counts a Parquet file on the cluster, as memory does, before and after the file is replaced; then
it kills the executors, and writes how the next question was refused. At last it runs the guide's
command for a table of the catalog.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from support.counted import ROWS, SCHEMA, check_same
from support.documents import server_command
from understudy.cli.main import run
from understudy.errors import DataError
from understudy.facts.codec.persons import Persons
from understudy.privacy.spending.ledger import Ledger
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
    _follow_the_guide(address, folder)


def _follow_the_guide(address: str, folder: Path) -> None:
    from pyspark.sql import SparkSession

    pq.write_table(ROWS, folder / "patients.parquet")
    (folder / "patients.json").write_text(json.dumps(SCHEMA.document()))
    session = SparkSession.builder.master(address).getOrCreate()
    session.sql("CREATE DATABASE clinic")
    session.read.parquet(str(folder / "patients.parquet")).write.saveAsTable("clinic.patients")
    os.chdir(folder)
    command = [a.replace(".toml", ".json") for a in server_command("spark://host", address)]
    code = run([*command, "--method", "independent", "--ledger", "ledger"])
    sys.stdout.write(f"the guide's command: {code}, {list(Ledger('ledger').accounts())}\n")
    session.stop()


def children(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    threads = Path(f"/proc/{process}/task").glob("*/children")
    listed = [int(child) for thread in threads for child in thread.read_text().split()]
    return [each for child in listed for each in (*children(child), child)]


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
