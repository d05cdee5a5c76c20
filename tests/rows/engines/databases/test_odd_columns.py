"""Types that some databases have alone are counted as in memory, or refused by name."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest

from support.counted import check_equal
from support.databases import connection_to, duckdb_file, mysql_to
from support.ledgers import server_of
from support.tiers import slow_but
from understudy.errors import DataError
from understudy.facts.schema import Schema
from understudy.rows.sources import Access, open_source

TABLE = Access(table="people")
UNSIGNED = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
# Bounds, edges and markers that no unsigned number reaches.
BELOW: list[dict[str, Any]] = [
    {"kind": "integer", "min": -5, "max": 9},
    {"kind": "integer", "min": -50, "max": 9, "bins": 5},
    {"kind": "integer", "min": -9, "max": -1},
    {"kind": "integer", "min": -9, "max": 300, "outside": "drop"},
    {"kind": "integer", "min": 0, "max": 9, "missing": ["-1", "99"]},
    {"kind": "integer", "min": 3, "max": 9},
    {"kind": "float", "min": -1, "max": 9, "bins": 3, "missing": ["-2"]},
    {"kind": "categorical", "values": [-1, 1, 9]},
]


def _schema(column: dict[str, Any]) -> Schema:
    return Schema.parse({"columns": {"x": column}})


@pytest.mark.parametrize("kind", slow_but(UNSIGNED[2:3], UNSIGNED), ids=str)
def test_unsigned_numbers_are_compared_with_bounds_below_zero(kind: pa.DataType) -> None:
    """Every one of them lies above; ibis would refuse to write the comparison."""
    rows = pa.table({"x": pa.array([0, 1, 3, 9, 10, 99, 2**kind.bit_width - 1, None], kind)})
    connection = ibis.duckdb.connect()
    table = connection.create_table("people", rows)
    for column in BELOW:
        with open_source(table, _schema(column)) as source:
            check_equal(source, _schema(column), rows)
    connection.disconnect()


@pytest.mark.slow
def test_mariadbs_unsigned_numbers_are_compared_with_bounds_below_zero(mariadb_server: str) -> None:
    """A difference of two of them may not be negative there, and none is taken."""
    cells = [0, 1, 3, 9, 10, 99, 2**64 - 1, None]
    with mysql_to(mariadb_server) as cursor:
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute("CREATE TABLE people (x bigint unsigned)")
        cursor.executemany("INSERT INTO people VALUES (%s)", [(cell,) for cell in cells])
    for column in BELOW:
        with open_source(mariadb_server, _schema(column), TABLE) as source:
            check_equal(source, _schema(column), pa.table({"x": pa.array(cells, pa.uint64())}))


DAY = {"kind": "date", "min": "2020-01-01", "max": "2020-12-31", "bins": 4}
MOMENT = {
    "kind": "datetime",
    "min": "2020-01-01T00:00:00",
    "max": "2020-12-31T00:00:00",
    "bins": 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("outside", ["clip", "drop"])
@pytest.mark.parametrize("missing", [[], ["0000-00-00", "0000-00-00 00:00:00"]])
@pytest.mark.parametrize(("kind", "column"), [("date", DAY), ("datetime", MOMENT)])
def test_days_that_no_calendar_has_are_those_of_a_file(
    kind: str, column: dict[str, Any], missing: list[str], outside: str, mariadb_server: str
) -> None:
    """MariaDB keeps 0000-00-00 and 2020-00-00; they are read as the texts of an export are."""
    texts = ["0000-00-00", "2020-00-00", "2020-05-00", "2020-05-05", "9999-12-31", None]
    with mysql_to(mariadb_server) as cursor:
        cursor.execute("SET sql_mode = ''")
        cursor.execute("DROP TABLE IF EXISTS people")
        cursor.execute(f"CREATE TABLE people (x {kind})")
        cursor.executemany("INSERT INTO people VALUES (%s)", [(text,) for text in texts])
    schema = _schema({**column, "missing": missing, "outside": outside})
    ends = "" if kind == "date" else " 00:00:00"
    rows = pa.table({"x": [text and text + ends for text in texts]})
    with open_source(mariadb_server, schema, TABLE) as source:
        check_equal(source, schema, rows)
    with mysql_to(mariadb_server) as cursor:
        cursor.execute("DELETE FROM people WHERE month(x) = 0 OR dayofmonth(x) = 0")
    days = pa.array([date(2020, 5, 5), date(9999, 12, 31), None])
    with open_source(mariadb_server, schema, TABLE) as source:
        check_equal(source, schema, pa.table({"x": days}))
        assert "DatabaseSource" in repr(source)


@pytest.mark.slow
def test_text_of_spark_that_is_not_utf_8_is_refused_where_it_is_parsed(spark_session: Any) -> None:
    """By the column's name, as in files; where it is compared there, it equals no value."""
    from pyspark.sql import SparkSession

    query = "SELECT CAST(X'FF61' AS STRING) AS x UNION ALL SELECT '5'"
    SparkSession.getActiveSession().sql(query).createOrReplaceTempView("odd")
    table = spark_session.table("odd")
    with (
        pytest.raises(DataError, match="'x': the database holds text that is not UTF-8"),
        open_source(table, _schema({"kind": "integer", "min": 0, "max": 9})),
    ):
        pass
    values = _schema({"kind": "categorical", "values": ["a", "5"]})
    with open_source(table, values) as source:
        check_equal(source, values, pa.table({"x": ["\ufffda", "5"]}))


def test_types_that_ibis_does_not_know_are_refused_in_words(
    postgres_server: str, tmp_path: Path
) -> None:
    """No name of a class of ours or of others is shown, and the way out is."""
    address = duckdb_file(tmp_path / "x.duckdb", pa.table({"y": [1]}))
    import duckdb

    with duckdb.connect(address) as connection:
        connection.execute("CREATE OR REPLACE TABLE people AS SELECT 5::UHUGEINT AS x")
    with connection_to(postgres_server) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute("DROP DOMAIN IF EXISTS few")
        connection.execute("CREATE DOMAIN few AS integer CHECK (VALUE < 9)")
        connection.execute("CREATE TABLE people (x few)")
    words = "'x': the database holds a type that is not known here, the schema says integer.* view"
    for place in (address, postgres_server):
        with (
            pytest.raises(DataError, match=words),
            open_source(place, _schema({"kind": "integer", "min": 0, "max": 9}), TABLE),
        ):
            pass
    with connection_to(postgres_server) as connection:
        connection.execute("DROP TABLE people")
        connection.execute("DROP DOMAIN few")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("LATIN1", "another encoding than UTF-8"), ("SQL_ASCII", "bytes of an unknown encoding")],
)
def test_encodings_other_than_utf_8_are_refused_in_words(
    encoding: str, words: str, postgres_server: str
) -> None:
    """Where texts would have to be compared with letters that the database lacks."""
    name = f"in_{encoding.lower()}"
    with server_of(postgres_server) as owner:
        owner.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        owner.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' "
            "TEMPLATE template0".encode()
        )
    place = f"{postgres_server.rpartition('/')[0]}/{name}"
    with server_of(place) as owner:
        owner.execute("CREATE TABLE people AS SELECT 'a'::text AS x")
    with (
        pytest.raises(DataError, match=f"{words}.*copy the table to a database in UTF-8"),
        open_source(place, _schema({"kind": "categorical", "values": ["a"]}), TABLE),
    ):
        pass
    with server_of(postgres_server) as owner:
        owner.execute(f"DROP DATABASE {name}".encode())
