"""Schemas: two formats of one structure, every problem found at once, each with a way out."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given

from support.shared import shared_file
from support.tables import documents
from understudy.errors import SchemaError
from understudy.facts.column import KINDS, MOST_LEVELS, text_of
from understudy.facts.schema import Schema

TOML = """
name = "people"
target = "income"

[columns.no]
kind = "id"
prefix = "P"

[columns.sex]
kind = "categorical"
values = ["f", "m"]
missing = ["?"]

[columns.grade]
kind = "categorical"
values = [1, 2, 3]
ordered = true
outside = 3

[columns.alive]
kind = "boolean"

[columns.age]
kind = "integer"
edges = [0, 18, 65]
max = 120
missing = [-1]

[columns.income]
kind = "float"
min = 0
max = 1e6
bins = 20
outside = "drop"

[columns.born]
kind = "date"
min = 1900-01-01
max = 2030-12-31

[columns.seen]
kind = "datetime"
min = 2020-01-01T00:00:00
max = 2020-12-31T23:59:59
note = "to the second"
"""

JSON = {
    "name": "people",
    "target": "income",
    "columns": {
        "no": {"kind": "id", "prefix": "P"},
        "sex": {"kind": "categorical", "values": ["f", "m"], "missing": ["?"]},
        "grade": {"kind": "categorical", "values": [1, 2, 3], "ordered": True, "outside": 3},
        "alive": {"kind": "boolean"},
        "age": {"kind": "integer", "edges": [0, 18, 65], "max": 120, "missing": [-1]},
        "income": {"kind": "float", "min": 0, "max": 1e6, "bins": 20, "outside": "drop"},
        "born": {"kind": "date", "min": "1900-01-01", "max": "2030-12-31"},
        "seen": {
            "kind": "datetime",
            "min": "2020-01-01T00:00:00",
            "max": "2020-12-31T23:59:59",
            "note": "to the second",
        },
    },
}


def problems_of(**columns: Any) -> tuple[str, ...]:
    """What is wrong with these columns."""
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"columns": columns})
    return caught.value.problems


def problem_of(column: Any) -> str:
    """The one thing that is wrong with a column named x."""
    [problem] = problems_of(x=column)
    return problem


def test_toml_and_json_of_the_same_structure_are_equal(tmp_path: Path) -> None:
    """The format of the file changes nothing: columns, free keys, fingerprint."""
    (tmp_path / "s.toml").write_text(TOML)
    (tmp_path / "s.json").write_text(json.dumps(JSON))
    first, second = Schema.load(tmp_path / "s.toml"), Schema.load(tmp_path / "s.json")
    assert first == second
    assert first.fingerprint == second.fingerprint
    assert {"name": "people", "target": "income"} == first.extras
    assert [*JSON["columns"]] == [*first.columns]


def test_sizes_count_values_bins_and_the_missing_level() -> None:
    """The size of an attribute is its levels, and one more where cells may be missing."""
    expected = {"sex": 3, "grade": 3, "alive": 2, "age": 4, "income": 20, "born": 16, "seen": 16}
    assert expected == Schema.parse(JSON).attributes


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@given(document=documents())
def test_what_is_dumped_loads_equal(suffix: str, document: dict[str, Any]) -> None:
    """Every schema survives both formats."""
    schema = Schema.parse(document)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"schema{suffix}"
        schema.dump(path)
        again = Schema.load(path)
    assert schema == again
    assert schema.attributes == again.attributes
    assert schema.fingerprint == again.fingerprint
    assert [*schema.columns] == [*again.columns]


def test_the_benchmark_schema_loads_as_it_is() -> None:
    """The shared Adult schema has the sizes that the benchmark's codes have."""
    schema = Schema.load(shared_file("benchmark", "adult.json"))
    sizes = [16, 9, 32, 16, 16, 7, 15, 6, 5, 2, 16, 15, 20, 42, 2]
    assert sizes == [*schema.attributes.values()]
    assert "income" == schema.extras["target"]


