"""Noisy sums over sampled rows: their law, their sensitivity and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from support.tiers import slow_but
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.composed_losses import integer_excess
from understudy.privacy.accounting.composition import PLD, tightest
from understudy.privacy.accounting.events import (
    Charge,
    ExactEvent,
    LaplaceEvent,
    SampledGaussianEvent,
)
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.sampled import (
    UNIT,
    LineGaussian,
    SampledGaussian,
    Schedule,
    ratio_for,
)
from understudy.privacy.noise.system import SystemNoise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.list_pricing import QuestionsThenList
from understudy.privacy.spending.steps import Told
from understudy.privacy.statements.statement import Statement
from understudy.system.arrays import Integers
from understudy.testing import SeededNoise

DELTA = Fraction(1, 10**5)


@dataclass(frozen=True)
class Vectors:
    """Contributions that are known."""

    lines: Integers

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.lines)

    def total(self, rows: Integers) -> Integers:
        """The sum of some of them."""
        return np.asarray(self.lines[rows].sum(axis=0))

    def __sub__(self, other: object) -> Integers:
        assert isinstance(other, Vectors)
        return np.asarray(self.lines.sum(axis=0) - other.lines.sum(axis=0))


def _schedule(steps: int = 200, every: int = 50) -> Schedule:
    return Schedule(steps, Fraction(1, every), 1000)


@pytest.mark.parametrize(
    ("ratio", "every", "steps"),
    slow_but([(8, 1, 10)], [(1, 234, 2340), (2, 20, 100), (8, 1, 10), (1, 4, 1)]),
)
def test_the_accountant_is_dp_accounting(ratio: int, every: int, steps: int) -> None:
    """Called directly with the same numbers it says the same ε, within a thousandth."""
    from dp_accounting import dp_event, pld

    accountant = pld.PLDAccountant()
    event = dp_event.PoissonSampledDpEvent(1 / every, dp_event.GaussianDpEvent(ratio))
    accountant.compose(event, steps)
    expected = accountant.get_epsilon(float(DELTA))
    bound = _schedule(steps, every).bound(Fraction(ratio), DELTA)
    assert (PLD, DELTA) == (bound.accounting, bound.delta)
    assert expected == pytest.approx(float(bound.epsilon or 0), rel=4e-3)


@pytest.mark.slow
def test_epsilon_grows_with_steps_and_rate_and_falls_with_noise() -> None:
    """Monotone in each."""
    by_steps = [_schedule(200).bound(Fraction(1), DELTA, steps=s).epsilon for s in (1, 50, 200)]
    by_rate = [_schedule(9, every).bound(Fraction(2), DELTA).epsilon for every in (200, 50, 2, 1)]
    by_noise = [_schedule(9).bound(Fraction(r, 4), DELTA).epsilon for r in (40, 8, 4, 2)]
    for growing in (by_steps, by_rate, by_noise):
        numbers = [float(epsilon or 0) for epsilon in growing]
        assert sorted(set(numbers)) == numbers


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.01", "1", "10"])
def test_the_noise_found_is_the_least(epsilon: str) -> None:
    """The budget is kept, and not with one per cent less noise."""
    budget = Budget.approximate(epsilon, DELTA)
    ratio = ratio_for(_schedule(), budget)
    assert (_schedule().bound(ratio, DELTA).epsilon or 0) <= budget.amount
    less = ratio * Fraction(99, 100)
    assert (_schedule().bound(less, DELTA).epsilon or 0) > budget.amount


def test_an_epsilon_below_every_step_is_refused() -> None:
    """With the way out."""
    with pytest.raises(UsageError, match="below what 2 steps cost"):
        ratio_for(_schedule(2, 1), Budget.approximate("1e-7", DELTA))
    with pytest.raises(UsageError, match="needs a delta"):
        ratio_for(_schedule(), Budget.pure(1))


def test_integers_cost_next_to_nothing_more() -> None:
    """Noise is so wide against its grid that the excess stays below a millionth of ε."""
    event = Schedule(5000, Fraction(1, 100), 10**6).mechanism(Fraction(1)).event
    assert isinstance(event, SampledGaussianEvent)
    excess = integer_excess([event] * 5000, epsilon=1, delta=1e-5)
    assert 0 < excess < 1e-9 < 1e-6
    coarse = SampledGaussianEvent(Fraction(1), Fraction(1), Fraction(1), Fraction(10**6))
    assert math.isinf(integer_excess([coarse], epsilon=1, delta=1e-5))


def test_discrete_noise_is_near_rounded_noise_as_the_proof_says() -> None:
    """Both bounds on the ratio of the two laws hold at every integer."""
    from scipy.special import ndtr

    sigma = 6.0
    z = np.arange(-40, 41)
    rounded = ndtr((z + 0.5) / sigma) - ndtr((z - 0.5) / sigma)
    weights = np.exp(-(z**2) / (2 * sigma**2))
    every = np.arange(-400, 401)
    discrete = weights / np.exp(-(every**2) / (2 * sigma**2)).sum()
    losses = np.log(discrete / rounded)
    assert losses.max() <= 1 / (8 * sigma**2)
    assert (-losses <= (z**2 / sigma**2 + 1) / (24 * sigma**2)).all()


def test_batches_take_rows_by_their_own_coins() -> None:
    """Sizes of batches are binomial: empty ones and large ones come."""
    rows, rate = 12, Fraction(1, 4)
    ones = Vectors(np.ones((rows, 1), np.int64))
    mechanism = SampledGaussian.of_ratio(Fraction(0), rate=rate, cells=1)
    noise = SeededNoise(1)
    sizes = np.array([int(mechanism.release(ones, noise)[0]) for _ in range(4000)])
    assert sizes.mean() == pytest.approx(3, abs=0.1)
    assert sizes.var() == pytest.approx(12 * 0.25 * 0.75, abs=0.2)
    assert (0, True) == (sizes.min(), sizes.max() > 7)


def test_the_noise_is_of_the_deviation_it_says() -> None:
    """On an empty batch nothing but noise is released, accepted at its scale and not 5 % off."""
    mechanism = SampledGaussian.of_ratio(Fraction(3), rate=Fraction(1, 9), cells=20_000)
    nothing = Vectors(np.zeros((0, 20_000), np.int64))
    released = mechanism.in_units(mechanism.release(nothing, SystemNoise()))
    assert released.std() == pytest.approx(mechanism.deviation, rel=0.03)
    assert mechanism.deviation == pytest.approx(3 * (1 + 2**-10), rel=1e-6)


def test_one_row_is_covered_and_two_are_not() -> None:
    """In the norm that the noise is for."""
    mechanism = SampledGaussian.of_ratio(Fraction(1), rate=Fraction(1, 2), cells=2)
    long, short = np.array([UNIT, 0]), np.array([UNIT // 2, UNIT // 2])
    assert mechanism.covers(long)
    assert mechanism.covers(short)
    assert not mechanism.covers(long + short)


def test_one_line_is_covered_and_two_are_not() -> None:
    """A replaced row moves its own line by two units, and no other."""
    mechanism = LineGaussian.of_ratio(Fraction(1), cells=6)
    moved = np.array([[0, 0], [2 * UNIT, 0], [0, 0]])
    assert mechanism.covers(moved)
    assert not mechanism.covers(moved + np.array([[0, 0], [0, 0], [1, 0]]))
    assert not mechanism.covers(moved + np.array([[0, 0], [1, 0], [0, 0]]))


def _charges(steps: int = 200) -> list[Charge]:
    return [Charge("step", _schedule().mechanism(Fraction(2)).event)] * steps


def test_a_committed_list_is_paid_for_whole() -> None:
    """Questions first, then the list; nothing else, and stopping early gains nothing."""
    grant = Grant(Budget.approximate(2, DELTA), pricing=QuestionsThenList())
    grant.charge([Charge("size", LaplaceEvent(Fraction(10), Fraction(1)))])
    grant.commit(_charges())
    listed = tightest([c.event for c in _charges()], delta=DELTA, announced=True).epsilon or 0
    assert Fraction(1, 10) + listed == grant.bound().epsilon
    grant.charge(_charges(1))
    assert Fraction(1, 10) + listed == grant.bound().epsilon
    with pytest.raises(BudgetExceeded, match="not announced"):
        grant.charge([Charge("another", LaplaceEvent(Fraction(10), Fraction(1)))])
    with pytest.raises(BudgetExceeded, match="not announced"):
        grant.charge(_charges(200))
    with pytest.raises(UsageError, match="one list"):
        grant.commit(_charges())


def test_a_list_beyond_the_budget_is_refused() -> None:
    """Before anything is written down or drawn."""
    grant = Grant(Budget.approximate("0.01", DELTA), pricing=QuestionsThenList())
    with pytest.raises(BudgetExceeded, match="is left"):
        grant.commit(_charges())
    assert [] == grant.charges
    with pytest.raises(UsageError, match="cannot be paid for"):
        grant.commit([Charge("exact", ExactEvent())])


def test_a_statement_says_equal_answers_once() -> None:
    """With their number, and reads them back as they were."""
    bound = _schedule().bound(Fraction(2), DELTA)
    statement = Statement("dpgan", bound, Unit(Neighbours.ADD_REMOVE), tuple(_charges()))
    document = statement.document()
    assert [200] == [event["times"] for event in document["events"]]
    assert statement == Statement.parse(document)
    document["events"][0]["times"] = 10**9
    with pytest.raises(ValueError, match="times"):
        Statement.parse(document)


def test_a_ledger_holds_a_list_in_one_line(tmp_path: object) -> None:
    """And counts its charges one by one."""
    ledger = Ledger(f"{tmp_path}/ledger.jsonl")
    with ledger.grant("rows", Budget.approximate(2, DELTA), pricing=QuestionsThenList()) as grant:
        grant.commit(_charges())
        grant.charge(_charges())
    assert 3 == len(ledger.path.read_text().splitlines())
    assert 200 == ledger.account("rows").runs[0]["charges"]
    assert grant.bound().epsilon == ledger.account("rows").spent.epsilon


def test_a_list_that_was_not_drawn_to_its_end_counts_whole(tmp_path: object) -> None:
    """Its grant stays open, can be gone on with once, and is closed when all was drawn."""
    ledger, budget = Ledger(f"{tmp_path}/ledger.jsonl"), Budget.approximate(2, DELTA)
    with ledger.grant("rows", budget, pricing=QuestionsThenList()) as grant:
        grant.commit(_charges())
        grant.charge(_charges(50))
        ledger.tell(grant, 50, "5" * 64)
    told = Told(grant.identity, 50, "5" * 64)
    assert 2 == ledger.account("rows").spent.epsilon
    with ledger.grant("rows", budget, pricing=QuestionsThenList(), resume=told) as again:
        again.restore([], _charges(), done=50)
        with pytest.raises(BudgetExceeded, match="not announced"):
            again.charge(_charges(151))
        again.charge(_charges(150))
    assert grant.bound().epsilon == ledger.account("rows").spent.epsilon
    with (
        pytest.raises(LedgerError, match="is finished"),
        ledger.grant("rows", budget, pricing=QuestionsThenList(), resume=told),
    ):
        pass
