"""Code books: what each format says of its columns, and what is refused."""

from __future__ import annotations

import datetime
import json
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pydantic
import pytest

from support.foreign import DDI, FRICTIONLESS, REDCAP
from understudy.errors import SchemaError, UsageError
from understudy.facts.formats import Draft, ddi, frictionless, read_draft, redcap
from understudy.facts.formats.frames import of_frame
from understudy.facts.formats.python_models import of_pandera
from understudy.facts.schema import Schema
from understudy.methods.discover import Skeleton, infer_schema
from understudy.methods.independent import Independent


def _bodies(draft: Draft) -> dict[str, dict[str, Any]]:
    return {name: column.document() for name, column in draft.columns.items()}


def _draft(folder: Path, name: str, text: str) -> Draft:
    path = folder / name
    path.write_text(text)
    return read_draft(path)


def test_frictionless_fields(tmp_path: Path) -> None:
    """Types become kinds, constraints become unreviewed values, the key an id."""
    found = _bodies(_draft(tmp_path, "schema.json", json.dumps(FRICTIONLESS)))
    assert {"kind": "id"} == found["who"]
    bounds = {"min": 0, "max": 120, "unreviewed": True, "missing": ["-99"]}
    assert {"kind": "integer", **bounds} == found["age"]
    assert {"kind": "categorical", "values": ["f", "m"], "unreviewed": True} == found["sex"]
    assert {"kind": "date", "missing": ["-99"], "note": "first visit"} == found["seen"]
    assert ("", {"kind": "boolean"}) == (found["shape"]["kind"], found["smoker"])


def test_frictionless_packages() -> None:
    """One table of several is chosen by name; a link is not followed."""
    package = {
        "resources": [{"name": "a", "schema": FRICTIONLESS}, {"name": "b", "schema": "b.json"}]
    }
    assert 6 == len(frictionless.draft(package, "a").columns)
    with pytest.raises(SchemaError, match="links are not followed"):
        frictionless.draft(package, "b")
    with pytest.raises(UsageError, match="choose with --table"):
        frictionless.draft(package, None)
    broken: list[dict[str, Any]] = [{"fields": [{}]}, {"fields": [{"name": "a"}]}]
    broken[1]["missingValues"] = 3
    for damaged in broken:
        with pytest.raises(SchemaError):
            frictionless.draft(damaged, None)


def test_redcap_dictionaries(tmp_path: Path) -> None:
    """Choices, validated texts, identifiers, and a column for each box."""
    found = _bodies(_draft(tmp_path, "dictionary.csv", REDCAP))
    assert ["record", "sex", "age", "seen", "mail", "ills___1", "ills___2", "well", "more"] == list(
        found
    )
    assert ("id", "id") == (found["record"]["kind"], found["mail"]["kind"])
    assert ([1, 2], True) == (found["sex"]["values"], found["sex"]["unreviewed"])
    assert (0, 120) == (found["age"]["min"], found["age"]["max"])
    assert datetime.date(2020, 1, 1) == found["seen"]["min"]
    assert ("boolean", "boolean", "") == tuple(
        found[name]["kind"] for name in ("ills___1", "well", "more")
    )
    assert redcap.matches(REDCAP)
    with pytest.raises(SchemaError, match="is not a REDCap data dictionary"):
        _draft(tmp_path, "rows.csv", "a,b\n1,2\n")


def test_ddi_codebooks(tmp_path: Path) -> None:
    """Categories and declared ranges; statistics of the rows are left where they are."""
    draft = _draft(tmp_path, "study.xml", DDI)
    found = _bodies(draft)
    assert ([1, 2], ["9"], "Sex") == tuple(found["sex"][k] for k in ("values", "missing", "note"))
    assert ("integer", 0, 120) == tuple(found["age"][key] for key in ("kind", "min", "max"))
    kinds = [found[name]["kind"] for name in ("pay", "town", "other")]
    assert ["float", "categorical", ""] == kinds
    assert "97" not in draft.to_toml()
    assert "77" not in draft.to_toml()


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE codeBook [<!ENTITY a "aaaa">]><codeBook>&a;</codeBook>',
        '<!DOCTYPE codeBook SYSTEM "http://127.0.0.1/x"><codeBook/>',
        "<codeBook><var",
        "<codeBook/>",
    ],
)
def test_hostile_and_damaged_codebooks_are_refused(tmp_path: Path, text: str) -> None:
    """Nothing is expanded and nothing is fetched."""
    with pytest.raises(SchemaError):
        _draft(tmp_path, "study.xml", text)
    assert ddi.matches(text)


class Sex(Enum):
    """A closed list."""

    F = "f"
    M = "m"


class Visit(pydantic.BaseModel):
    """A row."""

    age: int = pydantic.Field(ge=0, lt=121, description="in years")
    weight: float | None = None
    sex: Sex
    ward: Literal["a", "b"]
    seen: datetime.date
    tags: list[str]


def test_pydantic_models() -> None:
    """Bounds, optional fields, enumerations and literals; lists have no kind."""
    found = _bodies(Schema.from_pydantic(Visit))
    age = {"min": 0, "max": 120, "unreviewed": True, "note": "in years"}
    assert {"kind": "integer", **age} == found["age"]
    assert {"kind": "float", "missing": []} == found["weight"]
    assert (["f", "m"], ["a", "b"]) == (found["sex"]["values"], found["ward"]["values"])
    assert ("date", "") == (found["seen"]["kind"], found["tags"]["kind"])
    with pytest.raises(UsageError, match="Pydantic 2"):
        Schema.from_pydantic(dict)


