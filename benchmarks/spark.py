"""All pairs of a Parquet table that Spark counts, beside Spark's own group-by of the same pairs.

The full size takes some gigabytes of a temporary folder, 6 GB of memory for Java, and some 20
minutes of two cores. `UNDERSTUDY_SPARK_ROWS` and `UNDERSTUDY_SPARK_COLUMNS` set another size; the
record keeps the lines of each size and what they were measured on, so that such a run adds to it.
100,000,000 rows of 6 columns take about 12 GB of that folder.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, versions
from benchmarks.measuring import Work, peak_bytes
from benchmarks.scoreboard import Line, Scoreboard
from understudy.facts.schema import Schema
from understudy.rows.sources import open_source

TARGET = 1.5
COLUMNS = 15
# Beyond this size, each side has one turn.
MOST_CELLS_IN_TURNS = 4 * 10**8
TURNS = 2
_SIZES = [2, 3, 5, 8, 16, 20, 2, 4, 7, 10, 12, 3, 6, 9, 15]
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Were rows fetched, this would be too little for them.
    "spark.driver.maxResultSize": "32m",
}


def run(board: Scoreboard) -> None:
    """All pairs in at most 1.5 times the time of Spark's own group-by; no row to the driver."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        board.leave_out("Spark", "PySpark or Java is not installed")
        return
    rows = int(os.environ.get("UNDERSTUDY_SPARK_ROWS") or board.size.pick(2 * 10**7, 20_000))
    columns = int(os.environ.get("UNDERSTUDY_SPARK_COLUMNS") or board.size.pick(COLUMNS, 5))
    keep_other_sizes(board, rows=rows, columns=columns)
    pairs = list(itertools.combinations([f"c{i}" for i in range(columns)], 2))
    with tempfile.TemporaryDirectory() as folder, session(Path(folder)) as spark:
        path = str(Path(folder) / "rows.parquet")
        write(spark, path, rows=rows, columns=columns)
        # Java compiles what it runs often; both sides find it warm.
        one_by_one(spark, path, [("c0", "c1")])
        before = peak_bytes()
        works: dict[str, Work] = {
            "ours": lambda: count(spark, path, pairs),
            "Spark's own": lambda: one_by_one(spark, path, pairs),
        }
        rounds = TURNS if rows * columns <= MOST_CELLS_IN_TURNS else 1
        found = turns(works, java=java_of(spark), rounds=rounds)
        held = peak_bytes() - before
    ratio = min(found["ours"]["seconds"]) / min(found["Spark's own"]["seconds"])
    what = f"all {len(pairs)} pairs of {_named(rows, columns)}"
    board.add(f"{what}, time of Spark's own group-by", ratio, "×", TARGET)
    board.add(f"{what}, memory of this process", held / 2**20, "MiB", 256)
    board.details.append({"rows": rows, "columns": columns, **_origin(rows, columns), **found})


def _origin(rows: int, columns: int) -> dict[str, Any]:
    """Say of a size when, where and by which versions it was measured."""
    return {
        "size": _named(rows, columns),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 2),
        "versions": versions() | {"pyspark": importlib.metadata.version("pyspark")},
    }


def keep_other_sizes(board: Scoreboard, *, rows: int, columns: int) -> None:
    """Begin with the lines on record for other numbers of rows and columns."""
    path = board.folder / "spark.json" if board.folder else None
    if path is None or not path.exists():
        return
    record = json.loads(path.read_text(encoding="utf-8"))
    for line in record["lines"]:
        if _named(rows, columns) not in line["what"]:
            board.lines.append(Line(**{key: line[key] for key in line if key != "met"}))
    sizes = (rows, columns)
    board.details += [
        each for each in record["details"] if sizes != (each["rows"], each["columns"])
    ]


def _named(rows: int, columns: int) -> str:
    return f"{rows:,} × {columns}"


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """A Spark session on two cores of this machine."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("understudy-benchmark")
    places = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "w")}
    for name, value in (_SETTINGS | places | {"spark.driver.memory": "6g"}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def write(spark: Any, path: str, *, rows: int, columns: int) -> None:
    """Rows of small whole numbers, made and written by Spark."""
    names = [
        f"CAST(pmod(xxhash64(id, {place}), {_SIZES[place]}) AS INT) AS c{place}"
        for place in range(columns)
    ]
    spark.range(rows).selectExpr(*names).write.parquet(path)


def count(spark: Any, path: str, pairs: list[tuple[str, str]]) -> list[Any]:
    """Encode the rows by a schema and count all pairs, as a run does."""
    import ibis

    columns = sorted({name for pair in pairs for name in pair}, key=lambda name: int(name[1:]))
    kinds = {
        name: {"kind": "integer", "min": 0, "max": _SIZES[int(name[1:])] - 1, "missing": []}
        for name in columns
    }
    table = ibis.pyspark.connect(spark).read_parquet(path)
    with open_source(table, Schema.parse({"columns": kinds})) as source:
        return list(source.count(pairs))


def one_by_one(spark: Any, path: str, pairs: list[tuple[str, str]]) -> None:
    """Count all pairs as a user of Spark would; one query with grouping sets takes far longer."""
    table = spark.read.parquet(path)
    for pair in pairs:
        table.groupBy(*pair).count().collect()


def turns(
    works: Mapping[str, Work], *, java: int, rounds: int
) -> dict[str, dict[str, list[float]]]:
    """The wall seconds of some works in turns, and the CPU seconds that Java took for each."""
    found: dict[str, dict[str, list[float]]] = {
        name: {"seconds": [], "CPU seconds of Java": []} for name in works
    }
    for _ in range(rounds):
        for name, work in works.items():
            started, before = time.perf_counter(), cpu_seconds_of(java)
            work()
            found[name]["seconds"].append(round(time.perf_counter() - started, 1))
            found[name]["CPU seconds of Java"].append(round(cpu_seconds_of(java) - before, 1))
    return found


def java_of(spark: Any) -> int:
    """The number of the process in which Java runs."""
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def cpu_seconds_of(process: int) -> float:
    """The CPU seconds that another process has taken; 0 where the system does not say."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return 0.0
    fields = status.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
