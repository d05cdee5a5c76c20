"""The values that a column writes: decimals, steps, and the digits that public bins ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import SchemaError
from understudy.facts.codec import Codec
from understudy.facts.column.binned import DEFAULT_BINS
from understudy.facts.column.steps import Steps, default_decimals
from understudy.facts.schema import Schema


def decoded(column: dict[str, Any], rows: int = 2_000) -> list[Any]:
    """Values of every bin of a column."""
    codec = Codec(Schema.parse({"columns": {"x": column}}))
    codes = np.arange(rows) % codec.domain["x"]
    made = codec.decode({"x": codes.astype(np.uint16)}, generator=np.random.default_rng(0))
    values: list[Any] = made.column("x").to_pylist()
    return values


def test_declared_decimals_are_written() -> None:
    """70.3 stays 70.3, as the double that Python reads from that text."""
    values = decoded({"kind": "float", "min": 30.0, "max": 190.0, "decimals": 1})
    assert values == [round(value, 1) for value in values]
    assert max(len(repr(value)) for value in values) <= len("190.0")


def test_decimals_follow_the_public_bins_by_default() -> None:
    """A hundredth of a bin is written, whatever the rows hold."""
    values = decoded({"kind": "float", "min": 30.0, "max": 190.0})
    assert values == [round(value, 1) for value in values]
    assert default_decimals(10.0, 30.0, 190.0) == 1
    assert default_decimals(1e6, 0.0, 1e9) == 0


def test_bins_too_fine_for_doubles_keep_every_digit() -> None:
    """Where a hundredth of a bin is beyond floating point, nothing is rounded."""
    assert default_decimals(1e-12, 0.0, 1e9) is None
    assert default_decimals(5e-324, 0.0, 1.0) is None
    assert default_decimals(0.0, 0.0, 0.0) is None


def test_steps_count_from_the_lower_bound() -> None:
    """Whole numbers, reals, days and moments come in whole steps."""
    assert {1, 3, 5, 7, 9} == set(decoded({"kind": "integer", "min": 1, "max": 10, "step": 2}))
    reals = set(decoded({"kind": "float", "min": 0.05, "max": 1.0, "step": 0.25}))
    assert {0.05, 0.3, 0.55, 0.8} == reals
    days = decoded({"kind": "date", "min": "2024-01-01", "max": "2024-03-01", "step": 7})
    assert {0} == {day.weekday() for day in days}
    moments = {"kind": "datetime", "min": "2024-01-01T00:00", "max": "2024-03-01T00:00"}
    assert {0, 15, 30, 45} == {moment.minute for moment in decoded({**moments, "step": 900})}
    assert {0} == {moment.second for moment in decoded({**moments, "step": 900})}


def test_all_written_values_of_a_bin_are_alike() -> None:
    """Values at the edges of bins are drawn as often as others."""
    column = {"kind": "float", "min": 0.0, "max": 1.0, "bins": 1, "decimals": 1}
    _, counts = np.unique(decoded(column, 22_000), return_counts=True)
    assert len(counts) == 11
    # Six standard deviations of a count of 2,000.
    assert abs(counts - 2_000).max() < 6 * 2_000**0.5


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"decimals": 1, "step": 0.5}, "both decimals and step are given"),
        ({"step": 0.0}, "greater than 0"),
        ({"decimals": 1, "bins": 100}, "holds no value of this step"),
        ({"decimals": 17}, "more digits than floating point holds"),
    ],
)
def test_steps_that_contradict_are_refused(keys: dict[str, Any], problem: str) -> None:
    """Each contradiction is named with the way out."""
    column = {"kind": "float", "min": 0.0, "max": 1.0, **keys}
    with pytest.raises(SchemaError, match=problem):
        Schema.parse({"columns": {"x": column}})


def test_few_values_get_few_bins() -> None:
    """By default there are no more bins than values that are written."""
    schema = Schema.parse({"columns": {"x": {"kind": "float", "min": 0, "max": 1, "decimals": 1}}})
    assert {"x": 11} == schema.attributes
    wide = {"kind": "float", "min": 0, "max": 9, "decimals": 1}
    assert {"x": DEFAULT_BINS} == Schema.parse({"columns": {"x": wide}}).attributes


@given(st.integers(0, 6), st.floats(-1e6, 1e6))
def test_written_values_lie_on_the_right_side(digits: int, place: float) -> None:
    """The first value from a place is not below it, and the last one to it not above."""
    steps = Steps.of_decimals(digits)
    assert steps.value(steps.last_to(place)) <= place <= steps.value(steps.first_from(place))
    assert steps.first_from(place) - steps.last_to(place) in (0, 1)
