"""Tables in databases are encoded and counted there as they would be in memory."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.counted import KINDS, ROWS, SCHEMA, check_equal, subsets, typed_tables
from support.databases import connection_to, duckdb_file, fill_postgres
from support.documents import server_command
from support.tiers import examples, slow_but
from understudy.cli.main import run
from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Independent, Nist
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.engines.databases.database import Database
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import Access, dataset_name, open_source
from understudy.rows.table import Table
from understudy.testing import seeded

TABLE = Access(table="people")


@pytest.fixture
def server(postgres_server: str) -> str:
    """A PostgreSQL server."""
    return postgres_server


@pytest.fixture(params=["duckdb", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either kind that holds the rows."""
    if request.param == "duckdb":
        return duckdb_file(tmp_path / "clinic.duckdb", ROWS)
    return fill_postgres(request.getfixturevalue("server"), ROWS)


@pytest.mark.parametrize("kind", slow_but({"categorical", "float"}, KINDS))
@settings(max_examples=examples(25))
@given(data=st.data())
def test_duckdb_counts_as_memory_does(kind: str, data: st.DataObject) -> None:
    """Missing, outside and declared cells of every type, whatever the schema."""
    schema, rows = data.draw(typed_tables(kind))
    table = ibis.duckdb.connect().create_table("people", rows)
    with open_source(table, schema) as source:
        check_equal(source, schema, rows)


@pytest.mark.parametrize("kind", slow_but({"categorical"}, KINDS))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_postgres_counts_as_memory_does(kind: str, server: str, data: st.DataObject) -> None:
    """Missing, outside and declared cells of every type, whatever the schema."""
    schema, rows = data.draw(typed_tables(kind))
    with open_source(fill_postgres(server, rows), schema, TABLE) as source:
        check_equal(source, schema, rows)


def test_rows_stay_apart_as_in_memory(address: str) -> None:
    """One table of several kinds of column, some rows dropped."""
    with open_source(address, SCHEMA, TABLE) as source:
        check_equal(source, SCHEMA, ROWS)
        assert source.count([()])[0].counts < source.rows_read
        assert "private" in repr(source)


