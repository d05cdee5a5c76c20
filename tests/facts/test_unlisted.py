"""What becomes of values that a schema does not list."""

from __future__ import annotations

from typing import Any

from understudy.facts.schema import Schema
from understudy.facts.unlisted import comment_on, substitutes, substitution

COST = {
    "epsilon": 1.0,
    "epsilon_exact": "1",
    "delta": 0.0,
    "delta_exact": "0",
    "neighbours": "replace",
    "dataset": "t",
    "mechanisms": [],
    "private": True,
}


def _schema(*, learned: bool = True, **outside: Any) -> Schema:
    columns = {
        name: {"kind": "categorical", "values": ["a", "Other"], "missing": ["?"], **body}
        for name, body in outside.items()
    }
    columns |= {"flag": {"kind": "boolean", "outside": "no"}, "age": {"kind": "integer", "max": 9}}
    columns["age"]["min"] = 0
    return Schema.parse({**({"inference": COST} if learned else {}), "columns": columns})


def test_only_values_that_mean_something_else_are_substitutes() -> None:
    """Dropped, missing and "other" are not values of someone else; a category and false are."""
    bodies: dict[str, Any] = {
        f"c{n}": {"outside": to} for n, to in enumerate(["drop", "", "?", "Other", "a"])
    }
    assert {"c4": "a", "flag": "false"} == substitutes(_schema(**bodies, plain={}))


def test_a_schema_that_people_wrote_says_nothing() -> None:
    """Whoever wrote `outside` knows it; the note is for schemas that were learned."""
    assert "" == substitution(_schema(learned=False)) == comment_on(_schema(learned=False))
    assert "false of flag" in substitution(_schema())


def test_a_comment_is_read_over() -> None:
    """The comment of a learned schema changes nothing that is read from it."""
    schema = _schema()
    text = schema.text_for("s.toml")
    assert text.startswith("# values that the schema does not list")
    import tomllib

    assert schema == Schema.parse(tomllib.loads(text))


def test_many_columns_are_counted() -> None:
    """A sentence names five columns and says how many more there are."""
    many: dict[str, Any] = {f"c{number}": {"outside": "a"} for number in range(9)}
    assert "a of c4 and 5 more" in substitution(_schema(**many))
