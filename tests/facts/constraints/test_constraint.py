"""What constraints mean: exact sets of codes, or a refusal that says what to change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from support.constraints import Rule, allowed_cells, document_of, ruled_columns
from understudy.errors import SchemaError
from understudy.facts.constraints import read_constraint
from understudy.facts.schema import Schema

COLUMNS: dict[str, Any] = {
    "key": {"kind": "id"},
    "sex": {"kind": "categorical", "values": ["f", "m"], "missing": ["?"]},
    "size": {"kind": "categorical", "values": ["S", "M", "L"], "ordered": True},
    "grade": {"kind": "categorical", "values": [1, 2, 2.5]},
    "alive": {"kind": "boolean"},
    "age": {"kind": "integer", "edges": [0, 10, 20], "max": 29, "missing": [-1]},
    "kids": {"kind": "integer", "min": 0, "max": 3},
    "score": {"kind": "float", "edges": [0.0, 0.5, 1.0], "max": 1.0},
    "born": {"kind": "date", "edges": ["2000-01-01", "2000-02-01"], "max": "2000-12-31"},
    "seen": {
        "kind": "datetime",
        "edges": ["2000-01-01T00:00:00", "2000-01-01T12:00:00"],
        "max": "2000-01-02T00:00:00",
    },
}
SCHEMA = Schema.parse({"columns": COLUMNS})


@pytest.mark.parametrize(
    ("condition", "codes"),
    [
        ("sex = f", [0]),
        ("sex != f", [1, 2]),
        ("sex in {m, f}", [0, 1]),
        ("sex missing", [2]),
        ("sex not missing", [0, 1]),
        ("size < L", [0, 1]),
        ("size >= M", [1, 2]),
        ("grade = 2.0", [1]),
        ("grade in {1, 2.5}", [0, 2]),
        ("alive = yes", [1]),
        ("alive != TRUE", [0]),
        ("age < 10", [0]),
        ("age <= 9", [0]),
        ("age > 19", [2]),
        ("age >= 0", [0, 1, 2]),
        ("age != 5", None),
        ("age in {0,1,2,3,4,5,6,7,8,9}", [0]),
        ("kids = 2", [2]),
        ("kids != 2", [0, 1, 3]),
        ("kids = 2.0", [2]),
        ("score < 0.5", [0]),
        ("score >= 1", [2]),
        ("score = 1.0", [2]),
        ("born < 2000-02-01", [0]),
        ("born > 2000-01-31", [1]),
        ("seen >= 2000-01-01T12:00:00", [1]),
        ("seen >= '2000-01-01 14:00:00+02:00'", [1]),
        ("seen <= 2000-01-01T11:59:59", [0]),
    ],
)
def test_the_codes_of_a_condition(condition: str, codes: list[int] | None) -> None:
    """A condition holds for the whole of a level, or for none of it."""
    if codes is None:
        with pytest.raises(SchemaError, match="whole bins"):
            read_constraint(f"not ({condition})", SCHEMA.columns)
        return
    [found] = read_constraint(f"not ({condition})", SCHEMA.columns).premise.values()
    assert codes == [code for code in range(found.bit_length()) if found >> code & 1]


@pytest.mark.parametrize(
    ("condition", "position", "words"),
    [
        ("colour = red", 6, "'colour' is not a column; the columns are key, sex, size"),
        ("key = 3", 6, "'key' is generated afresh, as ids and texts are; constrain others"),
        ("sex = x", 12, "'x' is not a declared value of column 'sex'; declare or correct it"),
        ("sex = ?", 12, "'?' is a missing marker; write: sex missing"),
        ("sex < m", 6, "column 'sex' has no order; use = or in, or declare ordered = true"),
        ("alive > no", 6, "column 'alive' has no order"),
        ("kids missing", 6, "column 'kids' has no missing level; declare missing = [] for it"),
        ("kids not missing", 6, "column 'kids' has no missing level"),
        ("age < 18", 12, "'18' cuts the bin from 10 to 19, and rows are drawn by whole bins; put "),
        ("age < 18", 12, "put an edge at 18"),
        ("age <= 18", 13, "put an edge at 19"),
        ("age = 18", 12, "put an edge at 18 and 19"),
        ("age = 10", 12, "put an edge at 11"),
        ("age in {3, 10}", 14, "'3' cuts the bin from 0 to 9"),
        ("age = -1", 12, "'-1' is a missing marker; write: age missing"),
        ("age < 30", 12, "'30' is out of the bounds of column 'age', 0 to 29; use one within"),
        ("age < 9.5", 12, "'9.5' is not a whole number; write one, as in the column's max"),
        ("age < ten", 12, "'ten' is not a whole number"),
        ("age < 1_0", 12, "'1_0' is not a whole number"),
        ("age < nan", 12, "'nan' is not a whole number"),
        ("score < nan", 14, "'nan' is out of the bounds"),
        ("score <= 0.5", 15, "from 0.5 to 1, and rows are drawn by whole bins; compare by < or >="),
        ("score < 0.25", 14, "with an edge at 0.25"),
        ("score = 0.5", 14, "compare by < or >="),
        ("born < 2000-01-15", 13, "from 2000-01-01 to 2000-01-31"),
        ("born < 2000-01-15", 13, "put an edge at 2000-01-15"),
        ("born < 2000-02-01T10:00:00", 13, "is not a day"),
        ("born < soon", 13, "'soon' is not a day"),
        ("seen < '2000-01-01 12:00:00.5'", 13, "is not a moment"),
        ("seen < 2000-01-01T10:00:00", 13, "put an edge at 2000-01-01T10:00:00"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_way_out(
    condition: str, position: int, words: str
) -> None:
    """The message gives the constraint, the character, the value, the rule and the way out."""
    text = f"not ({condition})"
    with pytest.raises(SchemaError) as caught:
        read_constraint(text, SCHEMA.columns)
    [problem] = caught.value.problems
    assert problem.startswith(f"constraint {text!r}: at character {position}: "), problem
    assert words in problem, problem
    assert ";" in problem


def test_every_finding_of_a_constraint_is_told() -> None:
    """One finding hides no other."""
    with pytest.raises(SchemaError) as caught:
        read_constraint("if age < 18 and sex = x then kids missing", SCHEMA.columns)
    assert [10, 23, 30] == [
        int(problem.split("character ")[1].split(":")[0]) for problem in caught.value.problems
    ]


@pytest.mark.parametrize("text", [None, 3, ["if"], {"if": 1}])
def test_a_constraint_is_a_text(text: object) -> None:
    """Anything else is refused by name."""
    with pytest.raises(SchemaError, match="is not a text; write"):
        read_constraint(text, SCHEMA.columns)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not (sex = f and age missing)", "never: sex is f and age is missing"),
        ("if size in {S, M} then kids<=1", "where size is one of S, M: kids is at most 1"),
        (
            "if age not missing and kids != 0 then score >= 0.5",
            "where age is not missing and kids is not 0: score is at least 0.5",
        ),
    ],
)
def test_in_words(text: str, words: str) -> None:
    """A constraint can be read aloud."""
    assert words == read_constraint(text, SCHEMA.columns).words


@given(ruled_columns(most=4))
def test_the_number_of_forbidden_combinations(
    ruled: tuple[tuple[str, ...], tuple[Rule, ...]],
) -> None:
    """As many as decoding all combinations and judging them one by one finds."""
    columns, rules = ruled
    schema = Schema.parse(document_of(columns, ()))
    for rule in rules:
        constraint = read_constraint(rule.text, schema.columns)
        allowed = allowed_cells(tuple(constraint.sizes), (rule,))
        assert allowed.size == constraint.combinations
        assert int((~allowed).sum()) == constraint.forbidden
