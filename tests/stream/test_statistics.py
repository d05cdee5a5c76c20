"""Many runs: errors are as the closed forms say, and an audit finds no more than is promised."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from understudy.errors import UsageError
from understudy.jobs.stream_planning import StreamPlanRequest, plan_stream
from understudy.methods.auditing.bounds import lower_bound
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Design
from understudy.stream.entries import Bits
from understudy.stream.response import ESTIMATORS
from understudy.stream.sizing import NarrowSizing, Sizing
from understudy.stream.state import State

# A mean of n squares of normal errors is off by √(2/n) of itself: by 2 % for 5,000. A tolerance of
# 10 % is 5 deviations, which chance exceeds once in 1.7 million runs; errors that are 30 % off are
# let through once in 10¹³ (7.7 deviations of 2.6 %).
RUNS = 5_000
AUDITS = 10_000
QUARTER = Fraction(1, 4)


def _mean_squared_error(design: Design, ids: npt.NDArray[np.int64], density: float) -> float:
    """Over fresh states, each with one answer."""
    grant = Grant(Budget.unlimited())
    squares = np.empty(RUNS)
    for run in range(RUNS):
        visits = DensityEstimator.over(State.start(design), grant)
        visits.update(ids)
        squares[run] = (visits.answer().density - density) ** 2
    return float(squares.mean())


@pytest.mark.slow
def test_the_optimal_bit_beats_dworks() -> None:
    """At ε = 0.25 and m = 10⁴ by nearly four times; both as their closed forms say."""
    m, epsilon, density = 10**4, 0.25, 0.63
    ids = np.arange(int(m * density))
    tangent = math.tanh(epsilon / 2)
    expected = {
        "bernoulli": (1 / tangent**2 - 1) / (4 * m) + 2 / (m * epsilon * tangent) ** 2,
        "dwork": 4 / (m * epsilon**2) - density / m + 32 / (m**2 * epsilon**4),
    }
    found = {}
    for name, closed in expected.items():
        design = Design.of(m, epsilon=QUARTER, estimator=name)
        found[name] = _mean_squared_error(design, ids, density)
        assert pytest.approx(closed, rel=0.1) == found[name]
        assert pytest.approx(closed, rel=0.01) == design.sizing.variance(m, density)
    assert 3.9 <= expected["dwork"] / expected["bernoulli"]
    # The ratio found is off by 3 % or so.
    assert 3.2 <= found["dwork"] / found["bernoulli"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_are_as_the_variance_says(name: str) -> None:
    """Within five standard deviations, at another density and a larger ε."""
    design = Design.of(400, epsilon=1, estimator=name)
    found = _mean_squared_error(design, np.arange(100), 0.25)
    assert pytest.approx(design.sizing.variance(400, 0.25), rel=0.1) == found


@pytest.mark.slow
def test_samples_add_their_part() -> None:
    """Users drawn without replacement, another sample for every state.

    Of 10,000 users: the keyed permutation of fewer, as 1,000 in ten bits, is not quite a random
    one, and its samples vary by some per cent more.
    """
    squares = []
    for _ in range(RUNS):
        visits = DensityEstimator(10_000, epsilon=8, sample=100, ledger=None)
        visits.update(np.arange(3000))
        squares.append((visits.answer().density - 0.3) ** 2)
    expected = visits.design.sizing.variance(100, 0.3, 10_000)
    assert pytest.approx(expected, rel=0.1) == np.mean(squares)


@pytest.mark.slow
def test_answers_miss_less_often_than_the_bound_says() -> None:
    """At m* for α = β = 0.2 the share of misses is below β, with sampling and noise."""
    sizing = Sizing(Design.of(10, epsilon=1).response, Fraction(1))
    least, misses = sizing.sample_size(0.2, 0.2), 0
    for _ in range(2000):
        visits = DensityEstimator(10 * least, epsilon=1, sample=least, ledger=None)
        visits.update(np.arange(5 * least))
        misses += abs(visits.answer().density - 0.5) >= 0.2
    assert 0.2 >= misses / 2000


def _evidence(*, present: bool, planted: bool) -> npt.NDArray[np.float64]:
    """What an intruder and a reader of the answer hold together, run by run.

    The universe is one user, who visits before the intrusion and after it, or never.
    """
    design, grant = Design.of(1, epsilon=1), Grant(Budget.unlimited())
    found = np.empty(AUDITS)
    for run in range(AUDITS):
        state = State.start(design)
        visits = DensityEstimator.over(state, grant)
        if planted:
            assert isinstance(state.live, Bits)
            state.live._first[0] = 250
        visits.update([0] if present else [])
        seen = int(visits.state[0])
        visits.update([0] if present else [])
        response = design.response
        total = visits.answer().density * response.gap + response.mean
        found[run] = 1000 * seen + np.clip(total, -400, 400)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("planted", [False, True])
def test_an_audit_tells_the_promise_from_a_planted_fault(planted: bool) -> None:
    """No lower bound exceeds 2ε, unless the update's chance is wrong."""
    present, absent = (_evidence(present=there, planted=planted) for there in (True, False))
    bound = lower_bound(present, absent, delta=0, confidence=0.999).epsilon
    assert planted == (bound > 2)
    assert 0.8 < bound