FRAMES = [
    pd.DataFrame({"patient_id": [1, 2], "n": [1.0, None], "c": pd.Categorical(["x", "y"])}),
    pl.DataFrame(
        {"patient_id": [1, 2], "n": [1.0, None], "c": ["x", "y"]},
        schema_overrides={"c": pl.Categorical},
    ),
    pa.table(
        {"patient_id": [1, 2], "n": [1.0, None], "c": pa.array(["x", "y"]).dictionary_encode()}
    ),
]


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "arrow"])
def test_frames_are_proposals(frame: Any) -> None:
    """Types and categories depend on rows: each column is unreviewed, and no inference begins."""
    draft = Schema.from_frame(frame)
    assert draft == of_frame(frame)
    assert ["patient_id", "n", "c"] == draft.unreviewed
    assert ["id", "float", "categorical"] == [column.kind for column in draft.columns.values()]
    assert ["x", "y"] == draft.columns["c"].keys["values"]
    with pytest.raises(SchemaError, match="unreviewed"):
        infer_schema(frame, Skeleton.parse(draft.document()), epsilon=1, ledger=None, dataset="t")


TYPED = pd.DataFrame(
    {
        "whole": np.array([1, 2], "int32"),
        "gaps": pd.array([1, None], "Int16"),
        "real": np.array([0.5, 1.5], "float32"),
        "plain": [1, 2],
        "flag": pd.array([True, False], "boolean"),
        "word": pd.array(["a", "b"], "string"),
        "thing": pd.Series(["a", "b"], dtype=object),
        "level": pd.Categorical(["low", "high"], ["low", "high"], ordered=True),
        "group": pd.Categorical([1, 2]),
        "seen": pd.to_datetime(["2020-01-01", "2020-03-01"]).tz_localize("Europe/Berlin"),
        "stamp": np.array(["2020-01-01", "2020-03-01"], "datetime64[ns]"),
        "born": [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)],
        "patient_id": np.array([1, 2], "int32"),
    }
)
_KNOWN: dict[str, dict[str, Any]] = {
    **{key: {"min": 0, "max": 9} for key in ("whole", "gaps", "plain")},
    "real": {"min": 0.0, "max": 2.0},
    **{key: {"values": ["a", "b"]} for key in ("word", "thing")},
    "seen": {"min": "2020-01-01T00:00", "max": "2020-12-31T00:00"},
    "stamp": {"min": "2020-01-01T00:00", "max": "2020-12-31T00:00"},
    "born": {"min": "2020-01-01", "max": "2020-12-31"},
}


@pytest.mark.parametrize("brand", ["pandas", "polars", "arrow"])
def test_rows_come_back_in_the_types_of_the_frame(brand: str) -> None:
    """From a frame to a draft, to a schema that a person vouches for, to a fit and its rows."""
    columns = TYPED.columns.drop(["group"] if brand == "polars" else [])
    arrow = pa.Table.from_pandas(TYPED[columns], preserve_index=False)
    frame = {"pandas": TYPED, "polars": pl.from_arrow(arrow), "arrow": arrow}[brand]
    draft = Schema.from_frame(frame)
    assert list(columns) == draft.unreviewed
    bodies = {name: {**column.document()} for name, column in draft.columns.items()}
    for name, body in bodies.items():
        del body["unreviewed"]
        body |= _KNOWN.get(name, {})
    schema = Schema.parse({"columns": bodies})
    made = Independent(schema, epsilon=100).fit(frame, ledger=None, dataset="t").sample(20)
    if brand == "pandas":
        assert frame.dtypes.to_dict() == made.dtypes.to_dict()
    elif brand == "polars":
        assert _loosely(frame.schema) == _loosely(made.schema)
    else:
        assert {f.name: _arrow(f.type) for f in frame.schema} == {
            f.name: _arrow(f.type) for f in made.schema
        }


def _loosely(types: Any) -> dict[str, str]:
    """Types of polars; which categories there are is told apart by Enum and Categorical alone."""
    return {
        n: "category" if str(t).startswith(("Enum", "Cat")) else str(t) for n, t in types.items()
    }


def _arrow(kind: pa.DataType) -> str:
    """A type of Arrow, however wide the places of its texts and categories are."""
    if pa.types.is_dictionary(kind):
        return f"category of {_arrow(kind.value_type)}, {kind.ordered}"
    return str(kind).removeprefix("large_")


def test_pandera_schemas() -> None:
    """Checks become unreviewed values and bounds, where pandera is installed."""
    pandera = pytest.importorskip("pandera.pandas")
    schema = pandera.DataFrameSchema(
        {
            "age": pandera.Column(int, pandera.Check.in_range(0, 120)),
            "sex": pandera.Column(str, pandera.Check.isin(["f", "m"]), nullable=True),
            "pay": pandera.Column(float, pandera.Check.ge(0)),
        }
    )
    found = _bodies(of_pandera(schema))
    assert (0, 120, True) == tuple(found["age"][key] for key in ("min", "max", "unreviewed"))
    assert (["f", "m"], []) == (found["sex"]["values"], found["sex"]["missing"])
    assert (0.0, "float") == (found["pay"]["min"], found["pay"]["kind"])
    with pytest.raises(UsageError):
        Schema.from_pandera(3)
