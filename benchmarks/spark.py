"""All pairs of a Parquet table that Spark counts, beside Spark's own group-by of the same pairs.

The full size takes about half a gigabyte of a temporary folder, 10 GB of memory for Java, and some
20 minutes of two cores. `UNDERSTUDY_SPARK_ROWS` sets another number of rows, for one more run.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measuring import Work, peak_bytes
from benchmarks.scoreboard import Scoreboard
from understudy.facts.schema import Schema
from understudy.rows.sources import open_source

TARGET = 1.5
COLUMNS = 15
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
    columns = board.size.pick(COLUMNS, 5)
    with tempfile.TemporaryDirectory() as folder, session(Path(folder)) as spark:
        path = str(Path(folder) / "rows.parquet")
        write(spark, path, rows=rows, columns=columns)
        # Java compiles what it runs often; both sides find it warm.
        one_by_one(spark, path, [("c0", "c1")])
        pairs = list(itertools.combinations([f"c{i}" for i in range(columns)], 2))
        before = peak_bytes()
        ours = seconds(lambda: count(spark, path, pairs))
        held = peak_bytes() - before
        found = {
            "ours": ours,
            "Spark's own": seconds(lambda: one_by_one(spark, path, pairs)),
        }
    what = f"all {len(pairs)} pairs of {rows:,} × {columns}, time of Spark's own group-by"
    board.add(what, ours / found["Spark's own"], "×", TARGET)
    board.add(f"the same, memory of this process for {rows:,} rows", held / 2**20, "MiB", 256)
    board.details.append({"rows": rows, "columns": columns, "seconds": found})


@contextmanager
def session(folder: Path) -> Iterator[Any]:
    """A Spark session on two cores of this machine."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("understudy-benchmark")
    places = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "w")}
    for name, value in (_SETTINGS | places | {"spark.driver.memory": "8g"}).items():
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


def seconds(work: Work) -> float:
    """The wall seconds of some work: Java's are in another process."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
