"""Noise has the scale it is charged for: the true one is accepted, 30 % off is rejected."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from support import opendp
from support.promised import need
from support.statistics import (
    NEVER,
    fit_in_bins,
    fit_of_choices,
    fit_of_integers,
    same_counts,
    same_law,
)
from support.tiers import full_but, slow_but
from understudy.privacy.accounting.costs import pure_epsilon, zcdp_rho
from understudy.privacy.accounting.events import Event
from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    FineGaussian,
)
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.privacy.noise.system import Noise, SystemNoise
from understudy.testing import SeededNoise

NOISES: list[Noise] = [SystemNoise(), SeededNoise(7)]
# Power: with n draws, the chi-square of a wrong law q is noncentral by n·Σ(p − q)²/q. Of all laws
# tested below, 30 % more noise for permute-and-flip among forty scores at scale 1/3 is the hardest
# to tell: 9,400 draws reject it at 10⁻⁹ but once in ten million runs. A true law is rejected at
# 10⁻⁹, so that chance fails none of these tests more often than once in a million runs.
DRAWS = 10_000
SCALES = ["3/10", "1", "15/2", "1000/3", "20000", "100000"]
SCORES = np.array([0, 3, 8, 8, 12, 15])


@pytest.mark.parametrize("noise", NOISES, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("scale", ["7/10", "5", "33"])
def test_laplace_scale(noise: Noise, scale: str) -> None:
    """Discrete Laplace draws follow their closed form and no other."""
    true = Fraction(scale)
    draws = DiscreteLaplace(true, Fraction(1)).release(np.zeros(DRAWS, np.int64), noise)
    assert fit_of_integers(draws, DiscreteLaplace(true, Fraction(1)).probability) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        wrong = DiscreteLaplace(true * factor, Fraction(1))
        assert fit_of_integers(draws, wrong.probability) < NEVER


@pytest.mark.parametrize("noise", NOISES, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("sigma", ["7/10", "5", "33"])
def test_gaussian_scale(noise: Noise, sigma: str) -> None:
    """Discrete Gaussian draws follow their closed form and no other."""
    true = Fraction(sigma)
    draws = DiscreteGaussian(true**2, Fraction(1)).release(np.zeros(DRAWS, np.int64), noise)
    assert fit_of_integers(draws, DiscreteGaussian(true**2, Fraction(1)).probability) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        wrong = DiscreteGaussian((true * factor) ** 2, Fraction(1))
        assert fit_of_integers(draws, wrong.probability) < NEVER


@pytest.mark.parametrize("noise", NOISES, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("sigma", ["1/256", "7/10"])
def test_fine_gaussian_scale(noise: Noise, sigma: str) -> None:
    """Noise on a fine grid follows its closed form, step by step, and no other."""
    true = Fraction(sigma)
    fine = FineGaussian(true**2, Fraction(1), 1, 1024)
    steps = fine.release(np.zeros(DRAWS, np.int64), noise) * 1024
    draws = steps.astype(np.int64)
    assert np.array_equal(steps, draws)
    assert fit_in_bins(draws, _weights(2, true * 1024)) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert fit_in_bins(draws, _weights(2, true * 1024 * factor)) < NEVER


def _weights(power: int, scale: Fraction) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """exp(−(|z| / scale)^power / power) for all z that matter."""
    reach = math.ceil(40 * scale / power)
    return np.exp(-(np.abs(np.arange(-reach, reach + 1) / float(scale)) ** power) / power)


def _draws(power: int, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    noise = SystemNoise()
    return noise.laplace(scale, size) if power == 1 else noise.gaussian(scale**2, size)


@pytest.mark.parametrize("power", [1, 2], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_three_percent_off_is_rejected(power: int, scale: str) -> None:
    """A million draws fit their closed form, and none whose scale is 3 % larger or smaller."""
    true = Fraction(scale)
    draws = _draws(power, true, 1_000_000)
    assert fit_in_bins(draws, _weights(power, true)) > NEVER
    for factor in (Fraction(97, 100), Fraction(103, 100)):
        assert fit_in_bins(draws, _weights(power, true * factor)) < NEVER


@pytest.mark.slow
@pytest.mark.parametrize(
    "of_opendp", [opendp.laplace, opendp.gaussian], ids=["laplace", "gaussian"]
)
@pytest.mark.parametrize("scale", full_but(("3/10", "1000/3"), SCALES[:5]))
def test_ours_and_opendp_are_of_one_law(
    of_opendp: Callable[[Fraction, int], np.ndarray[tuple[int], np.dtype[np.int64]]], scale: str
) -> None:
    """OpenDP's draws and ours are alike, and not when our scale is 3 % off."""
    true, power = Fraction(scale), 1 if of_opendp is opendp.laplace else 2
    theirs = of_opendp(true, 350_000)
    assert same_law(_draws(power, true, 5_000_000), theirs) > NEVER
    for factor in (Fraction(97, 100), Fraction(103, 100)):
        assert same_law(_draws(power, true * factor, 5_000_000), theirs) < NEVER


