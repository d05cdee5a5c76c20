"""Estimates of small tables from all released ones: means by precision, agreeing, unclipped."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.models.intervals.measured import measured_table
from understudy.models.intervals.redrawing import RedrawnTable
from understudy.privacy.noisy_marginal import NoisyMarginal

DOMAIN = Domain({"a": 2, "b": 3})


def released(names: tuple[str, ...], counts: object, variance: float) -> RedrawnTable:
    """A released table with Gaussian noise."""
    return RedrawnTable(NoisyMarginal(names, np.array(counts), variance), laplace=False)


def test_two_releases_of_a_table_are_averaged_by_precision() -> None:
    """Variances 1 and 3 count as 3 to 1, and the error has variance 3/4."""
    found = measured_table(
        [released(("a",), [10, 20], 1.0), released(("a",), [14, 16], 3.0)], ("a",), DOMAIN
    )
    assert found is not None
    assert [11.0, 19.0] == pytest.approx(found.counts.tolist())
    assert 0.75 == pytest.approx(found.errors.var(axis=0).mean(), rel=0.1)


def test_a_total_that_is_known_better_corrects_all_cells_alike() -> None:
    """The exact number of rows is met, and half of a cell's error with it."""
    tables = [released(("a",), [10, 20], 1.0), released((), 32, 0.0)]
    found = measured_table(tables, ("a",), DOMAIN)
    assert found is not None
    assert [11.0, 21.0] == pytest.approx(found.counts.tolist(), abs=1e-6)
    assert 0.0 == pytest.approx(float(np.abs(found.errors.sum(axis=1)).max()), abs=1e-3)
    assert 0.5 == pytest.approx(found.errors.var(axis=0).mean(), rel=0.1)


def test_smaller_tables_and_larger_ones_agree() -> None:
    """The pair's sums are those that the table of one attribute has; nothing is clipped."""
    pair = released(("b", "a"), [[-3, 5], [7, 9], [11, 2]], 2.0)
    alone = released(("a",), [20, 10], 0.5)
    both = measured_table([pair, alone], ("a", "b"), DOMAIN)
    single = measured_table([pair, alone], ("a",), DOMAIN)
    assert both is not None
    assert single is not None
    assert both.counts.sum(axis=1) == pytest.approx(single.counts)
    spread = both.errors.sum(axis=2).var(axis=0)
    assert spread == pytest.approx(single.errors.var(axis=0), rel=0.2)
    assert both.counts.min() < 0


def test_what_no_table_holds_has_no_estimate() -> None:
    """Two tables of one attribute do not hold the pair."""
    tables = [released(("a",), [1, 2], 1.0), released(("b",), [1, 1, 1], 1.0)]
    assert measured_table(tables, ("a", "b"), DOMAIN) is None


@pytest.mark.parametrize("laplace", [False, True])
def test_redrawn_noise_has_the_variance_of_the_table(laplace: bool) -> None:
    """Cell by cell, and for sums of cells."""
    table = RedrawnTable(NoisyMarginal(("a",), np.zeros(2), 9.0), laplace=laplace)
    drawn = table.noise(np.array([1.0, 4.0]), 200_000, np.random.default_rng(1))
    assert [9.0, 36.0] == pytest.approx(drawn.var(axis=0).tolist(), rel=0.03)
    kurtosis = float((drawn[:, 0] ** 4).mean()) / 81
    assert (6.0 if laplace else 3.0) == pytest.approx(kurtosis, rel=0.1)
