"""Intervals of ratios: exact for Gaussian noise, as wide as Laplace noise needs, within bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.models.intervals.interval import (
    NoiseInterval,
    NoisySum,
    including,
    ratio_interval,
    spread_interval,
)
from understudy.system.arrays import Floats

DRAWS = 20_000


def noisy(value: float, errors: Floats) -> NoisySum:
    """A sum with drawn errors."""
    return NoisySum(np.array(value, float), errors)


def test_a_sum_over_a_constant_is_the_usual_interval() -> None:
    """Value ± 1.96 standard deviations."""
    errors = np.random.default_rng(1).normal(0, 2, DRAWS)
    low, high = ratio_interval(noisy(50, errors), noisy(1, np.zeros(DRAWS)), (0, math.inf))
    assert (50 - 3.92, 50 + 3.92) == pytest.approx((float(low), float(high)), abs=0.1)


def test_laplace_noise_has_its_own_multiple() -> None:
    """95 of 100 Laplace draws are within ln 20 scales, which is 2.118 standard deviations."""
    errors = np.random.default_rng(1).laplace(0, 1, DRAWS)
    low, high = ratio_interval(noisy(50, errors), noisy(1, np.zeros(DRAWS)), (0, math.inf))
    assert 2 * math.log(20) == pytest.approx(float(high - low), rel=0.05)


def test_fieller_of_a_ratio_by_hand() -> None:
    """10/100 with independent errors of variance 4 and 25: the roots of the quadratic."""
    random = np.random.default_rng(2)
    above, below = noisy(10, random.normal(0, 2, DRAWS)), noisy(100, random.normal(0, 5, DRAWS))
    z = 1.959964**2
    a, b, c = 100**2 - z * 25, 10 * 100, 10**2 - z * 4
    root = math.sqrt(b * b - a * c)
    found = tuple(float(end) for end in ratio_interval(above, below, (0, 1)))
    assert ((b - root) / a, (b + root) / a) == pytest.approx(found, rel=0.05)


def test_a_sum_that_noise_hides_says_nothing_about_a_ratio() -> None:
    """The bounds are the interval."""
    errors = np.random.default_rng(3).normal(0, 5, DRAWS)
    found = ratio_interval(noisy(1, errors), noisy(3, errors[::-1].copy()), (0, 1))
    assert (0.0, 1.0) == tuple(float(end) for end in found)


def test_refitted_answers_spread_by_students_quantile() -> None:
    """With three of them 4.30 standard deviations to either side, within bounds."""
    low, high = spread_interval(np.array(0.5), np.array([0.4, 0.5, 0.6]), (0.0, 1.0))
    assert (0.5 - 0.4303, 0.5 + 0.4303) == pytest.approx((float(low), float(high)), abs=1e-3)
    assert 1.0 == float(spread_interval(np.array(0.9), np.array([0.4, 0.5, 0.6]), (0.0, 1.0))[1])


def test_refits_that_do_not_agree_with_the_answer_widen_its_interval() -> None:
    """From the lower of answer and mean to the higher of them, with the spread on either side."""
    low, high = spread_interval(np.array(0.9), np.array([0.4, 0.5, 0.6]), (-9.0, 9.0))
    assert (0.5 - 0.4303, 0.9 + 0.4303) == pytest.approx((float(low), float(high)), abs=1e-3)


def test_an_interval_holds_its_own_answer() -> None:
    """It is widened on the side of the answer, and nowhere else."""
    ends = np.array([0.2, 0.2, 0.2]), np.array([0.4, 0.4, 0.4])
    low, high = including(np.array([0.1, 0.3, 0.5]), ends)
    assert ([0.1, 0.2, 0.2], [0.4, 0.4, 0.5]) == (low.tolist(), high.tolist())


def test_an_interval_says_what_it_is_about() -> None:
    """Measured, resting on the model with its coverage, or none with the reason."""
    low, high = np.zeros(()), np.ones(())
    measured = NoiseInterval(low=low, high=high, basis="measured")
    assert "released tables hold" in measured.sentence
    modelled = NoiseInterval(low=low, high=high, basis="model", coverage=0.54)
    assert "rests on the model" in modelled.sentence
    assert "54 times in 100" in modelled.sentence
    unknown = NoiseInterval(low=low, high=high, basis="model")
    assert "was not measured" in unknown.sentence
    assert "because" in NoiseInterval.none("because").sentence
    assert {"level": None, "basis": None} == {
        k: NoiseInterval.none("x").document()[k] for k in ("level", "basis")
    }
