"""`understudy check`: the owner sees what would be lost, and nothing is spent."""

from __future__ import annotations

import json
import sqlite3

from support.commands import ROWS, SECRET, Desk


def test_lost_rows_are_shown_with_examples(desk: Desk) -> None:
    """Two rows do not fit: the columns, a cell of each and a way out are shown; exit code 4."""
    found = desk.run("check", desk.data, "--schema", desk.schema)
    assert 4 == found.code
    assert "2 of 102 rows (1.96 %) do not fit the schema and are lost" in found.out
    assert "NOT FOR RELEASE" in found.out
    assert SECRET in found.out
    assert "code book" in found.out


def test_nothing_is_spent(desk: Desk) -> None:
    """A check leaves no ledger and no file behind."""
    before = sorted(desk.folder.iterdir())
    desk.run("check", desk.data, "--schema", desk.schema)
    assert before == sorted(desk.folder.iterdir())


def test_json_is_marked_private(desk: Desk) -> None:
    """The one object says that it is private, and counts every column."""
    document = desk.run("check", desk.data, "-s", desk.schema, "--json").document
    assert document["private"] is True
    assert (102, 2) == (document["rows"], document["lost"])
    assert ["name", "age"] == [column["column"] for column in document["columns"]]


def test_schema_check_with_data_does_the_same(desk: Desk) -> None:
    """`schema check SCHEMA --data FILE` is the same check."""
    one = desk.run("check", desk.data, "--schema", desk.schema, "--json")
    other = desk.run("schema", "check", desk.schema, "--data", desk.data, "--json")
    assert (one.code, json.loads(one.out)) == (other.code, json.loads(other.out))


def test_rows_that_fit_end_with_success(desk: Desk) -> None:
    """Where every row fits the exit code is 0."""
    desk.data.write_text("name,age\nAnn,41\n,\n")
    found = desk.run("check", desk.data, "--schema", desk.schema)
    assert 0 == found.code
    assert "all 2 rows fit the schema" in found.out


def test_options_about_rows_need_rows(desk: Desk) -> None:
    """`schema check` without data refuses options that are about rows."""
    found = desk.run("schema", "check", desk.schema, "--table", "people")
    assert 2 == found.code
    assert "--table is about rows; give them by --data" in found.err


def test_a_table_of_sqlite_is_checked(desk: Desk) -> None:
    """The table that --table names is read, and rows are counted as in a file of text."""
    place = desk.folder / "people.db"
    with sqlite3.connect(place) as people:
        people.execute("CREATE TABLE people (name, age)")
        rows = [line.split(",") for line in ROWS.splitlines()[1:]]
        people.executemany("INSERT INTO people VALUES (?, ?)", rows)
    people.close()
    found = desk.run("check", place, "--schema", desk.schema, "--table", "people", "--json")
    plain = desk.run("check", desk.data, "--schema", desk.schema, "--json")
    assert (plain.code, plain.document) == (found.code, found.document)
    assert {} == desk.spent
