"""Randomised response: its exact law, its loss, its estimate, and what it refuses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from support.statistics import NEVER, fit_of_choices
from understudy.errors import UsageError
from understudy.privacy.budget import Amount
from understudy.privacy.noise.laws import falling
from understudy.privacy.randomised_response import RandomisedResponse

WHOLE = 1 << 64
SETTINGS: list[tuple[int, Amount]] = list(
    itertools.product((2, 3, 7, 100), ("1/1000", "1/2", 1, "21/10", 8))
)


def _parts(survey: RandomisedResponse) -> tuple[int, int]:
    """The chances of the own answer and of each other one, in 2⁶⁴ths, found by drawing."""
    low, high = 0, WHOLE - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if survey.report(0, _fixed(middle)) == 0 else (low, middle - 1)
    right = low + 1
    return right, (WHOLE - right) // (survey.values - 1)


def _fixed(number: int) -> Callable[[int], int]:
    return lambda count: number


@pytest.mark.parametrize(("values", "epsilon"), SETTINGS)
def test_a_report_costs_its_epsilon_and_uses_it(values: int, epsilon: Amount) -> None:
    """The exact ratio of chances is at most e^ε, and within a millionth of it."""
    survey = RandomisedResponse(values, epsilon)
    right, wrong = _parts(survey)
    assert WHOLE == right + (values - 1) * wrong
    # e^−ε from below in 300 places: right · e^−ε ≤ wrong shows the promise in whole numbers.
    assert right * falling(Fraction(str(epsilon)), 300) <= wrong << 300
    assert survey.loss > (1 - 1e-6) * float(Fraction(str(epsilon)))
    assert (right + 2 * wrong) * falling(Fraction(str(epsilon)), 300) > wrong << 300


def test_every_number_leads_to_one_report() -> None:
    """Both ends of each interval belong to it, for every true answer."""
    survey = RandomisedResponse(4, 1)
    right, wrong = _parts(survey)
    for answer in range(4):
        others = [value for value in range(4) if value != answer]
        ends = [(0, right - 1, answer)]
        ends += [(right + i * wrong, right + (i + 1) * wrong - 1, v) for i, v in enumerate(others)]
        assert WHOLE - 1 == ends[-1][1]
        for first, last, value in ends:
            found = [survey.report(answer, _fixed(n)) for n in (first, last)]
            assert [value, value] == found


def test_two_coins_are_those_of_the_theses() -> None:
    """The truth with three quarters, ε = log 3, and 2s − ½ as the estimate."""
    coins = RandomisedResponse.of_coins()
    assert [0.75, 0.25] == pytest.approx(coins.law[0].tolist(), abs=1e-12)
    assert math.log(3) == pytest.approx(coins.loss, rel=1e-12)
    shares = coins.estimate([1] * 30 + [0] * 70).shares
    assert [2 * 0.7 - 0.5, 2 * 0.3 - 0.5] == pytest.approx(list(shares), abs=1e-12)


def test_estimates_are_right_on_average() -> None:
    """Over all reports of three respondents, weighted by their chances."""
    survey, truth = RandomisedResponse(3, "3/2"), (0, 2, 2)
    mean = np.zeros(3)
    for reports in itertools.product(range(3), repeat=3):
        chance = math.prod(survey.law[x, y] for x, y in zip(truth, reports, strict=True))
        mean += chance * np.array(survey.estimate(reports).shares)
    assert [1 / 3, 0, 2 / 3] == pytest.approx(mean.tolist(), abs=1e-9)


def test_reports_fit_the_law_and_no_other() -> None:
    """Draws of the operating system are accepted at the law, and rejected 30 % off."""
    survey = RandomisedResponse(3, 1)
    reports = np.array([survey.report(1) for _ in range(20_000)])
    assert fit_of_choices(reports, survey.law[1]) > NEVER
    assert fit_of_choices(reports, RandomisedResponse(3, "13/10").law[1]) < NEVER


def test_standard_errors_are_those_of_the_reports() -> None:
    """Over many surveys estimates scatter as they say."""
    survey, generator = RandomisedResponse(2, 1), np.random.default_rng(4)
    said = generator.random((400, 500)) < survey.law[1, 1]
    found = [survey.estimate(reports.astype(int).tolist()) for reports in said]
    spread = float(np.std([estimate.shares[1] for estimate in found]))
    assert spread == pytest.approx(found[0].errors[1], rel=0.25)


@pytest.mark.parametrize(
    ("values", "epsilon", "said"),
    [(1, 1, "two answers"), (2, 0, "give more"), (2, -1, "give more"), (2, "1e-30", "1e-15")],
)
def test_impossible_surveys_are_refused(values: int, epsilon: Amount, said: str) -> None:
    """One answer, and reports that reveal nothing; the message names the way out."""
    with pytest.raises(UsageError, match=said):
        RandomisedResponse(values, epsilon)


def test_answers_and_reports_outside_are_refused() -> None:
    """No message quotes an answer."""
    survey = RandomisedResponse(2, 1)
    with pytest.raises(UsageError, match="numbered from 0"):
        survey.report(2)
    with pytest.raises(UsageError, match="leave others out"):
        survey.estimate([0, 5])
    with pytest.raises(UsageError, match="ask someone"):
        survey.estimate([])
