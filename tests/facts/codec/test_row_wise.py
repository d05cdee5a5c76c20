"""A row's codes, and whether it is dropped, never depend on the other rows.

This is what makes neighbouring inputs neighbouring tables, so every noise scale rests on it.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.tables import DIRTY_TEXTS, dirty_texts, schemas
from support.tiers import examples, slow_but
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.rows.reading import read_rows
from understudy.rows.table import Table

# A cell that no vectorised reader takes, so that its whole column is read text by text.
POISON = "no value at all"

KINDS = {
    "whole": {"kind": "integer", "min": -50, "max": 120, "missing": []},
    "marked": {"kind": "integer", "min": 0, "max": 6, "missing": [-7, 9223372036854775807, -999]},
    "dropping": {"kind": "integer", "min": 2, "max": 90, "outside": "drop"},
    "real": {"kind": "float", "min": -4.0, "max": 10.0, "missing": ["?"]},
    "strict real": {"kind": "float", "min": 1.0, "max": 10.0, "outside": "drop", "missing": [-7]},
    "day": {"kind": "date", "min": "2000-01-01", "max": "2030-01-01", "outside": "2020-01-01"},
    "any day": {
        "kind": "date",
        "min": "0001-01-01",
        "max": "9999-12-31",
        "missing": ["0000-01-01"],
    },
    "moment": {"kind": "datetime", "min": "2021-01-01", "max": "2021-01-02", "missing": ["NA"]},
    "strict moment": {
        "kind": "datetime",
        "min": "0001-01-02",
        "max": "2022-01-01",
        "outside": "drop",
    },
    "truth": {"kind": "boolean", "missing": ["-"]},
    "price": {"kind": "float", "min": -9.0, "max": 9.0, "unit": "$", "missing": ["?", -99]},
    "count": {"kind": "integer", "min": 0, "max": 2000, "thousands": ",", "outside": "drop"},
    "comma": {"kind": "float", "min": 0.0, "max": 10.0, "decimal": ",", "missing": []},
    "number": {"kind": "categorical", "values": [0, 7, 1000, 12, 31], "missing": []},
    "text": {
        "kind": "categorical",
        "values": ["7", "nan", "NA", " 7 ", "2021-01-01"],
        "outside": "7",
    },
}

Fate = tuple[int, ...] | None


def codec_of(kind: str) -> Codec:
    """A codec for one column, and a second one that keeps a line from being blank."""
    guard = {"kind": "boolean", "outside": False}
    return Codec(Schema.parse({"columns": {"cell": KINDS[kind], "guard": guard}}))


def fates(codec: Codec, rows: pa.Table) -> list[Fate]:
    """Every row's codes, or None for a dropped row, each row encoded by itself."""
    alone = [Table.of(codec.encode(rows.slice(i, 1))) for i in range(rows.num_rows)]
    return [
        tuple(int(codes[0]) for codes in table.codes.values()) if table.rows else None
        for table in alone
    ]


def together(codec: Codec, rows: pa.Table) -> list[tuple[int, ...]]:
    """The codes of the rows that are kept, all rows encoded at once."""
    columns = [codes.tolist() for codes in codec.encode(rows).codes.values()]
    return list(zip(*columns, strict=True))


def arrow_rows(cells: list[str | None], kind: pa.DataType) -> pa.Table:
    """Cells as texts in Arrow."""
    return pa.table({"cell": pa.array(cells, kind), "guard": [True] * len(cells)})


def through_csv(cells: list[str], codec: Codec) -> pa.Table:
    """The same cells through a CSV file."""
    text = io.StringIO()
    csv.writer(text).writerows([["cell", "guard"], *([cell, "true"] for cell in cells)])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_bytes(text.getvalue().encode())
        return read_rows(path, codec)


@pytest.mark.parametrize("kind", slow_but({"whole", "real", "day"}, KINDS))
def test_a_text_is_read_alike_on_every_path(kind: str) -> None:
    """Alone or beside an unreadable cell, as Arrow text or in a CSV file: the same code."""
    codec = codec_of(kind)
    expected = fates(codec, arrow_rows([*DIRTY_TEXTS, POISON], pa.string()))
    kept = [fate for fate in expected if fate is not None]
    for spelling in (pa.string(), pa.large_string(), pa.string_view()):
        rows = arrow_rows([*DIRTY_TEXTS, POISON], spelling)
        assert kept == together(codec, rows)
    assert kept == together(codec, through_csv([*DIRTY_TEXTS, POISON], codec))
    for text, fate in zip(DIRTY_TEXTS, expected, strict=False):
        alone = together(codec, through_csv([text], codec))
        assert ([] if fate is None else [fate]) == alone, text


@settings(max_examples=examples(300))
@given(kind=st.sampled_from([*KINDS]), cells=st.lists(st.none() | dirty_texts, max_size=6))
@example(kind="any day", cells=["0000-01-01", "2021-02-30"])
@example(kind="real", cells=["nan(1)", "five"])
@example(kind="marked", cells=["9223372036854775807", "3.7"])
def test_texts_are_encoded_row_by_row(kind: str, cells: list[str | None]) -> None:
    """A table of dirty texts encodes to the rows that its single rows encode to."""
    codec = codec_of(kind)
    rows = arrow_rows(cells, pa.string())
    assert [fate for fate in fates(codec, rows) if fate is not None] == together(codec, rows)


@settings(max_examples=examples(300))
@given(kind=st.sampled_from([*KINDS]), cells=st.lists(dirty_texts, max_size=6))
@example(kind="whole", cells=["UTF8"])
@example(kind="real", cells=["5", "invalid utf8"])
def test_a_csv_file_is_read_row_by_row(kind: str, cells: list[str]) -> None:
    """A CSV file encodes to what its cells encode to one by one, whichever way it was read."""
    codec = codec_of(kind)
    expected = fates(codec, arrow_rows([*cells], pa.string()))
    rows = through_csv(cells, codec)
    assert len(cells) == rows.num_rows
    assert [fate for fate in expected if fate is not None] == together(codec, rows)


@given(schemas, st.data())
def test_concatenation_commutes_with_encoding(schema: Schema, data: st.DataObject) -> None:
    """encode(a + b) == encode(a) + encode(b), for every schema and texts of every sort."""
    codec = Codec(schema)
    declared = [
        t for c in schema.learned.values() for t in (*getattr(c, "texts", ()), *(c.missing or ()))
    ]
    cells = dirty_texts | st.sampled_from(["", *declared])
    size = data.draw(st.integers(0, 6))
    columns = {
        name: data.draw(st.lists(cells, min_size=size, max_size=size)) for name in codec.columns
    }
    rows = pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()})
    cut = data.draw(st.integers(0, size))
    first, second = together(codec, rows.slice(0, cut)), together(codec, rows.slice(cut))
    assert first + second == together(codec, rows)
