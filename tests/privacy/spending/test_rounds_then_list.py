"""Gaussian rounds from a first share, then a list as a whole: both add up, neither exceeds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.composition import CURVE
from understudy.privacy.accounting.events import Charge, LaplaceEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.mechanisms.additive import Additive, additive
from understudy.privacy.mechanisms.sampled import Schedule, ratio_for
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.pricing import WITH_ROUNDS, QuestionsThenList, RoundsThenList

BUDGET, FIRST = Budget.approximate(2, "1e-5"), Budget.approximate(1, "5e-6")
LEFT = Budget.approximate(1, "5e-6")
SCHEDULE = Schedule(4, Fraction(1, 4), 10)


def _grant() -> Grant:
    return Grant(BUDGET, pricing=RoundsThenList(FIRST))


def _round(budget: Budget) -> Charge:
    made: Additive = additive(budget, l1=Fraction(1), l2_squared=Fraction(2**40), moved=4)
    return Charge("a sum", made.event)


def _list(budget: Budget = LEFT) -> list[Charge]:
    mechanism = SCHEDULE.mechanism(ratio_for(SCHEDULE, budget))
    return [Charge("a step", mechanism.event)] * SCHEDULE.steps


def test_rounds_share_the_first_part_alone() -> None:
    """Their ρ is that of the first share; all of it can be spent, and no more."""
    grant = _grant()
    assert Measure.GAUSSIAN is grant.spendable.measure
    for part in grant.spendable.split([1, 3]):
        grant.charge([_round(part)])
    with pytest.raises(BudgetExceeded):
        grant.charge([_round(grant.spendable.split([1, 99])[0])])
    bound = grant.bound()
    assert (CURVE, FIRST.amount, FIRST.delta) == (bound.accounting, bound.epsilon, bound.delta)


def test_a_list_after_rounds_adds_its_cost() -> None:
    """ε and δ of both parts, within the budget, and named so."""
    grant = _grant()
    grant.charge([_round(grant.spendable)])
    grant.commit(_list())
    grant.charge(_list()[:1])
    bound = grant.bound()
    assert FIRST.amount < (bound.epsilon or 0) <= BUDGET.amount
    assert FIRST.delta < bound.delta <= BUDGET.delta
    assert bound.accounting.endswith(WITH_ROUNDS)
    with pytest.raises(BudgetExceeded, match="not announced"):
        grant.charge([_round(FIRST_ROUND)])


FIRST_ROUND = Budget.gaussian(Fraction(1, 1000))


def test_a_list_beyond_the_rest_is_refused() -> None:
    """Also where the rounds left some of the first share: it is claimed whole."""
    grant = _grant()
    grant.charge([_round(FIRST_ROUND)])
    with pytest.raises(BudgetExceeded):
        grant.commit(_list(Budget.approximate("1.5", "5e-6")))


def test_pure_questions_are_not_rounds() -> None:
    """The curve does not hold for them."""
    with pytest.raises(UsageError, match="cannot be paid for"):
        _grant().charge([Charge("a count", LaplaceEvent(Fraction(1), Fraction(1)))])


def test_nothing_charged_costs_nothing() -> None:
    """A run that is refused before its first round claims no cost."""
    assert 0 == _grant().bound().epsilon


def test_a_restored_grant_claims_the_same() -> None:
    """A process that continues has rounds, list and steps as the one before."""
    first, second = _grant(), _grant()
    rounds = _round(first.spendable)
    first.charge([rounds])
    first.commit(_list())
    first.charge(_list()[:2])
    second.restore([rounds], _list(), done=2)
    assert (first.bound(), first.plan, first.charges) == (
        second.bound(),
        second.plan,
        second.charges,
    )


def test_what_is_left_for_a_list_can_be_spent_on_it() -> None:
    """It is the budget without the first share, or without the questions that were paid for."""
    grant = _grant()
    grant.charge([_round(FIRST_ROUND)])
    assert LEFT == grant.left_for_list
    grant.commit(_list(grant.left_for_list))
    asking = Grant(BUDGET, pricing=QuestionsThenList())
    asking.charge([Charge("a count", LaplaceEvent(Fraction(2), Fraction(1)))])
    assert Budget.approximate("1.5", "1e-5") == asking.left_for_list
    with pytest.raises(UsageError, match="question by question"):
        _ = Grant(BUDGET).left_for_list


def test_a_question_before_the_rounds_is_taken_off_the_list() -> None:
    """The first share stays what it was, and the list has so much less."""
    grant = _grant()
    grant.charge_first([Charge("do rows fit", LaplaceEvent(Fraction(50), Fraction(1)))])
    grant.charge([_round(grant.spendable)])
    assert Budget.approximate("0.98", "5e-6") == grant.left_for_list
    with pytest.raises(BudgetExceeded):
        grant.commit(_list(LEFT))
    grant.commit(_list(grant.left_for_list))
    bound = grant.bound()
    assert FIRST.amount < (bound.epsilon or 0) <= BUDGET.amount
    assert FIRST.delta < bound.delta <= BUDGET.delta
