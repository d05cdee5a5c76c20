"""The figures' numbers: theory and experiment agree; the printed noise is shown for what it is."""

from __future__ import annotations

from fractions import Fraction

import pytest
from scipy.stats import binom

from understudy.errors import UsageError
from understudy.stream import figures
from understudy.stream.figures import Made

QUARTER = [Fraction(1, 4)]


def test_joint_losses_show_what_the_printed_noise_reveals() -> None:
    """Corrected noise keeps the promise for every estimator; the printed one does for none."""
    rows = {row["estimator"]: row for row in figures.joint_losses(QUARTER)}
    assert all(row["corrected"] <= row["promised"] + 1e-9 for row in rows.values())
    assert all(row["printed"] > row["promised"] for row in rows.values())
    assert pytest.approx(1.59, abs=0.005) == rows["bernoulli"]["printed"]
    assert pytest.approx(3.44, abs=0.005) == rows["dwork"]["printed"]


def test_samples_grow_with_the_noise() -> None:
    """Corrected noise needs more users than the printed one, and far fewer than Roth's rule."""
    rows = {row["estimator"]: row for row in figures.sample_sizes(QUARTER)}
    assert all(row["printed"] < row["corrected"] for row in rows.values())
    assert 10 * rows["dwork"]["printed"] < rows["dwork"]["roth"]
    assert rows["bernoulli"]["corrected"] < rows["dwork"]["corrected"]


def test_the_optimal_bit_takes_its_whole_budget() -> None:
    """Dwork's takes half of it, the quantised one nearly all."""
    rows = {row["estimator"]: row["spent"] for row in figures.state_losses(QUARTER)}
    assert pytest.approx(0.25) == rows["bernoulli"]
    assert 0.14 > rows["dwork"] > 0.12
    assert 0.25 > rows["quantised"] > 0.23


def test_laws_add_up() -> None:
    """The chances of all levels, under both laws."""
    rows = list(figures.laws("laplace", Fraction(1, 10)))
    assert pytest.approx(1) == sum(row["initial"] for row in rows)
    assert pytest.approx(1) == sum(row["updated"] for row in rows)


@pytest.mark.parametrize(("kind", "density"), [("uniform", 0.63), ("zipf", 0.25)])
def test_streams_have_the_densities_of_the_seed(kind: str, density: float) -> None:
    """At T = |U| = 10⁵."""
    assert pytest.approx(density, abs=0.01) == Made.of(kind).density
    with pytest.raises(UsageError, match="choose uniform or zipf"):
        Made.of("flat")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "zipf"])
def test_errors_lie_on_their_theory(kind: str) -> None:
    """Mean squared errors of both noises, with a sample of a tenth."""
    stream = Made.of(kind, users=2000)
    for row in figures.squared_errors(stream, [Fraction(1, 2)], sample=200, runs=1000):
        # The mean of 1000 squares has a standard deviation of 7 % at most.
        assert pytest.approx(row["corrected_theory"], rel=0.45) == row["corrected"]
        assert pytest.approx(row["printed_theory"], rel=0.45) == row["printed"]


def test_misses_stay_below_their_bound() -> None:
    """The bound is loose: as many misses as seen would not be a wonder if it were the rate."""
    runs = 50
    stream = Made.of("uniform", users=5000)
    for row in figures.miss_chances(stream, [Fraction(1)], alpha=0.1, sample=5000, runs=runs):
        for noise in ("corrected", "printed"):
            misses = round(row[noise] * runs)
            assert binom.sf(misses - 1, runs, row[f"{noise}_bound"]) > 1e-9
