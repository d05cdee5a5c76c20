"""SQLite counts rows where they are as its files are counted when they are read."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.counted import KINDS, ROWS, SCHEMA, check_equal, check_same, typed_tables
from support.databases import SQLITE_TYPES, sqlite_file
from support.tiers import examples, slow_but
from understudy.errors import DataError, LedgerError, UsageError
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.methods import Histogram
from understudy.privacy.preflight import Preflight
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import fitting_rows
from understudy.rows.engines.databases.counted_only import CountedOnly
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.sources import Access, open_source

TABLE = Access(table="people")
TYPED = ROWS.cast(pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())]))
COUNTED = ("categorical", "boolean", "integer", "float")
# Doubles that SQLite reads from their shortest spelling, and those that it misses by one step.
HARD = [0.1, 2 / 3, 5e-324, 1.7976931348623157e308, 8.41e21, 9.5367431640625e-07, 4.35, 1e23]


@pytest.mark.parametrize("kind", slow_but({"categorical", "float"}, COUNTED))
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_sqlite_counts_as_memory_does(kind: str, data: st.DataObject, tmp_path: Path) -> None:
    """Missing, outside and declared cells of every type, whatever the schema."""
    schema, rows = data.draw(typed_tables(kind, types=tuple(SQLITE_TYPES)))
    with open_source(sqlite_file(tmp_path / "x.db", rows), schema, TABLE) as source:
        check_equal(source, schema, rows)


@pytest.mark.parametrize("kind", slow_but({"integer"}, KINDS))
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_cells_of_any_type_are_those_of_the_file(
    kind: str, data: st.DataObject, tmp_path: Path
) -> None:
    """Whatever a column declares and holds, the database counts what a reader of the file does."""
    column = data.draw(KINDS[kind]())
    cells = st.sampled_from([None, 0, 1, 7, 2.5, "1", " 7 ", "x", "", "NA", b"1", "2020-01-31", -1])
    declared = data.draw(st.sampled_from(["INTEGER", "REAL", "TEXT", "DATE", "NUMERIC", "BOOLEAN"]))
    path, rows = tmp_path / "x.db", data.draw(st.lists(cells, max_size=8))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(f"CREATE TABLE people (c {declared})")
        connection.executemany("INSERT INTO people VALUES (?)", [(cell,) for cell in rows])
    schema = Schema.parse({"columns": {"c": column}})
    with open_source(path, schema, TABLE) as file, _opened(path, schema) as source:
        check_same(source, file)


def _opened(path: Path, schema: Schema) -> Any:
    return open_source(f"sqlite:///{path}", schema, TABLE)


def test_rows_stay_in_the_database(tmp_path: Path) -> None:
    """An address counts there, a file is read; both give the same tables."""
    path = tmp_path / "clinic.db"
    with open_source(sqlite_file(path, TYPED), SCHEMA, TABLE) as source:
        assert isinstance(source, DatabaseSource)
        check_equal(source, SCHEMA, TYPED)
        assert "SQLite: a transaction" in source.reading
    with open_source(path, SCHEMA, TABLE) as file:
        assert not isinstance(file, DatabaseSource)
        check_equal(file, SCHEMA, TYPED)
    assert ["clinic.db"] == [each.name for each in tmp_path.iterdir()]


@pytest.mark.parametrize("value", HARD)
def test_thresholds_are_the_doubles_that_were_declared(tmp_path: Path, value: float) -> None:
    """A cell at an edge is in the bin that begins there, and the double below it is not."""
    below = math.nextafter(value, 0)
    rows = pa.table({"x": [value, below, value]})
    column = {"kind": "categorical", "values": [value], "missing": []}
    schema = Schema.parse({"columns": {"x": column}})
    with open_source(sqlite_file(tmp_path / "x.db", rows), schema, TABLE) as source:
        check_equal(source, schema, rows)
        assert 2 == source.count([("x",)])[0].counts[0]


def test_all_questions_see_the_same_rows(tmp_path: Path) -> None:
    """Rows that come while a run is open are not of this run."""
    path = tmp_path / "x.db"
    address = sqlite_file(path, TYPED)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        with open_source(address, SCHEMA, TABLE) as source:
            with other:
                other.execute("DELETE FROM people WHERE a = 3")
            check_equal(source, SCHEMA, TYPED)


def test_a_table_of_ibis_is_counted_where_it_is(tmp_path: Path) -> None:
    """The connection is given back as it was: without a transaction, and open."""
    path = tmp_path / "x.db"
    sqlite_file(path, TYPED)
    backend = ibis.sqlite.connect(path)
    some = backend.table("people").filter(ibis._.a.notnull())
    with open_source(some, SCHEMA) as source:
        check_equal(source, SCHEMA, TYPED.filter(pa.compute.is_valid(TYPED["a"])))
        assert backend.con.in_transaction
    assert not backend.con.in_transaction
    backend.disconnect()


@pytest.mark.parametrize("most", [1, 3])
def test_persons_are_those_of_a_file(tmp_path: Path, most: int) -> None:
    """Names by text, composed and stripped, are one person each; the same rows are kept."""
    names = ["Zoe\u0308", "Zo\xeb", " Zo\xeb\t", "zo\xeb", "", None, "a\0b", "Ann"] * 4
    rows = pa.table({"who": names, "a": [i % 7 for i in range(32)]})
    schema = Schema.parse(
        {"columns": {"a": {"kind": "integer", "min": 0, "max": 5, "outside": "drop"}}}
    )
    bounded = Access(table="people", persons=Persons("who", most))
    with (
        open_source(sqlite_file(tmp_path / "x.db", rows), schema, bounded) as source,
        open_source(rows, schema, bounded) as memory,
    ):
        assert isinstance(source, DatabaseSource)
        check_same(source, memory)
        assert fitting_rows(memory).tolist() == fitting_rows(source).tolist()


def test_a_name_that_is_not_utf_8_is_a_person_too(tmp_path: Path) -> None:
    """One such name does not stop a run: it is the person that a reader of the file sees."""
    path = tmp_path / "x.db"
    names = [b"Ann", b"Zo\xff", b" Zo\xff\t", b"\xc3\xab", b"e\xcc\x88", b"Ann", b"\xff"]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE people (who TEXT, a INTEGER)")
        for place, name in enumerate(names):
            connection.execute("INSERT INTO people VALUES (CAST(? AS TEXT), ?)", [name, place])
    schema = Schema.parse({"columns": {"a": {"kind": "integer", "min": 0, "max": 9}}})
    bounded = Access(table="people", persons=Persons("who", 1))
    with (
        open_source(f"sqlite:///{path}", schema, bounded) as source,
        open_source(path, schema, bounded) as memory,
    ):
        assert isinstance(source, DatabaseSource)
        check_same(source, memory)
        [kept] = source.count([()])
    assert 4 == kept.counts


@pytest.mark.parametrize(
    ("address", "words"),
    [("sqlite://no.db", "no.db"), ("sqlite://", "is a folder|cannot|not")],
)
def test_a_file_that_is_not_there_is_refused(address: str, words: str) -> None:
    """In our words."""
    with pytest.raises(DataError, match=words), open_source(address, SCHEMA, TABLE):
        pass


def test_addresses_of_rows_mean_what_those_of_ledgers_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two and three slashes are a file here, a fourth makes it absolute, a lost one is named."""
    monkeypatch.chdir(tmp_path)
    sqlite_file(tmp_path / "x.db", TYPED)
    for address in ("sqlite://x.db", "sqlite:///x.db", f"sqlite:///{tmp_path}/x.db"):
        with open_source(address, SCHEMA, TABLE) as source:
            assert isinstance(source, DatabaseSource)
    lost = f"sqlite://{tmp_path}/x.db"
    with (
        pytest.raises(DataError, match=f"the absolute path is sqlite:///{tmp_path}/x.db"),
        open_source(lost, SCHEMA, TABLE),
    ):
        pass
    with pytest.raises(LedgerError, match=f"the absolute path is sqlite:///{tmp_path}/l.db"):
        Ledger(f"sqlite://{tmp_path}/l.db").limit("a", epsilon=Fraction(1))


