"""Single cells and copies: the worst are found, and chance is told from copying."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support.sheets import coded, comparison, drawn, listed, sheet
from understudy.evaluation.failures.cells import NO_CELLS, cell_errors
from understudy.evaluation.failures.copies import copies
from understudy.evaluation.marginals.distributions import distributions

SCHEMA = listed(a=2, b=2)


def test_lost_groups_and_worst_cells_are_named() -> None:
    """By hand: one group of 400 is gone, another has twice its rows."""
    real = coded(SCHEMA, {"a": [0] * 400 + [1] * 600, "b": [0] * 400 + [1] * 600})
    made = coded(SCHEMA, {"a": [0] * 100 + [1] * 900, "b": [0] * 100 + [1] * 900})
    both = comparison(SCHEMA, real, made)
    found = cell_errors(both, distributions(both))
    [lost] = found.lost
    assert ("a = 0 and b = 0", 400, 100) == (lost.words, lost.real, lost.synthetic)
    assert (2, 1) == (found.groups, found.lost_groups)
    assert 300 == abs(found.worst[0].real - found.worst[0].synthetic)


def test_usable_counts_are_those_that_are_near() -> None:
    """Small counts are wrong and large ones right: the border is between them."""
    schema = listed(a=20, b=2)
    counts = [20] * 10 + [2_000] * 10
    ours = list(itertools.chain.from_iterable([code] * n for code, n in enumerate(counts)))
    wrong = [40 if n == 20 else 1_980 for n in counts]
    theirs = list(itertools.chain.from_iterable([code] * n for code, n in enumerate(wrong)))
    real = coded(schema, {"a": ours, "b": [0] * len(ours)})
    made = coded(schema, {"a": theirs, "b": [0] * len(theirs)})
    both = comparison(schema, real, made)
    found = cell_errors(both, distributions(both))
    assert [(10, 10), (1_000, 10)] == [(size, cells) for size, cells, _ in found.sizes]
    assert 1_000 == found.usable_from
    same = comparison(schema, real, real)
    assert 10 == cell_errors(same, distributions(same)).usable_from


def test_no_rows_have_no_cells() -> None:
    """Nor has one column pairs."""
    empty = coded(SCHEMA, {"a": [], "b": []})
    both = comparison(SCHEMA, empty, empty)
    assert NO_CELLS == cell_errors(both, distributions(both))


@pytest.mark.parametrize("rows", [300, 3_000])
def test_copies_are_told_from_chance(rows: int) -> None:
    """Fresh rows of a small domain are equal by chance; copies in a large one are not chance."""
    small = listed(a=3, b=3)
    first, second = (sheet(small, drawn(small, rows, seed)) for seed in (1, 2))
    assert copies(first, second).copied > rows / 2
    assert 0.0 == copies(first, second).beyond_chance
    large = listed(**{f"c{i}": 200 for i in range(5)})
    generator = np.random.default_rng(3)
    codes = {name: generator.integers(0, 200, 2 * rows).tolist() for name in large.attributes}
    ours = coded(large, {name: each[:rows] for name, each in codes.items()})
    theirs = coded(
        large, {name: each[rows // 20 : rows + rows // 20] for name, each in codes.items()}
    )
    found = copies(sheet(large, ours), sheet(large, theirs))
    assert found.beyond_chance == pytest.approx(0.95, abs=0.01)