def test_all_problems_are_found_at_once() -> None:
    """One problem hides no other, within a column and across columns."""
    found = problems_of(
        a={"kind": "integer", "min": 9, "max": 1},
        b={"kind": "categorical", "values": []},
        c={"kind": "float", "min": True, "max": "x", "colour": 1},
        d={"kind": "wonder"},
        e={"kind": "boolean"},
    )
    assert ["'a'", "'b'", "'c'", "'c'", "'c'", "'d'"] == [p.split()[1].strip(":") for p in found]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({}, "the kind is missing or unknown; use one of categorical, boolean"),
        ({"kind": "colour"}, "the kind is missing or unknown; use one of"),
        ("integer", "the column is not a table of keys; write kind"),
        ([1], "the column is not a table of keys; write kind"),
        (None, "the column is not a table of keys; write kind"),
        ({"kind": "categorical"}, "values is not given; add it"),
        ({"kind": "categorical", "values": []}, "values is empty; list"),
        ({"kind": "categorical", "values": "ab"}, "values is 'ab'"),
        ({"kind": "categorical", "values": ["a", [1]]}, "values"),
        (
            {"kind": "categorical", "values": ["a", "a"]},
            "'a' is listed more than once; list it once",
        ),
        ({"kind": "categorical", "values": [3, "3"]}, "'3' is listed more than once; list it once"),
        ({"kind": "categorical", "values": [1.0, 1]}, "'1' is listed more than once; list it once"),
        ({"kind": "categorical", "values": [float("nan")]}, "values holds nan or inf; list finite"),
        ({"kind": "categorical", "values": [float("inf")]}, "values holds nan or inf; list finite"),
        ({"kind": "categorical", "values": ["a"], "missing": ["a"]}, "both a value and a missing"),
        (
            {"kind": "categorical", "values": [""], "missing": []},
            "empty cells are missing; keep one",
        ),
        ({"kind": "categorical", "values": ["a"], "outside": "b"}, "outside is 'b', which is not"),
        ({"kind": "categorical", "values": ["a"], "outside": "clip"}, 'use "drop" or one of'),
        ({"kind": "categorical", "values": ["a"], "ordered": 1}, "ordered is 1"),
        (
            {"kind": "boolean", "values": [True]},
            "values is not a key of this kind of column; remove",
        ),
        ({"kind": "boolean", "missing": ["true"]}, "both a value and a missing marker; keep one"),
        ({"kind": "boolean", "missing": "?"}, "write a list of markers: missing = ['?']"),
        ({"kind": "boolean", "missing": -9}, "write a list of markers: missing = [-9]"),
        (
            {"kind": "boolean", "missing": [None]},
            "missing holds a value that is neither text nor number; empty",
        ),
        ({"kind": "boolean", "missing": {"a": 1}}, "missing is {'a': 1}"),
        ({"kind": "boolean", "note": 5}, "note is 5"),
        ({"kind": "integer", "max": 1}, "neither min nor edges is given; give one of them"),
        ({"kind": "integer", "min": 1}, "max is not given; add it"),
        ({"kind": "integer", "min": 1, "edges": [1], "max": 2}, "both min and edges are given"),
        ({"kind": "integer", "min": 90, "max": 17}, "upper bound 17 is below lower bound 90; swap"),
        (
            {"kind": "integer", "min": True, "max": 2},
            "min is True: input should be a valid integer",
        ),
        ({"kind": "integer", "min": 0, "max": 2.5}, "max is 2.5: input should be a valid integer"),
        ({"kind": "integer", "min": "0", "max": 2}, "min is '0': input should be a valid integer"),
        ({"kind": "integer", "min": 0, "max": 2**63}, "input should be less than or equal to"),
        ({"kind": "integer", "edges": [], "max": 2}, "edges is empty; list the left edge of every"),
        (
            {"kind": "integer", "edges": [], "min": 0, "max": 2},
            "edges is empty; list the left edge",
        ),
        ({"kind": "integer", "edges": [2, 1], "max": 3}, "edges do not increase; sort them"),
        ({"kind": "integer", "edges": [1, 1], "max": 3}, "edges do not increase; sort them"),
        (
            {"kind": "integer", "edges": [1, 5], "max": 3},
            "max 3 is below the last edge 5; raise max",
        ),
        (
            {"kind": "integer", "edges": [1, True], "max": 3},
            "edges is True: input should be a valid",
        ),
        ({"kind": "integer", "min": 0, "max": 9, "bins": 0}, "bins is 0; use a positive number"),
        ({"kind": "integer", "min": 0, "max": 9, "bins": True}, "bins is True: input should be"),
        (
            {"kind": "integer", "edges": [0], "max": 9, "bins": 3},
            "bins is 3; use a positive number",
        ),
        (
            {"kind": "integer", "min": 0, "max": 10**6, "bins": 10**6},
            "bins is 1000000, more than 65535",
        ),
        ({"kind": "integer", "min": 0, "max": 9, "missing": [5]}, "'5' is within the bounds; move"),
        (
            {"kind": "integer", "min": 0, "max": 9, "outside": 12},
            "12, which is itself out of bounds",
        ),
        ({"kind": "integer", "min": 0, "max": 9, "outside": "x"}, 'use "clip", "drop" or a value'),
        ({"kind": "integer", "min": 0, "max": 9, "outside": [1]}, 'use "clip", "drop" or a value'),
        ({"kind": "integer", "min": 0, "max": 9, "outside": True}, 'use "clip", "drop" or a value'),
        (
            {"kind": "float", "min": float("nan"), "max": 1.0},
            "min is nan: input should be a finite",
        ),
        (
            {"kind": "float", "min": 0.0, "max": float("inf")},
            "max is inf: input should be a finite",
        ),
        ({"kind": "float", "min": -1.7e308, "max": 1.7e308}, "min is -1.7e+308: input should be"),
        ({"kind": "float", "edges": [float("nan")], "max": 1.0}, "edges is nan: input should be a"),
        ({"kind": "float", "min": 0.0, "max": 5e-324}, "narrower than floating point can tell"),
        (
            {"kind": "float", "min": 0.0, "max": 1.0, "outside": float("nan")},
            "outside is nan, which",
        ),
        ({"kind": "float", "min": 0.0, "max": 1.0, "missing": [0.5]}, "'0.5' is within the bounds"),
        ({"kind": "date", "min": "2020-02-30", "max": "2021-01-01"}, "min is '2020-02-30': input"),
        ({"kind": "date", "min": "2021-01-02", "max": "2021-01-01"}, "is below lower bound"),
        ({"kind": "date", "min": "2021-01-01", "max": "2021-01-02", "outside": 5}, 'use "clip"'),
        (
            {"kind": "datetime", "min": "soon", "max": "2021-01-01"},
            "min is 'soon': input should be",
        ),
        ({"kind": "id", "missing": []}, "missing is not a key of this kind of column; remove"),
    ],
)
def test_a_problem_names_the_column_the_rule_and_the_way_out(column: Any, words: str) -> None:
    """Every rule speaks of the column by name, then of what to do."""
    found = problems_of(x=column)
    assert all(problem.startswith("column 'x': ") for problem in found)
    assert any(words in problem for problem in found), found
    assert all(";" in problem for problem in found)


