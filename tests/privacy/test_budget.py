"""Budgets are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.budget import Budget, Measure, exact, exactly


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=1000),
    st.lists(st.integers(0, 10**9), min_size=1, max_size=40).filter(any),
)
def test_splitting_neither_loses_nor_invents(amount: Fraction, weights: list[int]) -> None:
    """The parts add up to exactly the whole."""
    parts = Budget.approximate(amount, Fraction(1, 10**9)).split(weights)
    assert amount == sum(part.amount for part in parts)
    assert Fraction(1, 10**9) == sum(part.delta for part in parts)


def test_decimals_are_what_they_say() -> None:
    """0.1 is one tenth, as a number and as a text."""
    assert Fraction(1, 10) == exact(0.1) == exact("0.1") == exact(Fraction(1, 10))
    assert Fraction(1, 10**9) == exact(1e-9)


@pytest.mark.parametrize("amount", ["", "one", float("nan"), float("inf"), "1/0", "1e"])
def test_amounts_that_are_no_numbers_are_refused(amount: float | str) -> None:
    """What is not a finite number is refused with the way out."""
    with pytest.raises(UsageError, match="give a finite number"):
        Budget.pure(amount)


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (1, 1), (1, -0.1), (1, 2)])
def test_impossible_budgets_are_refused(epsilon: float, delta: float) -> None:
    """Negative epsilons and deltas outside [0, 1) do not exist."""
    with pytest.raises(UsageError, match="not possible"):
        Budget.approximate(epsilon, delta)


def test_no_delta_is_pure() -> None:
    """(ε, 0) is pure ε."""
    assert Budget.pure(2) == Budget.approximate(2, 0)
    assert Measure.PURE is Budget.approximate(2, 0).measure


@pytest.mark.parametrize("weights", [[0, 0], [1, -1, 2]])
def test_weights_must_make_sense(weights: list[int]) -> None:
    """A budget is not split by nothing, nor by less than nothing."""
    with pytest.raises(UsageError, match="weights"):
        Budget.pure(1).split(weights)


@pytest.mark.parametrize(
    ("unit", "l1", "l2_squared"),
    [
        (Unit(Neighbours.ADD_REMOVE), 1, 1),
        (Unit(Neighbours.REPLACE), 2, 2),
        (Unit(Neighbours.ADD_REMOVE, 5), 5, 25),
    ],
)
def test_sensitivities_follow_the_unit(unit: Unit, l1: int, l2_squared: int) -> None:
    """A row, a replaced row, and a person with five rows move counts by these norms."""
    assert (Fraction(l1), Fraction(l2_squared)) == (unit.count_l1, unit.count_l2_squared)


def test_persons_need_add_remove() -> None:
    """Replacing a person with several rows is not offered."""
    with pytest.raises(UsageError, match="add-remove"):
        Unit(Neighbours.REPLACE, 2)


@pytest.mark.parametrize(
    "amount", ["1e999999999", "1e-999999999", "1E+00400000000", "1e400", "9" * 400]
)
def test_amounts_that_no_number_can_hold_are_refused_at_once(amount: str) -> None:
    """Writing such an exponent out would take all memory before anything is checked."""
    with pytest.raises(UsageError, match="give a finite number such as 1"):
        exact(amount)
    assert Fraction(1, 10**300) == exact("1e-300")


@pytest.mark.parametrize("text", ["", "-1", "1e3", "0.5", " 1", "1/0", "٣", "9" * 4301, None, 1])
def test_only_what_was_written_down_is_read_back(text: object) -> None:
    """A fraction is digits, or digits over digits."""
    assert Fraction(7, 10) == exactly("7/10")
    with pytest.raises((ValueError, ZeroDivisionError)):
        exactly(text)


def test_a_number_is_not_a_measure() -> None:
    """Two bare numbers are refused, and the way to a budget is named."""
    wrong: Any = 1
    with pytest.raises(UsageError, match=r"use Budget\.approximate\(epsilon, delta\)"):
        Budget(wrong, Fraction(0))
