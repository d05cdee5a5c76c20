"""A grant: the budget of one run, and the list of everything it has been charged for."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol, Self

from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.composition import Bound, announced_rho
from understudy.privacy.accounting.costs import Concentrated, concentrated
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.spending.list_pricing import after_questions
from understudy.privacy.spending.pricing import Adaptive, Announced, Price, Pricing
from understudy.system.amounts import at_least_text, at_most_text


class ChargeLog(Protocol):
    """Where a grant writes its charges before their noise is drawn."""

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write entries so that they survive the death of this process."""

    def reserve(self, grant: Grant) -> None:
        """Set aside what a grant may now spend in ρ, or refuse it; nothing was charged yet."""


class NoLog:
    """A log for runs that keep no ledger file."""

    def append(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep nothing: the grant itself remembers its charges."""

    def reserve(self, grant: Grant) -> None:
        """Set nothing aside: there is no limit."""


@dataclass
class Grant:
    """The budget of one run: every charge is counted, written down, and only then allowed.

    Privacy: charges are refused as soon as they would exceed the budget by the rules of `pricing`,
    whose bound is what the run may claim.

    Attributes:
        budget: the most that the run may cost.
        log: where charges are written before their noise is drawn.
        identity: names the grant in the log.
        pricing: how charges are counted; it changes when the run fixes the list of its charges.
        charges: everything that was charged so far.
        plan: what is left of a list that was fixed; None while there is none.
        holder: names the process that took the run over from another; none where nobody did.
        resumed_after: the step after which this process continues, as the ledger has it.
    """

    budget: Budget
    _: KW_ONLY
    log: ChargeLog = field(default_factory=NoLog)
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    pricing: Pricing = field(default_factory=Adaptive)
    charges: list[Charge] = field(default_factory=list)
    plan: Counter[Charge] | None = None
    holder: str = ""
    resumed_after: int | None = None
    _most: Concentrated | None = field(default=None, init=False, repr=False)
    _paid: Price = field(default_factory=Price, init=False, repr=False)
    _first: Price = field(default_factory=Price, init=False, repr=False)
    _questions: int = field(default=0, init=False, repr=False)
    _counts_least: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        self._counted = self.pricing.counted(self.budget)

    @property
    def _rest(self) -> Budget:
        """The budget without what the questions before everything else have cost."""
        return self._first.taken_from(self.budget)

    @property
    def _own(self) -> list[Charge]:
        """The charges that the run's pricing counts: all but those of the first questions."""
        return self.charges[self._questions :]

    def resumed(self, charges: Sequence[Charge]) -> Self:
        """The same grant after charges that an earlier process has written down."""
        if self._is_limited:
            self._paid += self.pricing.price(charges, self._counted)
        self.charges.extend(charges)
        return self

    @property
    def spendable(self) -> Budget:
        """The budget of which questions get shares, in the measure that charges are counted in."""
        return self.pricing.shared(self._counted)

    @property
    def remaining(self) -> Budget:
        """The rest of the budget, in the measure that charges are counted in."""
        return self._paid.taken_from(self._counted)

    @property
    def left_for_list(self) -> Budget:
        """Return what a list of charges may cost as a whole, in runs that commit to one."""
        return self.pricing.left_for_list(self._paid, self._rest)

    @property
    def unfinished(self) -> bool:
        """Whether a run that stopped may continue later: its grant stays open, and counts whole."""
        return bool(self.plan) if self.pricing.prepaid else self.resumed_after is not None

    @property
    def reserve(self) -> Concentrated | None:
        """The most that the run may cost in approximate zCDP; None where that is not counted."""
        own = self.pricing.reserve(self._counted)
        costs = [concentrated(charge.event) for charge in self.charges[: self._questions]]
        return None if own is None else sum((one for one in costs if one is not None), own)

    def settle_for_less(self) -> None:
        """Count by the least that the run's pricing can do with; nothing was charged yet."""
        self._counts_least = True
        self._counted = self.pricing.least_counted(self.budget)

    def hold_to(self, most: Concentrated | None) -> None:
        """Refuse charges that cost more than this in approximate zCDP, in sum."""
        self._most = most

    @property
    def spent(self) -> Concentrated | None:
        """The cost of all charges so far in approximate zCDP; None where that is not counted."""
        costs = [concentrated(charge.event) for charge in self.charges]
        if self.reserve is None or any(cost is None for cost in costs):
            return None
        return sum((cost for cost in costs if cost is not None), Concentrated())

    def bound(self) -> Bound:
        """The tightest proven bound on what has been charged so far."""
        own = self.pricing.bound(self._own, self._paid, self._rest)
        return own if not self._questions else after_questions(own, self._first.amount)

    # --- charges --------------------------------------------------------------------------------

    def charge(self, charges: Sequence[Charge]) -> None:
        """Count and write down what is about to be drawn; refuse what exceeds the grant."""
        if self.pricing.prepaid:
            self._tick_off(charges)
        else:
            self._pay(charges)
        self.charges.extend(charges)

    def charge_first(self, charges: Sequence[Charge]) -> None:
        """Count and write down pure questions that come before everything else in the run.

        Privacy: their ε is taken off the budget, and all that follows is counted against the rest,
        whatever its pricing. A run that ends here because of the answers has cost them alone.
        Proof: docs/proofs/preflight.md.
        """
        if self.charges or self.plan is not None:
            raise UsageError("the first questions of a run come before every other charge")
        price = Adaptive().price(charges, Budget.pure(self.budget.amount))
        if not price.within(self.budget):
            raise self.pricing.refusal(price, self._first, self.budget)
        self._check_held(charges)
        before = self.reserve
        self.charges, self._questions, self._first = list(charges), len(charges), price
        count = self.pricing.least_counted if self._counts_least else self.pricing.counted
        self._counted = count(self._rest)
        try:
            if before is not None and self.reserve is not None and not self.reserve.within(before):
                self.log.reserve(self)
        except BudgetExceeded:
            self.charges, self._questions, self._first = [], 0, Price()
            raise
        self.log.append(self._entries(charges))

    def _entries(self, charges: Sequence[Charge]) -> list[dict[str, Any]]:
        return [{"entry": "charge", "grant": self.identity, **c.document()} for c in charges]

    def _pay(self, charges: Sequence[Charge]) -> None:
        self._check_held(charges)
        if self._is_limited:
            price = self._affordable(self.pricing.price(charges, self._counted))
            if self.plan is not None:
                self._tick_off(charges)
            self._paid += price
        self.log.append(self._entries(charges))

    @property
    def _is_limited(self) -> bool:
        return self._counted.measure is not Measure.UNLIMITED

    def _affordable(self, price: Price) -> Price:
        """The price, if what is left covers it."""
        if not (self._paid + price).within(self._counted):
            raise self.pricing.refusal(price, self._paid, self._counted)
        return price

    def _tick_off(self, charges: Sequence[Charge]) -> None:
        """Take charges off the list that was fixed; refuse what is not on it."""
        assert self.plan is not None
        asked = Counter(charges)
        if any(times > self.plan[charge] for charge, times in asked.items()):
            raise BudgetExceeded(
                "a charge was not announced; announce everything a run will ask",
                requested=asked,
                remaining=self.plan,
            )
        self.plan = self.plan - asked

    def _check_held(self, charges: Sequence[Charge]) -> None:
        """Refuse what exceeds the part of a limit in zCDP that was set aside for a pure run."""
        if self._most is None:
            return
        costs = [concentrated(charge.event) for charge in [*self.charges, *charges]]
        asked = sum((one for one in costs if one is not None), Concentrated())
        if not asked.within(self._most):
            spent = (self._first + self._paid).amount
            counted = f"; epsilon = {at_most_text(spent)} was spent before, and counts"
            raise BudgetExceeded(
                f"the next answers bring this run to rho = {at_most_text(asked.rho, digits=4)}, "
                f"and rho = {at_least_text(self._most.rho, digits=4)} is left of the dataset's "
                f"limit{counted if spent else ''}; give the run a delta, which costs less rho, or "
                "raise the limit with `ledger limit`",
                requested=asked,
                remaining=self._most,
            )

    # --- lists that are fixed -------------------------------------------------------------------

    def announce(self, plan: Callable[[Budget], Sequence[Charge]]) -> Budget:
        """Fix the whole list of charges in advance, for the tighter bound that this allows.

        Args:
            plan: the charges for a given budget; must depend on public facts alone.

        Returns:
            The budget to spend on exactly the announced charges.
        """
        if self.pricing.no_plan:
            raise UsageError(self.pricing.no_plan)
        if self._own or self.plan is not None:
            raise UsageError("a plan is announced once, before the first charge")
        if self.budget.measure is Measure.APPROXIMATE:
            self._raise(announced_rho(lambda b: [c.event for c in plan(b)], self._rest))
        listed = tuple(plan(self._counted))
        self._check_held(listed)
        self.pricing, self.plan = Announced(listed), Counter(listed)
        return self._counted

    def _raise(self, counted: Budget) -> None:
        """Spend by the larger ρ of a plan, unless a limit counted in ρ leaves no room for it."""
        before = self._counted
        self._counted = counted
        try:
            self.log.reserve(self)
        except BudgetExceeded:
            self._counted = before

    def commit(self, charges: Sequence[Charge]) -> None:
        """Pay for a list of charges, and write it down; nothing else may be charged afterwards."""
        committed = self.pricing.committed(charges, self._rest)
        self._counted = committed.counted(self._rest)
        if self._is_limited:
            self._paid += self._affordable(committed.whole_price)
        entries = [
            {"entry": "charge", "grant": self.identity, **charge.document(), "times": times}
            for charge, times in Counter(charges).items()
        ]
        self.log.append(entries)
        self.pricing, self.plan = committed, Counter(charges)

    def restore(self, questions: Sequence[Charge], listed: Sequence[Charge], *, done: int) -> None:
        """Restore a grant that paid for all this before its process was killed, without charge.

        Privacy: only for a grant whose entries are in the log already, and after the very step
        that the log allowed it to continue after.
        """
        if self.plan is not None:
            raise UsageError("a grant is restored once, before anything is charged to it")
        if not isinstance(self.log, NoLog) and done != self.resumed_after:
            raise UsageError(
                f"the ledger lets this run continue after step {self.resumed_after}, not {done}; "
                "restore it to that step"
            )
        committed = self.pricing.committed(listed, self.budget)
        if self._is_limited:
            self._paid += self._affordable(self.pricing.price(questions, self._counted))
        self._counted = committed.counted(self.budget)
        if self._is_limited:
            self._paid += self._affordable(committed.whole_price)
        self.charges = [*questions, *listed[:done]]
        self.pricing, self.plan = committed, Counter(listed[done:])
