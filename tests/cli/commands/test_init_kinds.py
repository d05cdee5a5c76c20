"""`schema init` with budget and code books, and `synth` without a schema, from the command line."""

from __future__ import annotations

import json

from support.commands import SECRET, Desk
from understudy.facts.schema import Schema


def test_kinds_are_learned(desk: Desk) -> None:
    """The skeleton says its cost and nothing of a single row; the ledger has it too."""
    output = desk.folder / "kinds.toml"
    result = desk.run("schema", "init", desk.data, "--epsilon", 60, "-o", output)
    assert "ledger: epsilon = 60, delta = 0 spent on people so far" in result.err
    assert (0, "") == (result.code, result.out)
    assert "e^60" in result.err
    text = output.read_text()
    assert 'kind = "integer"' in text
    assert "epsilon = 60.0" in text
    assert SECRET not in text + result.err
    assert {"people": 60.0} == desk.spent


def test_options_about_privacy_need_an_epsilon(desk: Desk) -> None:
    """Nothing is read or spent."""
    result = desk.run("schema", "init", desk.data, "--delta", "1e-6")
    assert (2, True) == (result.code, "epsilon is not given" in result.err)
    assert {} == desk.spent


def test_a_code_book_fills_in_what_it_knows(desk: Desk) -> None:
    """Its bounds are unreviewed; one for another table is refused."""
    book = desk.folder / "book.json"
    age = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}}
    book.write_text(json.dumps({"fields": [age]}))
    result = desk.run("schema", "init", desk.data, "--from", book)
    assert 0 == result.code
    assert "max = 120\nunreviewed = true" in result.out
    book.write_text(json.dumps({"fields": [{"name": "height"}]}))
    result = desk.run("schema", "init", desk.data, "--from", book)
    assert (2, True) == (result.code, "describes none of the columns" in result.err)


def test_synth_needs_no_schema(desk: Desk) -> None:
    """One command, one promise; the schema is beside the output and can be used again."""
    output = desk.folder / "out.csv"
    asked = ("--epsilon", 60, "--delta", "1e-6", "--method", "independent")
    result = desk.run("synth", desk.data, *asked, "-o", output)
    assert 0 == result.code
    assert "the schema was learned with 30 % of the budget" in result.err
    assert SECRET not in output.read_text() + result.err
    schema = desk.folder / "out.schema.toml"
    assert Schema.load(schema).inference is not None
    assert {"people": 60.0} == desk.spent
    again = desk.run("synth", desk.data, *asked, "-o", desk.folder / "more.csv", "-s", schema)
    assert 0 == again.code