@pytest.mark.parametrize("noise", slow_but(NOISES[:1], NOISES), ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("kind", [PermuteAndFlip, Exponential])
def test_selection_frequencies(noise: Noise, kind: type[PermuteAndFlip | Exponential]) -> None:
    """Choices come as often as the closed form says, and not as with 30 % more or less noise."""
    mechanism = kind(Fraction(6), Fraction(1))
    draws = np.array([int(mechanism.release(SCORES, noise)) for _ in range(DRAWS)])
    assert fit_of_choices(draws, mechanism.probabilities(SCORES)) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        wrong = kind(mechanism.scale * factor, Fraction(1))
        assert fit_of_choices(draws, wrong.probabilities(SCORES)) < NEVER


@pytest.mark.parametrize("kind", [PermuteAndFlip, Exponential])
@pytest.mark.parametrize("scale", slow_but({"1/3"}, ["1/3", "22/7", "1e9"]))
def test_selections_among_many(kind: type[PermuteAndFlip | Exponential], scale: str) -> None:
    """Among forty scores up to seven scales apart too, and not at scales 30 % off."""
    mechanism = kind(Fraction(scale), Fraction(1))
    distances = np.random.default_rng(5).uniform(0, 7, 40)
    scores = np.array([round(mechanism.scale * Fraction(distance)) for distance in distances])
    draws = np.array([int(mechanism.release(scores, SystemNoise())) for _ in range(DRAWS)])
    assert fit_of_choices(draws, mechanism.probabilities(scores)) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        wrong = kind(mechanism.scale * factor, Fraction(1))
        assert fit_of_choices(draws, wrong.probabilities(scores)) < NEVER


REFEREES = [
    (PermuteAndFlip, "max_divergence", pure_epsilon),
    (Exponential, "zero_concentrated_divergence", zcdp_rho),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "measure", "cost"), REFEREES)
def test_choices_and_opendp_are_of_one_law(
    kind: type[PermuteAndFlip | Exponential], measure: str, cost: Callable[[Event], Fraction]
) -> None:
    """OpenDP's choices and ours are alike, and not when our scale is 30 % off."""
    need("opendp")
    scores, true, times = np.arange(8) * 3, Fraction(15, 2), 8000
    choose, listed = opendp.noisy_max(measure, true), scores.tolist()
    theirs = np.bincount([choose(listed) for _ in range(times)], minlength=8)

    def alike(scale: Fraction) -> float:
        mechanism = kind(scale, Fraction(1))
        ours = [int(mechanism.release(scores, SystemNoise())) for _ in range(2 * times)]
        return same_counts(np.bincount(ours, minlength=8), theirs)

    assert alike(true) > NEVER
    for factor in (Fraction(7, 10), Fraction(13, 10)):
        assert alike(true * factor) < NEVER


@pytest.mark.parametrize(("kind", "measure", "cost"), REFEREES)
@pytest.mark.parametrize("scale", ["1/4", "3", "4096"])
def test_choices_cost_what_opendp_says(
    kind: type[PermuteAndFlip | Exponential],
    measure: str,
    cost: Callable[[Event], Fraction],
    scale: str,
) -> None:
    """OpenDP's privacy map gives our ε for permute-and-flip and our ρ for the exponential one."""
    need("opendp")
    for sensitivity in (1, 2):
        ours = cost(kind(Fraction(scale), Fraction(sensitivity)).event)
        theirs = opendp.noisy_max(measure, Fraction(scale)).map(sensitivity)
        assert float(ours) == pytest.approx(theirs, rel=1e-12)


def test_the_two_selections_are_told_apart() -> None:
    """Permute-and-flip is not the exponential mechanism under another name."""
    flip = PermuteAndFlip(Fraction(6), Fraction(1))
    draws = np.array([int(flip.release(SCORES, SystemNoise())) for _ in range(DRAWS)])
    gumbel = Exponential(Fraction(6), Fraction(1))
    assert fit_of_choices(draws, gumbel.probabilities(SCORES)) < NEVER


def test_halved_noise_is_caught() -> None:
    """A planted bug: noise of half the charged scale fails the test that true noise passes."""

    class Halved(SystemNoise):
        def laplace(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return super().laplace(scale / 2, size)

    mechanism = DiscreteLaplace(Fraction(20), Fraction(1))
    draws = mechanism.release(np.zeros(DRAWS, np.int64), Halved())
    assert fit_of_integers(draws, mechanism.probability) < NEVER


def test_noise_of_the_system_never_repeats() -> None:
    """Two draws of a thousand cells differ: there is no seed to know."""
    first, second = (SystemNoise().laplace(Fraction(100), 1000) for _ in range(2))
    assert first.tolist() != second.tolist()


def test_seeded_noise_repeats_and_says_so() -> None:
    """The testing twin is repeatable, and not private."""
    first, second = (SeededNoise(3).gaussian(Fraction(100), 1000) for _ in range(2))
    assert first.tolist() == second.tolist()
    assert not SeededNoise(3).private
    assert SystemNoise().private