def test_relative_errors_need_samples_by_the_least_density() -> None:
    """A tenth of a density of 0.2 and more is an error of 0.02; half the density takes more."""
    sizing = Design.of(1000, epsilon=QUARTER).sizing
    assert sizing.sample_size(0.02) == sizing.relative_sample(0.1, 0.2)
    assert sizing.relative_sample(0.1, 0.1) > 3 * sizing.relative_sample(0.1, 0.2)
    for density in (0.2, 0.6, 1.0):
        error = math.sqrt(sizing.variance(sizing.relative_sample(0.1, 0.2), density))
        # With β = 0.05 and a loose bound, two standard deviations are well within a tenth.
        assert 2 * error < 0.1 * density
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        sizing.relative_sample(0.1, 0.0)


def test_narrow_bounds_hold_and_are_much_nearer_for_laplace_entries() -> None:
    """Over 60 answers misses are no more than the bound, where the other bound says nothing."""
    users, alpha = 2_000, 0.1
    design = Design.of(users, epsilon=1, estimator="laplace")
    wide, narrow = (
        bound(alpha, users, whole=True)
        for bound in (design.sizing.miss_chance, design.sizing.narrow_miss_chance)
    )
    assert 1 == wide
    assert narrow < 0.5
    grant, ids = Grant(Budget.unlimited()), np.arange(users // 2)
    misses = 0
    for _ in range(60):
        visits = DensityEstimator.over(State.start(design), grant)
        visits.update(ids)
        misses += abs(visits.answer().density - 0.5) >= alpha
    # An error of 0.1 is three standard deviations: 30 misses of 60 do not happen by chance.
    assert misses <= 60 * 2 * narrow
    bits = Design.of(users, epsilon=1).sizing
    assert bits.miss_chance(0.02, users) >= bits.narrow_miss_chance(0.02, users)


def test_the_smaller_bound_needs_smaller_samples_of_laplace_entries() -> None:
    """A sample by the smaller of both bounds keeps both; for bits it is the same but for a few."""
    for estimator, much in (("laplace", True), ("bernoulli", False)):
        wide = Design.of(1_000, epsilon=1, estimator=estimator).sizing
        narrow = NarrowSizing(wide.response, wide.answer_epsilon)
        found, other = narrow.sample_size(0.1, 0.1), wide.sample_size(0.1, 0.1)
        assert narrow.miss_chance(0.1, found) <= 0.1 < narrow.miss_chance(0.1, found - 1)
        assert (found < other / 2) == much
        assert found <= other
        assert narrow.relative_sample(0.5, 0.2, 0.1) == found


def test_a_plan_has_a_relative_error() -> None:
    """A tenth of a density of one in ten or more needs the sample of an error of one in 100."""
    asked = StreamPlanRequest(epsilon="1", relative=0.1, least_density=0.1)
    found = plan_stream(asked)
    assert plan_stream(replace(asked, alpha=0.01))["sample_size"] == found["relative_sample_size"]
    assert "relative" not in plan_stream(replace(asked, relative=None))
    with pytest.raises(UsageError, match="above 0 and at most 1"):
        plan_stream(replace(asked, least_density=0.0))
