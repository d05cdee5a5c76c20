"""Runs are added up by whom they protect, and a limit is a filter that was fixed beforehand."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.promised import need
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.facts.unit import Neighbours
from understudy.privacy.accounting.adjacency import Adjacency, UnitKind
from understudy.privacy.accounting.conversions import rho_within, zcdp_epsilon
from understudy.privacy.accounting.costs import Concentrated
from understudy.privacy.accounting.events import (
    ApproximateEvent,
    Charge,
    FineGaussianEvent,
    GaussianEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    SampledGaussianEvent,
)
from understudy.privacy.budget import Budget
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Cost, Limit, Rule, Spent
from understudy.privacy.spending.list_pricing import QuestionsThenList
from understudy.privacy.spending.pricing import BasicSums, GaussianRounds, Pricing

ROW = Adjacency()
REPLACED = Adjacency(neighbours=Neighbours.REPLACE)
PERSON = Adjacency(UnitKind.PERSON, person_id="name")
MILLIONTH = Fraction(1, 10**6)
OLD = Path(__file__).parents[2] / "data" / "ledger-0.1.0.jsonl"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger of its own for every test."""
    return Ledger(tmp_path / "ledger.jsonl")


def gaussian(rho: Fraction) -> Charge:
    """A count with noise that costs exactly ρ."""
    return Charge("counts", GaussianEvent(1 / (2 * rho), Fraction(1)))


def spend(
    ledger: Ledger,
    budget: Budget,
    *,
    adjacency: Adjacency = ROW,
    charges: Sequence[Charge] | None = None,
    pricing: Pricing | None = None,
) -> None:
    """A run that spends its whole budget in one charge, or in the charges given."""
    with ledger.grant("a", budget, adjacency=adjacency, pricing=pricing) as grant:
        whole = grant.spendable.amount
        usual = (
            gaussian(whole)
            if budget.delta
            else Charge("counts", LaplaceEvent(1 / whole, Fraction(1)))
        )
        grant.charge([usual] if charges is None else charges)


# --- sums by whom they protect --------------------------------------------------------------


def test_relations_are_not_mixed(ledger: Ledger) -> None:
    """3.1 under replace and 3.5 under add-remove are 10.1 under replace, and not 6.6."""
    for epsilon in ("0.1", "1", "1", "1"):
        spend(ledger, Budget.pure(epsilon), adjacency=REPLACED)
    for epsilon in ("0.5", "1", "1", "1"):
        spend(ledger, Budget.pure(epsilon))
    account = ledger.account("a")
    replaced, added = account.totals
    assert (Spent(Fraction("10.1")), 4, 4, 0) == (
        replaced.spent,
        replaced.own,
        replaced.implied,
        replaced.silent,
    )
    assert (Spent(Fraction("3.5")), 4, 0, 4) == (
        added.spent,
        added.own,
        added.implied,
        added.silent,
    )
    assert replaced.spent == account.spent


def test_runs_that_nothing_bounds_together_have_no_sum(ledger: Ledger) -> None:
    """Persons by two columns: neither sum speaks of the other, and none is made up."""
    other = Adjacency(UnitKind.PERSON, person_id="household")
    spend(ledger, Budget.pure(1), adjacency=PERSON)
    spend(ledger, Budget.pure(1), adjacency=other)
    assert [1, 1] == [total.silent for total in ledger.account("a").totals]
    with pytest.raises(LedgerError, match="no single number bounds them all"):
        _ = ledger.account("a").spent


def test_a_persons_run_counts_twice_for_a_row(ledger: Ledger) -> None:
    """One row that comes may take another's place: two steps, ε twice and ρ four times."""
    spend(ledger, Budget.approximate(1, MILLIONTH), adjacency=PERSON)
    own, row = ledger.account("a").total(PERSON), ledger.account("a").total(ROW)
    assert 2 * own.spent.epsilon == row.spent.epsilon
    assert own.concentrated is not None
    assert Concentrated(4 * own.concentrated.rho) == row.concentrated
    # δ(1 + e), and not a hair less.
    assert Fraction("3.718281e-6") < row.spent.delta < Fraction("3.718283e-6")


