"""Texts are made up from the sampling seed, their column and a key; rows have no part in it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from understudy.errors import SchemaError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.codec.made_texts import check_makers
from understudy.facts.column.generated import TextColumn
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows

SEX = {"kind": "categorical", "values": ["f", "m"]}


def made(columns: dict[str, Any], *, seed: int = 1, code: int = 0, first: int = 1) -> pa.Table:
    """Four rows whose learned column holds a code, or both in turn."""
    codec = Codec(Schema.parse({"columns": {"sex": SEX, **columns}}))
    codes = np.array([code, 1 - code, code, 1 - code], np.uint8)
    generator = np.random.default_rng(seed)
    return codec.decode({"sex": codes}, generator=generator, first_row=first)


@pytest.mark.parametrize(
    "generator", ["name", "email", "phone", "address", "iban", "company", "sentence"]
)
def test_every_generator_makes_texts(generator: str) -> None:
    """They are lines of text, the same ones for the same seed, whatever the rows hold."""
    columns = {"x": {"kind": "text", "generator": generator, "locale": "de_DE"}}
    texts = made(columns).column("x").to_pylist()
    assert all(text.strip() and "\n" not in text for text in texts)
    assert texts == made(columns, code=1).column("x").to_pylist()
    assert texts != made(columns, seed=2).column("x").to_pylist()


def test_blocks_go_on_where_the_last_one_ended() -> None:
    """A text follows from the number of its row, and not from the block it is in."""
    columns = {"x": {"kind": "text", "pattern": "[A-Z]{8}"}}
    first, second = made(columns), made(columns, first=3)
    assert first.column("x").to_pylist()[2:] == second.column("x").to_pylist()[:2]


def test_other_columns_do_not_change_beside_texts() -> None:
    """Texts take nothing from the draws of other columns."""
    number = {"kind": "float", "min": 0.0, "max": 1.0}
    bare = Codec(Schema.parse({"columns": {"n": number}}))
    with_text = Codec(
        Schema.parse({"columns": {"t": {"kind": "text", "pattern": "[a-z]{9}"}, "n": number}})
    )
    codes = {"n": np.arange(16, dtype=np.uint8)}
    found = [
        codec.decode(codes, generator=np.random.default_rng(5)).column("n").to_pylist()
        for codec in (bare, with_text)
    ]
    assert found[0] == found[1]


def test_equal_keys_get_equal_texts() -> None:
    """With `same_as` a text follows another column, and without a generator it repeats it."""
    rows = made(
        {
            "patient": {"kind": "id", "prefix": "P"},
            "copy": {"kind": "text", "same_as": "patient"},
            "ward": {"kind": "text", "same_as": "sex", "pattern": "W[0-9]{6}"},
        }
    )
    assert rows.column("patient").to_pylist() == rows.column("copy").to_pylist()
    wards = rows.column("ward").to_pylist()
    assert wards[0] == wards[2] != wards[1] == wards[3]
    assert all(re.fullmatch("W[0-9]{6}", ward) for ward in wards)


def test_copies_are_written_as_their_originals(tmp_path: Path) -> None:
    """A copy of categories, or of days in a format, is the same text in a file."""
    columns = {
        "c": {**SEX, "dtype": "category"},
        "d": {"kind": "date", "min": "2020-01-01", "max": "2020-01-09", "format": "%d.%m.%Y"},
        "c2": {"kind": "text", "same_as": "c"},
        "d2": {"kind": "text", "same_as": "d"},
    }
    codec = Codec(Schema.parse({"columns": columns}))
    codes = {"c": np.array([0, 1], np.uint8), "d": np.array([0, 8], np.uint8)}
    path = tmp_path / "rows.csv"
    write_rows([codec.decode(codes, generator=np.random.default_rng(0))], path, codec)
    lines = [line.replace('"', "").split(",") for line in path.read_text().splitlines()[1:]]
    assert [["f", "01.01.2020"] * 2, ["m", "09.01.2020"] * 2] == lines


def test_dropped_columns_are_not_written() -> None:
    """A dropped column may be in the data, and is not in the rows."""
    columns = {"mail": {"kind": "text", "drop": True}}
    assert ["sex"] == made(columns).column_names
    codec = Codec(Schema.parse({"columns": {"sex": SEX, **columns}}))
    codec.check_nothing_extra(["sex", "mail"])
    assert {"sex": 2} == dict(codec.domain.sizes)
    assert isinstance(codec.schema.columns["mail"], TextColumn)


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ({}, "nothing says how the texts are made"),
        ({"generator": "name", "pattern": "a"}, "both generator and pattern"),
        ({"generator": "name", "drop": True}, "drop is true"),
        ({"pattern": "a+"}, "repeats without end"),
        ({"pattern": "a", "locale": "de_DE"}, "locale is given without"),
        ({"same_as": "nobody"}, "which the rows do not have"),
        ({"same_as": "other"}, "which follows another"),
        ({"generator": "secret"}, "generator is 'secret'"),
    ],
)
def test_texts_that_contradict_are_refused(column: dict[str, Any], problem: str) -> None:
    """Reading the schema finds it."""
    other = {"kind": "text", "same_as": "sex"}
    columns = {"sex": SEX, "other": other, "x": {"kind": "text", **column}}
    with pytest.raises(SchemaError, match=problem):
        Schema.parse({"columns": columns})


def test_an_unknown_locale_is_refused_before_anything_is_spent() -> None:
    """The check of a method meets it."""
    column = {"kind": "text", "generator": "name", "locale": "xx_XX"}
    schema = Schema.parse({"columns": {"sex": SEX, "x": column}})
    with pytest.raises(UsageError, match="xx_XX"):
        check_makers(schema.columns.values())
