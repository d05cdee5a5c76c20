"""MariaDB counts rows where they are, as memory does, in one transaction."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.counted import KINDS, LETTERS, ROWS, SCHEMA, check_equal, check_same, typed_tables
from support.databases import MYSQL_TYPES, fill_mysql, mysql_to
from support.documents import server_command
from support.tiers import examples, slow_but
from understudy.cli.main import run
from understudy.errors import DataError
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import fitting_rows
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.sources import Access, open_source

TABLE = Access(table="people")


@pytest.fixture
def server(mariadb_server: str) -> str:
    """A database of a MariaDB server whose texts fold case."""
    return mariadb_server


@pytest.mark.parametrize("kind", slow_but({"categorical"}, KINDS))
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mariadb_counts_as_memory_does(kind: str, server: str, data: st.DataObject) -> None:
    """Missing, outside and declared cells of every type, whatever the schema."""
    schema, rows = data.draw(typed_tables(kind, types=tuple(MYSQL_TYPES), infinite=False))
    with open_source(fill_mysql(server, rows), schema, TABLE) as source:
        check_equal(source, schema, rows)


def test_texts_are_compared_by_their_bytes(server: str) -> None:
    """Case, accents, trailing spaces, quotes and backslashes distinguish texts, as in a file."""
    texts = ["a", "A", "\xe4", "a ", "a\\", "it's", "%s", "a\u2003", "\x1fa", None, "", "b\0"]
    values = ["a", "\xc4", "a\\", "it's", " b ", "%s", *LETTERS]
    rows = pa.table({"x": [*texts, " b ", " b", "b ", *LETTERS]})
    schema = Schema.parse({"columns": {"x": {"kind": "categorical", "values": values}}})
    with open_source(fill_mysql(server, rows), schema, TABLE) as source:
        check_equal(source, schema, rows)


def test_all_questions_see_the_same_rows(server: str) -> None:
    """Rows that come while a run is open are not of this run; and nothing can be written."""
    fill_mysql(server, ROWS)
    with open_source(server, SCHEMA, TABLE) as source, mysql_to(server) as other:
        other.execute("INSERT INTO people VALUES (1, 'x', 0.5)")
        other.execute("DELETE FROM people WHERE a = 3")
        check_equal(source, SCHEMA, ROWS)
        assert isinstance(source, DatabaseSource)
        assert "MariaDB or MySQL: a transaction" in source.reading
        with pytest.raises(DataError, match="the database"):
            source.database.fetch("DELETE FROM people")


def test_a_view_cannot_be_replaced_while_it_is_counted(server: str) -> None:
    """Whoever replaces it waits until the run has ended, and the run sees the view as it was."""
    fill_mysql(server, ROWS)
    replaced = "CREATE OR REPLACE VIEW seen AS SELECT * FROM people WHERE a = 1"
    with mysql_to(server) as other:
        other.execute("CREATE OR REPLACE VIEW seen AS SELECT * FROM people")
        other.execute("SET lock_wait_timeout = 0")
        try:
            with open_source(server, SCHEMA, Access(table="seen")) as source:
                with pytest.raises(Exception, match="Lock wait timeout"):
                    other.execute(replaced)
                check_equal(source, SCHEMA, ROWS)
            other.execute(replaced)
        finally:
            other.execute("DROP VIEW seen")


def test_tables_without_snapshots_are_refused(server: str, tmp_path: Path) -> None:
    """By name, with the way out; a view is refused as long as such a table could be behind it."""
    fill_mysql(server, ROWS, "old")
    fill_mysql(server, ROWS)
    with mysql_to(server) as other:
        other.execute("CREATE OR REPLACE VIEW seen AS SELECT * FROM people")
        other.execute("ALTER TABLE old ENGINE = MyISAM")
    try:
        for name in ("old", "seen"):
            ledger = Ledger(tmp_path / "ledger.jsonl")
            with pytest.raises(DataError, match=r"'clinic\.old' is not stored by InnoDB"):
                _fit(server, Access(table=name), ledger)
            assert {} == ledger.accounts()
    finally:
        with mysql_to(server) as other:
            other.execute("DROP TABLE old")
    with open_source(server, SCHEMA, Access(table="seen")) as source:
        check_equal(source, SCHEMA, ROWS)


def _fit(server: str, access: Access, ledger: Ledger) -> None:
    with open_source(server, SCHEMA, access) as source:
        Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")


def test_accounts_that_may_not_read_are_refused(server: str, tmp_path: Path) -> None:
    """Before anything is paid, and the message says whom to ask."""
    fill_mysql(server, ROWS)
    with mysql_to(server) as other:
        other.execute("CREATE USER IF NOT EXISTS guest")
        other.execute("GRANT SHOW VIEW ON clinic.* TO guest")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(DataError, match="right to SELECT"):
        _fit(server.replace("root@", "guest@"), TABLE, ledger)
    assert {} == ledger.accounts()


def test_a_dropped_connection_is_paid_once(server: str, tmp_path: Path) -> None:
    """What was charged is in the ledger once, and the message says that the run can be repeated."""
    fill_mysql(server, ROWS)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with open_source(server, SCHEMA, TABLE) as source:
        assert isinstance(source, DatabaseSource)
        [(number,)] = source.database.fetch("SELECT CONNECTION_ID()")
        with mysql_to(server) as other:
            other.execute(f"KILL {number}")
        with pytest.raises(DataError, match="stopped answering"):
            Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")
    assert 0 < ledger.account("d").spent.epsilon <= 1


@pytest.mark.parametrize("most", [1, 3])
def test_persons_named_by_numbers_are_bounded(server: str, most: int) -> None:
    """The same rows are kept as in memory, and those that do not fit are counted alike."""
    persons = [None if i % 9 == 0 else i % 5 for i in range(40)]
    rows = pa.table({"who": pa.array(persons, pa.int64()), "a": [i % 7 for i in range(40)]})
    column = {"kind": "integer", "min": 0, "max": 5, "outside": "drop"}
    schema = Schema.parse({"columns": {"a": column}})
    bounded = Access(table="people", persons=Persons("who", most))
    with (
        open_source(fill_mysql(server, rows), schema, bounded) as source,
        open_source(rows, schema, bounded) as memory,
    ):
        check_same(source, memory)
        assert fitting_rows(memory).tolist() == fitting_rows(source).tolist()


def test_persons_named_by_text_are_refused(server: str) -> None:
    """MariaDB cannot compose texts, so that one person could have two names."""
    rows = pa.table({"who": ["a", "b"], "a": [1, 2]})
    schema = Schema.parse({"columns": {"a": {"kind": "integer", "min": 0, "max": 5}}})
    bounded = Access(table="people", persons=Persons("who", 1))
    with (
        pytest.raises(DataError, match="MariaDB or MySQL cannot compare"),
        open_source(fill_mysql(server, rows), schema, bounded),
    ):
        pass


@pytest.mark.parametrize(
    "address", ["mysql://nobody@127.0.0.1:1/none", "mariadb://127.0.0.1:x/none"]
)
def test_a_server_that_cannot_be_reached_is_refused(server: str, address: str) -> None:
    """In our words, without the password."""
    del server
    with pytest.raises(DataError, match="check its address"), open_source(address, SCHEMA, TABLE):
        pass


def test_the_guide_has_the_command(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`understudy synth mariadb://…` as the page shows it, paid for under the table's name."""
    fill_mysql(server, ROWS, "patients")
    (tmp_path / "patients.json").write_text(json.dumps(SCHEMA.document()))
    monkeypatch.chdir(tmp_path)
    command = server_command("mariadb://", server)
    assert 0 == run([*(a.replace(".toml", ".json") for a in command), "--ledger", "ledger"])
    assert ["patients"] == list(Ledger(tmp_path / "ledger").accounts())
    assert b"MariaDB or MySQL: a transaction" in (tmp_path / "out.csv.privacy.json").read_bytes()


def test_a_table_that_is_not_there_is_refused(server: str) -> None:
    """With the names of those that are."""
    fill_mysql(server, ROWS)
    for name in ("persons", "clinic.persons", "nowhere.persons"):
        with (
            pytest.raises(
                DataError, match=r"no table '[a-z.]+' that can be read; known are .*people"
            ),
            open_source(server, SCHEMA, Access(table=name)),
        ):
            pass