def test_a_delta_of_its_own_is_not_converted_in_rho(ledger: Ledger) -> None:
    """Several steps of approximate zCDP have no rule here: the (ε, δ) is what is left."""
    keys = KeyReleaseEvent(Fraction(1), Fraction(1), Fraction(20), MILLIONTH)
    spend(
        ledger,
        Budget.approximate(1, MILLIONTH),
        charges=[Charge("keys", keys)],
        pricing=BasicSums(),
    )
    assert Concentrated(Fraction(1, 2), MILLIONTH) == ledger.account("a").total(ROW).concentrated
    assert ledger.account("a").total(REPLACED).concentrated is None


# --- the filter -----------------------------------------------------------------------------


def limited(ledger: Ledger, epsilon: str, delta: str, adjacency: Adjacency = ROW) -> Limit:
    """A limit counted in zCDP, set for dataset a."""
    limit = Limit.zcdp(Spent(Fraction(epsilon), Fraction(delta)), adjacency)
    ledger.set_limit("a", limit)
    return limit


def runs_that_fit(ledger: Ledger, budget: Budget, most: int = 100) -> int:
    """How many equal runs a limit allows."""
    for number in range(most):
        try:
            spend(ledger, budget)
        except BudgetExceeded:
            return number
    return most


def test_ten_runs_of_one_are_three(ledger: Ledger) -> None:
    """(10, 1e-5) by basic composition is (3.15, 1e-5) by ρ; an eleventh run is refused."""
    limited(ledger, "3.15", "1e-5")
    assert 10 == runs_that_fit(ledger, Budget.approximate(1, MILLIONTH))
    total = ledger.account("a").total(ROW)
    assert Spent(Fraction(10), Fraction(1, 10**5)) == total.spent
    enough = total.would_have_sufficed
    assert enough is not None
    assert Fraction("3.13") < enough.epsilon <= Fraction("3.15")


def test_what_is_said_to_suffice_suffices(ledger: Ledger, tmp_path: Path) -> None:
    """A limit of the size that `show` names allows the same runs; a little less does not."""
    for _ in range(7):
        spend(ledger, Budget.approximate(1, MILLIONTH))
    enough = ledger.account("a").total(ROW).would_have_sufficed
    assert enough is not None
    again = Ledger(tmp_path / "again.jsonl")
    again.set_limit("a", Limit.zcdp(enough, ROW))
    assert 7 == runs_that_fit(again, Budget.approximate(1, MILLIONTH))
    less = Ledger(tmp_path / "less.jsonl")
    less.set_limit("a", Limit.zcdp(Spent(enough.epsilon * 99 / 100, enough.delta), ROW))
    assert 6 == runs_that_fit(less, Budget.approximate(1, MILLIONTH))


def test_a_run_as_large_as_its_limit_fits(ledger: Ledger) -> None:
    """And uses it up whole."""
    limited(ledger, "1", "1e-6")
    assert 1 == runs_that_fit(ledger, Budget.approximate(1, MILLIONTH))


def test_the_rho_of_a_limit_is_fixed_when_it_is_set(ledger: Ledger) -> None:
    """The ledger has it, and it is not computed again."""
    limit = limited(ledger, "3", "1e-5")
    assert limit == Ledger(ledger.path).account("a").limit
    assert limit.concentrated is not None
    assert rho_within(Fraction(3), Fraction(1, 10**5)) == limit.concentrated.rho


def test_opendp_lets_the_same_runs_pass(ledger: Ledger) -> None:
    """OpenDP's filter of zCDP, given the same ρ and the same costs, stops at the same run."""
    opendp = need("opendp.prelude")
    opendp.enable_features("contrib")
    limit = limited(ledger, "2", "1e-6")
    assert limit.concentrated is not None
    space = opendp.atom_domain(T=int), opendp.absolute_distance(T=int)
    odometer = opendp.c.make_fully_adaptive_composition(
        *space, opendp.zero_concentrated_divergence()
    )
    referee = opendp.c.make_privacy_filter(odometer, d_in=1, d_out=float(limit.concentrated.rho))(0)
    passed, refused = 0, False
    for number in range(30):
        rho = Fraction(1 + number % 3, 200)
        event = gaussian(rho)
        query = opendp.m.make_gaussian(*space, float(1 / (2 * rho)) ** 0.5 * (1 + 1e-12))
        try:
            referee(query)
        except opendp.OpenDPException:
            refused = True
        with_room = True
        try:
            # A run whose budget leaves room for this very charge and little more.
            epsilon = Fraction(zcdp_epsilon(float(rho), 1e-6)).limit_denominator(10**6)
            epsilon += Fraction(1, 10**6)
            spend(ledger, Budget.approximate(epsilon, MILLIONTH), charges=[event])
        except BudgetExceeded:
            with_room = False
        assert with_room is not refused
        if refused:
            break
        passed += 1
    assert refused
    assert passed > 3


