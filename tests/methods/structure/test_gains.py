"""Scores of one more parent against brute force: their values, and how far one row moves them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.gains import (
    added,
    conditional_r,
    conditional_total_variation,
    gain_for,
)
from understudy.methods.structure.scores import mutual_information, total_variation
from understudy.rows.counting import Counts, Marginal, Score

Shape = tuple[int, ...]
SHAPES: list[tuple[Shape, int]] = [((2, 2), 8), ((2, 2, 2), 5), ((3, 2, 2), 3), ((2, 2, 3), 3)]

small_tables = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 30))
)


def _tables(shape: Shape, rows: int) -> Iterator[Counts]:
    """Every table of a shape that holds this number of rows."""
    cells = math.prod(shape)
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        edges = (-1, *bars, rows + cells - 1)
        yield (np.diff(edges) - 1).astype(np.int64).reshape(shape)


def _with_one_more(table: Counts) -> Iterator[Counts]:
    for cell in range(table.size):
        more = table.copy()
        more.flat[cell] += 1
        yield more


def _value(score: Score, table: Counts) -> float:
    return score.kernel(Marginal(tuple("abcde"[: table.ndim]), table))


def _distance(joint: Counts) -> Fraction:
    """Half the distance of one slice to independence, exactly."""
    total = int(joint.sum())
    rows, columns = joint.sum(axis=1).tolist(), joint.sum(axis=0).tolist()
    cells = itertools.product(range(joint.shape[0]), range(joint.shape[1]))
    off = (abs(joint[i, j].item() - Fraction(rows[i] * columns[j], total)) for i, j in cells)
    return sum(off, Fraction(0)) / 2 if total else Fraction(0)


@given(small_tables)
def test_the_conditional_distance_adds_up_over_the_other_parents(table: Counts) -> None:
    """It is the distance to independence in each slice, in rows."""
    expected = float(sum((_distance(part) for part in table), Fraction(0)))
    assert expected == pytest.approx(_value(conditional_total_variation(), table), abs=1e-9)
    n = max(int(table.sum()), 1)
    assert expected / n == pytest.approx(_value(conditional_r(n), table), abs=1e-9) or n == 1


@given(small_tables)
def test_without_other_parents_it_is_the_score_of_the_pair(table: Counts) -> None:
    """The first parent is scored as all pairs are."""
    pair = table.sum(axis=0)
    expected = _value(total_variation(), pair)
    assert expected == pytest.approx(_value(conditional_total_variation(), pair), abs=1e-9)


@pytest.mark.parametrize(("shape", "most"), SHAPES, ids=str)
def test_a_row_more_moves_it_by_less_than_two(shape: Shape, most: int) -> None:
    """All small tables and all rows that may be added."""
    score = conditional_total_variation()
    for rows in range(most):
        moved = max(
            abs(_value(score, more) - _value(score, table))
            for table in _tables(shape, rows)
            for more in _with_one_more(table)
        )
        assert moved < float(score.sensitivity)


@pytest.mark.parametrize(("shape", "most"), SHAPES, ids=str)
def test_a_replaced_row_moves_shares_by_at_most_their_sensitivity(shape: Shape, most: int) -> None:
    """All small tables, dropped rows included; added information keeps its bound too."""
    for rows in range(2, most + 1):
        for score in (conditional_r(rows), added(mutual_information(rows, binary=False))):
            for others in itertools.chain.from_iterable(_tables(shape, k) for k in range(rows)):
                values = [_value(score, t) for t in (others, *_with_one_more(others))]
                assert max(values) - min(values) <= float(score.sensitivity) + 1e-12


def test_the_bounds_are_nearly_reached() -> None:
    """n equal rows, and one that differs: 2n/(n + 1) in rows; and twice that across two slices."""
    table = np.zeros((2, 2, 2), np.int64)
    table[0, 0, 0] = 999
    more = table.copy()
    more[0, 1, 1] = 1
    score = conditional_total_variation()
    assert 2 * 999 / 1000 == pytest.approx(_value(score, more) - _value(score, table))
    before, after = table.copy(), table.copy()
    before[1, 0, 0] = after[1, 0, 0] = 999
    before[0, 1, 1], after[1, 1, 1] = 1, 1
    before[1, 0, 0] = 0
    after[1, 0, 0] = 0
    assert _value(score, before) <= 2.0
    assert 0.0 == _value(score, after)


def test_every_score_has_its_gain() -> None:
    """In the same unit and for the same relation; information that is added is never negative."""
    domain = Domain({"a": 2, "b": 2})
    names = {
        (Neighbours.ADD_REMOVE, None): "conditional total variation",
        (Neighbours.REPLACE, None): "conditional R",
        (Neighbours.REPLACE, "MI"): "added mutual information",
        (Neighbours.REPLACE, "F"): "added F",
    }
    for (neighbours, name), expected in names.items():
        score = gain_for(Unit(neighbours), 10, domain, name=name)
        assert (expected, neighbours) == (score.name, score.neighbours)
