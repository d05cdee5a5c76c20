"""Mechanisms keep the promise their event states: by closed form, and by exact ratios."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import UsageError
from understudy.privacy.accounting.costs import pure_epsilon, zcdp_rho
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import (
    DiscreteGaussian,
    DiscreteLaplace,
    ExactAnswer,
    additive,
)
from understudy.privacy.mechanisms.selection import ExactChoice, Exponential, PermuteAndFlip, choice
from understudy.privacy.noise.system import SystemNoise

SELECTIONS = (PermuteAndFlip, Exponential)
amounts = st.fractions(min_value=Fraction(1, 1000), max_value=1000)


@given(amounts, st.integers(1, 5))
def test_laplace_costs_what_was_asked(epsilon: Fraction, sensitivity: int) -> None:
    """Cost and noise come from the same fields, exactly."""
    mechanism = DiscreteLaplace.costing(epsilon, sensitivity=Fraction(sensitivity))
    assert epsilon == pure_epsilon(mechanism.event)


@given(amounts, st.integers(1, 5))
def test_gaussian_costs_what_was_asked(rho: Fraction, squared: int) -> None:
    """Cost and noise come from the same fields, exactly."""
    mechanism = DiscreteGaussian.costing(rho, sensitivity_squared=Fraction(squared))
    assert rho == zcdp_rho(mechanism.event)


@pytest.mark.parametrize("kind", SELECTIONS)
@given(epsilon=amounts, sensitivity=st.integers(1, 5))
def test_selection_costs_what_was_asked(
    kind: type[PermuteAndFlip | Exponential], epsilon: Fraction, sensitivity: int
) -> None:
    """Cost and noise come from the same fields, exactly."""
    mechanism = kind.costing(epsilon, sensitivity=Fraction(sensitivity))
    assert epsilon == pure_epsilon(mechanism.event)


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**6))
def test_a_choice_never_costs_more_rho_than_given(rho: Fraction) -> None:
    """The root taken for the exponential mechanism is rounded to the safe side."""
    event = choice(Budget.zcdp(rho), sensitivity=Fraction(1)).event
    cost = zcdp_rho(event)
    assert cost is not None
    assert Fraction(99, 100) * rho <= cost <= rho


@pytest.mark.parametrize("scale", ["1/3", "1", "5/2", "40"])
def test_laplace_ratios_are_bounded(scale: str) -> None:
    """No output is more than e^ε times likelier on a vector one away."""
    mechanism = DiscreteLaplace(Fraction(scale), Fraction(1))
    epsilon = float(pure_epsilon(mechanism.event) or 0)
    ratios = [mechanism.probability(z) / mechanism.probability(z - 1) for z in range(-60, 60)]
    assert max(ratios) == pytest.approx(math.exp(epsilon))


@pytest.mark.parametrize("scale", ["1/3", "1", "5/2", "40"])
def test_laplace_closed_forms(scale: str) -> None:
    """Probabilities sum to one, and the variance is theirs."""
    mechanism = DiscreteLaplace(Fraction(scale), Fraction(1))
    values = np.arange(-3000, 3001)
    chances = np.array([mechanism.probability(int(z)) for z in values])
    assert chances.sum() == pytest.approx(1)
    assert (values**2 * chances).sum() == pytest.approx(mechanism.variance)


@pytest.mark.parametrize("sigma_squared", ["1/5", "1", "24", "26", "900"])
def test_gaussian_closed_forms(sigma_squared: str) -> None:
    """Probabilities sum to one, and the variance is theirs."""
    mechanism = DiscreteGaussian(Fraction(sigma_squared), Fraction(1))
    values = np.arange(-600, 601)
    chances = np.array([mechanism.probability(int(z)) for z in values])
    assert chances.sum() == pytest.approx(1)
    assert (values**2 * chances).sum() == pytest.approx(mechanism.variance)


def _by_enumeration(scores: list[int], scale: float) -> list[float]:
    """Permute-and-flip over every order of the candidates."""
    accept = [math.exp((score - max(scores)) / scale) for score in scores]
    chances = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for index in order:
            chances[index] += left * accept[index] / len(orders)
            left *= 1 - accept[index]
    return chances


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=6), st.integers(1, 30))
def test_permute_and_flip_closed_form(scores: list[int], scale: int) -> None:
    """The integral over arrival times equals enumerating every order."""
    mechanism = PermuteAndFlip(Fraction(scale), Fraction(1))
    expected = _by_enumeration(scores, scale)
    assert expected == pytest.approx(mechanism.probabilities(np.array(scores)).tolist())


@pytest.mark.parametrize("kind", SELECTIONS)
@given(
    scores=st.lists(st.integers(-5, 5), min_size=2, max_size=5),
    moves=st.lists(st.integers(-1, 1), min_size=5, max_size=5),
    scale=st.integers(1, 20),
)
def test_selection_ratios_are_bounded(
    kind: type[PermuteAndFlip | Exponential], scores: list[int], moves: list[int], scale: int
) -> None:
    """No choice is more than e^ε times likelier with every score moved by the sensitivity."""
    mechanism = kind(Fraction(scale), Fraction(1))
    epsilon = float(pure_epsilon(mechanism.event) or 0)
    here = mechanism.probabilities(np.array(scores))
    there = mechanism.probabilities(np.array(scores) + np.array(moves[: len(scores)]))
    assert (here <= there * math.exp(epsilon) * (1 + 1e-9)).all()


def test_the_bounds_on_ratios_are_reached() -> None:
    """A claim of even one per cent less would be false."""
    worst = 0.0
    for kind in SELECTIONS:
        mechanism = kind(Fraction(2), Fraction(1))
        here = mechanism.probabilities(np.array([0] + [40] * 60))
        there = mechanism.probabilities(np.array([1] + [39] * 60))
        worst = max(worst, float((there / here).max()))
        assert worst > math.exp(0.99 * float(pure_epsilon(mechanism.event) or 0))


def test_permute_and_flip_is_never_worse() -> None:
    """At the same ε its expected score is at least the exponential mechanism's."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        scores = generator.integers(-30, 30, 12)
        flip = PermuteAndFlip(Fraction(7), Fraction(1)).probabilities(scores)
        gumbel = Exponential(Fraction(7), Fraction(1)).probabilities(scores)
        assert (flip * scores).sum() >= (gumbel * scores).sum() - 1e-9


