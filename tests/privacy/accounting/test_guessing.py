"""How often an attacker can be right: bounds that are reached, and bounds that are kept."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.composition import CURVE, ZCDP, Bound
from understudy.privacy.accounting.events import Charge, FineGaussianEvent, LaplaceEvent
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.accounting.guessing import in_100, right_gaussian_guesses, right_guesses
from understudy.privacy.statements.meaning import guesses_about
from understudy.privacy.statements.statement import Statement

LAPLACE = Charge("rows", LaplaceEvent(scale=Fraction(50), sensitivity=Fraction(1)))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1])
def test_the_worst_mechanism_reaches_the_bound(epsilon: float, delta: float) -> None:
    """With chance δ it names the table, else it answers truly with odds of e^ε."""
    honest = 1 / (1 + math.exp(-epsilon))
    likely = [delta, (1 - delta) * honest, (1 - delta) * (1 - honest), 0.0]
    right = sum(max(a, b) for a, b in zip(likely, likely[::-1], strict=True)) / 2
    assert right <= right_guesses(epsilon, delta)
    assert right == pytest.approx(right_guesses(epsilon, delta), rel=1e-9)


def test_known_numbers() -> None:
    """74 times in 100 at ε = 1, and 55 by the Gaussian curve at (1, 10⁻⁶)."""
    assert 74 == in_100(right_guesses(1.0))
    rho = float(curve_rho(Fraction(1), Fraction(1, 10**6)))
    assert 55 == in_100(right_gaussian_guesses(rho))
    assert 100 == in_100(1.0)


@pytest.mark.parametrize("rho", [0.0003, 0.028, 1.7])
def test_noise_on_a_grid_stays_below_the_bound(rho: float) -> None:
    """Exactly summed: a table moved by one row on a grid of 1/1024; less ρ would not cover it."""
    steps, sigma = 1024, 1 / math.sqrt(2 * rho)
    places = np.arange(-int(12 * sigma * steps), int(12 * sigma * steps) + steps + 1)
    law = np.exp(-0.5 * (places / (sigma * steps)) ** 2)
    law /= law.sum()
    right = 0.5 + 0.25 * float(np.abs(law[steps:] - law[:-steps]).sum())
    right += 0.25 * float(law[:steps].sum() + law[-steps:].sum())
    assert right <= right_gaussian_guesses(rho)
    assert right == pytest.approx(NormalDist().cdf(math.sqrt(rho / 2)), abs=1e-5)
    assert right > right_gaussian_guesses(rho * 2 / 3)


def _statement(accounting: str, *charges: Charge, **changes: object) -> Statement:
    bound = Bound(accounting, Fraction(1), Fraction(1, 10**6))
    made = Statement("adaptive", bound, Unit(Neighbours.ADD_REMOVE), charges)
    return replace(made, **changes)  # type: ignore[arg-type]


def _rounds(rho: Fraction) -> Charge:
    event = FineGaussianEvent(
        sigma_squared=1 / (2 * rho),
        sensitivity_squared=Fraction(1),
        moved=Fraction(1),
        finer=Fraction(1024),
    )
    return Charge("tables", event)


def test_a_statement_by_the_curve_says_more() -> None:
    """Its whole ρ counts, however little was charged; other accountings have ε and δ alone."""
    for charged in (Fraction(1, 1000), Fraction(28, 1000)):
        found = guesses_about(_statement(CURVE, _rounds(charged)))
        assert found is not None
        assert (55, True) == (found.in_100, found.by_curve)
        assert "right at most 55 times in 100 about whether a row is in the table" in found.sentence
    found = guesses_about(_statement(ZCDP, _rounds(Fraction(28, 1000))))
    assert found is not None
    assert (74, False) == (found.in_100, found.by_curve)


def test_questions_and_schema_are_added_up() -> None:
    """Both come on top of what the rounds give away."""
    rounds = _rounds(Fraction(28, 1000))
    chances = [
        guesses_about(statement)
        for statement in (
            _statement(CURVE, rounds),
            _statement(CURVE, LAPLACE, rounds),
            _statement(CURVE, rounds, inference=Bound("basic", Fraction(1, 2), Fraction(0))),
        )
    ]
    known = [found.chance for found in chances if found is not None]
    assert 3 == len(known)
    assert known[0] < known[1] < known[2] < right_guesses(1.0)


def test_replaced_rows_are_told_apart_otherwise() -> None:
    """Under replace the question is which of two rows is there."""
    found = guesses_about(_statement(ZCDP, unit=Unit(Neighbours.REPLACE)))
    assert found is not None
    assert "which of two rows" in found.sentence


def test_what_is_not_private_has_no_number() -> None:
    """Neither predictable noise nor exact answers."""
    assert None is guesses_about(_statement(CURVE, private=False))
    assert None is guesses_about(_statement(CURVE, bound=Bound("none", None, Fraction(0))))
