"""Pricing: how the charges of a run are counted, and the bound that is claimed for them.

A grant holds one of these values. They are frozen: a run that fixes the list of its charges
gets another one, which knows the list.

Proof: docs/proofs/composition_and_ledger.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.composition import (
    APPROXIMATE_ZCDP,
    BASIC,
    CURVE,
    ZCDP,
    Bound,
    tightest,
)
from understudy.privacy.accounting.conversions import rho_within
from understudy.privacy.accounting.costs import (
    Concentrated,
    approximate_cost,
    concentrated,
    cost,
)
from understudy.privacy.accounting.events import Charge, Event
from understudy.privacy.accounting.gaussian_curve import curve_rho
from understudy.privacy.budget import Budget, Measure
from understudy.system.amounts import at_least_text, at_most_text

if TYPE_CHECKING:
    from understudy.privacy.spending.list_pricing import Committed


@dataclass(frozen=True)
class Price:
    """The price of charges in the measure of a run, and their own δ where that counts."""

    amount: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Price) -> Price:
        return Price(self.amount + other.amount, self.delta + other.delta)

    def within(self, budget: Budget) -> bool:
        """Whether a budget covers it."""
        return self.amount <= budget.amount and self.delta <= budget.delta

    def taken_from(self, budget: Budget) -> Budget:
        """Subtract it from a budget."""
        return replace(budget, amount=budget.amount - self.amount, delta=budget.delta - self.delta)


@dataclass(frozen=True)
class Pricing(ABC):
    """How charges are counted against a budget, and what is claimed for them in the end."""

    prepaid: ClassVar[bool] = False
    """Whether a whole list has been paid for, so that its charges cost nothing more."""

    no_plan: ClassVar[str] = ""
    """Why the charges cannot be announced; empty where they can."""

    def counted(self, budget: Budget) -> Budget:
        """The budget of a run in the measure that its charges are counted in."""
        return budget

    def least_counted(self, budget: Budget) -> Budget:
        """As `counted`, where a limit in zCDP leaves no room for that much."""
        return self.counted(budget)

    def shared(self, counted: Budget) -> Budget:
        """The budget of which the shares of single questions are parts."""
        return counted

    @abstractmethod
    def reserve(self, counted: Budget) -> Concentrated | None:
        """The most that a run may cost in approximate zCDP; None where that is not counted."""

    @abstractmethod
    def price(self, charges: Sequence[Charge], counted: Budget) -> Price:
        """Add up the price of charges.

        Raises:
            UsageError: one of them cannot be paid for in this measure.
        """

    @abstractmethod
    def refusal(self, asked: Price, paid: Price, counted: Budget) -> BudgetExceeded:
        """Why charges of a price cannot be paid for after others."""

    @abstractmethod
    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """The tightest bound that is proven for the charges made so far."""

    @property
    def listed(self) -> tuple[Charge, ...]:
        """The whole list of charges, where it was fixed before its first."""
        return ()

    def left_for_list(self, paid: Price, budget: Budget) -> Budget:
        """Return what one list of charges may cost as a whole, after others were paid for."""
        del paid, budget
        raise UsageError("this run pays question by question; give it a grant that commits")

    def committed(self, charges: Sequence[Charge], budget: Budget) -> Committed:
        """How the same run is counted once it has paid for one list of charges."""
        del charges, budget
        raise UsageError("this run pays question by question; give it a grant that commits")


@dataclass(frozen=True)
class Adaptive(Pricing):
    """Charges count in pure ε, or in ρ whose total implies the granted (ε, δ).

    Privacy: both add up under adaptive choice of mechanisms, so the run may look at its answers
    as it goes.
    """

    def counted(self, budget: Budget) -> Budget:
        """The budget itself, or the largest ρ within its (ε, δ)."""
        if budget.measure is not Measure.APPROXIMATE:
            return budget
        return Budget.zcdp(rho_within(budget.amount, budget.delta))

    def reserve(self, counted: Budget) -> Concentrated | None:
        """Pure charges that add up to ε have squares that add up to at most ε²."""
        match counted.measure:
            case Measure.PURE:
                return Concentrated(counted.amount**2 / 2)
            case Measure.ZCDP | Measure.GAUSSIAN:
                return Concentrated(counted.amount)
            case _:
                return None

    def price(self, charges: Sequence[Charge], counted: Budget) -> Price:
        """Add up all ε, or all ρ."""
        prices = [cost(charge.event, counted.measure) for charge in charges]
        for charge, price in zip(charges, prices, strict=True):
            if price is None:
                raise UsageError(
                    f"mechanism {charge.event.mechanism!r} cannot be paid for in {counted.measure}"
                )
        return Price(sum((price for price in prices if price is not None), Fraction(0)))

    def refusal(self, asked: Price, paid: Price, counted: Budget) -> BudgetExceeded:
        """Say what was asked for, and what is left."""
        left = counted.amount - paid.amount
        return BudgetExceeded(
            f"asked for {at_most_text(asked.amount)}, but {at_least_text(left)} of {counted} is "
            "left; raise the budget or ask for less",
            requested=asked.amount,
            remaining=left,
        )

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Pure ε adds up charge by charge; a run counted in ρ claims its whole grant.

        A run may have stopped early because of what it saw, and its charges then are not a list
        that was fixed in advance.
        """
        del paid
        if budget.measure is not Measure.APPROXIMATE or not charges:
            return tightest(events_of(charges), delta=Fraction(0), announced=True)
        return self._fixed_bound(budget)

    def _fixed_bound(self, budget: Budget) -> Bound:
        return Bound(ZCDP, budget.amount, budget.delta)


