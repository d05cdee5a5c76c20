"""A grant: the budget of one run, and the list of everything it has been charged for."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol, Self

from understudy.amounts import at_least_text, at_most_text
from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting import (
    BASIC,
    PURE,
    ZCDP,
    Bound,
    Concentrated,
    announced_rho,
    approximate_cost,
    concentrated,
    cost,
    rho_within,
    tightest,
)
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.events import Charge, Event, ExactEvent


class Journal(Protocol):
    """Where a grant writes its charges before their noise is drawn."""

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries so that they survive the death of this process."""

    def reserve(self, grant: Grant) -> None:
        """Set aside what a grant may now spend in ρ, or refuse it; nothing was charged yet."""


class Memory:
    """A journal for runs that keep no ledger file."""

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep nothing: the grant itself remembers its charges."""

    def reserve(self, grant: Grant) -> None:
        """Set nothing aside: there is no limit."""


@dataclass
class Grant:
    """The budget of one run: every charge is counted, written down, and only then allowed.

    Privacy: charges are counted in pure ε, or in ρ whose total implies the granted (ε, δ). Both
    add up under adaptive choice of mechanisms, so the run may look at its answers as it goes.

    Attributes:
        holder: names the process that took the run over from another; none where nobody did.
        resumed_after: the step that this process goes on after, as the ledger has it.
    """

    budget: Budget
    journal: Journal = field(default_factory=Memory)
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    charges: list[Charge] = field(default_factory=list)
    plan: Counter[Charge] | None = None
    announced: tuple[Charge, ...] = ()
    holder: str = ""
    resumed_after: int | None = None
    _most: Concentrated | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._spendable = self.budget
        if self.budget.measure is Measure.APPROXIMATE:
            self._spendable = Budget.zcdp(rho_within(self.budget.amount, self.budget.delta))
        self._left = self._spendable.amount

    def resumed(self, charges: Sequence[Charge]) -> Self:
        """The same grant after charges that an earlier process has written down."""
        for charge in charges:
            self._left -= cost(charge.event, self._spendable.measure) or 0
        self.charges.extend(charges)
        return self

    @property
    def spendable(self) -> Budget:
        """The whole budget in the measure that charges are counted in."""
        return self._spendable

    @property
    def remaining(self) -> Budget:
        """What is left of it."""
        return Budget(self._spendable.measure, self._left)

    @property
    def unfinished(self) -> bool:
        """Whether a run that stopped may go on later: its grant stays open, and counts whole."""
        return self.resumed_after is not None

    @property
    def reserve(self) -> Concentrated | None:
        """The most that the run may cost in approximate zCDP; None where that is not counted.

        Pure charges that add up to ε have squares that add up to at most ε².
        """
        match self._spendable.measure:
            case Measure.PURE:
                return Concentrated(self._spendable.amount**2 / 2)
            case Measure.ZCDP:
                return Concentrated(self._spendable.amount)
            case _:
                return None

    def hold_to(self, most: Concentrated | None) -> None:
        """Refuse charges that cost more than this in approximate zCDP, in sum."""
        self._most = most

    @property
    def spent(self) -> Concentrated | None:
        """What the charges made so far cost in approximate zCDP; None where that is not counted."""
        costs = [concentrated(charge.event) for charge in self.charges]
        if self.reserve is None or any(cost is None for cost in costs):
            return None
        return sum((cost for cost in costs if cost is not None), Concentrated())

    def announce(self, plan: Callable[[Budget], Sequence[Charge]]) -> Budget:
        """Fix the whole list of charges in advance, for the tighter bound that this allows.

        Args:
            plan: the charges for a given budget; must depend on public facts alone.

        Returns:
            The budget to spend on exactly the announced charges.
        """
        if self.charges or self.plan is not None:
            raise UsageError("a plan is announced once, before the first charge")
        if self.budget.measure is Measure.APPROXIMATE:
            self._raise(announced_rho(lambda b: _events(plan(b)), self.budget))
        self.announced = tuple(plan(self._spendable))
        self._check_held(self.announced)
        self.plan = Counter(self.announced)
        return self._spendable

    def _raise(self, spendable: Budget) -> None:
        """Spend by the larger ρ of a plan, unless a limit counted in ρ leaves no room for it."""
        before = self._spendable
        self._spendable = spendable
        try:
            self.journal.reserve(self)
        except BudgetExceeded:
            self._spendable = before
        self._left = self._spendable.amount

    def charge(self, charges: Sequence[Charge]) -> None:
        """Count and write down what is about to be drawn; refuse what exceeds the grant."""
        self._check_held(charges)
        if self._spendable.measure is not Measure.UNLIMITED:
            self._left -= self._price(charges)
        self.journal.append(
            [{"entry": "charge", "grant": self.identity, **c.document()} for c in charges]
        )
        self.charges.extend(charges)

    def _check_held(self, charges: Sequence[Charge]) -> None:
        """Refuse what exceeds the part of a limit in zCDP that was set aside for a pure run."""
        if self._most is None:
            return
        costs = [concentrated(charge.event) for charge in [*self.charges, *charges]]
        asked = sum((one for one in costs if one is not None), Concentrated())
        if not asked.within(self._most):
            raise BudgetExceeded(
                f"the next answers bring this run to rho = {at_most_text(asked.rho, digits=4)}, "
                f"and rho = {at_least_text(self._most.rho, digits=4)} is left of the dataset's "
                "limit; give the run a delta, which costs less rho, or raise the limit with "
                "`ledger limit`",
                requested=asked,
                remaining=self._most,
            )

    def _price(self, charges: Sequence[Charge]) -> Fraction:
        prices = [cost(charge.event, self._spendable.measure) for charge in charges]
        if any(price is None for price in prices):
            raise UsageError(f"this mechanism cannot be paid for in {self._spendable.measure}")
        total = sum((price for price in prices if price is not None), Fraction(0))
        if total > self._left:
            raise BudgetExceeded(
                f"asked for {at_most_text(total)}, but {at_least_text(self._left)} of "
                f"{self._spendable} is left; raise the budget or ask for less",
                requested=total,
                remaining=self._left,
            )
        if self.plan is not None:
            self._tick_off(Counter(charges))
        return total

    def _tick_off(self, charges: Counter[Charge]) -> None:
        assert self.plan is not None
        if any(times > self.plan[charge] for charge, times in charges.items()):
            raise BudgetExceeded(
                "a charge was not announced; announce everything a run will ask",
                requested=charges,
                remaining=self.plan,
            )
        self.plan = self.plan - charges

    def bound(self) -> Bound:
        """The tightest proven bound on what has been charged so far.

        Pure ε adds up charge by charge. The numerical bounds hold for a whole list that did not
        depend on the answers: for the announced one, even if it was charged in part, else for
        the grant, since a run may have stopped early because of what it saw.
        """
        if self.budget.measure is not Measure.APPROXIMATE or not self.charges:
            return tightest(_events(self.charges), delta=Fraction(0), announced=True)
        if self.plan is None:
            return Bound(ZCDP, self.budget.amount, self.budget.delta)
        found = tightest(_events(self.announced), delta=self.budget.delta, announced=True)
        # Rounding up may carry a bound beyond the grant that the noise was found for.
        return replace(found, epsilon=min(found.epsilon or Fraction(0), self.budget.amount))


@dataclass
class BasicGrant(Grant):
    """A grant counted in ε and δ themselves, for mechanisms that have a δ of their own.

    Privacy: both add up under adaptive choice of mechanisms (RRUV16), while neither sum exceeds
    the grant. Which sum a run arrives at may depend on its answers, so it states its whole grant.
    """

    def __post_init__(self) -> None:
        self._spendable = self.budget
        self._left, self._delta_left = self.budget.amount, self.budget.delta

    @property
    def remaining(self) -> Budget:
        """What is left of it."""
        return replace(self.budget, amount=self._left, delta=self._delta_left)

    @property
    def reserve(self) -> Concentrated:
        """The most in approximate zCDP: pure parts as in every grant, and all of δ."""
        return Concentrated(self.budget.amount**2 / 2, self.budget.delta)

    def announce(self, plan: Callable[[Budget], Sequence[Charge]]) -> Budget:
        """Refuse: sums of ε and δ gain nothing from a plan."""
        del plan
        raise UsageError("a grant by basic composition takes no plan; charge it as you go")

    def _price(self, charges: Sequence[Charge]) -> Fraction:
        costs = [approximate_cost(charge.event) for charge in charges]
        if any(cost is None for cost in costs):
            raise UsageError("this mechanism cannot be paid for in epsilon and delta")
        epsilon = sum((cost[0] for cost in costs if cost), Fraction(0))
        delta = sum((cost[1] for cost in costs if cost), Fraction(0))
        if epsilon > self._left or delta > self._delta_left:
            raise BudgetExceeded(
                f"asked for epsilon = {at_most_text(epsilon)}, delta = {at_most_text(delta)}, but "
                f"{self.remaining.as_remainder} is left of {self.budget}; raise the budget or ask "
                "for less",
                requested=(epsilon, delta),
                remaining=self.remaining,
            )
        self._delta_left -= delta
        return epsilon

    def bound(self) -> Bound:
        """The whole grant, once anything was charged."""
        if not self.charges:
            return Bound(BASIC, Fraction(0), Fraction(0))
        return Bound(BASIC, self.budget.amount, self.budget.delta)


@dataclass
class CommittedGrant(Grant):
    """A grant for a few pure questions and then one long list of charges, fixed before its first.

    Privacy: the list may depend on the answers to the questions, since ε and δ of the two parts
    add up (RRUV16); within the list the privacy-loss distribution holds. The list is written down
    and paid for whole, so that a run that stops early has still paid for all of it.
    """

    def __post_init__(self) -> None:
        self._spendable = self.budget
        self._left = self.budget.amount
        self._committed: Bound | None = None

    @property
    def remaining(self) -> Budget:
        """What is left of it; δ is for the list alone."""
        return replace(self.budget, amount=self._left)

    @property
    def reserve(self) -> Concentrated | None:
        """None: a list is paid for by its privacy-loss distribution, and has no ρ."""
        return None

    def announce(self, plan: Callable[[Budget], Sequence[Charge]]) -> Budget:
        """Refuse: what is committed to comes after the questions."""
        del plan
        raise UsageError("this grant takes a list after its questions; commit to it")

    @property
    def unfinished(self) -> bool:
        """Whether something of the list is left to be drawn, or nobody knows yet what is."""
        return super().unfinished if self.plan is None else bool(self.plan)

    def commit(self, charges: Sequence[Charge]) -> None:
        """Pay for a list of charges, and write it down; nothing else may be charged afterwards."""
        if self.plan is not None:
            raise UsageError("a grant commits to one list; charge what is on it")
        found = tightest(_events(charges), delta=self.budget.delta, announced=True)
        if self._spendable.measure is not Measure.UNLIMITED:
            self._take(found)
        entries = [
            {"entry": "charge", "grant": self.identity, **charge.document(), "times": times}
            for charge, times in Counter(charges).items()
        ]
        self.journal.append(entries)
        self.announced, self.plan, self._committed = tuple(charges), Counter(charges), found

    def restore(self, questions: Sequence[Charge], listed: Sequence[Charge], *, done: int) -> None:
        """Stand where a run stood that paid for all this and was killed; nothing is paid again.

        Privacy: only for a grant whose entries are in the journal already, and after the very
        step that the journal allowed it to go on from.
        """
        if self.plan is not None:
            raise UsageError("a grant is restored once, before anything is charged to it")
        if not isinstance(self.journal, Memory) and done != self.resumed_after:
            raise UsageError(
                f"the ledger lets this run go on after step {self.resumed_after}, not {done}; "
                "restore it to that step"
            )
        self._left -= self._price(questions)
        found = tightest(_events(listed), delta=self.budget.delta, announced=True)
        if self._spendable.measure is not Measure.UNLIMITED:
            self._take(found)
        self.charges = [*questions, *listed[:done]]
        self.announced, self._committed = tuple(listed), found
        self.plan = Counter(listed[done:])

    def _take(self, found: Bound) -> None:
        if found.epsilon is None:
            raise UsageError("an exact answer cannot be paid for; use a mechanism with noise")
        if found.epsilon > self._left:
            raise BudgetExceeded(
                f"asked for epsilon = {at_most_text(found.epsilon)}, but "
                f"{at_least_text(self._left)} of {self.budget} is left; raise the budget or ask "
                "for less",
                requested=found.epsilon,
                remaining=self._left,
            )
        self._left -= found.epsilon

    def charge(self, charges: Sequence[Charge]) -> None:
        """Tick off what was committed to; before that, count and write down pure questions."""
        if self.plan is None:
            super().charge(charges)
            return
        self._tick_off(Counter(charges))
        self.charges.extend(charges)

    def _price(self, charges: Sequence[Charge]) -> Fraction:
        prices = [cost(charge.event, Measure.PURE) for charge in charges]
        if any(price is None for price in prices):
            raise UsageError("before a list is committed to, only pure questions can be paid for")
        total = sum((price for price in prices if price is not None), Fraction(0))
        if total > self._left:
            raise BudgetExceeded(
                f"asked for epsilon = {at_most_text(total)}, but {at_least_text(self._left)} of "
                f"{self.budget} is left; raise the budget or ask for less",
                requested=total,
                remaining=self._left,
            )
        return total

    def bound(self) -> Bound:
        """The questions and the whole list together, even if it was charged in part."""
        events = _events(self.charges) + _events(self.announced)
        if any(isinstance(event, ExactEvent) for event in events):
            return tightest(events, delta=Fraction(0), announced=True)
        spent = self.budget.amount - self._left
        if self._committed is None:
            return Bound(PURE, spent, Fraction(0))
        listed = self._committed.epsilon or Fraction(0)
        name = self._committed.accounting
        accounting = name if spent == listed else f"{name}, and {BASIC} with the questions before"
        return Bound(accounting, spent, self._committed.delta)


def _events(charges: Sequence[Charge]) -> list[Event]:
    return [charge.event for charge in charges]