def test_many_tables_take_few_questions(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sets a query holds, and repeated ones too."""
    asked = []
    fetch = Database.fetch

    def counting(self: Database, query: str) -> list[tuple[Any, ...]]:
        asked.append(query)
        return fetch(self, query)

    monkeypatch.setattr(Database, "fetch", counting)
    memory = MemorySource(Table.of(Codec(SCHEMA).encode(ROWS)))
    sets = [*subsets(("a", "b", "c")), ("a",), ("b", "a")]
    for most, queries in [(100, 1), (3, 6)]:
        with open_source(address, SCHEMA, TABLE) as opened:
            assert isinstance(opened, DatabaseSource)
            dialect = replace(opened.database.dialect, most_sets=most)
            source = replace(opened, database=replace(opened.database, dialect=dialect))
            asked.clear()
            expected = [m.counts.tolist() for m in memory.count(sets)]
            assert expected == [m.counts.tolist() for m in source.count(sets)]
            assert queries == len(asked)


def test_a_fit_is_the_same_in_a_database(address: str) -> None:
    """The same noise on the same counts gives the same model."""
    method = Nist(SCHEMA, epsilon=5, delta=1e-6)
    with open_source(address, SCHEMA, TABLE) as source:
        first = seeded(method, 1).fit(source, ledger=None).model_
    second = seeded(method, 1).fit(ROWS, ledger=None).model_
    assert first.network == second.network
    for ours, theirs in zip(first.conditionals, second.conditionals, strict=True):
        assert np.array_equal(ours.probabilities, theirs.probabilities)


def test_a_table_of_ibis_is_counted_where_it_is(address: str, tmp_path: Path) -> None:
    """Whoever has a connection already hands over its table, or any query."""
    del address
    connection = ibis.duckdb.connect()
    connection.create_table("people", ROWS)
    some = connection.table("people").filter(ibis._.a.notnull())
    rows = ROWS.filter(pa.compute.is_valid(ROWS["a"]))
    with open_source(some, SCHEMA) as source:
        assert isinstance(source, DatabaseSource)
        check_equal(source, SCHEMA, rows)
    model = seeded(Independent(SCHEMA, epsilon=1), 3).fit(some, ledger=None).model_
    assert (
        model.rows == seeded(Independent(SCHEMA, epsilon=1), 3).fit(rows, ledger=None).model_.rows
    )


def test_all_questions_see_the_same_rows(server: str) -> None:
    """Rows that come during a run are not of this run; and nothing can be written."""
    fill_postgres(server, ROWS)
    with open_source(server, SCHEMA, TABLE) as source, connection_to(server) as other:
        other.execute("INSERT INTO people VALUES (1, 'x', 0.5)")
        other.execute("DELETE FROM people WHERE a = 3")
        check_equal(source, SCHEMA, ROWS)
        assert isinstance(source, DatabaseSource)
        with pytest.raises(DataError, match="rejects"):
            source.database.fetch("DELETE FROM people RETURNING 1")


def test_a_view_cannot_be_replaced_while_it_is_counted(server: str) -> None:
    """Whoever replaces it waits until the run has ended, and the run sees the view as it was."""
    fill_postgres(server, ROWS)
    with connection_to(server) as other:
        other.execute("DROP VIEW IF EXISTS seen")
        other.execute("CREATE VIEW seen AS SELECT * FROM people")
        other.execute("SET lock_timeout = '50ms'")
        replaced = "CREATE OR REPLACE VIEW seen AS SELECT * FROM people WHERE a = 1"
        try:
            with open_source(server, SCHEMA, Access(table="seen")) as source:
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute(replaced)
                check_equal(source, SCHEMA, ROWS)
            other.execute(replaced)
        finally:
            other.execute("DROP VIEW seen")


def test_a_table_of_another_schema_is_found(server: str) -> None:
    """By its full name; the ledger knows it by that."""
    with connection_to(server) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS clinic")
        connection.execute("CREATE TABLE clinic.visits (a int, b text, c float8)")
    access = Access(table="clinic.visits")
    with open_source(server, SCHEMA, access) as source:
        check_equal(source, SCHEMA, ROWS.slice(0, 0))
    assert "clinic.visits" == dataset_name(server, access)


@pytest.mark.parametrize(
    "value", ["1e400", "-1e400", "1e-400", "nan", "infinity", "-infinity", "0.5"]
)
def test_numbers_beyond_doubles_fail_nowhere(server: str, value: str) -> None:
    """PostgreSQL's own numbers have no end; a bin is found for each of them."""
    with connection_to(server) as connection:
        connection.execute("DROP TABLE IF EXISTS endless")
        connection.execute("CREATE TABLE endless (x numeric)")
        connection.execute("INSERT INTO endless VALUES (%s::numeric)", [value])
    column = {"kind": "float", "min": -1, "max": 1, "bins": 2, "missing": []}
    with open_source(
        server, Schema.parse({"columns": {"x": column}}), Access(table="endless")
    ) as s:
        counts = s.count([("x",)])[0].counts.tolist()
    expected = {"nan": [0, 0, 1], "-1e400": [1, 0, 0], "-infinity": [1, 0, 0]}
    assert expected.get(value, [0, 1, 0]) == counts


@pytest.mark.parametrize("value", ["infinity", "-infinity", "5874897-12-31", "4713-01-01 BC"])
def test_days_beyond_the_calendar_fail_nowhere(server: str, value: str) -> None:
    """Before or after every bin."""
    with connection_to(server) as connection:
        connection.execute("DROP TABLE IF EXISTS endless")
        connection.execute("CREATE TABLE endless (x date)")
        connection.execute("INSERT INTO endless VALUES (%s::date)", [value])
    for kind, low, high in [
        ("date", "2000-01-01", "9999-12-31"),
        ("datetime", "2000-01-01T00:00:00", "9999-12-31T23:59:59"),
    ]:
        column = {"kind": kind, "min": low, "max": high, "bins": 2}
        for outside, inside in [("clip", 1), ("drop", 0)]:
            schema = Schema.parse({"columns": {"x": column | {"outside": outside}}})
            with open_source(server, schema, Access(table="endless")) as source:
                counts = source.count([("x",)])[0].counts.tolist()
            assert inside == sum(counts)
            assert inside == counts[0 if value.startswith("-") or value.endswith("BC") else 1]


@pytest.mark.parametrize(
    ("column", "cells", "words"),
    [
        ({"kind": "date", "min": "2000-01-01", "max": "2001-01-01"}, [1], "holds int64"),
        ({"kind": "float", "min": 0, "max": 9}, [[1.0]], "holds array"),
        ({"kind": "categorical", "values": ["x"]}, [b"x"], "holds binary"),
    ],
    ids=["number for days", "list", "bytes"],
)
def test_types_that_have_another_meaning_are_refused(
    tmp_path: Path, column: dict[str, Any], cells: list[Any], words: str
) -> None:
    """By the type alone, with the way out, before anything is paid."""
    address = duckdb_file(tmp_path / "x.duckdb", pa.table({"v": cells}))
    schema = Schema.parse({"columns": {"v": column}})
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(DataError, match=words), open_source(address, schema, TABLE) as source:
        Independent(schema, epsilon=1).fit(source, ledger=ledger, dataset="d")
    assert {} == ledger.accounts()


TEXTS = {
    "whole": ["7", " 7 ", "0x1F", "7.5", "nan", "x", "", None, "99"],
    "days": ["2020-01-31", "2020-01-31T10:00:00", "31.01.2020", "", None, "x", "1", "2", "3"],
    "listed": ["1", "1.0", "2", "3", "x", "", None, "01", "1e0"],
    "free": ["a", " a", "A", "b", "", None, "c", "a", "b"],
}
PARSED = Schema.parse(
    {
        "columns": {
            "whole": {"kind": "integer", "min": 0, "max": 50, "missing": ["nan"]},
            "days": {"kind": "date", "min": "2020-01-01", "max": "2020-12-31", "missing": []},
            "listed": {"kind": "categorical", "values": [1, 2], "missing": []},
            "free": {"kind": "categorical", "values": ["a", "b"], "missing": []},
        }
    }
)


@pytest.mark.parametrize("memory", [None, 1], ids=["in memory", "in blocks"])
def test_texts_are_parsed_as_cells_of_files_are(tmp_path: Path, memory: int | None) -> None:
    """Columns of texts where the schema says numbers or days give the counts of a CSV file."""
    rows = {name: [cell or "" for cell in cells] * 3 for name, cells in TEXTS.items()}
    address = duckdb_file(tmp_path / "x.duckdb", pa.table({n: c * 3 for n, c in TEXTS.items()}))
    pc.write_csv(pa.table(rows), tmp_path / "x.csv")
    sets = [(), ("whole",), ("days", "listed"), ("free",)]
    with open_source(tmp_path / "x.csv", PARSED) as file:
        expected = [marginal.counts.tolist() for marginal in file.count(sets)]
    with open_source(address, PARSED, Access(table="people", memory=memory)) as source:
        assert expected == [marginal.counts.tolist() for marginal in source.count(sets)]
        assert 27 == source.rows_read


def test_names_are_taken_as_they_are(tmp_path: Path) -> None:
    """Blanks, quotes, keywords and semicolons in names of columns and tables."""
    names = ['say "so"', "select", "a b", "x; DROP TABLE people", "日本", "%s", "{0}"]
    rows = pa.table({name: [i % 2 for i in range(9)] for name in names})
    schema = Schema.parse({"columns": {n: {"kind": "integer", "min": 0, "max": 1} for n in names}})
    with open_source(
        duckdb_file(tmp_path / "x.duckdb", rows, "odd. name"), schema, Access(table="odd. name")
    ) as source:
        check_equal(source, schema, rows)


@pytest.mark.parametrize(
    ("table", "words"),
    [(None, "as --table patients"), ("persons", "no table 'persons'.*known are .*people")],
)
def test_a_table_that_is_not_there_is_refused(address: str, table: str | None, words: str) -> None:
    """With the names of those that are."""
    with (
        pytest.raises((UsageError, DataError), match=words),
        open_source(address, SCHEMA, Access(table=table)),
    ):
        pass


def test_the_guide_has_the_command(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`understudy synth postgres://…` as the page shows it, paid for under the table's name."""
    fill_postgres(server, ROWS, "patients")
    (tmp_path / "patients.json").write_text(json.dumps(SCHEMA.document()))
    monkeypatch.chdir(tmp_path)
    command = server_command("postgres://", server)
    assert 0 == run([*(a.replace(".toml", ".json") for a in command), "--ledger", "ledger"])
    assert ["patients"] == list(Ledger(tmp_path / "ledger").accounts())
    assert b"PostgreSQL: a transaction" in (tmp_path / "out.csv.privacy.json").read_bytes()


@pytest.mark.parametrize("level", ["REPEATABLE READ", "READ COMMITTED"])
def test_a_connection_of_the_owner_must_keep_its_rows(server: str, level: str) -> None:
    """With autocommit a transaction is begun; otherwise its own has to see one state."""
    fill_postgres(server, ROWS)
    with psycopg.connect(server) as own:
        own.execute(f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}")
        own.commit()
        table = ibis.postgres.from_connection(own).table("people")
        if level == "READ COMMITTED":
            with pytest.raises(UsageError, match="connect with autocommit"):
                open_source(table, SCHEMA).__enter__()
        else:
            with open_source(table, SCHEMA) as source:
                check_equal(source, SCHEMA, ROWS)
        own.rollback()
        own.autocommit = True
        with open_source(table, SCHEMA) as source, connection_to(server) as other:
            other.execute("DELETE FROM people WHERE a = 3")
            check_equal(source, SCHEMA, ROWS)


def test_columns_must_be_those_of_the_schema(address: str) -> None:
    """As with files."""
    less = Schema.parse({"columns": {"a": {"kind": "integer", "min": 0, "max": 9}}})
    with pytest.raises(DataError, match="'b', 'c' is not in the schema"):
        open_source(address, less, TABLE).__enter__()
    with open_source(address, less, Access(table="people", ignore_extra=True)) as source:
        check_equal(source, less, ROWS.select(["a"]))
    more = Schema.parse(
        {"columns": {n: {"kind": "integer", "min": 0, "max": 9} for n in ("a", "z")}}
    )
    with pytest.raises(DataError, match="no column 'z'"):
        open_source(address, more, TABLE).__enter__()


@pytest.mark.parametrize(
    "address",
    ["postgres://nobody@127.0.0.1:1/none", "postgresql://127.0.0.1:1/?bad", "duckdb://no"],
)
def test_a_database_that_cannot_be_reached_is_refused(address: str) -> None:
    """In our words, without the password."""
    with pytest.raises(DataError, match="check"), open_source(address, SCHEMA, TABLE):
        pass


def test_a_database_may_refuse_its_rows(server: str, tmp_path: Path) -> None:
    """Before anything is paid, and the message says whom to ask."""
    fill_postgres(server, ROWS, "secrets")
    with connection_to(server) as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    guest = server.replace("owner@", "guest@")
    with (
        pytest.raises(DataError, match="right to SELECT"),
        open_source(guest, SCHEMA, Access(table="secrets")) as source,
    ):
        Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")
    assert {} == ledger.accounts()


def test_a_dropped_connection_is_paid_once(server: str, tmp_path: Path) -> None:
    """The ledger has the charge once; a second run is a second grant."""
    fill_postgres(server, ROWS)
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def run(*, cut: bool) -> None:
        with open_source(server, SCHEMA, TABLE) as source:
            if cut:
                _cut_all(server)
            Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")

    with pytest.raises(DataError, match="stopped answering"):
        run(cut=True)
    spent = ledger.account("d").spent.epsilon
    assert 0 < spent <= 1
    run(cut=False)
    assert spent + 1 == ledger.account("d").spent.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1], ids=["first", "second"])