@pytest.mark.parametrize(
    "document", [None, [], "columns", {}, {"columns": None}, {"columns": []}, {"columns": [{}]}]
)
def test_a_document_without_columns_is_refused(document: object) -> None:
    """The message says what to add."""
    with pytest.raises(SchemaError, match="no table 'columns'; add"):
        Schema.parse(document)


def test_something_must_be_learned() -> None:
    """Ids alone, or no columns at all, make no table."""
    for columns in ({}, {"no": {"kind": "id"}}):
        with pytest.raises(SchemaError, match="no column to learn; declare at least one"):
            Schema.parse({"columns": columns})


def test_a_blank_name_is_refused() -> None:
    """A column is named as in the data."""
    [problem] = problems_of(**{" ": {"kind": "boolean"}})
    assert "column ' ': the name is blank; name it as in the data" == problem


def test_a_text_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    """Half a surrogate pair could be neither matched nor written."""
    path = tmp_path / "s.json"
    path.write_text('{"columns": {"x": {"kind": "categorical", "values": ["\\ud800"]}}}')
    with pytest.raises(SchemaError, match="not valid Unicode"):
        Schema.load(path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"columns": {"a": {"kind": "boolean"}, "a": {"kind": "boolean"}}}', "a"),
        ('{"columns": {"a": {"kind": "boolean", "kind": "id"}}}', "kind"),
        ('{"columns": {}, "columns": {"a": {"kind": "boolean"}}}', "columns"),
    ],
)
def test_a_key_that_stands_twice_in_json_is_refused(tmp_path: Path, text: str, name: str) -> None:
    """JSON would silently keep the last one."""
    path = tmp_path / "s.json"
    path.write_text(text)
    with pytest.raises(
        SchemaError, match=f"'{name}' occurs twice in one table of the schema; keep"
    ):
        Schema.load(path)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("s.toml", b"[columns.a\n", "correct the file"),
        ("s.toml", b"[columns.a]\n[columns.a]\n", "correct the file"),
        ("s.json", b"{", "correct the file"),
        ("s.json", b"[" * 100_000, "correct the file"),
        ("s.toml", b"\xff\xfe", "it is not UTF-8 text; check"),
        ("s.json", b"", "correct the file"),
        ("s.json", b'{"a": ' + b"9" * 5000 + b"}", "correct the file"),
        ("s.toml", b"a = " + b"9" * 5000, "correct the file"),
        ("s.toml", b"a = " + b"[" * 5000, "correct the file"),
        ("s.toml", b"a." * 500 + b"a = 1\n[columns.x]\nkind = 'boolean'", "64 deep; correct"),
        ("s.json", b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", "64 deep; correct"),
    ],
)
def test_a_file_that_is_no_toml_or_json_is_refused(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    """The message names the file and what the parser found."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SchemaError, match=words) as caught:
        Schema.load(tmp_path / name)
    assert name in str(caught.value)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    """Editors that write one do no harm."""
    for name, text in (("s.toml", TOML), ("s.json", json.dumps(JSON))):
        (tmp_path / name).write_text("\ufeff" + text, encoding="utf-8")
        assert Schema.parse(JSON) == Schema.load(tmp_path / name)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """A missing file, and a folder."""
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(SchemaError, match=r"cannot be read: .*; check the path"):
            Schema.load(path)


def test_the_fingerprint_depends_on_the_columns_alone() -> None:
    """Free keys leave it as it is; a bound or the order of columns changes it."""
    columns: dict[str, Any] = {
        "a": {"kind": "boolean"},
        "b": {"kind": "integer", "min": 0, "max": 9},
    }
    bare = Schema.parse({"columns": columns}).fingerprint
    assert bare == Schema.parse({"name": "x", "columns": columns}).fingerprint
    moved = columns | {"b": {"kind": "integer", "min": 0, "max": 8}}
    assert bare != Schema.parse({"columns": moved}).fingerprint
    turned = {"b": columns["b"], "a": columns["a"]}
    assert bare != Schema.parse({"columns": turned}).fingerprint


CONSTRAINED = {
    "name": "x",
    "constraints": ["if a = yes then b = 0", "not (a = no and 'b' in {1, 2})"],
    "columns": {"a": {"kind": "boolean"}, "b": {"kind": "integer", "min": 0, "max": 9}},
}


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_constraints_survive_both_formats(tmp_path: Path, suffix: str) -> None:
    """As they were written, in their order."""
    schema = Schema.parse(CONSTRAINED)
    schema.dump(tmp_path / f"s{suffix}")
    again = Schema.load(tmp_path / f"s{suffix}")
    assert schema == again
    assert CONSTRAINED["constraints"] == [constraint.text for constraint in again.constraints]
    assert {"name": "x"} == again.extras
    assert schema.fingerprint == again.fingerprint


def test_constraints_are_part_of_the_fingerprint() -> None:
    """Their texts and their order; without any it is that of the columns."""
    first, second = CONSTRAINED["constraints"]
    lists: list[list[Any]] = [[], [first], [second], [first, second], [second, first]]
    prints = {Schema.parse(CONSTRAINED | {"constraints": texts}).fingerprint for texts in lists}
    assert 5 == len(prints)
    assert Schema.parse({"columns": CONSTRAINED["columns"]}).fingerprint in prints


def test_problems_of_constraints_come_with_those_of_columns() -> None:
    """A column with problems of its own excuses what is said of it, and nothing else."""
    columns = {"a": {"kind": "wonder"}, "b": {"kind": "boolean"}}
    constraints = ["if a < 3 then b = 5", "if b", 7, "not (c missing and a > 2)"]
    with pytest.raises(SchemaError) as caught:
        Schema.parse({"constraints": constraints, "columns": columns})
    assert [
        "column 'a'",
        "constraint 'if a < 3 then b = 5': at character 19",
        "constraint 'if b': at character 5",
        "constraint 7 is not a text; write 'if ... then ...' in quotes",
        "constraint 'not (c missing and a > 2)': at character 6",
    ] == [problem.rsplit(": ", 1)[0] for problem in caught.value.problems]


@pytest.mark.parametrize("constraints", ["if a = yes then b = 0", 3, None, {"a": 1}])
def test_constraints_are_a_list(constraints: object) -> None:
    """The message shows how to write one."""
    with pytest.raises(SchemaError, match="write a list of texts: constraints ="):
        Schema.parse(CONSTRAINED | {"constraints": constraints})


def test_constraints_below_a_column_are_pointed_out(tmp_path: Path) -> None:
    """TOML would make them a key of the last column."""
    path = tmp_path / "s.toml"
    path.write_text("[columns.a]\nkind = 'boolean'\nconstraints = []\n")
    with pytest.raises(SchemaError, match=r"write it above the first \[columns.NAME\]"):
        Schema.load(path)


def test_free_keys_without_a_place_in_toml_are_refused_in_words(tmp_path: Path) -> None:
    """TOML has no null; the message says so, and JSON keeps it."""
    schema = Schema.parse({"note": None, "columns": {"a": {"kind": "boolean"}}})
    with pytest.raises(SchemaError, match="TOML"):
        schema.dump(tmp_path / "s.toml")
    schema.dump(tmp_path / "s.json")
    assert schema == Schema.load(tmp_path / "s.json")


def test_many_names_are_looked_through_once(tmp_path: Path) -> None:
    """The last of a hundred thousand names standing twice is found at once."""
    path = tmp_path / "s.json"
    names = [*range(100_000), 99_999]
    path.write_text("{" + ",".join(f'"{name}": 1' for name in names) + "}")
    with pytest.raises(SchemaError, match="'99999' occurs twice"):
        Schema.load(path)


def test_a_number_too_long_to_spell_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """TOML writes such numbers in hexadecimal, and Python would not write them at all."""
    path = tmp_path / "s.toml"
    for body in ('"categorical"\nvalues = [{}]', '"integer"\nmin = {}\nmax = 5'):
        text = body.format(f"0x{'f' * 9000}")
        path.write_text(f"[columns.x]\nkind = {text}\n")
        with pytest.raises(SchemaError, match="a number has thousands of digits; correct"):
            Schema.load(path)
    assert ("", "") == capfd.readouterr()


def test_a_schema_that_loads_can_be_written(tmp_path: Path) -> None:
    """A model is saved after it was paid for, so that nothing may fail there."""
    path = tmp_path / "s.toml"
    path.write_text("a." * 62 + "a = 1\n[columns.x]\nkind = 'boolean'\n")
    schema = Schema.load(path)
    assert schema == Schema.from_json(schema.to_json())
    schema.dump(tmp_path / "again.toml")
    assert schema == Schema.load(tmp_path / "again.toml")


def test_endless_tables_have_no_place_in_toml(tmp_path: Path) -> None:
    """They are refused in words, as null is."""
    nested: Any = []
    for _ in range(400):
        nested = [nested]
    schema = Schema.parse({"deep": nested, "columns": {"a": {"kind": "boolean"}}})
    with pytest.raises(SchemaError, match="TOML cannot write; use JSON"):
        schema.dump(tmp_path / "s.toml")


def test_ten_thousand_values_are_fine_and_65536_are_not() -> None:
    """Codes are held in 16 bits."""
    many = {"kind": "categorical", "values": [*range(10_000)]}
    assert {"x": 10_000} == Schema.parse({"columns": {"x": many}}).attributes
    most = {"kind": "categorical", "values": [*range(MOST_LEVELS)]}
    assert {"x": 65_535} == Schema.parse({"columns": {"x": most}}).attributes
    expected = "column 'x': 65536 values are more than 65535; group them"
    assert expected == problem_of({"kind": "categorical", "values": [*range(MOST_LEVELS + 1)]})
    assert expected == problem_of(most | {"missing": []})
    assert expected == problem_of({"kind": "integer", "edges": [*range(65_536)], "max": 99_999})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        ("3", "3"),
        (2.5, "2.5"),
        (True, "true"),
        (False, "false"),
        (-0.0, "0"),
        (date(2020, 1, 2), "2020-01-02"),
        (datetime(2020, 1, 2, 3), "2020-01-02T03:00:00"),
    ],
)
def test_text_of_a_value(value: object, text: str) -> None:
    """Integer 3, 3.0 and "3" have one text."""
    assert text == text_of(value)


@pytest.mark.parametrize(
    ("column", "edges"),
    [
        ({"kind": "integer", "min": 0, "max": 3}, (0, 1, 2, 3)),
        ({"kind": "integer", "min": 0, "max": 9, "bins": 3}, (0, 3, 6)),
        ({"kind": "integer", "min": 5, "max": 5, "bins": 4}, (5,)),
        ({"kind": "integer", "min": 1, "max": 32}, tuple(range(1, 33))),
        ({"kind": "integer", "min": 0, "max": 159}, tuple(range(0, 160, 10))),
        ({"kind": "float", "min": 0.0, "max": 1.0, "bins": 4}, (0.0, 0.25, 0.5, 0.75)),
        ({"kind": "float", "min": 2.0, "max": 2.0}, (2.0,)),
        ({"kind": "date", "min": "1970-01-01", "max": "1970-01-03"}, (0, 1, 2)),
        ({"kind": "datetime", "min": "1970-01-01", "max": "1970-01-01T00:00:01"}, (0, 1)),
        ({"kind": "datetime", "edges": ["1970-01-01T02:00:00+02:00"], "max": "1970-01-02"}, (0,)),
    ],
)
def test_left_edges(column: dict[str, Any], edges: tuple[float, ...]) -> None:
    """Short whole ranges keep every value; others are cut evenly, into 16 by default."""
    learned: Any = Schema.parse({"columns": {"x": column}}).learned["x"]
    assert edges == learned.left_edges


def test_every_kind_is_listed() -> None:
    """The kinds named in messages are those that parse."""
    columns = {**JSON["columns"], "mail": {"kind": "text", "drop": True}}  # type: ignore[dict-item]
    assert set(KINDS) == {c.kind for c in Schema.parse({"columns": columns}).columns.values()}
