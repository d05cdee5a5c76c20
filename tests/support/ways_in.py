"""Ways in: the same raw rows as files, frames and databases, opened as a user would."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from support.cluster import write_partitions
from support.databases import duckdb_file, sqlite_file
from support.raw_neighbours import Row, csv_text
from understudy.facts.file_format import FileFormat
from understudy.rows.sources import Access
from understudy.system.frames import Rows as Data

# Eight rows of five attributes in a block, and next to nothing for tables.
_FEW_BYTES = 4 * 8 * 32 * 5
_NUMBERS: dict[str, tuple[Callable[[str], Any], pa.DataType]] = {
    "size": (int, pa.int64()),
    "weight": (float, pa.float64()),
}


@dataclass(frozen=True)
class Way:
    """How rows come to be where they are opened.

    Attributes:
        put: lays rows out in a folder, always under the same name, and says what to open.
        access: how it is opened.
        persons: whether rows of a person can be recognized there.
        numbers: whether single rows can be numbered there, or only counted.
    """

    put: Callable[[Any, Path], Data]
    access: Access = field(default_factory=Access)
    persons: bool = True
    numbers: bool = True


def texts(rows: Sequence[Row]) -> pa.Table:
    """Every cell as a text."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(Row._fields)
    return pa.table(
        {n: pa.array(c, pa.string()) for n, c in zip(Row._fields, columns, strict=True)}
    )


def typed(rows: Sequence[Row]) -> pa.Table:
    """Numbers as numbers of a declared type; a cell that is not a number is null."""
    table = texts(rows)
    for name, (convert, kind) in _NUMBERS.items():
        cells = pa.array([_number(cell, convert) for cell in table.column(name).to_pylist()], kind)
        table = table.set_column(table.schema.get_field_index(name), name, cells)
    return table


def _number(text: str, convert: Callable[[str], Any]) -> Any:
    try:
        value = convert(text)
        return value if abs(value) < 2**63 else None
    except (ValueError, OverflowError):
        return None


def _csv(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.csv"
    path.write_bytes(csv_text(rows).encode(errors="surrogateescape"))
    return path


def _gzipped(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.csv.gz"
    path.write_bytes(gzip.compress(csv_text(rows).encode(errors="surrogateescape"), mtime=0))
    return path


def _office(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.csv"
    lines = csv_text([row._replace(weight=row.weight.replace(".", ",")) for row in rows])
    table = csv.reader(io.StringIO(lines, newline=""))
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(table)
    return path


def _json_lines(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.jsonl"
    lines = [json.dumps(row) for row in typed(rows).to_pylist()]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _feather(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.feather"
    pyarrow.feather.write_feather(typed(rows), path, chunksize=11)
    return path


def _sqlite(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "rows.db"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE people ({', '.join(Row._fields)})")
        marks = ", ".join("?" * len(Row._fields))
        cells = zip(*typed(rows).to_pydict().values(), strict=True)
        connection.executemany(f"INSERT INTO people VALUES ({marks})", cells)
    connection.close()
    return path


def _parquet(rows: pa.Table, folder: Path) -> Path:
    path = folder / "rows.parquet"
    pq.write_table(rows, path, row_group_size=11)
    return path


def _partitions(rows: Sequence[Row], folder: Path) -> Path:
    place = folder / "parts"
    for old in place.glob("*"):
        old.unlink()
    if place.exists():
        place.rmdir()
    cut = len(rows) // 3
    return write_partitions(typed(rows), place, [cut, cut, 2 * cut])


def _pandas(rows: Sequence[Row], folder: Path) -> pd.DataFrame:
    del folder
    return pd.read_csv(io.StringIO(csv_text(rows)), low_memory=False)


def _polars(rows: Sequence[Row], folder: Path) -> pl.DataFrame:
    del folder
    return pl.read_csv(csv_text(rows).encode(), infer_schema_length=None)


_BLOCKS = Access(memory=_FEW_BYTES)
_OFFICE = Access(format=FileFormat(separator=";", decimal=",", encoding="utf-8-sig"))

WAYS: dict[str, Way] = {
    "csv": Way(_csv),
    "csv in blocks": Way(_csv, Access(memory=1), persons=False),
    "csv.gz": Way(_gzipped),
    "csv.gz in blocks": Way(_gzipped, Access(memory=1), persons=False),
    "csv of an office": Way(_office, _OFFICE),
    "jsonl": Way(_json_lines),
    "feather": Way(_feather),
    "sqlite": Way(_sqlite, Access(table="people")),
    "parquet": Way(lambda rows, folder: _parquet(typed(rows), folder)),
    "parquet of texts": Way(lambda rows, folder: _parquet(texts(rows), folder)),
    "parquet in blocks": Way(
        lambda rows, folder: _parquet(typed(rows), folder), _BLOCKS, persons=False
    ),
    "texts in blocks": Way(
        lambda rows, folder: _parquet(texts(rows), folder), _BLOCKS, persons=False
    ),
    "partitions": Way(_partitions),
    "partitions in blocks": Way(_partitions, _BLOCKS, persons=False),
    "pandas": Way(_pandas),
    "polars": Way(_polars),
    "arrow": Way(lambda rows, folder: texts(rows)),
    "lists": Way(lambda rows, folder: typed(rows).to_pydict()),
    "duckdb": Way(
        lambda rows, folder: duckdb_file(folder / "rows.duckdb", typed(rows)),
        Access(table="people"),
        numbers=False,
    ),
    "sqlite counted there": Way(
        lambda rows, folder: sqlite_file(folder / "counted.db", typed(rows)),
        Access(table="people"),
        numbers=False,
    ),
}
