"""Accounts: what the runs of a ledger add up to, and what a limit still leaves room for.

Runs are added up by adjacency, for a sum over promises about different tables promises nothing.
Without a limit the sum is that of basic composition. A limit names an adjacency and the rule that
counts it, both fixed when it is set: a filter proves the number that was fixed beforehand, and not
the better of two numbers that are looked at afterwards.

- *basic composition*: epsilons and deltas add up (Rogers, Roth, Ullman, Vadhan 2016).
- *zCDP*: the limit becomes a ρ once. Runs count by the ρ of their own charges (Feldman, Zrnic
  2021), and by the δ that some mechanisms have of their own (Whitehouse, Ramdas, Rogers, Wu 2023).
  Runs without a ρ count by basic composition against a purse that was set aside for them.

Proof: docs/proofs/composition_and_ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

from understudy.amounts import at_least_text, at_most_text
from understudy.errors import BudgetExceeded, LedgerError, UsageError
from understudy.privacy.accounting import Concentrated, rho_within, zcdp_epsilon
from understudy.privacy.adjacency import Adjacency, group_privacy


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
        """The same in words where it is what is left: rounded down, not up."""
        return f"epsilon = {at_least_text(self.epsilon)}, delta = {at_least_text(self.delta)}"


@dataclass(frozen=True)
class Cost:
    """What a run costs whom: (ε, δ), and its cost in approximate zCDP where that is counted."""

    adjacency: Adjacency
    spent: Spent
    concentrated: Concentrated | None

    def under(self, adjacency: Adjacency) -> Cost | None:
        """What the run implies for another adjacency; None where it implies nothing.

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
        purse: the part counted by basic composition.
        concentrated: the part counted in zCDP, fixed when the limit was set.
    """

    total: Spent
    adjacency: Adjacency | None
    purse: Spent
    concentrated: Concentrated | None = None

    def __post_init__(self) -> None:
        rho = self.concentrated or Concentrated()
        aside = self.purse + Spent(delta=rho.delta)
        amounts = (*vars(self.total).values(), *vars(self.purse).values(), rho.rho, rho.delta)
        if min(amounts) < 0 or self.total.delta >= 1 or not aside.within(self.total):
            raise UsageError(
                f"a limit of {self.total} is not possible with {self.purse} set aside and a delta "
                f"of {at_most_text(rho.delta)} for runs with a delta of their own; amounts are not "
                "negative, delta is below 1, and parts are not above the whole"
            )

    @classmethod
    def basic(cls, total: Spent, adjacency: Adjacency | None) -> Limit:
        """A limit counted by basic composition alone."""
        return cls(total, adjacency, total)

    @classmethod
    def zcdp(
        cls,
        total: Spent,
        adjacency: Adjacency,
        *,
        own_delta: Fraction = Fraction(0),
        purse: Spent | None = None,
    ) -> Limit:
        """A limit counted in zCDP.

        Args:
            total: what is promised.
            adjacency: for whom.
            own_delta: the part of δ for mechanisms that have a δ of their own; the rest converts
                ρ to ε.
            purse: what is set aside for runs without a ρ, and counted by basic composition.

        Example:
            >>> limit = Limit.zcdp(Spent(Fraction(4), Fraction(1, 10**5)), Adjacency())
            >>> round(float(limit.concentrated.rho), 3)
            0.373
        """
        aside = purse or Spent()
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
        return f"{self.total}{whom}, by {self.rule}"


@dataclass(frozen=True)
class Room:
    """What a limit leaves: by basic composition, and in zCDP where that is counted.

    Attributes:
        purse: by basic composition.
        concentrated: in zCDP.
        delta: the δ by which the limit converts ρ to ε.
        overdrawn: whether runs have used more than some part of the limit, so that none fits.
    """

    purse: Spent
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
            return f"{self.purse.as_remainder}{over}"
        aside = self.purse.as_remainder
        beside = f", and {aside} by basic composition" if self.purse != Spent() else ""
        if self.concentrated.delta:
            own = at_least_text(self.concentrated.delta)
            beside += f", and delta = {own} for runs with a delta of their own"
        beside += over
        rho = at_least_text(self.concentrated.rho, digits=4)
        epsilon = at_least_text(self.largest_epsilon, digits=3)
        return (
            f"rho = {rho} (that is epsilon = {epsilon} at delta = {at_least_text(self.delta)})"
            f"{beside}"
        )


@dataclass(frozen=True)
class Total:
    """What runs come to under one adjacency, by basic composition and in zCDP.

    Attributes:
        concentrated: the sum in approximate zCDP; None where some run has no such cost.
        own: how many runs promise this very adjacency.
        implied: how many promise another one, and were converted.
        silent: how many promise another one that implies nothing here: they are in no sum.
    """

    adjacency: Adjacency
    spent: Spent
    concentrated: Concentrated | None
    own: int
    implied: int
    silent: int

    @property
    def would_have_sufficed(self) -> Spent | None:
        """The limit, counted in zCDP at the same δ, that would have allowed these runs.

        None where it would not have been less than the sum by basic composition.
        """
        delta, cost = self.spent.delta, self.concentrated
        if cost is None or not cost.delta < delta < 1:
            return None
        epsilon = zcdp_epsilon(float(cost.rho), float(delta - cost.delta))
        enough = Fraction(f"{epsilon * (1 + 1e-3):.4g}")
        return Spent(enough, delta) if enough < self.spent.epsilon else None


@dataclass(frozen=True)
class Account:
    """One dataset's standing: its limit if any, and what each run came to."""

    dataset: str
    limit: Limit | None
    runs: tuple[Mapping[str, Any], ...]

    @cached_property
    def costs(self) -> tuple[Cost, ...]:
        """What each run costs, those never closed counted whole."""
        return tuple(run["cost"] for run in self.runs)

    def cost_of(self, identity: str) -> Cost | None:
        """What the run of a grant costs; None where it is another dataset's."""
        found = (run["cost"] for run in self.runs if run["grant"] == identity)
        return next(found, None)

    def without(self, identity: str) -> Account:
        """The account before a grant was opened."""
        return replace(self, runs=tuple(r for r in self.runs if r["grant"] != identity))

    @property
    def totals(self) -> list[Total]:
        """The sums for every adjacency that runs promise."""
        return [self.total(adjacency) for adjacency in self._adjacencies]

    def total(self, adjacency: Adjacency) -> Total:
        """The sums for one adjacency."""
        counted = [cost.under(adjacency) for cost in self.costs]
        heard = [cost for cost in counted if cost is not None]
        own = sum(cost.adjacency == adjacency for cost in self.costs)
        return Total(
            adjacency,
            _sum_of(heard),
            _concentrated_sum(heard),
            own,
            len(heard) - own,
            len(counted) - len(heard),
        )

    @property
    def spent(self) -> Spent:
        """The sum over all runs, under an adjacency for which all of them promise something.

        Raises:
            LedgerError: there is no such adjacency; `totals` has what there is.
        """
        if not self.runs:
            return Spent()
        named = [self.limit.adjacency] if self.limit and self.limit.adjacency else []
        found = [self.total(adjacency) for adjacency in [*named, *self._adjacencies]]
        whole = min(found, key=lambda total: (total.silent, total.implied))
        if whole.silent:
            raise LedgerError(
                f"dataset {self.dataset!r}: its runs protect {_listed(self._adjacencies)}, and no "
                "single number bounds them all; look at the totals of each"
            )
        return whole.spent

    @property
    def remaining(self) -> Room | None:
        """What is left under the limit; None when no limit is set."""
        if self.limit is None:
            return None
        counted = self._counted(self.limit)
        in_purse = _sum_of(_in_purse(self.limit, counted))
        left, over = self.limit.purse - in_purse, not in_purse.within(self.limit.purse)
        most = self.limit.concentrated
        if most is None:
            return Room(left, overdrawn=over)
        used = _concentrated_sum(_in_rho(self.limit, counted)) or Concentrated()
        rest = Concentrated(
            max(most.rho - used.rho, Fraction(0)), max(most.delta - used.delta, Fraction(0))
        )
        delta = self.limit.total.delta - self.limit.purse.delta - most.delta
        return Room(left, rest, delta, overdrawn=over or not used.within(most))

    def room_for(self, cost: Cost) -> Cost:
        """What to set aside for a pure run: all it may cost in ρ or, if that is less, what is left.

        Charges of pure runs are many and small, so that the sum of their squares is far below the
        square of their sum. The run is then held to what was set aside.
        """
        room = self.remaining
        if room is None or room.concentrated is None or cost.concentrated is None:
            return cost
        whom = self.limit.adjacency if self.limit else None
        steps = cost.adjacency.steps(whom) if whom else None
        if steps is None or cost.spent.delta or not room.concentrated.rho:
            return cost
        most = min(cost.concentrated.rho, room.concentrated.rho / steps**2)
        return replace(cost, concentrated=Concentrated(most))

    def check_room(self, cost: Cost) -> None:
        """Refuse a run, or a larger reserve for one, that the limit does not leave room for.

        Raises:
            BudgetExceeded: it does not, or the run promises nothing to whom the limit is for.
        """
        if self.limit is None:
            return
        whom = self.limit.adjacency or self._only_adjacency(cost)
        self._check_heard(whom)
        asked = cost.under(whom)
        if asked is None:
            raise self._refusal(
                cost,
                f"the run protects {cost.adjacency}, which promises nothing for {whom}, whom the "
                "limit is for; fit under those neighbours, or set another limit",
            )
        counted = [*self._counted(self.limit), asked]
        purse, in_rho = _in_purse(self.limit, counted), _in_rho(self.limit, counted)
        fits = _sum_of(purse).within(self.limit.purse)
        if self.limit.concentrated is not None:
            used = _concentrated_sum(in_rho) or Concentrated()
            fits = fits and used.within(self.limit.concentrated)
        if not fits:
            raise self._refusal(cost, self._too_much(asked))

    def _too_much(self, asked: Cost) -> str:
        assert self.limit is not None
        more = "raise the limit with `ledger limit`"
        if self.limit.rule is Rule.BASIC:
            wanted, way_out = str(asked.spent), f"ask for less, or {more}"
        elif asked.concentrated is None:
            wanted = f"{asked.spent} by basic composition, since the run has no rho"
            way_out = (
                "set more aside with `ledger limit --basic-epsilon` and `--basic-delta`, or "
                "ask for less"
            )
        else:
            wanted, way_out = self._too_much_rho(asked.spent, asked.concentrated)
        return (
            f"asked for {wanted}, but {self.remaining} is left of the limit {self.limit}; {way_out}"
        )

    def _too_much_rho(self, spent: Spent, cost: Concentrated) -> tuple[str, str]:
        """What a run asks for in zCDP, and which part of the limit would have to be larger."""
        assert self.limit is not None
        rho = at_most_text(cost.rho, digits=4)
        room = self.remaining or Room(Spent())
        left = room.concentrated or Concentrated()
        wanted = f"{spent} (rho = {rho}"
        if cost.delta > left.delta:
            own = at_most_text(cost.delta)
            return f"{wanted}, and a delta of its own of {own})", (
                "set more delta aside with `ledger limit --own-delta`, or ask for less"
            )
        if room.overdrawn:
            return f"{wanted})", (
                "earlier runs have used more than was set aside for their kind; set the limit "
                "again, with a larger `--basic-epsilon`, `--basic-delta` or `--own-delta`"
            )
        if spent.delta:
            return f"{wanted})", "ask for less, or raise the limit with `ledger limit`"
        return f"{wanted} at the most)", (
            "give the run a delta, which costs less rho; ask for less; or count the limit by "
            "`--accounting basic`"
        )

    def _refusal(self, cost: Cost, why: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"dataset {self.dataset!r}: {why}", requested=cost.spent, remaining=self.remaining
        )

    def _only_adjacency(self, cost: Cost) -> Adjacency:
        """Whom a limit of version 0.1.0 is for: whomever all runs protect."""
        found = dict.fromkeys([*self._adjacencies, cost.adjacency])
        if len(found) > 1:
            raise self._refusal(
                cost,
                f"its runs protect {_listed(found)}, and the limit does not say whom it is "
                "for; set it again with `ledger limit`, which names whom",
            )
        return cost.adjacency

    def _check_heard(self, whom: Adjacency) -> None:
        total = self.total(whom)
        if total.silent:
            raise LedgerError(
                f"dataset {self.dataset!r}: {total.silent} of its runs promise nothing for {whom}, "
                "so that no limit for those can be kept; set one for "
                f"{_listed(a for a in self._adjacencies if not self.total(a).silent) or 'others'}"
            )

    def _counted(self, limit: Limit) -> list[Cost]:
        """What all runs cost whom the limit is for, as far as they promise anything there."""
        whom = limit.adjacency or next(iter(self._adjacencies), Adjacency())
        return [cost for run in self.costs if (cost := run.under(whom)) is not None]

    @property
    def _adjacencies(self) -> list[Adjacency]:
        return list(dict.fromkeys(cost.adjacency for cost in self.costs))


def _in_purse(limit: Limit, costs: Iterable[Cost]) -> list[Cost]:
    """The runs that basic composition counts: all, or those without a ρ."""
    whole = limit.rule is Rule.BASIC
    return [cost for cost in costs if whole or cost.concentrated is None]


def _in_rho(limit: Limit, costs: Iterable[Cost]) -> list[Cost]:
    """The runs that zCDP counts."""
    return [] if limit.rule is Rule.BASIC else [c for c in costs if c.concentrated is not None]


def _sum_of(costs: Iterable[Cost]) -> Spent:
    return sum((cost.spent for cost in costs), Spent())


def _concentrated_sum(costs: Iterable[Cost]) -> Concentrated | None:
    parts = [cost.concentrated for cost in costs]
    if any(part is None for part in parts):
        return None
    return sum((part for part in parts if part is not None), Concentrated())


def _listed(adjacencies: Iterable[Adjacency]) -> str:
    return " and ".join(map(str, adjacencies))