def test_dp_accounting_agrees_that_the_limit_holds(ledger: Ledger) -> None:
    """All charges that a limit let pass, composed by their losses, stay within it."""
    from dp_accounting import GaussianDpEvent, dp_event
    from dp_accounting.pld import PLDAccountant

    limited(ledger, "2", "1e-6")
    assert 4 <= runs_that_fit(ledger, Budget.approximate("0.9", MILLIONTH))
    rhos = [cost.concentrated.rho for cost in ledger.account("a").costs if cost.concentrated]
    accountant = PLDAccountant()
    accountant.compose(
        dp_event.ComposedDpEvent([GaussianDpEvent(float(1 / (2 * rho)) ** 0.5) for rho in rhos])
    )
    assert 1.5 < accountant.get_epsilon(1e-6) <= 2


def test_pure_runs_count_by_the_squares_of_their_charges(ledger: Ledger) -> None:
    """Ten charges of a tenth are ρ = 1/20, where the whole would be ½."""
    limited(ledger, "6", "1e-6")
    tenth = Charge("counts", LaplaceEvent(Fraction(10), Fraction(1)))
    spend(ledger, Budget.pure(1), charges=[tenth] * 10)
    assert Concentrated(Fraction(1, 20)) == ledger.account("a").total(ROW).concentrated


def test_a_pure_run_may_begin_with_what_is_left(ledger: Ledger) -> None:
    """Its many small charges fit where its whole would not; others have to wait meanwhile."""
    limit = limited(ledger, "4", "1e-5")
    assert limit.concentrated is not None
    assert limit.concentrated.rho < Fraction(1, 2)
    tenth = Charge("counts", LaplaceEvent(Fraction(10), Fraction(1)))
    with ledger.grant("a", Budget.pure(1)) as grant:
        with pytest.raises(BudgetExceeded), ledger.grant("a", Budget.approximate(1, MILLIONTH)):
            pass
        grant.charge([tenth] * 10)
    assert Concentrated(Fraction(1, 20)) == ledger.account("a").total(ROW).concentrated


def test_a_pure_run_is_held_to_what_was_left(ledger: Ledger) -> None:
    """A charge that would exceed the limit is refused before it is drawn, and not counted."""
    limited(ledger, "4", "1e-5")
    whole = Charge("counts", LaplaceEvent(Fraction(1), Fraction(1)))
    for _ in range(2):
        with (
            pytest.raises(BudgetExceeded, match="give the run a delta"),
            ledger.grant("a", Budget.pure(1)) as grant,
        ):
            grant.charge([whole])
        assert Spent() == ledger.account("a").spent
    with (
        pytest.raises(BudgetExceeded, match="give the run a delta"),
        ledger.grant("a", Budget.pure(1)) as grant,
    ):
        grant.announce(lambda budget: [whole])


def test_a_pure_run_that_is_stopped_says_what_it_has_spent(ledger: Ledger) -> None:
    """What was charged before counts, and the message names it; with nothing spent it is silent."""
    limited(ledger, "4", "1e-5")
    small, large = (
        Charge("counts", LaplaceEvent(Fraction(scale), Fraction(1))) for scale in (4, 1)
    )
    with ledger.grant("a", Budget.pure(2)) as grant:
        grant.charge([small])
        with pytest.raises(BudgetExceeded, match=r"epsilon = 0\.25 was spent before, and counts"):
            grant.charge([large])
    with pytest.raises(BudgetExceeded) as caught, ledger.grant("a", Budget.pure(2)) as grant:
        grant.charge([large])
    assert "spent before" not in str(caught.value)


