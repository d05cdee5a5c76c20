"""Pricing of long lists: questions or Gaussian rounds first, and then one list paid for as a whole.

Proof: docs/proofs/composition_and_ledger.md and docs/proofs/dpgan.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.composition import BASIC, CURVE, PURE, Bound, tightest
from understudy.privacy.accounting.costs import cost
from understudy.privacy.accounting.events import Charge, ExactEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.spending.pricing import Adaptive, GaussianRounds, Price, Pricing, events_of
from understudy.system.amounts import at_least_text, at_most_text

WITH_ROUNDS = f", and {BASIC} with the Gaussian rounds before"
"""Follows the name of an accounting where Gaussian rounds came before what it counts."""

WITH_QUESTIONS = f", and {BASIC} with the questions before"
"""Follows the name of an accounting where pure questions came before what it counts."""


@dataclass(frozen=True)
class QuestionsThenList(Pricing):
    """A few pure questions are paid for, and then one long list of charges as a whole.

    Privacy: the list may depend on the answers to the questions, since ε and δ of the two parts
    add up (RRUV16); within the list the privacy-loss distribution holds. The δ of the budget is
    for the list alone.
    """

    no_plan: ClassVar[str] = "this grant takes a list after its questions; commit to it"

    def reserve(self, counted: Budget) -> None:
        """A list is paid for by its privacy-loss distribution, and has no ρ."""

    def price(self, charges: Sequence[Charge], counted: Budget) -> Price:
        """Add up the ε of the questions."""
        del counted
        prices = [cost(charge.event, Measure.PURE) for charge in charges]
        if any(price is None for price in prices):
            raise UsageError("before a list is committed to, only pure questions can be paid for")
        return Price(sum((price for price in prices if price is not None), Fraction(0)))

    def refusal(self, asked: Price, paid: Price, counted: Budget) -> BudgetExceeded:
        """Say what was asked for, and what is left."""
        left = counted.amount - paid.amount
        return BudgetExceeded(
            f"asked for epsilon = {at_most_text(asked.amount)}, but {at_least_text(left)} of "
            f"{counted} is left; raise the budget or ask for less",
            requested=asked.amount,
            remaining=left,
        )

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Claim the questions, as long as there is no list."""
        del budget
        if _has_exact(charges):
            return tightest(events_of(charges), delta=Fraction(0), announced=True)
        return Bound(PURE, paid.amount, Fraction(0))

    def left_for_list(self, paid: Price, budget: Budget) -> Budget:
        """The budget without the ε of the questions, and with all of its δ."""
        return paid.taken_from(budget)

    def committed(self, charges: Sequence[Charge], budget: Budget) -> Committed:
        """Fix the list, and compute its bound."""
        found = tightest(events_of(charges), delta=budget.delta, announced=True)
        return Committed(tuple(charges), found)