def test_a_connection_that_is_cut_between_rounds_is_paid_once(
    server: str, tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends in our words; the ledger has what was granted, and no more."""
    fill_postgres(server, ROWS)
    ledger, asked, fetch = Ledger(tmp_path / "ledger.jsonl"), [0], Database.fetch
    cuts: set[int] = set()

    def cutting(self: Database, query: str) -> list[tuple[Any, ...]]:
        if asked[0] in cuts:
            _cut_all(server)
        asked[0] += 1
        return fetch(self, query)

    def fit() -> None:
        with open_source(server, SCHEMA, TABLE) as source:
            asked[0] = 0
            monkeypatch.setattr(Database, "fetch", cutting)
            AdaptiveMarginals(SCHEMA, epsilon=1, delta=1e-6).fit(source, ledger=ledger, dataset="d")

    fit()
    assert asked[0] >= 2
    assert 1 == ledger.account("d").spent.epsilon
    monkeypatch.undo()
    cuts.add(place)
    with pytest.raises(DataError, match="stopped answering"):
        fit()
    assert [False, False] == [run["open"] for run in ledger.account("d").runs]
    assert 2 == ledger.account("d").spent.epsilon
    cuts.clear()
    monkeypatch.undo()
    fit()
    assert 3 == ledger.account("d").spent.epsilon


def _cut_all(server: str) -> None:
    """End every other connection to a server."""
    with connection_to(server) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def test_a_rejected_query_is_told_without_cells(tmp_path: Path) -> None:
    """The database's own words may quote them."""
    connection = ibis.duckdb.connect()
    connection.create_table("people", pa.table({"a": ["xyzzy"], "b": ["x"], "c": [0.5]}))
    rows = connection.table("people").mutate(a=ibis._.a.cast("int32"))
    with pytest.raises(UnderstudyError, match="rejects the query") as caught:
        open_source(rows, SCHEMA).__enter__()
    assert "xyzzy" not in str(caught.value)


def test_a_stand_in_for_a_table_in_a_database(address: str, tmp_path: Path) -> None:
    """`understudy synth ADDRESS --table people`, paid for under the table's name."""
    schema = tmp_path / "people.json"
    schema.write_text(json.dumps(SCHEMA.document()))
    ledger = tmp_path / "ledger.jsonl"
    output = tmp_path / "out.parquet"
    arguments = ["synth", address, "--table", "people", "--schema", schema, "--epsilon", 1]
    arguments += ["--ledger", ledger, "-o", output]
    assert 0 == run([str(argument) for argument in arguments])
    assert ["a", "b", "c"] == pq.read_table(output).column_names
    assert ["people"] == list(Ledger(ledger).accounts())


def _many_rows(folder: Path) -> str:
    """A database of more rows than the memory of the tests below holds as codes."""
    place = str(folder / "many.duckdb")
    with duckdb.connect(place) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i % 3 = 0 AS a, i % 7 = 0 AS b, i % 100 / 100 AS c "
            "FROM range(4000000) AS numbers(i)"
        )
    return place