def test_no_pure_run_begins_where_nothing_is_left(ledger: Ledger) -> None:
    """The limit is used up: refused at once."""
    limited(ledger, "1", "1e-6")
    spend(ledger, Budget.approximate(1, MILLIONTH))
    with (
        pytest.raises(BudgetExceeded, match="is left of the limit"),
        ledger.grant("a", Budget.pure("1/1000")),
    ):
        pass


def test_an_open_run_counts_whole(ledger: Ledger) -> None:
    """A process that died may have spent all it was granted, in ρ too."""
    limited(ledger, "2", "1e-6")
    ledger.open("a", Grant(Budget.approximate(1, MILLIONTH)))
    assert (
        Concentrated(rho_within(Fraction(1), MILLIONTH))
        == ledger.account("a").costs[0].concentrated
    )


def test_what_has_no_rho_needs_a_basic_part(ledger: Ledger) -> None:
    """Training is paid for by its loss distribution: refused by name, or counted beside."""
    training = SampledGaussianEvent(Fraction(10**12), Fraction(10**10), Fraction(1), Fraction(1))
    listed = Charge("step", training)

    def train() -> None:
        budget = Budget.approximate(1, MILLIONTH)
        with ledger.grant("a", budget, pricing=QuestionsThenList()) as grant:
            grant.commit([listed])
            grant.charge([listed])

    total = Spent(Fraction(4), Fraction(1, 10**5))
    ledger.set_limit("a", Limit.zcdp(total, ROW))
    with pytest.raises(BudgetExceeded, match="--basic-epsilon"):
        train()
    ledger.set_limit("a", Limit.zcdp(total, ROW, basic_part=Spent(Fraction(1), MILLIONTH)))
    train()
    room = ledger.account("a").remaining
    assert room is not None
    assert room.basic_part.epsilon < 1
    assert room.concentrated == Concentrated(rho_within(Fraction(3), Fraction(9, 10**6)))
    with pytest.raises(BudgetExceeded):
        train()


def test_a_delta_of_its_own_needs_room(ledger: Ledger) -> None:
    """Learned schemas release keys at a δ of their own, for which a limit keeps a part."""
    keys = Charge("keys", KeyReleaseEvent(Fraction(1), Fraction(1), Fraction(20), MILLIONTH))
    total = Spent(Fraction(4), Fraction(1, 10**5))
    ledger.set_limit("a", Limit.zcdp(total, ROW))
    budget = Budget.approximate("1/2", MILLIONTH)
    with pytest.raises(BudgetExceeded, match="--own-delta"):
        spend(ledger, budget, charges=[], pricing=BasicSums())
    ledger.set_limit("a", Limit.zcdp(total, ROW, own_delta=MILLIONTH))
    spend(ledger, Budget.approximate("1/2", MILLIONTH), charges=[], pricing=BasicSums())
    half = Charge("keys", KeyReleaseEvent(Fraction(2), Fraction(1), Fraction(40), MILLIONTH))
    spend(ledger, budget, charges=[half], pricing=BasicSums())
    with pytest.raises(BudgetExceeded):
        spend(ledger, budget, charges=[keys], pricing=BasicSums())


@pytest.mark.slow
def test_an_announced_plan_reserves_what_it_gains(ledger: Ledger) -> None:
    """Noise found for the whole plan costs more ρ, and the limit hears of it before the first."""

    def plan(budget: Budget) -> list[Charge]:
        return [gaussian(budget.amount)]

    limited(ledger, "3", "1e-5")
    with ledger.grant("a", Budget.approximate(1, MILLIONTH)) as grant:
        raised = grant.announce(plan)
        assert Concentrated(raised.amount) == ledger.account("a").costs[0].concentrated
        assert raised.amount > rho_within(Fraction(1), MILLIONTH)
        grant.charge(plan(raised))
    assert Concentrated(raised.amount) == ledger.account("a").costs[0].concentrated


