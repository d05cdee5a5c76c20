"""Accounts: what the runs of a ledger add up to, and whether a limit has room for one more.

Runs are added up by adjacency, for a sum over promises about different tables promises nothing.
Without a limit the sum is that of basic composition; `limits` has the rules by which others count.

Proof: docs/proofs/composition_and_ledger.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from understudy.errors import BudgetExceeded, LedgerError
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.accounting.conversions import zcdp_epsilon
from understudy.privacy.accounting.costs import Concentrated
from understudy.privacy.spending.limits import Cost, Limit, Room, Rule, Spent
from understudy.system.amounts import at_most_text


@dataclass(frozen=True, kw_only=True)
class Total:
    """The sum of all runs under one adjacency, by basic composition and in zCDP.

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
    """One dataset's standing: its limit if any, and the cost of each run."""

    dataset: str
    limit: Limit | None
    runs: tuple[Mapping[str, Any], ...]

    @cached_property
    def costs(self) -> tuple[Cost, ...]:
        """The cost of each run; those that were never closed count whole."""
        return tuple(run["cost"] for run in self.runs)

    def cost_of(self, identity: str) -> Cost | None:
        """The cost of the run of a grant; None where it is another dataset's."""
        found = (run["cost"] for run in self.runs if run["grant"] == identity)
        return next(found, None)

    def after(self, cost: Cost, identity: str) -> Account:
        """The account as it would be with one more run."""
        return replace(self, runs=(*self.runs, {"grant": identity, "cost": cost}))

    def without(self, identity: str) -> Account:
        """The account before a grant was opened."""
        return replace(self, runs=tuple(r for r in self.runs if r["grant"] != identity))

    @property
    def totals(self) -> list[Total]:
        """The sums for every adjacency that runs promise."""
        return [self.total(adjacency) for adjacency in self._adjacencies]

    def total(self, adjacency: Adjacency) -> Total:
        """Add up the runs under one adjacency."""
        counted = [cost.under(adjacency) for cost in self.costs]
        heard = [cost for cost in counted if cost is not None]
        own = sum(cost.adjacency == adjacency for cost in self.costs)
        return Total(
            adjacency=adjacency,
            spent=_sum_of(heard),
            concentrated=_concentrated_sum(heard),
            own=own,
            implied=len(heard) - own,
            silent=len(counted) - len(heard),
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
        """The room that the limit leaves; None when no limit is set."""
        if self.limit is None:
            return None
        counted = self._counted(self.limit)
        in_basic_part = _sum_of(_in_basic_part(self.limit, counted))
        left, over = (
            self.limit.basic_part - in_basic_part,
            not in_basic_part.within(self.limit.basic_part),
        )
        most = self.limit.concentrated
        if most is None:
            return Room(left, overdrawn=over)
        used = _concentrated_sum(_in_rho(self.limit, counted)) or Concentrated()
        rest = Concentrated(
            max(most.rho - used.rho, Fraction(0)), max(most.delta - used.delta, Fraction(0))
        )
        delta = self.limit.total.delta - self.limit.basic_part.delta - most.delta
        return Room(left, rest, delta, overdrawn=over or not used.within(most))

    def room_for(self, cost: Cost) -> Cost:
        """Set aside for a pure run all it may cost in ρ or, if that is less, what is left.

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
        basic_part, in_rho = _in_basic_part(self.limit, counted), _in_rho(self.limit, counted)
        fits = _sum_of(basic_part).within(self.limit.basic_part)
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
        """Say what a run asks for in zCDP, and which part of the limit would have to be larger."""
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
        """A limit of version 0.1.0 names nobody: it is for whomever all runs protect."""
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
        """The costs of all runs for those that the limit names, as far as runs promise any."""
        whom = limit.adjacency or next(iter(self._adjacencies), Adjacency())
        return [cost for run in self.costs if (cost := run.under(whom)) is not None]

    @property
    def _adjacencies(self) -> list[Adjacency]:
        return list(dict.fromkeys(cost.adjacency for cost in self.costs))


def _in_basic_part(limit: Limit, costs: Iterable[Cost]) -> list[Cost]:
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
