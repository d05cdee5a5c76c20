"""The plan of a run in rounds: its budgets, fixed by public numbers and the number of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from understudy.facts.domain import Domain
from understudy.facts.unit import Unit
from understudy.methods.structure.rounds import tables_of
from understudy.methods.structure.table_cost import expected_noise
from understudy.privacy.budget import Budget, Measure

# One-way tables get this share, and more where they would be poor with the whole budget.
_LEAST_ONE_WAY, _HALF_ONE_WAY = 0.05, 0.15
# What each round gets of the rest, and the sizes of the tables that it may choose.
_ROUNDS = ((Fraction(4, 10), (2,)), (Fraction(6, 10), (2, 3)))
# The number of rows, and the errors of all rounds, may turn out to be of no use. Together they
# cost at most 4/100 of the budget: 1/200 for the rows, and these parts for the errors.
SIZE_SHARE = Fraction(1, 200)
_ERRORS_OF_ROUND, _ERRORS_OF_ALL = Fraction(1, 10), (Fraction(28, 1000), Fraction(7, 1000))
# Errors are not asked for where the noise of each would exceed this part of the rows. In the second
# round they are drawn to their mean, which has much less noise, and says whether tables still pay.
_MOST_NOISE = (0.6, 1.5)
# Tables have at most so many cells.
MOST_CELLS = 20_000
# Without a delta tables are chosen one by one, so many for each attribute at the most. A few of
# them are measured together, after which the model is estimated anew.
_PICKS_PER_ATTRIBUTE, _TOGETHER_PER_ATTRIBUTE = 3, Fraction(1, 3)
_PICK_SHARE = Fraction(1, 10)
# Triples are asked about too where so many tables for each attribute would be useful.
_PICKS_FOR_TRIPLES = 2
# Of the rows, what the noise of a picked table may displace, and what that of tables that are
# measured without being asked about may.
_USEFUL, _UNASKED = 0.25, 0.1


@dataclass(frozen=True)
class Round:
    """The budget of a round, and what it may choose.

    Attributes:
        choosing: for noisy errors, or for private choices.
        measuring: for the tables that were chosen.
        sizes: how many attributes a table may have.
        picks: how many private choices there are; 0 where noisy errors choose.
        most_noise: errors with more noise than this part of the rows are not asked for.
        is_last: whether no round follows, so that a table that waits is never measured.
    """

    choosing: Budget
    measuring: Budget
    sizes: tuple[int, ...]
    picks: int = 0
    most_noise: float = math.inf
    is_last: bool = True

    @classmethod
    def of(
        cls,
        budget: Budget,
        choosing: Budget,
        sizes: tuple[int, ...],
        *,
        picks: int = 0,
        most_noise: float = math.inf,
        is_last: bool = True,
    ) -> Round:
        """Take what choosing costs from the budget of a round."""
        left = Budget(budget.measure, budget.amount - choosing.amount)
        return cls(choosing, left, sizes, picks=picks, most_noise=most_noise, is_last=is_last)

    def may_ask(self, tables: int, rows: float, unit: Unit) -> bool:
        """Whether the errors of some tables would be more than noise."""
        return tables > 0 and errors_noise(self.choosing, unit, tables) <= self.most_noise * rows

    def affords(self, cells: Sequence[int], rows: float, unit: Unit) -> bool:
        """Whether tables that nobody asks about first would be more than noise.

        The mean L1 noise of all, were they alone in the round, is compared with the rows.
        """
        parts = sum(count ** (2 / 3) for count in cells)
        noise = mean_noise(self.measuring, unit) * parts ** (3 / 2) / max(len(cells), 1)
        return bool(cells) and not self.picks and noise <= _UNASKED * rows

    @property
    def budget(self) -> Budget:
        """All that the round spends."""
        return Budget(self.choosing.measure, self.choosing.amount + self.measuring.amount)


@dataclass(frozen=True)
class RoundPlan:
    """The budgets of a run, fixed before its rounds.

    Attributes:
        one_way: for the one-way tables of the start.
        rounds: in their order.
        again: whether every round measures one-way tables too.
    """

    one_way: Budget
    rounds: tuple[Round, ...]
    again: bool

    @classmethod
    def of(
        cls,
        domain: Domain,
        budget: Budget,
        unit: Unit,
        size: float,
        *,
        pairs: int | None = None,
        unasked: Sequence[int] = (),
    ) -> RoundPlan:
        """Divide a budget: the noisier one-way tables would be, the more they get of it.

        Where the noise of errors would drown them, one-way tables get all of it.

        Args:
            domain: the attributes.
            budget: what there is.
            unit: whom the promise protects.
            size: the number of rows, as far as it is known.
            pairs: how many have to be asked about at least; all unless given.
            unasked: the cells of pairs that are measured without being asked about, if affordable.
        """
        one_way = budget * one_way_share(domain, budget, unit, size)
        left = Budget(budget.measure, budget.amount - one_way.amount)
        if len(domain) < 2 or left.amount == 0 < budget.amount:
            return cls(budget, (), again=False)
        if budget.measure is Measure.UNLIMITED:
            return cls(one_way, (Round.of(left, left * 0, (2, 3)),), again=True)
        if budget.measure is Measure.PURE:
            return cls._one_by_one(domain, one_way, left, unit=unit, size=size)
        rounds = _by_errors(budget, left)
        pairs = len(domain) * (len(domain) - 1) // 2 if pairs is None else pairs
        first = rounds[0]
        if not first.may_ask(max(pairs, 1), size, unit) and not first.affords(unasked, size, unit):
            return cls(budget, (), again=False)
        return cls(one_way, rounds, again=True)

    @classmethod
    def _one_by_one(
        cls, domain: Domain, one_way: Budget, left: Budget, *, unit: Unit, size: float
    ) -> RoundPlan:
        """As many choices as there is budget for useful tables, and not too many."""
        sizes = sorted(domain[attribute] for attribute in domain)
        typical = sizes[len(sizes) // 2] ** 2
        affordable = _USEFUL * size / max(mean_noise(left, unit) * typical, 1e-9)
        picks = math.floor(min(affordable, _PICKS_PER_ATTRIBUTE * len(domain)))
        if picks < 1 or not any(tables_of(domain, (2,), most_cells=MOST_CELLS)):
            return cls(Budget(left.measure, one_way.amount + left.amount), (), again=False)
        triples = affordable >= _PICKS_FOR_TRIPLES * len(domain)
        asked = (2, 3) if triples else (2,)
        together = max(math.floor(_TOGETHER_PER_ATTRIBUTE * len(domain)), 1)
        counts = [min(together, picks - start) for start in range(0, picks, together)]
        parts = zip(left.split(counts), counts, strict=True)
        rounds = (Round.of(part, part * _PICK_SHARE, asked, picks=k) for part, k in parts)
        return cls(one_way, tuple(rounds), again=False)


def _by_errors(whole: Budget, left: Budget) -> tuple[Round, ...]:
    """Rounds that share what one-way tables leave; errors never cost much of the whole."""
    parts = left.split([share for share, _ in _ROUNDS])
    found = []
    for number, (part, (_, sizes)) in enumerate(zip(parts, _ROUNDS, strict=True)):
        most, most_noise = whole * _ERRORS_OF_ALL[number], _MOST_NOISE[number]
        errors = min(part * _ERRORS_OF_ROUND, most, key=lambda each: each.amount)
        last = number == len(_ROUNDS) - 1
        found.append(Round.of(part, errors, sizes, most_noise=most_noise, is_last=last))
    return tuple(found)


def one_way_share(domain: Domain, budget: Budget, unit: Unit, size: float) -> Fraction:
    """The part of a budget that one-way tables get: more, the noisier they would be."""
    ratio = one_way_noise(domain, budget, unit) / size
    share = min(_LEAST_ONE_WAY + ratio / (ratio + _HALF_ONE_WAY), 1.0)
    return Fraction(round(1000 * share), 1000)


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


def errors_noise(budget: Budget, unit: Unit, tables: int) -> float:
    """Return the standard deviation of the noise of this number of errors together."""
    if budget.amount == 0:
        return 0.0 if budget.measure is Measure.UNLIMITED else math.inf
    moved = float(unit.count_l1)
    return moved * math.sqrt(tables / (2 * float(budget.amount)))
