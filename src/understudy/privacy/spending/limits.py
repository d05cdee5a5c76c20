"""Costs of runs, the limits that hold them, and the room that a limit leaves.

A limit names an adjacency and the rule that counts it, both fixed when it is set: a filter proves
the number that was fixed beforehand, and not the better of two that are looked at afterwards.

- *basic composition*: epsilons and deltas add up (Rogers, Roth, Ullman, Vadhan 2016).
- *zCDP*: the limit becomes a ρ once. Runs count by the ρ of their own charges (Feldman, Zrnic
  2021), and by the δ that some mechanisms have of their own (Whitehouse, Ramdas, Rogers, Wu 2023).
  Runs without a ρ count by basic composition against a part that was set aside for them.

Proof: docs/proofs/composition_and_ledger.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from understudy.errors import UsageError
from understudy.privacy.accounting.adjacency import Adjacency, group_privacy
from understudy.privacy.accounting.conversions import rho_within, zcdp_epsilon
from understudy.privacy.accounting.costs import Concentrated
from understudy.system.amounts import at_least_text, at_most_text


class Rule(StrEnum):
    """How runs are counted against a limit."""

    BASIC = "basic composition"
    ZCDP = "zCDP"


@dataclass(frozen=True)
class Spent:
    """An (ε, δ) that adds up by basic composition."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            max(self.epsilon - other.epsilon, Fraction(0)),
            max(self.delta - other.delta, Fraction(0)),
        )

    def within(self, limit: Spent) -> bool:
        """Whether neither epsilon nor delta exceeds the limit."""
        return self.epsilon <= limit.epsilon and self.delta <= limit.delta

    def __str__(self) -> str:
        return f"epsilon = {at_most_text(self.epsilon)}, delta = {at_most_text(self.delta)}"

    @property
    def as_remainder(self) -> str:
        """The amounts in words where they are what is left: rounded down, not up."""
        return f"epsilon = {at_least_text(self.epsilon)}, delta = {at_least_text(self.delta)}"


@dataclass(frozen=True)
class Cost:
    """The cost of a run for those it protects: (ε, δ), and approximate zCDP where it counts."""

    adjacency: Adjacency
    spent: Spent
    concentrated: Concentrated | None

    def under(self, adjacency: Adjacency) -> Cost | None:
        """Convert the cost to another adjacency; None where the run implies nothing for it.

        Several steps cost k²ρ. For approximate zCDP there is no such rule here, so that a run with
        a δ of its own is left with its (ε, δ).
        """
        steps = self.adjacency.steps(adjacency)
        if steps is None:
            return None
        spent = Spent(*group_privacy(self.spent.epsilon, self.spent.delta, steps=steps))
        return Cost(adjacency, spent, self._grouped(steps))

    def _grouped(self, steps: int) -> Concentrated | None:
        own = self.concentrated
        if own is None or steps == 1:
            return own
        return None if own.delta else Concentrated(own.rho * steps**2)


@dataclass(frozen=True)
class Limit:
    """The most that may be spent on a dataset, for whom, and by which rule it is counted.

    Attributes:
        total: what is promised while the limit holds.
        adjacency: for whom; None in a limit that version 0.1.0 set, which named nobody.
        basic_part: the part counted by basic composition.
        concentrated: the part counted in zCDP, fixed when the limit was set.
    """

    total: Spent
    adjacency: Adjacency | None
    basic_part: Spent
    concentrated: Concentrated | None = None

    def __post_init__(self) -> None:
        rho = self.concentrated or Concentrated()
        aside = self.basic_part + Spent(delta=rho.delta)
        amounts = (*vars(self.total).values(), *vars(self.basic_part).values(), rho.rho, rho.delta)
        if min(amounts) < 0 or self.total.delta >= 1 or not aside.within(self.total):
            raise UsageError(
                f"a limit of {self.total} is not possible with {self.basic_part} set aside and a "
                f"delta of {at_most_text(rho.delta)} for runs with a delta of their own; amounts "
                "are not negative, delta is below 1, and parts are not above the whole"
            )

    @classmethod
    def basic(cls, total: Spent, adjacency: Adjacency | None) -> Limit:
        """Set a limit that is counted by basic composition alone."""
        return cls(total, adjacency, total)

    @classmethod
    def zcdp(
        cls,
        total: Spent,
        adjacency: Adjacency,
        *,
        own_delta: Fraction = Fraction(0),
        basic_part: Spent | None = None,
    ) -> Limit:
        """Set a limit that is counted in zCDP.

        Args:
            total: what is promised.
            adjacency: for whom.
            own_delta: the part of δ for mechanisms that have a δ of their own; the rest converts
                ρ to ε.
            basic_part: what is set aside for runs without a ρ, and counted by basic composition.

        Example:
            >>> limit = Limit.zcdp(Spent(Fraction(4), Fraction(1, 10**5)), Adjacency())
            >>> round(float(limit.concentrated.rho), 3)
            0.373
        """
        aside = basic_part or Spent()
        cls(total, adjacency, aside, Concentrated(delta=own_delta))
        left = total - aside - Spent(delta=own_delta)
        if not left.epsilon or not left.delta:
            raise UsageError(
                f"a limit counted in zCDP needs an epsilon and a delta that convert rho, and of "
                f"{total} what is set aside leaves none; set aside less, or count by "
                "basic composition"
            )
        rho = rho_within(left.epsilon, left.delta)
        return cls(total, adjacency, aside, Concentrated(rho, own_delta))

    @property
    def rule(self) -> Rule:
        """How runs are counted."""
        return Rule.BASIC if self.concentrated is None else Rule.ZCDP

    def __str__(self) -> str:
        whom = "" if self.adjacency is None else f" for {self.adjacency}"
        how = "counted in zCDP" if self.rule is Rule.ZCDP else f"by {self.rule}"
        return f"{self.total}{whom}, {how}"


@dataclass(frozen=True)
class Room:
    """The rest of a limit: by basic composition, and in zCDP where that is counted.

    Attributes:
        basic_part: by basic composition.
        concentrated: in zCDP.
        delta: the δ by which the limit converts ρ to ε.
        overdrawn: whether runs have used more than some part of the limit, so that none fits.
    """

    basic_part: Spent
    concentrated: Concentrated | None = None
    delta: Fraction = Fraction(0)
    overdrawn: bool = False

    @property
    def largest_epsilon(self) -> float:
        """The ε of the largest run calibrated in zCDP, at `delta`, that would fit."""
        if self.concentrated is None or not self.concentrated.rho:
            return 0.0
        return zcdp_epsilon(float(self.concentrated.rho), float(self.delta))

    def __str__(self) -> str:
        over = " (earlier runs have used more than a part of it)" if self.overdrawn else ""
        if self.concentrated is None:
            return f"{self.basic_part.as_remainder}{over}"
        aside = self.basic_part.as_remainder
        beside = f", and {aside} by basic composition" if self.basic_part != Spent() else ""
        if self.concentrated.delta:
            own = at_least_text(self.concentrated.delta)
            beside += f", and delta = {own} for runs with a delta of their own"
        beside += over
        rho = at_least_text(self.concentrated.rho, digits=4)
        epsilon = at_least_text(self.largest_epsilon, digits=3)
        return (
            f"rho = {rho} (enough for one run of epsilon = {epsilon} at delta = "
            f"{at_least_text(self.delta)}){beside}"
        )