@dataclass(frozen=True)
class Committed(QuestionsThenList):
    """The list of charges is fixed and paid for; a run that stops early has still paid for it."""

    charges: tuple[Charge, ...]
    found: Bound

    prepaid: ClassVar[bool] = True

    @property
    def listed(self) -> tuple[Charge, ...]:
        """The whole list that was fixed."""
        return self.charges

    @property
    def whole_price(self) -> Price:
        """The price of the list as a whole."""
        if self.found.epsilon is None:
            raise UsageError("an exact answer cannot be paid for; use a mechanism with noise")
        return Price(self.found.epsilon)

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Claim the questions and the whole list together, even if it was charged in part."""
        del budget
        everything = [*charges, *self.charges]
        if _has_exact(everything):
            return tightest(events_of(everything), delta=Fraction(0), announced=True)
        listed, name = self.found.epsilon or Fraction(0), self.found.accounting
        alone = paid.amount == listed
        accounting = name if alone else f"{name}{WITH_QUESTIONS}"
        return Bound(accounting, paid.amount, self.found.delta)

    def committed(self, charges: Sequence[Charge], budget: Budget) -> Committed:
        """Refuse a second list."""
        del charges, budget
        raise UsageError("a grant commits to one list; charge what is on it")


@dataclass(frozen=True)
class RoundsThenList(QuestionsThenList):
    """Gaussian rounds are paid for from a first share, and then one long list as a whole.

    Privacy: the rounds keep to the (ε, δ) of the first share by the Gaussian curve, whatever they
    follow from. The list may depend on their answers, and has the rest of ε and δ, which add up
    (RRUV16). Proof: docs/proofs/dpgan.md.

    Attributes:
        first: the (ε, δ) of the rounds, below the budget of the run.
    """

    first: Budget

    def counted(self, budget: Budget) -> Budget:
        """The first share: more than that is not paid for before there is a list."""
        return budget if budget.measure is Measure.UNLIMITED else self.first

    def shared(self, counted: Budget) -> Budget:
        """The ρ of the rounds, of which each gets a share."""
        return counted if counted.measure is Measure.UNLIMITED else self._rho

    @property
    def _rho(self) -> Budget:
        return GaussianRounds().counted(self.first)

    def price(self, charges: Sequence[Charge], counted: Budget) -> Price:
        """The part of the first share that the rounds are of its ρ."""
        del counted
        rho = Adaptive().price(charges, self._rho).amount
        part = rho / self._rho.amount
        return Price(self.first.amount * part, self.first.delta * part)

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Claim all of the first share, as long as there is no list."""
        del paid, budget
        if not charges or _has_exact(charges):
            return tightest(events_of(charges), delta=Fraction(0), announced=True)
        return Bound(CURVE, self.first.amount, self.first.delta)

    def left_for_list(self, paid: Price, budget: Budget) -> Budget:
        """The budget without all of the first share, also where the rounds left some of it."""
        del paid
        return self._first_price.taken_from(budget)

    def committed(self, charges: Sequence[Charge], budget: Budget) -> Committed:
        """Fix the list, and compute its bound at the δ that the rounds leave."""
        unlimited = budget.measure is Measure.UNLIMITED
        delta = budget.delta if unlimited else budget.delta - self.first.delta
        found = tightest(events_of(charges), delta=delta, announced=True)
        whole = CommittedAfterRounds(tuple(charges), found, self.first)
        asked = Price() if unlimited else whole.whole_price
        if not unlimited and not (asked + self._first_price).within(budget):
            raise self.refusal(asked, self._first_price, budget)
        return whole

    @property
    def _first_price(self) -> Price:
        return Price(self.first.amount, self.first.delta)


@dataclass(frozen=True)
class CommittedAfterRounds(Committed):
    """The list after Gaussian rounds is fixed and paid for, and so is all of the first share.

    Attributes:
        first: the (ε, δ) of the rounds.
    """

    first: Budget

    @property
    def whole_price(self) -> Price:
        """The price of the list as a whole, with its δ."""
        return replace(super().whole_price, delta=self.found.delta)

    def bound(self, charges: Sequence[Charge], paid: Price, budget: Budget) -> Bound:
        """Claim the first share and the whole list together, however much of them was charged."""
        del paid, budget
        everything = [*charges, *self.charges]
        if _has_exact(everything):
            return tightest(events_of(everything), delta=Fraction(0), announced=True)
        epsilon = (self.found.epsilon or Fraction(0)) + self.first.amount
        name = f"{self.found.accounting}{WITH_ROUNDS}"
        return Bound(name, epsilon, self.found.delta + self.first.delta)


def after_questions(own: Bound, epsilon: Fraction) -> Bound:
    """A bound for pure questions and, chosen by their answers, all that came after them.

    Source: an ε-DP mechanism followed by an (ε′, δ)-DP one is (ε + ε′, δ)-DP, whichever of them
    the first answer chooses. Proof: docs/proofs/preflight.md.
    """
    if own.epsilon is None:
        return own
    plain = own.accounting == PURE or own.accounting.endswith(WITH_QUESTIONS)
    accounting = own.accounting if plain else f"{own.accounting}{WITH_QUESTIONS}"
    return Bound(accounting, own.epsilon + epsilon, own.delta)


def _has_exact(charges: Sequence[Charge]) -> bool:
    return any(isinstance(charge.event, ExactEvent) for charge in charges)