_MANY = Schema.parse(
    {
        "columns": {
            "a": {"kind": "boolean"},
            "b": {"kind": "boolean"},
            "c": {"kind": "float", "min": 0, "max": 1, "bins": 100},
        }
    }
)


@pytest.mark.slow
def test_codes_that_outgrow_memory_are_not_written_to_the_disk(tmp_path: Path) -> None:
    """Where DuckDB would spill them, for every account to read, they are made again instead."""
    place, spilled = _many_rows(tmp_path), tmp_path / "spilled"
    limits: dict[str, Any] = {"memory_limit": "24MB", "temp_directory": str(spilled), "threads": 1}
    connection = ibis.duckdb.connect(place, read_only=True, **limits)
    with open_source(connection.table("people"), _MANY) as source:
        [table] = source.count([("a", "b")])
        assert not spilled.exists() or [] == [*spilled.iterdir()]
    assert 4_000_000 == table.counts.sum()
    assert str(spilled) == _setting(connection, "temp_directory")
    connection.disconnect()


def test_nothing_is_spilled_beside_a_database(tmp_path: Path) -> None:
    """Our own connection has nowhere to write to, and leaves the setting to others as it was."""
    place = duckdb_file(tmp_path / "clinic.duckdb", ROWS)
    with duckdb.connect(place, read_only=True) as other:
        before = other.execute("SELECT current_setting('temp_directory')").fetchall()
        with open_source(place, SCHEMA, Access(table="people")):
            assert [("",)] == other.execute("SELECT current_setting('temp_directory')").fetchall()
        assert before == other.execute("SELECT current_setting('temp_directory')").fetchall()
    assert ["clinic.duckdb"] == [path.name for path in tmp_path.iterdir()]


