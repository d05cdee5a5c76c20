"""Databases that no test runs: their queries are on record, and count rightly when translated.

A query is compiled by ibis, must equal the one on record, is parsed by sqlglot in its own dialect,
translated to DuckDB's and run there. `python tests/rows/engines/databases/test_compiled.py` writes
the record again; read the difference.
"""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import ibis
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import expressions as sge

from support.counted import LETTERS, check_same
from understudy.errors import UsageError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.rows.engines.databases.database import Database
from understudy.rows.engines.databases.dialects import DIALECTS, Dialect, dialect_named
from understudy.rows.engines.databases.encoding import all_codes, kept_codes
from understudy.rows.engines.databases.source import DatabaseSource, grouping
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

RECORD = Path(__file__).parent / "compiled"
COMPILED = [name for name, dialect in DIALECTS.items() if dialect.held is None]
# sqlglot has another name for one of them.
READ = {"mssql": "tsql"}
_BETWEEN = "\n;\n"
SCHEMA = Schema.parse(
    {
        "columns": {
            "whole": {"kind": "integer", "min": 0, "max": 9, "missing": ["-1"]},
            "real": {"kind": "float", "edges": [0, 0.1, 0.7], "max": 1, "outside": "drop"},
            "text": {"kind": "categorical", "values": ["a", "B", "it's", *LETTERS[:5]]},
            "day": {"kind": "date", "min": "2020-01-01", "max": "2020-12-31", "bins": 4},
            "moment": {
                "kind": "datetime",
                "min": "2020-01-01T00:00:00",
                "max": "2020-12-31T23:59:59",
                "bins": 3,
            },
            "flag": {"kind": "boolean", "outside": "drop"},
            "listed": {"kind": "categorical", "values": [1, 2, 5]},
            "amount": {"kind": "float", "min": 0, "max": 10, "bins": 5},
        }
    }
)
_TEXTS = ["a", " a\t", "b", "B\u2003", "it's", None, "", " ", "x", *LETTERS]
_REALS = [0.0, 0.1, math.nextafter(0.1, 0), 0.7, 1.0, 1.1, -0.1, None, 0.5]
ROWS = pa.table(
    {
        "whole": pa.array([None if i % 7 == 0 else i % 13 - 1 for i in range(90)], pa.int64()),
        "real": pa.array([_REALS[i % 9] for i in range(90)], pa.float64()),
        "text": pa.array([_TEXTS[i % len(_TEXTS)] for i in range(90)], pa.string()),
        "day": pa.array([date(2020, 1 + i % 12, 1 + i % 28) for i in range(90)], pa.date32()),
        "moment": pa.array(
            [datetime(2020, 1 + i % 12, 1 + i % 28, i % 24) for i in range(90)], pa.timestamp("us")
        ),
        "flag": pa.array([(True, False, None)[i % 3] for i in range(90)], pa.bool_()),
        "listed": pa.array([(1, 2, 3, 5, None)[i % 5] for i in range(90)], pa.int32()),
        "amount": pa.array([Decimal(i % 50) / 4 - 1 for i in range(90)], pa.decimal128(18, 3)),
    }
)
SETS = [
    (),
    ("whole",),
    ("real", "text"),
    ("day", "moment"),
    ("text",),
    ("flag", "listed", "amount"),
]


def _encoded(dialect: Dialect) -> str:
    """The query for all codes, as the database would be asked."""
    rows = ibis.table(ibis.schema(ROWS.schema), name="people")
    codes = kept_codes(all_codes(rows, Codec(SCHEMA), dialect), Codec(SCHEMA))
    return dialect.as_read(str(ibis.to_sql(codes, dialect=dialect.backend)))


def _counted(dialect: Dialect) -> str:
    domain = Codec(SCHEMA).domain
    names = {a: dialect.quoted(f"c{i}") for i, a in enumerate(domain.names)}
    groups = [[names[a] for a in attributes] for attributes in SETS]
    return grouping(list(names.values()), groups, dialect)


def _whole(dialect: Dialect) -> str:
    """Both queries: codes are made once, and counted."""
    return f"{_encoded(dialect)}{_BETWEEN}{_counted(dialect)}\n"


def _translated(query: str, name: str) -> str:
    """A query in DuckDB's dialect; what sqlglot leaves as it is, is rewritten below."""
    tree = sqlglot.parse_one(query, read=READ.get(name, name))
    for kind in (sge.Add, sge.National, sge.Collate, sge.DataType, sge.Anonymous):
        for node in list(tree.find_all(kind)):
            if (other := _in_duckdb(node)) is not node:
                node.replace(other)
    # ibis writes Oracle's moments without the fraction that its own format asks for.
    return tree.sql("duckdb").replace("'FX", "'").replace('"T"%H:%M:%S.%f', "T%H:%M:%S")


