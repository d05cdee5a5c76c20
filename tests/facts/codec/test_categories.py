"""Listed values: matched by text, decoded to the declared type."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema


def codec_of(column: dict[str, Any]) -> Codec:
    """A codec for one column named x."""
    return Codec(Schema.parse({"columns": {"x": column}}))


def codes_of(column: dict[str, Any], cells: Any) -> list[int]:
    """The codes of the cells that are kept."""
    return list(codec_of(column).encode(pa.table({"x": cells})).codes["x"].tolist())


DIGITS = {"kind": "categorical", "values": [1, 2, 3]}
WORDS = {"kind": "categorical", "values": ["a", "b"]}


@pytest.mark.parametrize(
    "cells",
    [
        [3],
        [3.0],
        ["3"],
        [" 3 "],
        ["3.0"],
        [Decimal("3.00")],
        pa.array([3], pa.uint8()),
        pa.array([3], pa.float16()),
        pa.array(["3"], pa.large_string()),
        pa.array(["3"], pa.string_view()),
        pa.array(["3"]).dictionary_encode(),
        pa.array([3]).dictionary_encode(),
    ],
)
def test_categories_match_by_text(cells: Any) -> None:
    """Integer 3, 3.0 and "3" are one category."""
    assert [2] == codes_of(DIGITS, cells)


def test_an_exact_text_wins_over_a_trimmed_one() -> None:
    """Values that differ in blanks alone stay apart."""
    column = {"kind": "categorical", "values": ["a", " a", "a "]}
    assert [0, 1, 2, 0] == codes_of(column, ["a", " a", "a ", "\ta"])


@pytest.mark.parametrize(
    ("text", "code"), [("yes", 1), ("TRUE", 1), ("1", 1), ("t", 1), ("No", 0), ("0", 0), ("f", 0)]
)
def test_truth_has_many_spellings(text: str, code: int) -> None:
    """Booleans are read from the usual words."""
    assert [code] == codes_of({"kind": "boolean"}, [text])


@pytest.mark.parametrize("cells", [[True, False], [1, 0], [1.0, 0.0], ["true", "false"]])
def test_truth_has_many_types(cells: list[Any]) -> None:
    """Booleans are read from truth values, numbers and texts."""
    assert [1, 0] == codes_of({"kind": "boolean"}, cells)


@pytest.mark.parametrize(
    "cells", [[None], [""], [" "], [float("nan")], pa.nulls(1), ["?"], [" ? "]]
)
def test_nulls_blanks_nan_and_markers_are_missing(cells: Any) -> None:
    """They take the missing level where one is declared, and their row is dropped where not."""
    assert [2] == codes_of(WORDS | {"missing": ["?"]}, cells)
    assert [] == codes_of(WORDS, cells)


def test_undeclared_values_are_dropped_or_take_the_stand_in() -> None:
    """`outside` is drop unless it names a declared value or marker."""
    cells = ["a", "zzz", "b"]
    assert [0, 1] == codes_of(WORDS, cells)
    assert [0, 1, 1] == codes_of(WORDS | {"outside": "b"}, cells)
    assert [0, 2, 1] == codes_of(WORDS | {"outside": "?", "missing": ["?"]}, cells)


def test_nulls_in_a_narrow_full_dictionary() -> None:
    """A null beside 256 values indexed by single bytes is still a null."""
    values = [f"v{i}" for i in range(256)]
    cells = pa.DictionaryArray.from_arrays(pa.array([255, None], pa.uint8()), values)
    column = {"kind": "categorical", "values": values, "missing": []}
    assert [255, 256] == codes_of(column, cells)


def test_nulls_inside_a_dictionary_are_missing() -> None:
    """A dictionary may hold null as a value."""
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([None, "b"]))
    assert [2, 1] == codes_of(WORDS | {"missing": []}, cells)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ([date(2021, 1, 2)], "2021-01-02"),
        (pa.array([date(2021, 1, 2)], pa.date64()), "2021-01-02"),
        (pa.array([datetime(2021, 1, 2)], pa.timestamp("s")), "2021-01-02 00:00:00"),
        (pa.array([1], pa.int64()).cast(pa.timestamp("ns")), "1970-01-01 00:00:00.000000001"),
        (pa.array([3600], pa.time32("s")), "01:00:00"),
    ],
)
def test_dates_and_times_match_by_their_text(cells: Any, text: str) -> None:
    """Temporal cells are spelled as Arrow spells them."""
    assert [0] == codes_of({"kind": "categorical", "values": [text]}, cells)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([2**31 - 1], pa.int32()).cast(pa.date32()),
        pa.array([2**62], pa.int64()).cast(pa.timestamp("s")),
        pa.array([-(2**62)], pa.int64()).cast(pa.timestamp("s")).dictionary_encode(),
    ],
)
def test_moments_beyond_the_calendar_are_only_undeclared(cells: pa.Array) -> None:
    """A moment that Python cannot hold drops its row, and nothing else."""
    assert [] == codes_of(WORDS, cells)


@pytest.mark.parametrize("cells", [[b"a"], [b"\xff"], [["a"]], [{"k": "a"}]])
def test_types_without_text_are_refused_by_type(cells: list[Any]) -> None:
    """Bytes and nested values are refused whatever they hold; the message names the type."""
    with pytest.raises(DataError, match=r"column 'x': the data holds .*convert the column"):
        codes_of(WORDS, cells)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"], pa.string()),
        ([1, 2], pa.int64()),
        ([1, 2.5], pa.float64()),
        ([True, False], pa.bool_()),
        ([1, "a"], pa.string()),
        ([1, True, False], pa.string()),
        ([1, 2**63], pa.string()),
        ([2**53 + 1, 0.5], pa.string()),
    ],
)
def test_values_decode_to_the_declared_type(values: list[Any], kind: pa.DataType) -> None:
    """One type where it holds every declared value, text where none does."""
    codec = codec_of({"kind": "categorical", "values": values})
    codes = {"x": np.arange(len(values), dtype=np.uint8)}
    decoded = codec.decode(codes, generator=np.random.default_rng(0)).column("x")
    assert kind == decoded.type
    assert codes["x"].tolist() == codes_of({"kind": "categorical", "values": values}, decoded)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (WORDS | {"missing": ["?", "NA"]}, "?"),
        (WORDS | {"missing": []}, None),
        (DIGITS | {"missing": ["?"]}, None),
        ({"kind": "boolean", "missing": ["?"]}, None),
    ],
)
def test_missing_decodes_to_the_first_marker_else_null(
    column: dict[str, Any], expected: str | None
) -> None:
    """A column of texts holds the marker itself; a typed one holds null."""
    codec = codec_of(column)
    codes = {"x": np.array([codec.domain["x"] - 1], np.uint8)}
    assert [expected] == codec.decode(codes, generator=np.random.default_rng(0)).column(
        "x"
    ).to_pylist()


def test_ten_thousand_categories() -> None:
    """Many categories are fine, and a wide code keeps them apart."""
    values = [f"c{i}" for i in range(10_000)]
    column = {"kind": "categorical", "values": values}
    assert [*range(10_000)] == codes_of(column, values)
