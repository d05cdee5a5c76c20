"""Every Arrow type that may hold numbers or dates is read to the same places on the line."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.codec.ordinates import parse, read
from understudy.facts.column import (
    BinnedColumn,
    DateColumn,
    DatetimeColumn,
    FloatColumn,
    IntegerColumn,
)
from understudy.facts.column.notation import NumberNotation
from understudy.facts.schema import Schema
from understudy.rows.reading import read_rows
from understudy.rows.table import Table

WHOLE = IntegerColumn(min=-(2**62), max=2**62)
REAL = FloatColumn(min=-1e300, max=1e300)
DAY = DateColumn(min=date.min, max=date.max)
MOMENT = DatetimeColumn(min=datetime.min, max=datetime.max)
NOON = datetime(2021, 3, 4, 12)
NOON_SECONDS = 1_614_859_200


def places(column: BinnedColumn, cells: Any) -> list[Any]:
    """Ordinates, None where missing and "?" where unreadable."""
    reading = read(
        "x", column, cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    )
    absent = np.zeros(len(cells), bool) if reading.missing is None else reading.missing
    bad = np.zeros(len(cells), bool) if reading.unreadable is None else reading.unreadable
    assert not (absent & bad).any()
    return [
        None if gone else "?" if unread else value
        for value, gone, unread in zip(reading.ordinates.tolist(), absent, bad, strict=True)
    ]


WHOLE_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
WHOLE_TYPES += [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
REAL_TYPES = [pa.float16(), pa.float32(), pa.float64()]
DECIMAL_TYPES = [pa.decimal128(10, 2), pa.decimal256(40, 2)]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]


@pytest.mark.parametrize("kind", WHOLE_TYPES, ids=str)
def test_whole_numbers_of_every_width(kind: pa.DataType) -> None:
    """Any integer type serves columns of whole and of real numbers."""
    cells = pa.array([3, None], kind)
    assert [3, None] == places(WHOLE, cells)
    assert [3.0, None] == places(REAL, cells)


@pytest.mark.parametrize("kind", REAL_TYPES, ids=str)
def test_real_numbers_are_rounded_down_in_a_column_of_whole_ones(kind: pa.DataType) -> None:
    """3.75 is 3, -3.75 is -4; NaN is missing; infinities lie beyond every bound."""
    cells = pa.array([3.75, -3.75, None, float("nan"), float("inf"), float("-inf")], kind)
    first, second, *absent, high, low = places(WHOLE, cells)
    assert [3, -4, None, None] == [first, second, *absent]
    assert low < -(2**62)
    assert high > 2**62
    assert [3.75, -3.75, None, None, float("inf"), float("-inf")] == places(REAL, cells)


@pytest.mark.parametrize("kind", DECIMAL_TYPES, ids=str)
def test_decimals(kind: pa.DataType) -> None:
    """Decimals are read as the numbers they are."""
    cells = pa.array([Decimal("3.75"), None], kind)
    assert [3, None] == places(WHOLE, cells)
    assert [3.75, None] == places(REAL, cells)


@pytest.mark.parametrize("kind", [pa.decimal128(18, 3), pa.decimal256(50, 3)])
def test_a_decimal_at_a_bound_is_not_beyond_it(kind: pa.DataType) -> None:
    """It is the double that its digits spell, as in a file; dividing would miss it by one step."""
    column = FloatColumn(min=0.0, max=34.8, bins=2)
    cells = pa.chunked_array([pa.array([Decimal("34.800"), Decimal("0.1"), None], kind)])
    found = read("x", column, cells)
    assert [34.8, 0.1] == found.ordinates[:2].tolist()
    assert found.missing is not None
    assert [False, False, True] == found.missing.tolist()


def test_unsigned_numbers_beyond_63_bits_lie_above_every_bound() -> None:
    """They do not wrap round to negative numbers, and a null beside them stays one."""
    assert [2**63 - 1, 1, None] == places(WHOLE, pa.array([2**64 - 1, 1, None], pa.uint64()))


def test_truth_values_are_numbers() -> None:
    """True is 1, false is 0."""
    assert [1, 0, None] == places(WHOLE, pa.array([True, False, None]))


@pytest.mark.parametrize("kind", TEXT_TYPES, ids=str)
def test_texts_of_every_layout(kind: pa.DataType) -> None:
    """Texts are read alike, plain or in a dictionary, in one chunk or several."""
    cells = pa.array(["3", None, "x", " 4 "], kind)
    assert [3, None, "?", 4] == places(WHOLE, cells)
    assert [3, None, "?", 4] == places(WHOLE, cells.dictionary_encode())
    assert [3, None, "?", 4] * 2 == places(WHOLE, pa.chunked_array([cells, cells]))


def test_dictionaries_of_numbers() -> None:
    """A dictionary is what its values are."""
    assert [3, None, 3] == places(WHOLE, pa.array([3, None, 3]).dictionary_encode())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+02:00"])
def test_moments_of_every_unit_and_zone(unit: str, zone: str | None) -> None:
    """A moment without a zone is taken as it stands, one with a zone by its UTC time."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    cells = pa.array([NOON_SECONDS * per_second, -1, None], pa.int64())
    cells = cells.cast(pa.timestamp(unit, zone))
    assert [NOON_SECONDS, -1, None] == places(MOMENT, cells)
    assert [NOON_SECONDS // 86400, -1, None] == places(DAY, cells)


@pytest.mark.parametrize("end", [-(2**63), 2**63 - 1])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_at_the_ends_of_time_do_not_wrap_round(unit: str, end: int) -> None:
    """The farthest moments of a type keep their sign."""
    cells = pa.array([end], pa.int64()).cast(pa.timestamp(unit))
    for column in (DAY, MOMENT):
        [place] = places(column, cells)
        assert (end > 0) == (place > 0)


def test_days_of_both_types() -> None:
    """Both date types serve columns of days and of moments."""
    for kind in (pa.date32(), pa.date64()):
        cells = pa.array([NOON.date(), None], kind)
        assert [NOON_SECONDS // 86400, None] == places(DAY, cells)
        assert [NOON_SECONDS - 12 * 3600, None] == places(MOMENT, cells)


@pytest.mark.parametrize("column", [WHOLE, REAL, DAY, MOMENT], ids=lambda column: column.kind)
def test_a_column_of_nothing_is_missing_everywhere(column: BinnedColumn) -> None:
    """Arrow's null type, and a table of no chunks, are read by every kind."""
    assert [None, None] == places(column, pa.nulls(2))
    assert [] == places(column, pa.chunked_array([], pa.string()))
    assert [] == places(
        column, pa.chunked_array([], pa.int64() if column in (WHOLE, REAL) else pa.date32())
    )


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (WHOLE, pa.array([NOON])),
        (DAY, pa.array([1])),
        (MOMENT, pa.array([1.5])),
        (REAL, pa.array([[1.0]])),
        (REAL, pa.array([b"1"])),
        (MOMENT, pa.array([1], pa.time32("s"))),
    ],
)
def test_a_type_that_is_of_another_kind_is_refused(column: BinnedColumn, cells: pa.Array) -> None:
    """The message names the column, the type and the kind; no cell."""
    with pytest.raises(
        DataError, match=rf"column 'x': the data holds .*the schema says {column.kind}"
    ):
        places(column, cells)


