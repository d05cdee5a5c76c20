"""The cost of a table's noise, against what the table is worth, from public numbers alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.facts.domain import Domain
from understudy.facts.unit import Unit
from understudy.models.network import Family
from understudy.privacy.budget import Budget, Measure

# Non-negativity and consistency undo most of the noise on cells that are nearly empty, so a cell
# is charged this part of the error that its noise alone would make.
REMAINING_NOISE = 0.3
# No table is worth measuring whose noise would outweigh every row.
_WORTHLESS = 0.9


@dataclass(frozen=True)
class TableCost:
    """A price for every cell, and the most cells a table may have.

    Attributes:
        price: what one more cell costs, in the score's own unit.
        most_cells: larger tables are not considered.
        noise: the noise expected on each cell, as a standard deviation in rows.
    """

    price: float
    most_cells: int
    noise: float = 0.0

    def cost(self, domain: Domain, family: Family) -> float:
        """Price the table of a family; a child alone is measured anyway."""
        return self.price * domain.cells(family.axes) if family.parents else 0.0

    def allows(self, cells: int) -> bool:
        """Whether a table is small enough to be measured for a family."""
        return cells <= self.most_cells


def by_gain(domain: Domain, budget: Budget, unit: Unit, *, rows: float) -> TableCost:
    """Weigh what a table shows against the error its noise is expected to make, in rows.

    Noise of standard deviation σ on c cells is expected to be ½·c·E|noise| rows off: c·σ/√(2π)
    for Gaussian and c·σ/√8 for Laplace noise. The budget is thought of as shared equally by one
    table for each attribute but the first.
    """
    noise = expected_noise(budget, unit, tables=max(len(domain) - 1, 1))
    half_mean = 1 / math.sqrt(8) if budget.measure is Measure.PURE else 1 / math.sqrt(2 * math.pi)
    price = REMAINING_NOISE * noise * half_mean
    most = 2**31 if price == 0 else math.floor(_WORTHLESS * max(rows, 1) / price)
    return TableCost(price, max(most, 1), noise)


def by_usefulness(
    domain: Domain, budget: Budget, unit: Unit, *, rows: float, theta: Fraction | float = 4
) -> TableCost:
    """Only tables whose average count is at least θ times the average noise of a cell.

    Source: Zhang et al. 2017 (θ-usefulness); NIST's τ = n*/(4σ̃) is the same rule.
    """
    noise = expected_noise(budget, unit, tables=max(len(domain) - 1, 1))
    most = 2**31 if noise == 0 else math.floor(max(rows, 1) / (float(theta) * noise))
    return TableCost(0.0, max(most, 1), noise)


def in_shares_of(table_cost: TableCost, size: float) -> TableCost:
    """A price in rows as one in shares of n, for scores that are divided by n."""
    return TableCost(table_cost.price / max(size, 1.0), table_cost.most_cells, table_cost.noise)


def expected_noise(budget: Budget, unit: Unit, *, tables: int) -> float:
    """The standard deviation of a cell's noise when a budget is shared equally by some tables."""
    amount = float(budget.amount) / tables
    match budget.measure:
        case Measure.PURE:
            return math.sqrt(2) * float(unit.count_l1) / amount
        case Measure.ZCDP | Measure.GAUSSIAN:
            return math.sqrt(float(unit.count_l2_squared) / (2 * amount))
        case _:
            return 0.0
