"""The same rows in several databases, and typed cells that lie where encoding is hard."""

from __future__ import annotations

import io
import logging
import math
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import psycopg
import pyarrow as pa
from hypothesis import strategies as st

from support.promised import need
from support.tables import ODD_TEXTS
from understudy.facts.codec import Codec
from understudy.facts.codec.bins import BinnedCodec
from understudy.facts.codec.categories import ListedCodec, spellings

DECIMAL = pa.decimal128(18, 3)
# Arrow's types, and what PostgreSQL calls them; DuckDB takes Arrow's own.
TYPES: dict[pa.DataType, str] = {
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    DECIMAL: "numeric",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", "UTC"): "timestamptz",
}
# What MariaDB calls them; a moment of a time zone would have to lie between 1970 and 2038 there.
MYSQL_TYPES: dict[pa.DataType, str] = {
    pa.string(): "text",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    DECIMAL: "decimal(18, 3)",
    pa.date32(): "date",
    pa.timestamp("us"): "datetime(6)",
}
SQLITE_TYPES: dict[pa.DataType, str] = {
    pa.string(): "TEXT",
    pa.int64(): "INTEGER",
    pa.float64(): "REAL",
}
_BLANKS = ("", " ", "\t", "\u2003", "\x1f", "\u00a0", "\u200b")


def duckdb_file(path: Path, rows: pa.Table, table: str = "people") -> str:
    """A DuckDB database that holds the rows; its address."""
    with duckdb.connect(str(path)) as connection:
        connection.register("given", rows)
        connection.execute(f'CREATE OR REPLACE TABLE "{table}" AS SELECT * FROM given')
    return str(path)


def fill_postgres(address: str, rows: pa.Table, table: str = "people") -> str:
    """Put the rows into a table of a PostgreSQL server; its address."""
    columns = ", ".join(f'"{field.name}" {TYPES[field.type]}' for field in rows.schema)
    # A test that holds on to the table is a fault, and not a reason to wait for ever.
    options = "-c lock_timeout=20s"
    with psycopg.connect(address, autocommit=True, options=options) as connection:
        connection.execute(f'DROP TABLE IF EXISTS "{table}"')
        connection.execute(f'CREATE TABLE "{table}" ({columns})')
        with (
            connection.cursor() as cursor,
            cursor.copy(f'COPY "{table}" FROM STDIN') as copy,
        ):
            for row in rows.to_pylist():
                copy.write_row(list(row.values()))
    return address


def sqlite_file(path: Path, rows: pa.Table, table: str = "people") -> str:
    """An SQLite database that holds the rows in columns of their types; its address."""
    columns = ", ".join(
        f"{_named(field.name)} {SQLITE_TYPES[field.type]} COLLATE NOCASE" for field in rows.schema
    )
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DROP TABLE IF EXISTS {_named(table)}")
        connection.execute(f"CREATE TABLE {_named(table)} ({columns})")
        marks = ", ".join("?" * rows.num_columns)
        connection.executemany(f"INSERT INTO {_named(table)} VALUES ({marks})", _tuples(rows))
    return f"sqlite:///{path}"


def mysql_database(server: str, name: str = "clinic") -> str:
    """A new database of a MariaDB server; its address."""
    with mysql_to(server) as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    return server + name


def fill_mysql(address: str, rows: pa.Table, table: str = "people") -> str:
    """Put the rows into a table of a MariaDB server, whose texts fold case; its address."""
    columns = ", ".join(f"`{field.name}` {MYSQL_TYPES[field.type]}" for field in rows.schema)
    marks = ", ".join(["%s"] * rows.num_columns)
    with mysql_to(address) as cursor:
        # A test that holds on to the table is a fault, and not a reason to wait for ever.
        cursor.execute("SET lock_wait_timeout = 20")
        cursor.execute(f"DROP TABLE IF EXISTS `{table}`")
        cursor.execute(f"CREATE TABLE `{table}` ({columns})")
        cursor.execute("START TRANSACTION")
        cursor.executemany(f"INSERT INTO `{table}` VALUES ({marks})", _tuples(rows))
        cursor.execute("COMMIT")
    return address


def spark_table(session: Any, rows: pa.Table, table: str = "people") -> Any:
    """The rows as a view of a Spark session, as ibis has it."""
    from pyspark.sql import SparkSession

    SparkSession.getActiveSession().createDataFrame(rows).createOrReplaceTempView(table)
    return session.table(table)


@contextmanager
def spark_log() -> Iterator[io.StringIO]:
    """What PySpark writes to the terminal about queries that fail."""
    from pyspark.logger import PySparkLogger

    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    logger.addHandler(handler)
    try:
        yield written
    finally:
        logger.removeHandler(handler)


