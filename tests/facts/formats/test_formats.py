"""Other tools' files become drafts: kinds and keys kept, blanks left, borrowed values marked."""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from support import foreign
from understudy.errors import SchemaError, UsageError
from understudy.facts.formats import Draft, DraftColumn, draft_of, read_draft
from understudy.facts.schema import Schema


def bodies(document: object, table: str | None = None) -> dict[str, Any]:
    """The drafted columns as a file would have them."""
    columns: dict[str, Any] = draft_of(document, table=table).document()["columns"]
    return columns


def test_sdv_fields_with_types() -> None:
    """Subtypes tell integers from floats, formats days from moments; keys and names are ids."""
    expected = {
        "no": {"kind": "id", "prefix": "P"},
        "age": {"kind": "integer"},
        "pay": {"kind": "float"},
        "sex": {"kind": "categorical"},
        "name": {"kind": "id"},
        "alive": {"kind": "boolean"},
        "born": {"kind": "date"},
    }
    assert expected == bodies(foreign.SDV_FIELDS)


def test_sdv_columns_with_sdtypes() -> None:
    """Bounds and orders are taken and marked; personal columns are made afresh."""
    arrival = {"min": date(2020, 1, 5), "unreviewed": True}
    expected = {
        "email": {"kind": "id"},
        "card": {"kind": "id"},
        "rewards": {"kind": "boolean"},
        "room": {
            "kind": "categorical",
            "values": ["basic", "suite"],
            "unreviewed": True,
            "ordered": True,
        },
        "city": {"kind": "categorical"},
        "street": {"kind": "id"},
        "fee": {"kind": "float", "min": 0.5, "max": 90.0, "unreviewed": True},
        "nights": {"kind": "integer", "max": 30, "unreviewed": True},
        "arrival": {
            "kind": "date",
            **arrival,
            "note": "was written as %d %b %Y; write it as ISO 8601",
        },
        "paid": {"kind": "datetime"},
        "extra": {"kind": ""},
    }
    assert expected == bodies(foreign.SDV_SINGLE)


def test_ranges_that_sdv_found_in_rows_are_unreviewed() -> None:
    """The second version writes bounds and categories of the rows; someone must vouch for them."""
    first, last = date(2019, 1, 12), date(2025, 12, 28)
    expected = {
        "patient": {"kind": "id"},
        "age": {"kind": "float", "min": 0.0, "max": 101.0, "unreviewed": True},
        "sex": {"kind": "categorical", "values": ["male", "female"], "unreviewed": True},
        "admitted": {"kind": "date", "min": first, "max": last, "unreviewed": True},
    }
    assert expected == bodies(foreign.SDV_SECOND)


def test_sdv_tables_are_chosen_by_name() -> None:
    """Foreign keys are ids in the table that refers, and only there."""
    assert {"hotel": {"kind": "id", "prefix": "HID_"}, "rating": {"kind": "float"}} == bodies(
        foreign.SDV_TABLES, "hotels"
    )
    guests = bodies(foreign.SDV_TABLES, "guests")
    assert {"kind": "id"} == guests["hotel"]
    assert {"kind": "categorical", "ordered": True} == guests["room"]


def test_a_composite_key_is_learned() -> None:
    """A column that names a row only together with another one is like any other."""
    document = {"columns": {"a": {"sdtype": "boolean"}, "b": {"sdtype": "boolean"}}}
    learned = bodies({**document, "primary_key": ["a", "b"]})
    assert ["boolean", "boolean"] == [body["kind"] for body in learned.values()]
    alone = bodies({**document, "primary_key": ["a"]})
    assert ["id", "boolean"] == [body["kind"] for body in alone.values()]


def test_a_domain_file_keeps_its_sizes() -> None:
    """Every code is a value; how many there are has to be vouched for."""
    draft = draft_of(foreign.DOMAIN)
    assert [*foreign.DOMAIN] == draft.unreviewed
    assert foreign.DOMAIN == Schema.parse(draft.document()).attributes