def test_tables_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """With the names of those that are."""
    address = sqlite_file(tmp_path / "x.db", TYPED)
    with (
        pytest.raises(DataError, match=r"no table 'persons'.*known are people"),
        open_source(address, SCHEMA, Access(table="persons")),
    ):
        pass


def test_a_method_that_needs_single_rows_is_refused_unpaid(tmp_path: Path) -> None:
    """Not even the preflight is bought from an engine that only counts."""
    path, ledger = sqlite_file(tmp_path / "x.db", TYPED), Ledger(tmp_path / "l.jsonl")
    method = Histogram(SCHEMA, epsilon=1)
    with pytest.raises(UsageError, match="only counts"):
        method.fit(path, access=TABLE, ledger=ledger, dataset="x", preflight=Preflight())
    assert {} == ledger.accounts()


@pytest.mark.parametrize("last", [33, "unknown"])
def test_one_cell_does_not_decide_which_methods_are_refused(tmp_path: Path, last: object) -> None:
    """A cell of another type has its table read out; single rows stay out of reach all the same."""
    address, ledger = f"sqlite:///{tmp_path / 'x.db'}", Ledger(tmp_path / "l.jsonl")
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection, connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
        cells = [(20 + i % 50, "fm"[i % 2]) for i in range(199)]
        connection.executemany("INSERT INTO people VALUES (?, ?)", [*cells, (last, "f")])
    columns = {
        "age": {"kind": "integer", "min": 0, "max": 99, "outside": "drop"},
        "sex": {"kind": "categorical", "values": ["f", "m"]},
    }
    schema = Schema.parse({"columns": columns})
    with pytest.raises(UsageError, match="only counts"):
        Histogram(schema, epsilon=1).fit(address, access=TABLE, ledger=ledger, dataset="x")
    assert {} == ledger.accounts()
    with open_source(address, schema, TABLE) as source:
        kept = 200 - isinstance(last, str)
        assert isinstance(last, str) == isinstance(source, CountedOnly)
        assert [kept, 200 - kept] == fitting_rows(source).tolist()