@contextmanager
def mysql_to(address: str) -> Iterator[Any]:
    """A cursor of one's own to a MariaDB server."""
    need("pymysql")
    import pymysql

    parts = urlsplit(address)
    connection = pymysql.connect(
        host=parts.hostname,
        port=parts.port,
        user=parts.username,
        database=parts.path.lstrip("/") or None,
        charset="utf8mb4",
        autocommit=True,
    )
    with connection, connection.cursor() as cursor:
        yield cursor


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _tuples(rows: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows.to_pylist()]


@contextmanager
def connection_to(address: str) -> Iterator[psycopg.Connection]:
    """A connection of one's own to a PostgreSQL server."""
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@st.composite
def typed_rows(
    draw: st.DrawFn,
    codec: Codec,
    *,
    most_rows: int = 12,
    types: Collection[pa.DataType] = tuple(TYPES),
    infinite: bool = True,
) -> pa.Table:
    """Rows whose every column has a type that a database may hold it in."""
    rows = draw(st.integers(0, most_rows))
    columns = {
        name: draw(_cells(column, rows, types, infinite=infinite))
        for name, column in codec.columns.items()
    }
    return pa.table(columns)


@st.composite
def _cells(
    draw: st.DrawFn,
    codec: ListedCodec | BinnedCodec,
    rows: int,
    types: Collection[pa.DataType],
    *,
    infinite: bool,
) -> pa.Array:
    kind = draw(st.sampled_from([kind for kind in _types(codec) if kind in types]))
    places = [x for x in _places(codec, kind) if infinite or not _is_endless(x, kind)]
    values = st.sampled_from([None, *places])
    return pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)


def _is_endless(value: Any, kind: pa.DataType) -> bool:
    """Whether a number is not finite as the type holds it."""
    held = pa.scalar(value, kind).as_py() if isinstance(value, float) else 0.0
    return isinstance(held, float) and not math.isfinite(held)


def _types(codec: ListedCodec | BinnedCodec) -> list[pa.DataType]:
    whole = [pa.int16(), pa.int32(), pa.int64()]
    if isinstance(codec, ListedCodec):
        texts = [DECIMAL] if codec.is_numeric else [pa.string()]
        return [*whole, pa.float32(), pa.float64(), pa.bool_(), *texts]
    if codec.column.kind in ("date", "datetime"):
        return [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")]
    return [*whole, pa.float32(), pa.float64(), pa.bool_(), DECIMAL]


def _places(codec: ListedCodec | BinnedCodec, kind: pa.DataType) -> list[Any]:
    """Values of a type at, just below and just above where codes change."""
    if pa.types.is_boolean(kind):
        return [True, False]
    if pa.types.is_string(kind):
        assert isinstance(codec, ListedCodec)
        known = [*spellings(codec), *ODD_TEXTS]
        return [left + text + right for text in known for left in _BLANKS for right in ("", " ")]
    if pa.types.is_temporal(kind):
        assert isinstance(codec, BinnedCodec)
        return _held(kind, _times(codec), lambda t: t)
    numbers = _numbers(codec)
    if pa.types.is_integer(kind):
        return _held(kind, numbers, int)
    if pa.types.is_decimal(kind):
        return _held(kind, numbers, lambda x: Decimal(str(x)).quantize(Decimal("0.001")))
    return _held(kind, [*numbers, math.nan, math.inf, -math.inf], float)


def _numbers(codec: ListedCodec | BinnedCodec) -> list[float | int]:
    if isinstance(codec, ListedCodec):
        near = [float(t) for t in spellings(codec) if _is_number(t)]
        whole = [int(t) for t in spellings(codec) if t.lstrip("-").isdecimal() and t.isascii()]
        return [*near, *whole, *(n + 1 for n in whole), 0, 1, 7]
    edges = [*codec.edges.tolist(), *codec.column.bounds, *codec.markers.tolist()]
    steps = [math.nextafter(e, side) for e in edges for side in (math.inf, -math.inf)]
    return [*edges, *steps, *(e + 1 for e in edges), *(e - 0.5 for e in edges), 0]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _times(codec: BinnedCodec) -> list[datetime]:
    edges = [*codec.edges.tolist(), *codec.column.bounds, *codec.markers.tolist()]
    near = [e + step for e in edges for step in (0, 1, -1)]
    scale = 86400 if codec.column.kind == "date" else 1
    times = []
    for place in near:
        for micro in (0, 1, -1):
            try:
                since = timedelta(seconds=place * scale, microseconds=micro)
                times.append(datetime(1970, 1, 1) + since)
            except OverflowError:
                continue
    return times


def _held(kind: pa.DataType, values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Those of some values that the type can hold."""
    held = []
    for value in values:
        try:
            converted = convert(value)
            if pa.types.is_date(kind):
                converted = converted.date()
            pa.array([converted], kind)
        except (pa.ArrowException, OverflowError, ValueError, ArithmeticError):
            continue
        held.append(converted)
    return held or [None]