@dataclass(frozen=True)
class GaussianRounds(Adaptive):
    """An (ε, δ) is spent on Gaussian noise on fine grids alone, by the Gaussian curve.

    Privacy: the sum of Δ²/σ² is fixed by the grant, and within it tables, their number and their
    scales may follow from earlier answers. Every other mechanism is refused. Pure budgets are
    counted as in every grant. Proof: docs/proofs/gaussian_curve.md.
    """

    no_plan: ClassVar[str] = "Gaussian rounds are bounded without a plan; charge them as you go"

    def counted(self, budget: Budget) -> Budget:
        """The budget itself, or the largest ρ of Gaussian noise within its (ε, δ)."""
        if budget.measure is not Measure.APPROXIMATE:
            return budget
        return Budget.gaussian(curve_rho(budget.amount, budget.delta))

    def least_counted(self, budget: Budget) -> Budget:
        """No more than zCDP would allow."""
        most, less = self.counted(budget), super().counted(budget)
        return replace(most, amount=min(most.amount, less.amount))

    def _fixed_bound(self, budget: Budget) -> Bound:
        return Bound(CURVE, budget.amount, budget.delta)


@dataclass(frozen=True)
class Announced(Adaptive):
    """The whole list of charges was fixed before anything was drawn.

    Privacy: the numerical bounds hold for the whole list, even if it was charged in part.
    """

    charges: tuple[Charge, ...]

    @property
    def listed(self) -> tuple[Charge, ...]:
        """The whole list that was fixed."""
        return self.charges

    def _fixed_bound(self, budget: Budget) -> Bound:
        found = tightest(events_of(self.charges), delta=budget.delta, announced=True)
        # Rounding up may carry a bound beyond the grant that the noise was found for.
        return replace(found, epsilon=min(found.epsilon or Fraction(0), budget.amount))


@dataclass(frozen=True)
class SecondPayment(Adaptive):
    """One question is paid for again: its shares are still those of the first run's budget."""

    whole: Budget

    def shared(self, counted: Budget) -> Budget:
        """The budget of the run that paid the first time."""
        del counted
        return self.whole


