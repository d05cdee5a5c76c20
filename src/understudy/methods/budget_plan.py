"""How a budget is divided among the stages of a fit, for central and federated learners alike.

Everything that the division depends on is public, declared, or already paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.unit import Unit
from understudy.methods.estimation.allocation import least_error_weights
from understudy.methods.structure.table_cost import expected_noise
from understudy.privacy.budget import Amount, Budget, exact
from understudy.privacy.curator import Curator

# One-way tables get at least this share, and more, up to the most, when they would be poor.
_LEAST_ONE_WAY, _MOST_ONE_WAY = Fraction(15, 100), Fraction(1, 2)
_ONE_WAY_PER_ERROR = 4


def share_of(value: Amount, *, what: str) -> Fraction:
    """Read a share of a budget exactly: a number between 0 and 1, neither of them included.

    Example:
        >>> share_of("0.3", what="structure share")
        Fraction(3, 10)
    """
    share = exact(value, what=what)
    if not 0 < share < 1:
        raise UsageError(f"{what} is {value}; a share lies between 0 and 1, such as 0.2")
    return share


@dataclass(frozen=True)
class BudgetParts:
    """The parts of a budget that one-way tables, structure and other tables get: 1 in all."""

    one_way: Fraction
    structure: Fraction
    tables: Fraction


def divide(
    domain: Domain,
    budget: Budget,
    unit: Unit,
    *,
    size: float,
    structure: Fraction,
    most: Fraction = _MOST_ONE_WAY,
    one_way: Fraction | None = None,
) -> BudgetParts:
    """The parts of the stages, from the number of rows, the domain and the budget alone.

    One-way tables get a larger part when, with the least one, they would be far off.

    Args:
        domain: the attributes.
        budget: what there is, of which one-way tables would get the least part.
        unit: whom the promise protects.
        size: the number of rows, as far as it is known.
        structure: the part that is needed to learn a structure, where there is one to learn.
        most: of one-way tables, where others need much.
        one_way: the part of one-way tables, where it was asked for.
    """
    needed = structure if len(domain) > 1 else Fraction(0)
    if one_way is not None:
        return BudgetParts(one_way, needed, 1 - one_way - needed)
    error = one_way_error(domain, budget * _LEAST_ONE_WAY, unit, size)
    wanted = _LEAST_ONE_WAY + Fraction(round(_ONE_WAY_PER_ERROR * min(error, 1.0) * 1000), 1000)
    part = min(wanted, _MOST_ONE_WAY, most)
    return BudgetParts(part, needed, 1 - part - needed)


@dataclass(frozen=True)
class Shares:
    """The budgets of the stages of a fit."""

    size: Budget
    one_way: Budget
    structure: Budget
    tables: Budget

    @classmethod
    def of(
        cls,
        curator: Curator,
        size: float,
        *,
        spent: Budget,
        structure: Fraction,
        one_way: Fraction | None = None,
        most: Fraction = _MOST_ONE_WAY,
    ) -> Shares:
        """Divide what a Curator's budget leaves when the size was paid for."""
        whole = curator.budget
        parts = divide(
            curator.domain,
            whole,
            curator.unit,
            size=size,
            structure=structure,
            most=most,
            one_way=one_way,
        )
        left = Budget(whole.measure, whole.amount - spent.amount)
        return cls(spent, *left.split([parts.one_way, parts.structure, parts.tables]))


def one_way_error(domain: Domain, budget: Budget, unit: Unit, size: float) -> float:
    """The mean total variation distance that one-way tables would have from their noise."""
    cells = [domain[attribute] for attribute in domain]
    shares = budget.split(least_error_weights(cells, budget.measure))
    off = [
        0.4 * count * expected_noise(share, unit, tables=1)
        for count, share in zip(cells, shares, strict=True)
    ]
    return sum(off) / len(off) / max(size, 1.0)
