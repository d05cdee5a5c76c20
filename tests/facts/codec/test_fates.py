"""What becomes of each cell agrees with what the codec does to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.facts.codec import Codec
from understudy.facts.codec.fates import fates_of
from understudy.facts.codec.missing import Encoded
from understudy.facts.schema import Schema

CELLS = ["1", "7", "99", "-3", "", " ", "NA", "?", "x", "2.5", "$4", "2020-01-01", "18.04.2021"]
CELLS += ["true", "Yes", "a", "b", " a ", "A", "nan", "1e400"]

KINDS: dict[str, dict[str, Any]] = {
    "clipped": {"kind": "integer", "min": 0, "max": 50},
    "clipped with level": {"kind": "integer", "min": 0, "max": 50, "missing": ["?"]},
    "dropped beyond": {"kind": "float", "min": 0, "max": 50, "outside": "drop"},
    "replaced beyond": {"kind": "float", "min": 0, "max": 50, "outside": 3},
    "days": {"kind": "date", "min": "2000-01-01", "max": "2010-01-01", "outside": "drop"},
    "listed": {"kind": "categorical", "values": ["a", "b"]},
    "listed with other": {"kind": "categorical", "values": ["a", "other"], "outside": "other"},
    "listed with level": {"kind": "categorical", "values": ["a", "b"], "missing": ["?"]},
    "numbers": {"kind": "categorical", "values": [1, 7]},
    "boolean": {"kind": "boolean"},
}


def _codec(kind: str) -> Any:
    return Codec(Schema.parse({"columns": {"x": KINDS[kind]}})).columns["x"]


@pytest.mark.parametrize("kind", KINDS)
@given(cells=st.lists(st.none() | st.sampled_from(CELLS)))
def test_dropped_cells_are_those_that_encoding_drops(kind: str, cells: list[str | None]) -> None:
    """A cell is said to lose its row exactly where the codec drops the row."""
    codec, column = _codec(kind), pa.chunked_array([pa.array(cells, pa.string())])
    dropped = codec.encode(column).dropped
    expected = np.zeros(len(cells), bool) if dropped is None else dropped
    found = fates_of(codec, column).dropped
    actual = np.zeros(len(cells), bool) if found is None else found
    assert expected.tolist() == actual.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_has_one_cause_at_most(kind: str) -> None:
    """No cell is counted twice, and whatever is dropped has a cause."""
    fates = fates_of(_codec(kind), pa.chunked_array([pa.array([None, *CELLS], pa.string())]))
    causes = (fates.missing, fates.outside, fates.undeclared, fates.unreadable)
    number = np.sum([flags.astype(int) for flags in causes if flags is not None], axis=0)
    assert np.max(number) <= 1
    assert fates.dropped is None or bool((number[fates.dropped] == 1).all())


def test_causes_are_named_as_the_owner_would() -> None:
    """Empty, beyond the bounds and unreadable are three causes."""
    fates = fates_of(_codec("clipped"), pa.chunked_array([["3", "", "60", "$4"]]))
    expected = [[False, True, False, False], [False, False, True, False], [False] * 3 + [True]]
    found = (fates.missing, fates.outside, fates.unreadable)
    assert expected == [None if flags is None else flags.tolist() for flags in found]


class _NewKind:
    """A codec of a kind that says nothing of single cells."""

    def encode(self, cells: pa.ChunkedArray) -> Encoded:
        return Encoded(np.zeros(len(cells), np.uint8), np.array(cells.is_null()))


def test_a_codec_of_another_kind_shows_what_it_drops() -> None:
    """A codec without `fates` is asked to encode, and its dropped rows are shown."""
    fates = fates_of(_NewKind(), pa.chunked_array([["a", None]]))
    assert fates.dropped is not None
    assert [False, True] == fates.dropped.tolist()
    assert fates.missing is None