@pytest.mark.parametrize(
    ("column", "text", "place"),
    [
        (WHOLE, "+5", 5),
        (WHOLE, "0x1F", 31),
        (WHOLE, "1e5", 100_000),
        (WHOLE, "3.7", 3),
        (WHOLE, "-0.5", -1),
        (WHOLE, "9" * 400, 2**63 - 1),
        (WHOLE, "1_000", None),
        (WHOLE, "１２", None),
        (REAL, "1_0.5", None),
        (REAL, "-.5e1", -5.0),
        (DAY, "2021-02-30", None),
        (DAY, "2021-03-04T12:00:00", NOON_SECONDS // 86400),
        (DAY, "2021-03-05T01:00:00+02:00", NOON_SECONDS // 86400),
        (DAY, "0000-01-01", -719_528),
        (MOMENT, "2021-03-04T12:00:00Z", NOON_SECONDS),
        (MOMENT, "2021-03-04 14:00:00+02:00", NOON_SECONDS),
        (MOMENT, "2021-03-04", NOON_SECONDS - 12 * 3600),
        (MOMENT, "1969-12-31T23:59:59.5", -1),
        (MOMENT, "9999-12-31T23:59:59.999999", 253_402_300_799),
        (MOMENT, "9999-12-31T23:59:59-05:00", 253_402_318_799),
        (MOMENT, "yesterday", None),
    ],
)
def test_texts_are_parsed(column: BinnedColumn, text: str, place: float | None) -> None:
    """What a text means is a fact about the text alone."""
    assert place == parse(column, text)


ROWS = {
    "whole": [1, 2],
    "real": [0.5, 1.5],
    "day": [date(2021, 1, 1), date(2021, 1, 2)],
    "moment": [NOON, NOON],
    "truth": [True, False],
    "text": ["a", "b"],
}
FRAMES = Schema.parse(
    {
        "columns": {
            "whole": {"kind": "integer", "min": 0, "max": 3},
            "real": {"kind": "float", "min": 0.0, "max": 2.0, "bins": 2},
            "day": {"kind": "date", "min": "2021-01-01", "max": "2021-01-03"},
            "moment": {"kind": "datetime", "min": "2021-01-01", "max": "2021-12-31", "bins": 12},
            "truth": {"kind": "boolean"},
            "text": {"kind": "categorical", "values": ["a", "b"]},
        }
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).with_columns(
            pl.col("text").cast(pl.Categorical), pl.col("real").cast(pl.Decimal(10, 2))
        ),
        pl.DataFrame(ROWS).with_columns(pl.col("whole").cast(pl.String).cast(pl.Categorical)),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS).astype({"text": "category", "whole": "Int16"}),
        pd.DataFrame(ROWS).set_index(pd.Index([7, 5])),
        pa.table(ROWS),
        ROWS,
    ],
)
def test_frames_of_every_brand_are_read_alike(frame: Any) -> None:
    """The same rows give the same codes from pandas, polars, Arrow and plain columns."""
    codec = Codec(FRAMES)
    expected = Table.of(codec.encode(pa.table(ROWS)))
    assert [1, 2] == expected.codes["whole"].tolist()
    assert expected == Table.of(codec.encode(read_rows(frame, codec)))