def test_a_plan_gains_nothing_where_the_limit_has_no_room_for_it(ledger: Ledger) -> None:
    """It is spent at the usual ρ then, and not refused."""
    limited(ledger, "1", "1e-6")
    with ledger.grant("a", Budget.approximate(1, MILLIONTH)) as grant:
        budget = grant.announce(lambda budget: [gaussian(budget.amount)])
        assert rho_within(Fraction(1), MILLIONTH) == budget.amount
        grant.charge([gaussian(budget.amount)])


def fine(rho: Fraction) -> Charge:
    """A question with Gaussian noise on a fine grid that costs ρ."""
    one = Fraction(1)
    return Charge("counts", FineGaussianEvent(1 / (2 * rho), one, one, Fraction(1024)))


def test_gaussian_rounds_reserve_the_rho_of_the_curve(ledger: Ledger) -> None:
    """The limit hears of it when the grant is opened; the close has the sum of the charges."""
    limited(ledger, "3", "1e-5")
    with ledger.grant("a", Budget.approximate(1, MILLIONTH), pricing=GaussianRounds()) as grant:
        rho = grant.spendable.amount
        assert rho > rho_within(Fraction(1), MILLIONTH)
        assert Concentrated(rho) == ledger.account("a").costs[0].concentrated
        grant.charge([fine(rho / 3)])
    assert Concentrated(rho / 3) == ledger.account("a").costs[0].concentrated


def test_gaussian_rounds_settle_for_less_where_the_limit_has_no_room(ledger: Ledger) -> None:
    """They are spent at the ρ of zCDP then, which is what was set aside, and no more."""
    limited(ledger, "1", "1e-6")
    with ledger.grant("a", Budget.approximate(1, MILLIONTH), pricing=GaussianRounds()) as grant:
        rho = grant.spendable.amount
        assert rho_within(Fraction(1), MILLIONTH) == rho
        assert Concentrated(rho) == ledger.account("a").costs[0].concentrated
        with pytest.raises(BudgetExceeded, match="is left"):
            grant.charge([fine(rho * Fraction(1001, 1000))])
        grant.charge([fine(rho)])
    with (
        pytest.raises(BudgetExceeded, match="is left of the limit"),
        ledger.grant("a", Budget.approximate("1/10", MILLIONTH), pricing=GaussianRounds()),
    ):
        raise AssertionError("nothing is left")


# --- limits and whom they are for ------------------------------------------------------------


def test_a_limit_for_added_rows_refuses_runs_under_replace(ledger: Ledger) -> None:
    """They promise nothing there, so no sum could keep the limit; nothing is written."""
    ledger.set_limit("a", Limit.basic(Spent(Fraction(10)), ROW))
    before = ledger.path.read_text()
    with pytest.raises(
        BudgetExceeded, match="rows replaced, which promises nothing for rows added"
    ):
        spend(ledger, Budget.pure("0.001"), adjacency=REPLACED)
    assert before == ledger.path.read_text()


def test_a_limit_for_replaced_rows_counts_added_ones_twice(ledger: Ledger) -> None:
    """Pure runs at 2ε, others at (2ε, δ(1 + e^ε)), in ρ at 4ρ."""
    ledger.set_limit("a", Limit.basic(Spent(Fraction(3)), REPLACED))
    spend(ledger, Budget.pure(1))
    spend(ledger, Budget.pure(1), adjacency=REPLACED)
    with pytest.raises(BudgetExceeded):
        spend(ledger, Budget.pure("0.001"), adjacency=REPLACED)


def test_rho_is_counted_four_times_from_added_to_replaced_rows(ledger: Ledger) -> None:
    """Two steps of an adjacency cost four times the ρ of one."""
    limited(ledger, "4", "1e-5", REPLACED)
    budget = Budget.approximate(1, MILLIONTH)
    limit = ledger.account("a").limit
    assert limit is not None
    assert limit.concentrated is not None
    expected = limit.concentrated.rho // (4 * Grant(budget).spendable.amount)
    assert 3 == expected == runs_that_fit(ledger, budget)