def test_memory_that_runs_out_is_told(tmp_path: Path) -> None:
    """A query that would have to spill is refused by what helps, and nothing is written."""
    place = duckdb_file(tmp_path / "clinic.duckdb", ROWS)
    with suppress(LookupError), open_source(place, SCHEMA, Access(table="people")) as source:
        assert isinstance(source, DatabaseSource)
        for limit in ("memory_limit = '4MB'", "threads = 1"):
            source.database.backend.raw_sql(f"SET {limit}")
        many = "SELECT i, count(*) FROM range(3000000) AS numbers(i) GROUP BY i ORDER BY i"
        with pytest.raises(DataError, match="needs more memory for these rows than it may take"):
            source.database.fetch(many)
        raise LookupError("as a run does that ends there")
    assert ["clinic.duckdb"] == [path.name for path in tmp_path.iterdir()]


def _setting(connection: Any, name: str) -> str:
    [(text,)] = connection.raw_sql(f"SELECT current_setting('{name}')").fetchall()
    return str(text)


DECLARED_FORMS = Schema.parse(
    {
        "columns": {
            "smoker": {"kind": "boolean", "labels": ["Raucher", "kein Raucher"], "missing": []},
            "ward": {"kind": "categorical", "values": ["a", "NA"], "missing": ["?"]},
            "sex": {
                "kind": "categorical",
                "values": ["f", "m"],
                "missing": ["x"],
                "missing_as": "drop",
                "outside": "m",
            },
            "age": {
                "kind": "integer",
                "min": 0,
                "max": 9,
                "missing": ["-1"],
                "missing_as": "drop",
                "outside": 3,
            },
        }
    }
)


