"""Values are drawn where conditions leave any, all of them alike."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.statistics import NEVER, fit_of_choices
from understudy.facts.codec import Codec
from understudy.facts.codec.regions import Region
from understudy.facts.column import FloatColumn, IntegerColumn
from understudy.facts.constraints.meaning import bins_of
from understudy.facts.schema import Schema
from understudy.models.inference.question import read_conditions

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
conditions = st.lists(
    st.tuples(st.sampled_from(list(COMPARE)), st.integers(0, 39)), min_size=1, max_size=5
)


def _decoded(column: dict[str, Any], where: str, rows: int, code: int | None = None) -> list[Any]:
    """Values of a column `x` under conditions, of one code or of codes drawn by their weights."""
    schema = Schema.parse({"columns": {"x": column}})
    read, generator = read_conditions(where, schema.columns), np.random.default_rng(7)
    weights = read.evidence["x"] / read.evidence["x"].sum()
    codes = generator.choice(weights.size, rows, p=weights) if code is None else np.full(rows, code)
    codec = Codec(schema, within=read.within)
    decoded = codec.decode({"x": codes.astype(np.uint8)}, generator=generator)
    values: list[Any] = decoded["x"].to_pylist()
    return values


@given(said=conditions, bins=st.integers(1, 40))
def test_runs_hold_exactly_the_values_that_fit(said: list[tuple[str, int]], bins: int) -> None:
    """Of every bin, as if its values were listed."""
    column, region = IntegerColumn(min=0, max=39, bins=bins), Region()
    for relation, value in said:
        region = region.narrowed(column, relation, [value])
    for low, last in bins_of(column):
        within = range(int(low), int(last) + 1)
        fits = [n for n in within if all(COMPARE[relation](n, value) for relation, value in said)]
        runs = region.runs(column, (low, last))
        assert fits == [n for a, b in runs for n in range(int(a), int(b) + 1)]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x >= 30", set(range(30, 40))),
        ("x > 30, x <= 33", {31, 32, 33}),
        ("x != 33, x >= 31, x < 36", {31, 32, 34, 35}),
        ("x in {31, 33, 7}", {31, 33, 7}),
        ("x = 5", {5}),
        ("x < 9, x != 0, x != 4, x != 8", {1, 2, 3, 5, 6, 7}),
    ],
)
def test_whole_numbers_fit_and_are_alike(where: str, expected: set[int]) -> None:
    """Every value that fits comes, no other does, and all come equally often."""
    column = {"kind": "integer", "min": 0, "max": 39, "bins": 4}
    values = _decoded(column, where, 20_000)
    assert expected == set(values)
    numbers = {value: place for place, value in enumerate(sorted(expected))}
    places = np.array([numbers[value] for value in values])
    assert fit_of_choices(places, np.full(len(expected), 1 / len(expected))) > NEVER


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        ("x < 3", lambda x: x < 3),
        ("x <= 3, x > 1", lambda x: 1 < x <= 3),
        ("x > 2.5, x != 2.75", lambda x: x > 2.5 and x != 2.75),
        ("x = 2.5", lambda x: x == 2.5),
        ("x in {2.5, 3.5, 10}", lambda x: x in (2.5, 3.5, 10.0)),
    ],
)
def test_real_numbers_fit(where: str, fits: Callable[[float], bool]) -> None:
    """Both ends are as strict as they were written."""
    column = {"kind": "float", "min": 0, "max": 10, "bins": 5}
    values = _decoded(column, where, 5_000)
    assert all(map(fits, values))
    assert len(set(values)) in (1, 3) or len(set(values)) >= 200


def test_open_ends_of_real_numbers_are_left_out() -> None:
    """Below and above exclude the value itself, by the nearest number that floats have."""
    column = FloatColumn(min=0.0, max=10.0, bins=5)
    low = Region().narrowed(column, ">", [3.0])
    high = Region().narrowed(column, "<", [3.0])
    hole = Region().narrowed(column, "!=", [3.0])
    above, below = math.nextafter(3.0, 9), math.nextafter(3.0, 0)
    assert [(above, 3.5)] == low.runs(column, (2.0, 3.5))
    assert [(2.0, below)] == high.runs(column, (2.0, 3.5))
    assert [(2.0, below), (above, 3.5)] == hole.runs(column, (2.0, 3.5))


def test_points_of_the_line_are_alike() -> None:
    """They have no length to be weighed by."""
    column = {"kind": "float", "min": 0, "max": 10, "bins": 1}
    values = np.array(_decoded(column, "x in {1, 2, 9}", 3_000))
    assert fit_of_choices(np.searchsorted([1, 2, 9], values), np.full(3, 1 / 3)) > NEVER


def test_days_moments_and_missing_cells() -> None:
    """Days and moments are cut like whole numbers; a missing cell stays missing."""
    day = {"kind": "date", "min": "2000-01-01", "max": "2000-12-31", "bins": 2, "missing": []}
    days = _decoded(day, "x >= 2000-06-20, x <= 2000-07-03", 3_000)
    assert {date(2000, 6, 20) + timedelta(days=n) for n in range(14)} == set(days)
    moment = {"kind": "datetime", "min": "2000-01-01T00:00:00", "max": "2000-01-01T00:59:59"}
    moments = _decoded(moment, "x < 2000-01-01T00:00:03", 500)
    assert {0, 1, 2} == {moment.second for moment in moments}
    assert {None} == set(_decoded(day, "x missing", 10))
    assert None not in _decoded(day, "x not missing", 200)
    assert None in _decoded(day, "x != 2000-01-01", 2000)


def test_the_widest_range_can_be_cut() -> None:
    """The count of its values is beyond 64 bits, their places are not."""
    column = {"kind": "integer", "min": -(2**62), "max": 2**62, "bins": 1}
    values = _decoded(column, "x != 0, x >= -5", 100)
    assert min(values) >= -5
    assert max(values) > 2**55
