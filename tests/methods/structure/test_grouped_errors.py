"""Errors that tables in groups show: none where there is noise alone, and never far too much."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.methods.structure.grouped_errors import (
    balanced_groups,
    error_noise,
    shown_errors,
)
from understudy.privacy.noisy_marginal import NoisyMarginal


@pytest.mark.parametrize("codes", [1, 2, 3, 7, 60])
@pytest.mark.parametrize("most", [2, 6])
def test_groups_are_neighbours_and_none_is_empty(codes: int, most: int) -> None:
    """Numbers of groups rise by one at a time from 0, whatever noise made of the counts."""
    counts = np.random.default_rng(codes).normal(3.0, 20.0, codes)
    groups = balanced_groups(counts, most).astype(int)
    assert 0 == groups[0]
    assert {0, 1} >= set(np.diff(groups).tolist())
    assert min(codes, most) >= groups[-1] + 1


def test_groups_have_about_the_same_number_of_rows() -> None:
    """Codes that all occur alike are cut into equal parts."""
    assert [0] * 5 + [1] * 5 == balanced_groups(np.full(10, 7.0), 2).tolist()


def test_a_dependence_stands_out_of_the_noise() -> None:
    """The error of a pair is seen within a factor of two, and noise alone shows hardly any."""
    expected = np.full((3, 3), 1000.0)
    moved = 300 * np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]])
    noise = np.random.default_rng(3).normal(0.0, 5.0, (2, 3, 3))
    tables = [
        NoisyMarginal(("a", "b"), expected + noise[0] + moved, 25.0),
        NoisyMarginal(("a", "b"), expected + noise[1], 25.0),
    ]
    seen, nothing = shown_errors(tables, [expected, expected])
    assert 1 / 2 < seen / np.abs(moved).sum() < 2
    assert nothing < 3 * error_noise((3, 3), 25.0)


def test_single_attributes_do_not_count_in_pairs() -> None:
    """What one-way tables explain is not an error of the pair."""
    expected = np.full((2, 3), 100.0)
    lines = expected + np.array([[40.0], [-40.0]]) + np.array([5.0, 0.0, -5.0])
    [error] = shown_errors([NoisyMarginal(("a", "b"), lines, 1.0)], [expected])
    assert 0 == error
