"""Pricing: one grant, counted by the rules of a small value that may change once."""

from __future__ import annotations

from fractions import Fraction

import pytest

from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.events import (
    Charge,
    Event,
    ExactEvent,
    ExponentialEvent,
    FineGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
)
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.list_pricing import Committed, QuestionsThenList
from understudy.privacy.spending.pricing import (
    Adaptive,
    Announced,
    BasicSums,
    GaussianRounds,
    Price,
    Pricing,
    SecondPayment,
)

HALF = Charge("counts", LaplaceEvent(Fraction(2), Fraction(1)))
WHOLE = Budget.pure(1)
ALL = [
    Adaptive(),
    GaussianRounds(),
    BasicSums(),
    QuestionsThenList(),
    SecondPayment(Budget.pure(4)),
]


@pytest.mark.parametrize("pricing", ALL, ids=lambda pricing: type(pricing).__name__)
def test_every_pricing_pays_for_the_whole_budget_and_no_more(pricing: Pricing) -> None:
    """Two halves fit, a third one is refused, and nothing of it is kept."""
    grant = Grant(WHOLE, pricing=pricing)
    grant.charge([HALF])
    grant.charge([HALF])
    assert 0 == grant.remaining.amount
    with pytest.raises(BudgetExceeded, match="is left"):
        grant.charge([HALF])
    assert [HALF, HALF] == grant.charges
    assert 1 == grant.bound().epsilon


def test_an_announced_list_changes_the_pricing() -> None:
    """The grant knows the list from then on, and pays for nothing else."""
    grant = Grant(WHOLE)
    assert () == grant.pricing.listed
    grant.announce(lambda _: [HALF])
    assert Announced((HALF,)) == grant.pricing
    other = Charge("another", HALF.event)
    with pytest.raises(BudgetExceeded, match="not announced"):
        grant.charge([other])


@pytest.mark.parametrize("pricing", [BasicSums(), QuestionsThenList(), GaussianRounds()])
def test_some_pricings_take_no_plan(pricing: Pricing) -> None:
    """They say why, before the plan is even asked for."""

    def plan(_: Budget) -> list[Charge]:
        raise AssertionError("the plan was asked for")

    with pytest.raises(UsageError, match=pricing.no_plan):
        Grant(WHOLE, pricing=pricing).announce(plan)


@pytest.mark.parametrize("pricing", [Adaptive(), BasicSums()], ids=["adaptive", "basic"])
def test_only_questions_and_a_list_commit(pricing: Pricing) -> None:
    """A run that pays question by question refuses to pay for a list as a whole."""
    with pytest.raises(UsageError, match="pays question by question"):
        Grant(WHOLE, pricing=pricing).commit([HALF])


def test_a_committed_list_is_paid_for_at_once() -> None:
    """It costs its whole price when it is fixed, and nothing when it is drawn."""
    grant = Grant(WHOLE, pricing=QuestionsThenList())
    grant.charge([HALF])
    grant.commit([HALF])
    assert isinstance(grant.pricing, Committed)
    assert Price(Fraction(1, 2)) == grant.pricing.whole_price
    assert 0 == grant.remaining.amount
    before = grant.unfinished
    grant.charge([HALF])
    assert (True, False) == (before, grant.unfinished)
    with pytest.raises(UsageError, match="commits to one list"):
        grant.commit([HALF])


def test_a_run_without_a_limit_is_restored_after_exact_questions() -> None:
    """Exact answers have no price, and none is asked for where there is no limit."""
    exact = Charge("classes", ExactEvent())
    grant = Grant(Budget.unlimited(), pricing=QuestionsThenList())
    grant.restore([exact], [exact, exact], done=1)
    assert [exact, exact] == grant.charges
    assert grant.bound().epsilon is None
    grant.charge([exact])
    assert not grant.unfinished


def test_a_second_payment_shares_the_first_budget() -> None:
    """A question that is paid for again gets the same share of the run that asked it first."""
    whole = Budget.pure(4)
    grant = Grant(WHOLE, pricing=SecondPayment(whole))
    assert whole == grant.spendable
    assert WHOLE == grant.remaining


# --- Gaussian rounds -------------------------------------------------------------------------

TARGET = Budget.approximate(1, "1e-9")
RHO = curve_rho(TARGET.amount, TARGET.delta)


def _fine(rho: Fraction) -> Charge:
    one = Fraction(1)
    return Charge("counts", FineGaussianEvent(1 / (2 * rho), one, one, Fraction(1024)))


def test_gaussian_rounds_have_more_to_spend() -> None:
    """A tenth more than zCDP allows at (1, 1e-9); the claim is the whole grant, by its name."""
    grant = Grant(TARGET, pricing=GaussianRounds())
    assert 1.105 < grant.spendable.amount / Adaptive().counted(TARGET).amount < 1.107
    grant.charge([_fine(RHO / 3)])
    bound = grant.bound()
    assert ("Gaussian curve", TARGET.amount, TARGET.delta) == (
        bound.accounting,
        bound.epsilon,
        bound.delta,
    )


def test_gaussian_rounds_stop_at_their_sum() -> None:
    """Scales may follow from answers, but their sum is fixed, and nothing beyond is paid."""
    grant = Grant(TARGET, pricing=GaussianRounds())
    grant.charge([_fine(RHO / 3), _fine(RHO / 7)])
    left = grant.remaining.amount
    with pytest.raises(BudgetExceeded, match="is left"):
        grant.charge([_fine(left + Fraction(1, 10**12))])
    grant.charge([_fine(left)])
    assert 0 == grant.remaining.amount


@pytest.mark.parametrize(
    "event",
    [
        GaussianEvent(Fraction(10**6), Fraction(1)),
        LaplaceEvent(Fraction(10**6), Fraction(1)),
        ExponentialEvent(Fraction(10**6), Fraction(1)),
    ],
    ids=lambda event: str(event.mechanism),
)
def test_only_fine_gaussian_noise_is_charged_to_gaussian_rounds(event: Event) -> None:
    """However little it would cost, anything else is outside the curve, and named."""
    grant = Grant(TARGET, pricing=GaussianRounds())
    with pytest.raises(UsageError, match=f"{event.mechanism}' cannot be paid for in Gaussian"):
        grant.charge([_fine(RHO / 3), Charge("other", event)])
    assert [] == grant.charges