def test_a_limit_that_earlier_runs_are_silent_about_is_refused(ledger: Ledger) -> None:
    """No limit for added rows after a run under replace; for replaced ones there may be one."""
    spend(ledger, Budget.pure(1), adjacency=REPLACED)
    with pytest.raises(UsageError, match="could not be kept"):
        ledger.set_limit("a", Limit.basic(Spent(Fraction(10)), ROW))
    ledger.set_limit("a", Limit.basic(Spent(Fraction(10)), REPLACED))
    assert ledger.account("a").limit is not None


def test_set_aside_too_much_and_nothing_is_left(ledger: Ledger) -> None:
    """A limit in zCDP must have something to convert ρ by."""
    total = Spent(Fraction(1), MILLIONTH)
    for basic_part, own in [(total, Fraction(0)), (None, MILLIONTH)]:
        with pytest.raises(UsageError, match="set aside less"):
            Limit.zcdp(total, ROW, basic_part=basic_part, own_delta=own)
    with pytest.raises(UsageError, match="set aside less"):
        Limit.zcdp(Spent(Fraction(1)), ROW)


@pytest.mark.parametrize(
    "parts",
    [
        {"own_delta": Fraction(-1, 10**6)},
        {"own_delta": Fraction(-1)},
        {"basic_part": Spent(Fraction(-10))},
        {"basic_part": Spent(delta=Fraction(-1, 10))},
        {"basic_part": Spent(Fraction(2))},
    ],
)
def test_parts_of_a_limit_are_parts(ledger: Ledger, parts: dict[str, Any]) -> None:
    """Negative ones and ones above the whole are refused, and the ledger stays as it was."""
    ledger.limit("b", epsilon=Fraction(1))
    before = ledger.path.read_text()
    with pytest.raises(UsageError, match="amounts are not negative"):
        ledger.set_limit("a", Limit.zcdp(Spent(Fraction(1), MILLIONTH), ROW, **parts))
    with pytest.raises(UsageError, match="amounts are not negative"):
        ledger.limit("a", epsilon=Fraction(-1))
    assert before == ledger.path.read_text()


def test_a_limit_that_is_overdrawn_says_so(ledger: Ledger) -> None:
    """Runs without room in their part: nothing fits, and the message names the part."""
    keys = Charge("keys", KeyReleaseEvent(Fraction(1), Fraction(1), Fraction(20), MILLIONTH))
    spend(ledger, Budget.approximate(1, MILLIONTH), charges=[keys], pricing=BasicSums())
    limited(ledger, "20", "1e-5")
    assert "earlier runs have used more than a part of it" in str(ledger.account("a").remaining)
    with pytest.raises(BudgetExceeded, match="larger `--basic-epsilon`"):
        spend(ledger, Budget.approximate("0.1", "1e-7"))


def test_nothing_is_charged_to_a_run_that_was_closed(ledger: Ledger) -> None:
    """What is left of the limit would not hear of it."""
    with ledger.grant("a", Budget.pure(1)) as grant:
        pass
    with pytest.raises(LedgerError, match="this run was closed"):
        grant.charge([Charge("counts", LaplaceEvent(Fraction(1), Fraction(1)))])
    assert Spent() == ledger.account("a").spent


def test_a_name_is_one_however_it_is_typed(ledger: Ledger) -> None:
    """Composed and decomposed accents are one dataset."""
    ledger.limit("caf\u00e9", epsilon=Fraction(1))
    with pytest.raises(BudgetExceeded), ledger.grant("cafe\u0301", Budget.pure(5)):
        pass
    assert ledger.account("cafe\u0301").limit is not None


def test_what_zcdp_does_not_know_is_not_free(ledger: Ledger) -> None:
    """A run with a mechanism that has no such cost counts by its (ε, δ)."""
    told = Charge("told", ApproximateEvent("told", Fraction(1, 4), MILLIONTH))
    spend(ledger, Budget.approximate("1/4", MILLIONTH), charges=[told], pricing=BasicSums())
    [cost] = ledger.account("a").costs
    assert cost.concentrated is None


# --- ledgers of the first version --------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Ledger:
    """A ledger as version 0.1.0 wrote it: a limit, a run of either relation, and one by a plan."""
    return Ledger(shutil.copy(OLD, tmp_path / "old.jsonl"))


