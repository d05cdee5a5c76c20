"""A column's first count of cells, joined by a second one, is as exact as the two are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from understudy.facts.column import IntegerColumn
from understudy.methods.discover.cells import Intervals
from understudy.methods.discover.coarse import Coarse
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.system.arrays import Integers

CELLS = Intervals.over(IntegerColumn(min=0, max=300))
# Of scale one tenth: hardly any noise.
NOISE = DiscreteLaplace.costing(Fraction(10), sensitivity=Fraction(1))
VALUES = np.repeat(np.arange(40, 120), 50)


def _counts(edges: list[float]) -> Integers:
    codes = np.searchsorted(edges, VALUES, side="right") - 1
    return np.bincount(codes, minlength=len(edges))


def test_cells_that_hold_rows_stand_out() -> None:
    """Without noise all rows are in them, and missing cells are seen where they were counted."""
    first = _counts(list(CELLS.edges))
    seen = Coarse.of(np.append(first, 500), CELLS, NOISE)
    assert (len(VALUES), True) == (seen.shown, seen.missing)
    assert not Coarse.of(np.append(first, 0), CELLS, NOISE).missing


def test_a_column_without_rows_shows_none() -> None:
    """No cell stands out, and all of them are counted again."""
    seen = Coarse.of(np.zeros(len(CELLS.edges), np.int64), CELLS, NOISE)
    assert (0, 0, len(CELLS.edges) - 1) == (seen.shown, seen.tree.first, seen.tree.last)


def test_two_exact_counts_agree() -> None:
    """Every level of the estimates has the true counts, and the cells outside have none."""
    seen = Coarse.of(_counts(list(CELLS.edges)), CELLS, NOISE)
    tree = seen.tree
    joined = seen.estimates(tree.answer(_counts(list(tree.edges))), NOISE)
    assert [len(VALUES)] * len(joined.levels) == [round(level.sum()) for level in joined.levels]
    np.testing.assert_allclose(joined.levels[-1], _counts(list(tree.leaves[0])), atol=1e-9)
    assert not np.any(joined.outer)