def test_labels_markers_and_dropped_rows_are_those_of_files() -> None:
    """A database reads labels, common markers and rows to drop as files are read."""
    smokers = ["RAUCHER", "Kein raucher", "ja", "0", "NA", None, "k.A.", "sí", "other", "nein"]
    wards = ["a", "NA", "N/A", "?", None, "", "a", "a", "a", "null"]
    sexes = ["f", "m", "x", None, "", "NA", "other", "f", "m", "f"]
    ages = [1, -1, None, 99, 5, 6, 7, 8, 9, -1]
    rows = pa.table({"smoker": smokers, "ward": wards, "sex": sexes, "age": ages})
    table = ibis.duckdb.connect().create_table("people", rows)
    with open_source(table, DECLARED_FORMS) as source:
        check_equal(source, DECLARED_FORMS, rows)


def test_texts_in_a_notation_are_parsed_as_cells_of_files_are() -> None:
    """A database parses no cell: a column of texts that needs it is read and parsed here."""
    column = {"kind": "float", "min": 0.0, "max": 9.0, "unit": "$"}
    schema = Schema.parse({"columns": {"price": column}})
    cells = pa.table({"price": ["$3", "$0.10", "3"]})
    table = ibis.duckdb.connect().create_table("people", cells)
    with open_source(table, schema) as source, open_source(cells, schema) as rows:
        [found], [expected] = source.count([("price",)]), rows.count([("price",)])
    assert expected.counts.tolist() == found.counts.tolist()
    assert 2 <= expected.counts.sum()