def _in_duckdb(node: sge.Expression) -> sge.Expression:
    match node:
        case sge.DataType(this=sge.DataType.Type.FLOAT):
            # SQL Server's is a double.
            return sge.DataType(this=sge.DataType.Type.DOUBLE)
        case sge.Collate(this=sge.Expression() as text):
            return text
        case sge.National():
            return sge.Literal.string(node.name)
        case sge.Add() if sge.National in (type(node.this), type(node.expression)):
            return sge.DPipe(this=node.this, expression=node.expression)
        case sge.Anonymous(this="isNull"):
            return sge.Is(this=node.expressions[0], expression=sge.Null())
        case sge.Anonymous(this="isNotNull"):
            return sge.Not(this=sge.Is(this=node.expressions[0], expression=sge.Null()))
        case _:
            return node


def _duckdb() -> duckdb.DuckDBPyConnection:
    """DuckDB with the rows, and functions of ClickHouse, SQL Server and Trino under their names."""
    connection = duckdb.connect()
    connection.register("people", ROWS)
    for macro in (
        "replaceRegexpAll(x, pattern, y) AS regexp_replace(x, pattern, y, 'g')",
        "toDate(x) AS CAST(x AS DATE)",
        "toDateTime64(x, digits) AS CAST(x AS TIMESTAMP)",
        "toDateTime(x) AS CAST(x AS TIMESTAMP)",
        "parseDateTimeBestEffort(x) AS CAST(x AS TIMESTAMP)",
        "datetime2fromparts(y, m, d, h, i, s, f, n) AS make_timestamp(y, m, d, h, i, s + f / 1e6)",
        "from_iso8601_date(x) AS CAST(x AS DATE)",
        "from_iso8601_timestamp(x) AS CAST(x AS TIMESTAMP)",
    ):
        connection.execute(f"CREATE MACRO {macro}")
    return connection


@pytest.mark.parametrize("name", COMPILED)
def test_queries_are_those_on_record(name: str) -> None:
    """A change of ibis, sqlglot or the encoding is seen before a user of that database sees it."""
    recorded = (RECORD / f"{name}.sql").read_bytes().decode()
    assert recorded == _whole(DIALECTS[name])


@pytest.mark.parametrize("name", COMPILED)
def test_translated_queries_count_as_memory_does(name: str) -> None:
    """Cell by cell, with dropped, missing and outside cells of every kind of column."""
    recorded = (RECORD / f"{name}.sql").read_bytes().decode()
    connection = _duckdb()
    encoding, counting = (_translated(query, name) for query in recorded.split(_BETWEEN))
    connection.execute(f"CREATE TABLE encoded AS {encoding}")
    _check_grouped(connection.execute(counting).fetchall())
    codec, codes = Codec(SCHEMA), ibis.duckdb.from_connection(connection).table("encoded")
    source = DatabaseSource(Database.of(codes), codes, codec.domain, ROWS.num_rows)
    check_same(source, MemorySource(Table.of(codec.encode(ROWS))))


def _check_grouped(rows: list[tuple[int | None, ...]]) -> None:
    """The counts of a whole query are those of memory, set by set."""
    memory = MemorySource(Table.of(Codec(SCHEMA).encode(ROWS)))
    places = {name: place for place, name in enumerate(memory.domain.names)}
    found: dict[frozenset[int], dict[tuple[int, ...], int]] = {}
    for *codes, count in rows:
        held = {place: code for place, code in enumerate(codes) if code is not None}
        found.setdefault(frozenset(held), {})[tuple(held.values())] = int(count or 0)
    for attributes, marginal in zip(SETS, memory.count(SETS), strict=True):
        order = sorted(range(len(attributes)), key=lambda i: places[attributes[i]])
        counts = marginal.counts.transpose(order)
        cells = found[frozenset(places[a] for a in attributes)]
        assert int(counts.sum()) == sum(cells.values())
        assert all(counts[cell] == count for cell, count in cells.items())


@pytest.mark.parametrize("name", COMPILED)
def test_live_tables_are_refused_by_name(name: str) -> None:
    """Nobody has seen how they keep one reading; the refusal says so, and what to do."""
    with pytest.raises(UsageError, match=f"{DIALECTS[name].title} was never run.*to Parquet"):
        dialect_named(name)


if __name__ == "__main__":
    RECORD.mkdir(exist_ok=True)
    for each in COMPILED:
        (RECORD / f"{each}.sql").write_bytes(_whole(DIALECTS[each]).encode())