def test_csvw_columns() -> None:
    """Titles name columns, datatypes give kinds, nulls are inherited, bounds are reached."""
    expected = {
        "Number": {"kind": "id"},
        "Sex": {
            "kind": "categorical",
            "values": ["f", "m"],
            "unreviewed": True,
            "missing": ["?"],
        },
        "Age": {"kind": "integer", "min": 0, "max": 119, "unreviewed": True},
        "visits": {"kind": "integer", "min": 0, "missing": ["?"]},
        "pay": {"kind": "float", "min": 0.5, "max": 9.0, "unreviewed": True, "missing": ["?"]},
        "born": {
            "kind": "date",
            "min": date(1900, 1, 2),
            "unreviewed": True,
            "missing": ["?"],
            "note": "day of birth; was written as d/M/yyyy; write it as ISO 8601",
        },
        "seen": {
            "kind": "datetime",
            "max": datetime(2020, 1, 1, 10),
            "unreviewed": True,
            "missing": ["?"],
        },
        "alive": {"kind": "boolean", "missing": ["-"]},
        "state": {
            "kind": "categorical",
            "values": ["on", "off"],
            "unreviewed": True,
            "missing": ["?"],
        },
        "tags": {"kind": ""},
        "code": {"kind": "categorical", "missing": ["?"], "note": "https://example.org/codes"},
    }
    assert expected == bodies(foreign.CSVW)


def test_csvw_groups_of_tables() -> None:
    """A table is called by its file's name; a column without a name by its place."""
    assert {"x": {"kind": "integer", "missing": []}} == bodies(foreign.CSVW_GROUP, "people")
    assert ["y", "_col.2"] == [*bodies(foreign.CSVW_GROUP, "codes")]


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("a|b c", ["a", "b c"]),
        ("(?:a|b)", ["a", "b"]),
        ("[ab]", None),
        ("a.*", None),
        ("a|", None),
        ("", None),
        (5, None),
    ],
)
def test_only_plain_words_are_an_enumeration(expression: object, values: list[str] | None) -> None:
    """A regular expression that does more than list words says nothing of the values."""
    column = {"name": "x", "datatype": {"base": "string", "format": expression}}
    found = bodies({"tableSchema": {"columns": [column]}})["x"]
    assert values == found.get("values")
    assert (values is not None) == ("unreviewed" in found)


@pytest.mark.parametrize("document", [foreign.SDV_TABLES, foreign.CSVW_GROUP])
def test_a_table_must_be_chosen_among_several(document: dict[str, Any]) -> None:
    """The message lists them, and another name is refused with the same list."""
    with pytest.raises(UsageError, match=r"describes 2 tables: \w+, \w+; choose with --table"):
        draft_of(document)
    with pytest.raises(UsageError, match="'nobody' is not in the file; it describes"):
        draft_of(document, table="nobody")


@pytest.mark.parametrize("document", [foreign.SDV_SINGLE, foreign.CSVW, foreign.DOMAIN])
def test_no_table_is_chosen_where_there_is_one(document: dict[str, Any]) -> None:
    """A name that could be checked against nothing is refused."""
    with pytest.raises(UsageError, match="leave --table out"):
        draft_of(document, table="people")


@pytest.mark.parametrize("document", [None, [], {}, {"a": 1.5}, {"a": True}, {"a": {"b": 1}}, "x"])
def test_an_unknown_format_is_told_what_is_understood(document: object) -> None:
    """The message names the formats."""
    words = r"understood are a domain file, \{column: size\}, CSVW metadata, Frictionless"
    with pytest.raises(SchemaError, match=words):
        draft_of(document)