@dataclass(frozen=True)
class _Sums(Pricing):
    """Two numbers of every charge add up, and neither sum may exceed what was fixed beforehand."""

    amounts: ClassVar[str]
    """What is added up beside δ, as messages call it."""

    accounting: ClassVar[str]
    """How the bound is called."""

    @abstractmethod
    def _cost(self, event: Event) -> Price | None:
        """The two numbers of a charge; None where they are not known."""

    def price(self, charges: Sequence[Charge], counted: Budget) -> Price:
        """Add up both numbers."""
        del counted
        costs = [self._cost(charge.event) for charge in charges]
        if any(cost is None for cost in costs):
            raise UsageError(f"this mechanism cannot be paid for in {self.amounts} and delta")
        return sum((cost for cost in costs if cost is not None), Price())

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Claim the whole grant, once anything was charged."""
        del paid
        if not charges:
            return Bound(self.accounting, Fraction(0), Fraction(0))
        return Bound(self.accounting, budget.amount, budget.delta)


@dataclass(frozen=True)
class BasicSums(_Sums):
    """Charges count in ε and δ themselves, for mechanisms that have a δ of their own.

    Privacy: both add up under adaptive choice of mechanisms (RRUV16), while neither sum exceeds
    the grant. Which sum a run arrives at may depend on its answers, so it states its whole grant.
    """

    no_plan: ClassVar[str] = "a grant by basic composition takes no plan; charge it as you go"
    amounts: ClassVar[str] = "epsilon"
    accounting: ClassVar[str] = BASIC

    def reserve(self, counted: Budget) -> Concentrated:
        """Pure parts as in every grant, and all of δ."""
        return Concentrated(counted.amount**2 / 2, counted.delta)

    def _cost(self, event: Event) -> Price | None:
        cost = approximate_cost(event)
        return None if cost is None else Price(*cost)

    def refusal(self, asked: Price, paid: Price, counted: Budget) -> BudgetExceeded:
        """Say what was asked for, and what is left."""
        left = paid.taken_from(counted)
        return BudgetExceeded(
            f"asked for epsilon = {at_most_text(asked.amount)}, delta = "
            f"{at_most_text(asked.delta)}, but {left.as_remainder} is left of {counted}; raise "
            "the budget or ask for less",
            requested=(asked.amount, asked.delta),
            remaining=left,
        )


@dataclass(frozen=True)
class ConcentratedSums(_Sums):
    """Charges count in δ-approximate zCDP: ρ adds up, and so do the δ of key releases.

    Privacy: a run of δ₁-approximate ρ-zCDP is (ε, δ₁ + δ₂)-differentially private where ρ implies
    (ε, δ₂) (Bun, Steinke 2016, section 8), also when mechanisms follow from earlier answers, as
    long as neither sum exceeds what was fixed beforehand (Whitehouse et al. 2023).

    Attributes:
        of_keys: the part of the budget's δ that key releases may use up; ρ is found for the rest.
    """

    of_keys: Fraction

    no_plan: ClassVar[str] = "a grant in approximate zCDP takes no plan; charge it as you go"
    amounts: ClassVar[str] = "rho"
    accounting: ClassVar[str] = APPROXIMATE_ZCDP

    def counted(self, budget: Budget) -> Budget:
        """The largest ρ within ε and the rest of δ, beside the δ of the keys."""
        rho = rho_within(budget.amount, budget.delta - self.of_keys)
        return Budget(Measure.ZCDP, rho, self.of_keys)

    def reserve(self, counted: Budget) -> Concentrated:
        """All of ρ, and the δ of the keys."""
        return Concentrated(counted.amount, counted.delta)

    def _cost(self, event: Event) -> Price | None:
        cost = concentrated(event)
        return None if cost is None else Price(cost.rho, cost.delta)

    def refusal(self, asked: Price, paid: Price, counted: Budget) -> BudgetExceeded:
        """Say what was asked for, and what is left."""
        left = paid.taken_from(counted)
        return BudgetExceeded(
            f"asked for rho = {at_most_text(asked.amount)}, delta = {at_most_text(asked.delta)}, "
            f"but rho = {at_least_text(left.amount)}, delta = {at_least_text(left.delta)} is "
            "left; raise the budget or ask for less",
            requested=(asked.amount, asked.delta),
            remaining=left,
        )


def events_of(charges: Sequence[Charge]) -> list[Event]:
    """Return what was charged for, without its names."""
    return [charge.event for charge in charges]
