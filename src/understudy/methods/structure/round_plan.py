"""The plan of a run in rounds: its budgets, fixed by public numbers and the number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Unit
from understudy.methods.estimation.parameters import one_way_tables
from understudy.methods.structure.rounds import tables_of
from understudy.methods.structure.table_cost import expected_noise
from understudy.privacy.budget import Budget, Measure

# One-way tables get this share, and more where they would be poor with the whole budget.
_LEAST_ONE_WAY, _HALF_ONE_WAY = 0.05, 0.15
# What each round gets of the rest, and the sizes of the tables that it may choose.
_ROUNDS = ((Fraction(4, 10), (2,)), (Fraction(6, 10), (2, 3)))
# Noisy errors get this part of a round, and never more of the whole.
_ERRORS_SHARE, _MOST_ERRORS_SHARE = Fraction(1, 10), Fraction(4, 100)
# Errors are not asked for where their noise would exceed this part of the rows.
HOPELESS = 0.6
# Tables have at most so many cells.
MOST_CELLS = 20_000
# Without a delta tables are chosen one by one, so many for each attribute at the most.
_PICKS_PER_ATTRIBUTE = 3
# Triples are asked about too where so many tables for each attribute would be useful.
_PICKS_FOR_TRIPLES = 2
# Of the rows, what the noise of a picked table may displace.
_USEFUL = 0.25


@dataclass(frozen=True)
class RoundPlan:
    """The budgets of a run, fixed before its rounds.

    Attributes:
        one_way: for the one-way tables of the start.
        rounds: for every round, its budget and the sizes of the tables that it may choose.
        again: the one-way tables that every round measures too.
    """

    one_way: Budget
    rounds: tuple[tuple[Budget, tuple[int, ...]], ...]
    again: tuple[Attributes, ...]

    @classmethod
    def of(
        cls, domain: Domain, budget: Budget, unit: Unit, size: float, *, pairs: int | None = None
    ) -> RoundPlan:
        """Divide a budget: the noisier one-way tables would be, the more they get of it.

        Where the noise of errors would drown them, one-way tables get all of it.

        Args:
            domain: the attributes.
            budget: what there is.
            unit: whom the promise protects.
            size: the number of rows, as far as it is known.
            pairs: how many have to be asked about at least; all unless given.
        """
        ratio = one_way_noise(domain, budget, unit) / size
        share = min(_LEAST_ONE_WAY + ratio / (ratio + _HALF_ONE_WAY), 1.0)
        one_way = budget * Fraction(round(1000 * share), 1000)
        left = Budget(budget.measure, budget.amount - one_way.amount)
        again = tuple(one_way_tables(domain))
        if len(domain) < 2 or left.amount == 0 < budget.amount:
            return cls(budget, (), ())
        if budget.measure is Measure.UNLIMITED:
            return cls(one_way, ((left, (2, 3)),), again)
        if budget.measure is Measure.PURE:
            return cls._one_by_one(domain, one_way, left, unit, size)
        parts = left.split([share for share, _ in _ROUNDS])
        pairs = len(domain) * (len(domain) - 1) // 2 if pairs is None else pairs
        if errors_noise(errors_budget(budget, parts[0]), unit, pairs) > HOPELESS * size:
            return cls(budget, (), ())
        rounds = zip(parts, (sizes for _, sizes in _ROUNDS), strict=True)
        return cls(one_way, tuple(rounds), again)

    @classmethod
    def _one_by_one(
        cls, domain: Domain, one_way: Budget, left: Budget, unit: Unit, size: float
    ) -> RoundPlan:
        """As many choices as there is budget for useful tables, and not too many."""
        sizes = sorted(domain[attribute] for attribute in domain)
        typical = sizes[len(sizes) // 2] ** 2
        affordable = _USEFUL * size / max(mean_noise(left, unit) * typical, 1e-9)
        picks = math.floor(min(affordable, _PICKS_PER_ATTRIBUTE * len(domain)))
        if picks < 1 or not any(tables_of(domain, (2,), most_cells=MOST_CELLS)):
            return cls(Budget(left.measure, one_way.amount + left.amount), (), ())
        triples = affordable >= _PICKS_FOR_TRIPLES * len(domain)
        asked = (2, 3) if triples else (2,)
        return cls(one_way, tuple((part, asked) for part in left.split([1] * picks)), ())


def one_way_noise(domain: Domain, budget: Budget, unit: Unit) -> float:
    """The mean L1 noise of one-way tables that share a whole budget as is best."""
    power = 1 / 2 if budget.measure is Measure.PURE else 2 / 3
    parts = sum(domain[attribute] ** power for attribute in domain)
    return float(mean_noise(budget, unit) * parts ** (1 / power) / max(len(domain), 1))


def mean_noise(budget: Budget, unit: Unit) -> float:
    """The mean absolute noise on a cell of one table that gets a whole budget."""
    if budget.amount == 0 or budget.measure is Measure.UNLIMITED:
        return 0.0
    mean = 1 / math.sqrt(2) if budget.measure is Measure.PURE else math.sqrt(2 / math.pi)
    return mean * expected_noise(budget, unit, tables=1)


def errors_budget(whole: Budget, part: Budget) -> Budget:
    """Limit the cost of noisy errors: a part of a round, and never much of the whole."""
    return min(part * _ERRORS_SHARE, whole * _MOST_ERRORS_SHARE, key=lambda b: b.amount)


def errors_noise(budget: Budget, unit: Unit, tables: int) -> float:
    """Return the standard deviation of the noise of this number of errors together."""
    if budget.amount == 0:
        return 0.0 if budget.measure is Measure.UNLIMITED else math.inf
    moved = float(unit.count_l1)
    return moved * math.sqrt(tables / (2 * float(budget.amount)))