NOTED: dict[str, BinnedColumn] = {
    "dollars": FloatColumn(min=-1e300, max=1e300, unit="$", thousands=","),
    "euros": FloatColumn(
        min=-1e300, max=1e300, unit="# €", decimal=",", thousands=".", accounting=True
    ),
    "percent": FloatColumn(min=-1e300, max=1e300, percent=True, missing=("?", "7%")),
    "blanks": IntegerColumn(min=-(2**62), max=2**62, thousands=" ", unit="kg"),
    "zeros": IntegerColumn(min=0, max=10**9, digits=5),
}
# Between them: in the usual form of a notation, nearly so, and not at all.
WRITTEN = (
    *("12", "-12", "$12.50", "-$1,234.5", "$-3", "1,234,567", "1,23", "1,2345", "$1,234,", "12."),
    *("1.234,56 €", "(1.234,56 €)", "-3 €", "(-3)", "1.234", "0,1", "3€", "€3", "12,5 %"),
    *("7%", "61.1%", "-0%", "61 %", "?", "NA", "", "nan", "inf", "1e3", ".5", "5.", "--3", "+3"),
    *("1 234 kg", "1234 kg", "12 34", "70kg", "39.5", "00501", "0", "-00501", "9" * 15, "9" * 16),
    *("0.1", "123456789.123456789", "0." + "1" * 20, "\N{MINUS SIGN}3", "٣", "x", "$", "kg", "()"),
    *("179,769,313,486,231", "1,797,693,134,862,315", "12$", "$$3", "1,234.56$"),
)


@pytest.mark.parametrize("name", NOTED)
def test_a_notation_is_read_at_once_as_cell_by_cell(name: str) -> None:
    """Numbers that are cast together are where each of them is by itself, and never elsewhere."""
    column = NOTED[name]
    texts = [*WRITTEN, None]
    cells = pa.chunked_array([texts[:20], texts[20:]], pa.string())
    assert column.notation is not None
    expected = [_by_itself(column, text) for text in texts]
    assert expected == places(column, cells)


def _by_itself(column: BinnedColumn, text: str | None) -> Any:
    """Where a text is, as the notation and the column read it in Python."""
    if text is None or text in column.missing_texts:
        return None
    assert column.notation is not None
    try:
        place = column.place(column.notation.plain(text))
    except (ValueError, OverflowError):
        return None if text == "nan" and isinstance(column, IntegerColumn) else "?"
    return None if place != place else place


@pytest.mark.parametrize("name", NOTED)
def test_a_written_number_is_read_at_once(name: str) -> None:
    """What a column writes is in the usual form of its notation, brackets apart."""
    notation = NOTED[name].notation
    assert isinstance(notation, NumberNotation)
    values: list[float] = [0, 7, 123, 1234, 1234567]
    values += [] if NOTED[name].whole else [0.5, 1234.25, -12.5]
    texts = [notation.written(value) for value in values]
    usual = [t for t in texts if re.fullmatch(notation.usual, t)]
    assert [t for t in texts if not t.startswith("(")] == usual