def test_every_cell_gets_noise() -> None:
    """Empty cells are not spared: of a thousand zeros hardly any stays one."""
    zeros = np.zeros((10, 100), np.int64)
    mechanism = DiscreteLaplace(Fraction(50), Fraction(1))
    released = mechanism.release(zeros, SystemNoise())
    assert zeros.shape == released.shape
    assert (released == 0).sum() < 100


@pytest.mark.parametrize(
    ("mechanism", "within", "beyond"),
    [
        (DiscreteLaplace(Fraction(1), Fraction(2)), [1, -1], [1, -2]),
        (DiscreteGaussian(Fraction(1), Fraction(2)), [1, -1], [1, -1, 1]),
        (PermuteAndFlip(Fraction(1), Fraction(2)), [2, -2, 2], [3]),
        (Exponential(Fraction(1), Fraction(2)), [2, -2, 2], [-3]),
    ],
)
def test_norms_are_the_declared_ones(
    mechanism: DiscreteLaplace, within: list[int], beyond: list[int]
) -> None:
    """Differences are measured in L1, L2 and L∞ as each mechanism's proof needs."""
    assert mechanism.covers(np.array(within))
    assert not mechanism.covers(np.array(beyond))


def test_no_budget_no_mechanism() -> None:
    """Nothing is drawn for nothing."""
    with pytest.raises(UsageError, match="above zero"):
        additive(Budget.pure(0), l1=Fraction(1), l2_squared=Fraction(1))


@pytest.mark.parametrize("budget", [Budget.pure("1e-20"), Budget.zcdp("1e-28")])
def test_noise_that_would_leave_64_bits_is_refused(budget: Budget) -> None:
    """A draw cut off before it is added would show what it was added to."""
    with pytest.raises(UsageError, match="drown any table"):
        additive(budget, l1=Fraction(1), l2_squared=Fraction(1))
    with pytest.raises(UsageError, match="drown any table"):
        choice(budget, sensitivity=Fraction(1))


def test_unlimited_budgets_give_exact_answers() -> None:
    """For studies: no noise, and the event says so."""
    unlimited = Budget.unlimited()
    exact = additive(unlimited, l1=Fraction(1), l2_squared=Fraction(1))
    best = choice(unlimited, sensitivity=Fraction(1))
    scores = np.array([3, 9, 9])
    assert ExactAnswer() == exact
    assert scores.tolist() == exact.release(scores, SystemNoise()).tolist()
    assert ExactChoice() == best
    assert 1 == int(best.release(scores, SystemNoise()))
