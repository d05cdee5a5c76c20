"""Importing another tool's file, and vouching for what it says before anything is fitted."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from support import foreign
from support.commands import Desk
from understudy.errors import SchemaError
from understudy.facts.schema import Schema
from understudy.methods import Independent

NO_FIT = "its values may have been computed from the rows"


@pytest.fixture
def domain(desk: Desk) -> Path:
    """A domain file in the working folder."""
    path = desk.folder / "domain.json"
    path.write_text(json.dumps(foreign.DOMAIN))
    return path


def test_an_imported_schema_is_refused_until_it_is_confirmed(desk: Desk, domain: Path) -> None:
    """All unreviewed columns are named at once, before the data is even looked for."""
    schema = desk.folder / "s.toml"
    assert 0 == desk.run("schema", "import", domain, "-o", schema).code
    for command, output in (("fit", "m.zip"), ("synth", "out.csv")):
        target = desk.folder / output
        result = desk.run(command, "none.csv", "-s", schema, "-e", 1, "-o", target)
        assert 2 == result.code
        assert [3, 3] == [result.err.count(words) for words in (NO_FIT, "error: column")]
        assert {} == desk.spent
        assert not target.exists()
    assert 0 == desk.run("schema", "confirm", schema).code
    result = desk.run("fit", "none.csv", "-s", schema, "-e", 1, "-o", desk.folder / "m.zip")
    assert (4, False) == (result.code, NO_FIT in result.err)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_columns_are_confirmed_one_by_one(desk: Desk, domain: Path, suffix: str) -> None:
    """The command says what is vouched for; the other marks stay, and so do comments."""
    schema = desk.folder / f"s{suffix}"
    desk.run("schema", "import", domain, "-o", schema)
    before = schema.read_text()
    result = desk.run("schema", "confirm", schema, "income>50K", "age")
    assert "I know these values without looking at the rows" in result.out
    assert "age: kind = integer; min = 0; max = 84; bins = 85" in result.out
    assert ("sex",) == Schema.load(schema).unreviewed
    assert {"sex": 2} == {n: s for n, s in Schema.load(schema).attributes.items() if n == "sex"}
    if suffix == ".toml":
        removed = before.replace("unreviewed = true\n", "", 1)
        head, _, tail = removed.rpartition("unreviewed = true\n")
        assert head + tail == schema.read_text()


def test_confirming_what_bears_no_mark_is_refused(desk: Desk, domain: Path) -> None:
    """The message lists those that do; without any there is nothing to do."""
    schema = desk.folder / "s.toml"
    desk.run("schema", "import", domain, "-o", schema)
    result = desk.run("schema", "confirm", schema, "height")
    assert 2 == result.code
    assert "'height' is not unreviewed; those that are: age, sex, income>50K" in result.err
    result = desk.run("schema", "confirm", desk.schema)
    assert (0, True) == (result.code, "nothing to confirm" in result.err)


def test_marks_that_cannot_be_cut_out_safely_are_left(desk: Desk) -> None:
    """A table in one line, and a text that looks like a mark, are never damaged."""
    line = 'a = {kind = "boolean", unreviewed = true}'
    desk.schema.write_text(f"[columns]\n{line}\n")
    result = desk.run("schema", "confirm", desk.schema)
    assert (2, True) == (result.code, "not on lines of their own; delete them" in result.err)
    assert line in desk.schema.read_text()
    text = '[columns.a]\nkind = "boolean"\nunreviewed = true\nnote = """\nunreviewed = true\n"""\n'
    desk.schema.write_text(text)
    assert 2 == desk.run("schema", "confirm", desk.schema).code
    assert text == desk.schema.read_text()


def test_a_schema_with_blanks_can_be_confirmed(desk: Desk) -> None:
    """Vouching and filling in come in either order."""
    source = desk.folder / "metadata.json"
    source.write_text(json.dumps(foreign.SDV_SINGLE))
    schema = desk.folder / "s.toml"
    desk.run("schema", "import", source, "-o", schema)
    assert 0 == desk.run("schema", "confirm", schema, "room").code
    columns = tomllib.loads(schema.read_text())["columns"]
    assert ["fee", "nights", "arrival"] == [n for n, c in columns.items() if "unreviewed" in c]


def test_check_tells_what_is_unreviewed(desk: Desk, domain: Path) -> None:
    """For people on stderr, for machines in the object."""
    schema = desk.folder / "s.json"
    desk.run("schema", "import", domain, "-o", schema)
    assert "unreviewed: age, sex, income>50K" in desk.run("schema", "check", schema).err
    document = desk.run("schema", "check", schema, "--json").document
    assert [*foreign.DOMAIN] == document["unreviewed"]


def test_import_keeps_a_schema_that_is_there(desk: Desk, domain: Path) -> None:
    """As init does; and without an output the draft goes to stdout."""
    before = desk.schema.read_text()
    assert 2 == desk.run("schema", "import", domain, "-o", desk.schema).code
    assert before == desk.schema.read_text()
    result = desk.run("schema", "import", domain)
    assert [*foreign.DOMAIN] == [*tomllib.loads(result.out)["columns"]]


def test_a_table_is_chosen(desk: Desk) -> None:
    """One of several, by its name."""
    source = desk.folder / "metadata.json"
    source.write_text(json.dumps(foreign.SDV_TABLES))
    assert 2 == desk.run("schema", "import", source).code
    result = desk.run("schema", "import", source, "--table", "guests")
    assert ["guest", "hotel", "room"] == [*tomllib.loads(result.out)["columns"]]


def test_the_library_refuses_too() -> None:
    """A fit from Python asks for the same review, before it touches the rows."""
    schema = Schema.parse(
        {"columns": {n: {"kind": "boolean", "unreviewed": True} for n in ("a", "b")}}
    )

    with pytest.raises(SchemaError) as caught:
        Independent(schema, epsilon=1).fit("none.csv", ledger=None)
    assert ["column 'a'", "column 'b'"] == [p.split(":")[0] for p in caught.value.problems]