def test_an_old_ledger_is_totalled_by_relation(old: Ledger) -> None:
    """Its total was (2, 1e-6), which held for nobody."""
    account = old.account("patients")
    assert [REPLACED, ROW] == [total.adjacency for total in account.totals]
    assert [Fraction(3), Fraction(1)] == [total.spent.epsilon for total in account.totals]
    assert [0, 1] == [total.silent for total in account.totals]


def test_old_runs_by_zcdp_count_at_the_largest_rho_of_their_grant(old: Ledger) -> None:
    """Others, a plan's or pure ones, wrote no ρ and keep their (ε, δ)."""
    pure, zcdp = old.account("patients").costs
    assert pure.concentrated is None
    assert Concentrated(rho_within(Fraction(1), MILLIONTH)) == zcdp.concentrated
    assert [None] == [cost.concentrated for cost in old.account("visits").costs]


def test_an_old_limit_over_mixed_runs_refuses_all_spending(old: Ledger) -> None:
    """It names nobody; whoever sets it again must say whom it is for. Nothing is written."""
    before = old.path.read_text()
    for whom in (ROW, REPLACED):
        with (
            pytest.raises(BudgetExceeded, match="set it again with `ledger limit`"),
            old.grant("patients", Budget.pure(1), adjacency=whom),
        ):
            pass
    assert before == old.path.read_text()
    old.set_limit("patients", Limit.basic(Spent(Fraction(20), Fraction(1, 1000)), REPLACED))
    with old.grant("patients", Budget.pure(1), adjacency=REPLACED):
        pass


def test_an_old_limit_over_runs_of_one_relation_holds_for_that_one() -> None:
    """A second run of the same relation is counted, one of another is refused."""
    cost = Cost(ROW, Spent(Fraction(1)), None)
    account = Account("a", Limit.basic(Spent(Fraction(2)), None), ({"cost": cost, "grant": "g"},))
    account.check_room(cost)
    with pytest.raises(BudgetExceeded, match="is left"):
        account.check_room(Cost(ROW, Spent(Fraction(2)), None))
    with pytest.raises(BudgetExceeded, match="whom it is for"):
        account.check_room(Cost(REPLACED, Spent(Fraction(1, 10)), None))


def test_new_entries_follow_old_ones_with_whole_checksums(old: Ledger) -> None:
    """Lines of before stay as they are; no short checksum may follow a whole one."""
    before = old.path.read_text()
    with old.grant("visits", Budget.pure(1)):
        pass
    text = old.path.read_text()
    assert text.startswith(before)
    checks = [line.rsplit('"check": "', 1)[1].rstrip('"}') for line in text.splitlines()]
    assert [16] * 18 + [64] * 2 == [len(check) for check in checks]
    short = text.replace(checks[-1], checks[-1][:16])
    old.path.write_text(short)
    with pytest.raises(LedgerError, match="line 20 is damaged"):
        Ledger(old.path).accounts()


# --- the file ----------------------------------------------------------------------------------


def test_a_ledger_replaced_while_its_lock_was_waited_for_is_opened_anew(tmp_path: Path) -> None:
    """The file of that name has the grant, not one that nobody can find any more."""
    import fcntl

    path = tmp_path / "ledger.jsonl"
    Ledger(path).limit("a", epsilon=Fraction(1))
    held = os.open(path, os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    started = threading.Event()

    def run() -> None:
        started.set()
        Ledger(path).open("a", Grant(Budget.pure(1)))

    waiting = threading.Thread(target=run)
    waiting.start()
    started.wait()
    while not _waits_for(held):
        pass
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    os.close(held)
    waiting.join()
    assert Spent(Fraction(1)) == Ledger(path).account("a").spent


def _waits_for(descriptor: int) -> bool:
    """Whether some process waits for the lock of a file, as the kernel lists it."""
    inode = os.fstat(descriptor).st_ino
    lines = Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f":{inode} " in line for line in lines)


def test_rules_have_names() -> None:
    """A limit says whom it protects and how it is counted."""
    limit = Limit.zcdp(Spent(Fraction(4), Fraction(1, 10**5)), ROW)
    assert Rule.ZCDP is limit.rule
    assert "epsilon = 4, delta = 1e-05 for rows added or removed, counted in zCDP" == str(limit)
