"""One value for each kind of database: what is not known is refused, and the statement says how."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import ibis
import pyarrow as pa
import pytest

from support.counted import ROWS, SCHEMA
from support.databases import duckdb_file, sqlite_file
from understudy.errors import UsageError
from understudy.facts.codec import Codec
from understudy.methods import Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.statements.statement import Statement
from understudy.rows.engines.databases.connections import is_database
from understudy.rows.engines.databases.database import Database
from understudy.rows.engines.databases.dialects import DIALECTS, MSSQL, MYSQL, dialect_named
from understudy.rows.engines.databases.loose_types import firmly_typed
from understudy.rows.engines.databases.opening import database_types
from understudy.rows.engines.databases.snapshots import one_reading
from understudy.rows.sources import Access, open_source

TYPED = ROWS.cast(pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())]))


def test_unknown_databases_are_refused_by_name(tmp_path: Path) -> None:
    """Before anything is read or spent, with those that are known."""
    table = ibis.polars.connect({"people": ROWS}).table("people")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    words = r"'polars' is not known here; known are DuckDB, .* and Spark; .* to Parquet"
    with pytest.raises(UsageError, match=words):
        Independent(SCHEMA, epsilon=1).fit(table, ledger=ledger, dataset="d")
    assert {} == ledger.accounts()


def test_tables_of_no_database_are_refused() -> None:
    """An expression without rows is not a table."""
    table = ibis.table({"a": "int64"}, name="people")
    with (
        pytest.raises(UsageError, match="not a table of one open database"),
        open_source(table, SCHEMA),
    ):
        pass


@pytest.mark.parametrize("put", [duckdb_file, sqlite_file])
def test_statements_say_what_one_reading_means(put: Any, tmp_path: Path) -> None:
    """It is known by the kind of database, and is written and read again; files say nothing."""
    address = put(tmp_path / ("x.duckdb" if put is duckdb_file else "x.db"), TYPED)
    fitted = Independent(SCHEMA, epsilon=1).fit(address, ledger=None, access=Access(table="people"))
    statement = fitted.model_.statement
    title = "DuckDB" if put is duckdb_file else "SQLite"
    assert f"{title}: a transaction of the database is open" in str(statement.reading)
    assert statement == Statement.parse(statement.document())
    assert Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=None).model_.statement.reading is None


def test_rows_that_are_read_out_say_so_too(tmp_path: Path) -> None:
    """Whether cells have to be parsed is not in the statement: it may depend on cells."""
    texts = TYPED.set_column(0, "a", TYPED["a"].cast(pa.string()))
    address = sqlite_file(tmp_path / "x.db", texts)
    with open_source(address, SCHEMA, Access(table="people")) as source:
        assert DIALECTS["sqlite"].reading == source.reading  # type: ignore[attr-defined]


def test_a_transaction_of_the_owner_is_left_open(tmp_path: Path) -> None:
    """Whoever began one ends it, and what else was done in it is kept."""
    backend = ibis.duckdb.connect(tmp_path / "x.duckdb")
    table = backend.create_table("people", ROWS)
    with open_source(table, SCHEMA):
        backend.raw_sql("CREATE TABLE mine AS SELECT 1 AS one")
    backend.raw_sql("BEGIN TRANSACTION")
    with open_source(table, SCHEMA):
        backend.raw_sql("INSERT INTO mine VALUES (2)")
    backend.raw_sql("COMMIT")
    assert [(2,)] == backend.raw_sql("SELECT count(*) FROM mine").fetchall()
    backend.disconnect()


@pytest.mark.parametrize(
    ("data", "known"),
    [
        ("sqlite://x.db", True),
        ("mariadb://root@host/clinic", True),
        ("sc://host:15002", True),
        ("spark://local[2]", True),
        ("x.duckdb", True),
        ("x.db", False),
        ("https://host/x.csv", False),
        (Path("x.csv"), False),
    ],
)
def test_addresses_are_known_by_their_beginning(data: str | Path, known: bool) -> None:
    """A file of SQLite is a file; its address counts there."""
    assert known == is_database(data)


@pytest.mark.parametrize(
    ("address", "packages", "extra"),
    [
        ("mariadb://root@host/clinic", ("pymysql",), "mysql"),
        ("spark://local", ("pyspark",), "spark"),
        ("sc://host:15002", ("pyspark",), "spark"),
        ("sc://host:15002", ("grpc_status",), "spark"),
        ("postgres://owner@host/clinic", ("psycopg",), "database"),
    ],
)
def test_drivers_that_are_not_installed_are_named(
    address: str, packages: tuple[str, ...], extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the extra that brings them, before anything is read or spent."""
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    with (
        pytest.raises(UsageError, match=rf"pip install 'understudy\[{extra}\]'"),
        open_source(address, SCHEMA, Access(table="people")),
    ):
        pass


def test_one_driver_of_mysql_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that tests run, also where the other is installed."""
    monkeypatch.setitem(sys.modules, "MySQLdb", ModuleType("MySQLdb"))
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with (
        pytest.raises(UsageError, match="'pymysql' is not installed"),
        open_source("mysql://root@host/clinic", SCHEMA, Access(table="people")),
    ):
        pass


def test_columns_are_known_without_reading_rows(tmp_path: Path) -> None:
    """The types are those that the database declares."""
    address = sqlite_file(tmp_path / "x.db", TYPED)
    assert ["a", "b", "c"] == database_types(address, "people").names


def test_a_cell_of_another_type_is_seen(tmp_path: Path) -> None:
    """SQLite's columns hold cells of any type; then they are not counted by the column's."""
    path = tmp_path / "x.db"
    sqlite_file(path, TYPED)
    backend = ibis.sqlite.connect(path)
    rows, codec = backend.table("people"), Codec(SCHEMA)
    with one_reading(Database.of(rows), rows):
        assert firmly_typed(Database.of(rows), rows, codec) is not None
    backend.raw_sql("UPDATE people SET a = 'many' WHERE a = 3")
    assert firmly_typed(Database.of(rows), rows, codec) is None
    backend.disconnect()


def test_control_characters_are_written_as_the_database_reads_them() -> None:
    """A letter that means nothing after a backslash would be read as that letter."""
    assert "'\\n\v\f\\\\v'" == MYSQL.as_read("'\\n\\v\\f\\\\v'")
    assert """N'it''s' ["a'b"] "c'd" N'x'""" == MSSQL.as_read("""'it''s' ["a'b"] "c'd" 'x'""")


def test_every_dialect_has_its_name() -> None:
    """The table of dialects is by the names that ibis has."""
    for name in ("duckdb", "postgres", "sqlite", "mysql", "pyspark"):
        assert name == dialect_named(name).backend
