"""Lower bounds on ε: never above the truth but by luck, near it with many runs, δ taken off."""

from __future__ import annotations

import math

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.methods.auditing.bounds import (
    Curve,
    LogLikelihoodRatios,
    curve_of,
    largest_provable,
    least_false_negative,
    lower_bound,
)


def _responses(epsilon: float, runs: int, generator: np.random.Generator) -> LogLikelihoodRatios:
    """Evidence for the truth from randomized response, whose only loss is ε itself."""
    truthful = generator.random(runs) < math.exp(epsilon) / (1 + math.exp(epsilon))
    return np.where(truthful, epsilon, -epsilon)


def _pair(epsilon: float, runs: int, seed: int) -> tuple[LogLikelihoodRatios, LogLikelihoodRatios]:
    generator = np.random.default_rng(seed)
    return _responses(epsilon, runs, generator), -_responses(epsilon, runs, generator)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_many_runs_come_near_the_truth(epsilon: float) -> None:
    """Half a million runs show all but a twentieth of ε, and not more than ε."""
    found = lower_bound(*_pair(epsilon, 250_000, 1), delta=0, confidence=0.99)
    assert 0.95 * epsilon - 0.01 < found.epsilon < epsilon


def test_a_bound_above_the_truth_is_rare() -> None:
    """At confidence 0.9 fewer than one in ten of four hundred audits exceed the true ε."""
    found = [
        lower_bound(*_pair(1.0, 400, seed), delta=0, confidence=0.9).epsilon for seed in range(400)
    ]
    assert sum(epsilon > 1 for epsilon in found) < 40
    assert np.median(found) > 0.5


def test_half_of_the_runs_do_not_choose() -> None:
    """Evidence without any meaning shows nothing, however freely the threshold is chosen."""
    generator = np.random.default_rng(3)
    found = [
        lower_bound(*generator.normal(size=(2, 300)), delta=0, confidence=0.99).epsilon
        for _ in range(200)
    ]
    assert sum(epsilon > 0 for epsilon in found) <= 6


def test_delta_is_taken_off() -> None:
    """A certain sign in one run of fifty is nothing at δ = 0.05 and much at δ = 0."""
    present = np.where(np.arange(20_000) % 51 == 0, np.inf, 0.0)
    absent = np.zeros(20_000)
    assert lower_bound(present, absent, delta=0, confidence=0.99).epsilon > 3
    assert 0 == lower_bound(present, absent, delta=0.05, confidence=0.99).epsilon


def test_either_table_may_be_given_away() -> None:
    """A sign that is seen only where the person is absent counts as much."""
    absent = np.where(np.arange(2_000) % 3 == 0, -np.inf, 0.0)
    found = lower_bound(np.zeros(2_000), absent, delta=0, confidence=0.99)
    assert "absent" == found.calls
    assert found.epsilon > 2


def test_the_most_that_can_be_shown() -> None:
    """An attacker who is always right reaches it, and more runs raise it."""
    for runs in (40, 1000, 10_000):
        sure = np.full(runs // 2, np.inf)
        found = lower_bound(sure, -sure, delta=0.01, confidence=0.99)
        assert found.epsilon == pytest.approx(
            largest_provable(runs, delta=0.01, confidence=0.99), rel=1e-9
        )
    # With N counted runs on each side and error a: a^(1/N) / (1 − a^(1/N)), a = 0.005.
    never = 0.005 ** (1 / 2500)
    assert largest_provable(10_000, delta=0, confidence=0.99) == pytest.approx(
        math.log(never / (1 - never))
    )


def test_the_curve_goes_from_nobody_to_everybody() -> None:
    """Errors at each threshold, by hand; in between the attacker tosses."""
    curve = curve_of(np.array([1.0, 2.0, 2.0, np.inf]), np.array([0.0, 0.0, 1.0, 2.0]))
    assert Curve((0, 0, 0.25, 0.5, 1), (1, 0.75, 0.25, 0, 0)) == curve
    assert 0.75 == curve.at(0)
    assert 0.125 == curve.at(0.375)
    assert 0 == curve.at(1)


def test_the_errors_that_a_claim_leaves() -> None:
    """By hand: ε = ln 2 without and with δ; perfect privacy leaves what guessing does."""
    assert 0.6 == pytest.approx(least_false_negative(0.2, epsilon=math.log(2), delta=0))
    assert 0.2 == pytest.approx(least_false_negative(0.6, epsilon=math.log(2), delta=0))
    assert 0.5 == pytest.approx(least_false_negative(0.2, epsilon=math.log(2), delta=0.1))
    assert 0.3 == pytest.approx(least_false_negative(0.7, epsilon=0, delta=0))
    assert 0 == least_false_negative(1, epsilon=5, delta=0)


@pytest.mark.parametrize(("runs", "confidence"), [(2, 0.99), (100, 1.0), (100, 0.0)])
def test_what_shows_nothing_is_refused(runs: int, confidence: float) -> None:
    """Too few runs, or a confidence outside of 0 to 1."""
    with pytest.raises(UsageError, match=r"too few|confidence is"):
        largest_provable(runs, delta=0, confidence=confidence)