def test_a_schema_of_our_own_is_sent_to_its_check() -> None:
    """There is nothing to import."""
    with pytest.raises(SchemaError, match="is a schema, or close to one; check it"):
        draft_of({"columns": {"a": {"kind": "boolean"}}})


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"a": 0}, "column 'a': its size is not from 1 to 65535"),
        ({"a": 70_000}, "column 'a': its size is not from 1 to 65535"),
        ({"fields": {"a": {}}}, "column 'a': it has no sdtype or type"),
        ({"fields": {"a": 5}}, "column 'a': it is not described by a table"),
        ({"fields": {}}, "describes no column"),
        ({"METADATA_SPEC_VERSION": "V1"}, "describes no column"),
        ({"tables": {"t": 5}}, "the table is not described by a table"),
        (
            {"fields": {"a": {"type": "numerical", "subtype": "integer", "min": 0.5}}},
            "column 'a': a bound is not of kind integer",
        ),
        (
            {"fields": {"a": {"type": "numerical", "max": float("nan")}}},
            "a bound is not of kind float",
        ),
        ({"fields": {"a": {"type": "datetime", "max": "soon"}}}, "a bound is not of kind datetime"),
        (
            {"fields": {"a": {"type": "datetime", "format": "%d %d", "max": "1 1"}}},
            "a bound is not of kind date",
        ),
        ({"fields": {"a": {"type": "categorical", "values": "ab"}}}, "its values are not a list"),
        ({"fields": {"a": {"type": "categorical", "values": [[]]}}}, "neither text nor number"),
        ({"tableSchema": "people.json"}, "links are not followed"),
        ({"tableSchema": {"columns": []}}, "describes no column"),
        (
            {"tableSchema": {"columns": [{"name": "a", "datatype": 5}]}},
            "its datatype is not a name",
        ),
        ({"tableSchema": {"columns": [{"name": "a", "null": 5}]}}, "null is neither a text"),
        ({"tableSchema": {"columns": [{"name": "a"}, {"name": "a"}]}}, "the name occurs twice"),
        ({"tables": [5]}, "a table is not described by a table"),
        (
            {
                "tableSchema": {
                    "columns": [
                        {"name": "a", "datatype": {"base": "date", "minExclusive": "9999-12-31"}}
                    ]
                }
            },
            "beyond all dates",
        ),
    ],
)
def test_what_does_not_fit_is_told(document: dict[str, Any], words: str) -> None:
    """One sentence for each finding, with a way out and without the value."""
    with pytest.raises(SchemaError, match=words) as caught:
        draft_of(document)
    assert all(";" in problem for problem in caught.value.problems)
    assert "soon" not in str(caught.value)


def test_all_findings_come_at_once() -> None:
    """One column hides no other."""
    with pytest.raises(SchemaError) as caught:
        draft_of({"a": 0, "b": 2, "c": -1})
    assert ["'a'", "'c'"] == [p.split()[1].strip(":") for p in caught.value.problems]


@pytest.mark.parametrize(
    ("document", "table"),
    [
        (foreign.SDV_FIELDS, None),
        (foreign.SDV_SINGLE, None),
        (foreign.SDV_TABLES, "guests"),
        (foreign.SDV_SECOND, None),
        (foreign.DOMAIN, None),
        (foreign.CSVW, None),
    ],
)
def test_a_draft_is_toml_and_json_of_one_structure(
    document: dict[str, Any], table: str | None
) -> None:
    """Blanks are comments in TOML but for empty lists of values; nothing else differs."""
    draft = draft_of(document, table=table)
    columns = tomllib.loads(draft.to_toml())["columns"]
    for name, body in draft.document()["columns"].items():
        blank: dict[str, Any] = {"values": []} if "values" in draft.columns[name].blanks else {}
        assert {**body, **blank} == columns[name]
    assert [*columns] == [*json.loads(draft.to_json())["columns"]]


def test_blanks_are_left_where_something_is_missing() -> None:
    """Each blank is in its own table, and the draft says which columns have any."""
    draft = Draft(
        {
            "a": DraftColumn("integer", {"min": 0}),
            "b": DraftColumn("categorical"),
            "c": DraftColumn("boolean"),
            "d": DraftColumn(),
        }
    )
    [a, b, c, d] = draft.to_toml().split("\n\n")[1:]
    assert a.endswith("min = 0\n# max = ")
    assert b.endswith("values = []")
    assert c.endswith('"boolean"')
    assert d.endswith('kind = ""\n')
    assert ["a", "b", "d"] == draft.unfinished


def test_a_file_is_named_in_what_is_wrong_with_it(tmp_path: Path) -> None:
    """Whatever its suffix, the file is read as JSON."""
    path = tmp_path / "metadata.txt"
    path.write_text('{"a": 0, "b": 2}')
    with pytest.raises(SchemaError, match=r"metadata\.txt: column 'a'"):
        read_draft(path)
    path.write_text('{"b": 2}')
    assert ["b"] == [*read_draft(path).columns]
