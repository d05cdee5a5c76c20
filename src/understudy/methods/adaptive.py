"""Tables chosen round by round, where the model so far is most wrong; a log-linear model of all.

Source: the loop of choosing, measuring and estimating is that of MWEM (Hardt, Ligett, McSherry
2012) and AIM (McKenna, Mullins, Sheldon, Miklau 2022). Here a few rounds measure many tables each,
chosen by noisy errors in closed form, and the estimate is a re-weighted network.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.protection import Protection
from understudy.facts.unit import Unit
from understudy.facts.workload import Workload
from understudy.methods.abilities import TABLE_OPTIONS, Abilities
from understudy.methods.base import Synthesizer
from understudy.methods.estimation.law import Estimation
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import (
    measure_tables,
    range_tables,
)
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.rounds import (
    REMAINING,
    CandidateTables,
    Choice,
    ModelErrors,
    connected,
    expected_anyway,
    shrunk,
    tables_of,
)
from understudy.methods.structure.table_cost import expected_noise
from understudy.methods.structure.table_rules import (
    TableRules,
    WeightedErrors,
    check_table_rules,
)
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.spending.pricing import GaussianRounds, Pricing
from understudy.system.arrays import Floats

_SIZE_SHARE = Fraction(1, 100)
# One-way tables get this share, and more where they would be poor with the whole budget.
_LEAST_ONE_WAY, _HALF_ONE_WAY = 0.05, 0.15
# What each round gets of the rest, and the sizes of the tables that it may choose.
_ROUNDS = ((Fraction(4, 10), (2,)), (Fraction(6, 10), (2, 3)))
# Noisy errors get this part of a round, and never more of the whole.
_ERRORS_SHARE, _MOST_ERRORS_SHARE = Fraction(1, 10), Fraction(4, 100)
# Errors are not asked for where their noise would exceed this part of the rows.
_HOPELESS = 0.6
# A table may have so many cells that its noise displaces this part of the rows, in a fair share
# of the budget, and not fewer or more than these.
_DISPLACED, _LEAST_CELLS, _MOST_CELLS = 0.5, 3_000, 20_000
_MOST_TABLES = 2_000
# Tables of four and five attributes are small ones, or are not considered.
_MOST_LARGER_CELLS = 64
# Without a delta tables are chosen one by one, so many for each attribute at the most.
_PICKS_PER_ATTRIBUTE = 3
_PICK_SHARE = Fraction(1, 10)
# Triples are asked about too where so many tables for each attribute would be useful.
_PICKS_FOR_TRIPLES = 2
# Of the rows, what the noise of a picked table may displace.
_USEFUL = 0.25


@dataclass(kw_only=True, eq=False, repr=False)
class AdaptiveMarginals(Synthesizer):
    """Measures the tables that the model so far has most wrong, in rounds.

    Args:
        schema: the values that each column may hold.
        epsilon: as for every synthesizer.
        delta: as for every synthesizer.
        neighbours: as for every synthesizer.
        rows: a declared number of rows, which saves measuring it where it is private.
        target: the column that others are used to predict: tables that hold it count more.
        workload: sets of columns that count more, as `Workload.load` reads them from a file.
        restrictions: pairs that no table holds, and protected attributes, which are drawn last.

    Example:
        >>> from understudy.facts.schema import Schema
        >>> yes_or_no = {"kind": "boolean"}
        >>> schema = Schema.parse({"columns": {"smoker": yes_or_no, "coughs": yes_or_no}})
        >>> rows = {"smoker": [True, False] * 500, "coughs": [True, False] * 500}
        >>> method = AdaptiveMarginals(schema, epsilon=1, delta=1e-6)
        >>> method.fit(rows, ledger=None).model_.distribution.kind
        'log-linear'
    """

    method: ClassVar[str] = "adaptive"
    summary: ClassVar[str] = (
        "tables chosen in rounds where the model is most wrong; a network re-weighted by all"
    )
    abilities: ClassVar[Abilities] = Abilities(options=TABLE_OPTIONS)

    rows: int | None = None
    target: str | None = None
    workload: Workload | None = None
    restrictions: Restrictions = NONE

    @property
    def pricing(self) -> Pricing:
        """Every question of a run with a delta is Gaussian."""
        return GaussianRounds()

    @property
    def protection(self) -> Protection | None:
        """The dependences that the restrictions withhold, where they name any."""
        held = self.restrictions.protection
        return held.settled if held else None

    def check(self) -> None:
        """Refuse parameters that cannot work: unknown columns, and rules that need a network."""
        super().check()
        domain, rules = Domain.of(self.schema), self.restrictions
        check_table_rules(rules, self.method)
        rules.check(domain, degree=None, constraints=self.schema.constraints)
        for name in (name for name in self._targets if name not in domain.sizes):
            raise UsageError(f"target {name!r} is unknown; known are {', '.join(domain)}")
        if len(self._targets) > 1:
            raise UsageError(
                f"the targets are {' and '.join(map(repr, self._targets))}; name one of them"
            )
        self._rules.workload.check(domain)

    @property
    def _last(self) -> Attributes:
        """Protected attributes: what they may depend on is asked about, and they are drawn last."""
        return tuple(self.restrictions.protection.protected)

    @property
    def _targets(self) -> list[str]:
        """The target as it was given, by itself and for protected attributes."""
        given = (self.target, self.restrictions.protection.target)
        return list(dict.fromkeys(name for name in given if name is not None))

    @property
    def _rules(self) -> TableRules:
        """Which tables may be asked about, and how much each counts."""
        workload, targets = self.workload or Workload(), self._targets
        towards = workload.towards(targets[0] if targets else None)
        return TableRules(Domain.of(self.schema), towards, self.restrictions)

    def learn(self, curator: Curator) -> Learned:
        """One-way tables; rounds of errors, choice and tables; one law of all that was measured."""
        plan, alone = self._plan(curator), range_tables(curator.domain, self.schema)
        found = self._estimated(curator, measure_tables(curator, alone, plan.one_way))
        for budget, sizes in plan.rounds:
            chosen, left = self._chosen(curator, found, budget, sizes)
            asked = [*chosen, *(alone if plan.again else ())]
            tables = measure_tables(curator, asked, left, counting=self._rules.weight)
            found = self._estimated(curator, [*found.marginals, *tables])
        made = found.rows if self.rows is None else self.rows
        return Learned(found.law(self._last), made, found.marginals)

    def _estimated(self, curator: Curator, tables: list[NoisyMarginal]) -> Estimation:
        return Estimation.of(tables, curator.domain, self.schema, rows=curator.public_rows)

    def _plan(self, curator: Curator) -> RoundPlan:
        """The budgets of all stages, from public numbers and the number of rows."""
        share = curator.budget * (0 if self._known_rows(curator) is not None else _SIZE_SHARE)
        size = self._known_rows(curator)
        if size is None:
            [count] = curator.measure([()], share)
            size = max(float(count.total), 1.0)
        left = Budget(curator.budget.measure, curator.budget.amount - share.amount)
        return RoundPlan.of(curator.domain, left, curator.unit, size, pairs=self._fewest_pairs)

    @property
    def _fewest_pairs(self) -> int:
        """How many pairs there are to ask about; with a target or a workload, of those in it."""
        pairs = self._rules.among(itertools.combinations(self._rules.domain, 2))
        return len(self._rules.preferred(pairs) or pairs)

    def _known_rows(self, curator: Curator) -> float | None:
        known = curator.public_rows if curator.public_rows is not None else self.rows
        return None if known is None else max(float(known), 1.0)

    def _chosen(
        self, curator: Curator, found: Estimation, budget: Budget, sizes: tuple[int, ...]
    ) -> tuple[list[Attributes], Budget]:
        """The tables that are worth a round's budget, and what is left of it for them."""
        if not sizes:
            return [], budget
        if budget.measure is Measure.PURE:
            return self._picked(curator, found, budget, sizes)
        return self._by_errors(curator, found, budget, sizes)

    def _by_errors(
        self, curator: Curator, found: Estimation, budget: Budget, sizes: tuple[int, ...]
    ) -> tuple[list[Attributes], Budget]:
        """Ask for noisy errors of all candidates at once, and choose in closed form."""
        domain, unit = curator.domain, curator.unit
        share = errors_budget(curator.budget, budget)
        tables = self._candidates(found, budget, share, sizes)
        if not tables:
            return [], budget
        kernel = ModelErrors({table: found.pool.project(table) for table in tables})
        errors, variance = curator.score(tables, kernel.score(unit), share)
        left = Budget(budget.measure, budget.amount - share.amount)
        anyway = self._anyway(found, kernel, tables, left)
        # Weights multiply after the noise: they are public, and so is what they do to answers.
        worth = (shrunk(errors, variance) - anyway) * self._rules.weights(tables)
        candidates = CandidateTables.of(tables, worth, domain)
        if 3 in sizes:
            candidates = candidates.with_larger(
                domain, most_cells=_MOST_LARGER_CELLS, allowed=self._rules.allows
            )
        return Choice(mean_noise(left, unit), 2 / 3).among(candidates, domain), left

    def _candidates(
        self, found: Estimation, budget: Budget, share: Budget, sizes: tuple[int, ...]
    ) -> list[Attributes]:
        """The tables to ask about: all, those that count more if all are too many, or none."""
        domain, rules = found.domain, self._rules
        measured = [marginal.attributes for marginal in found.marginals]
        most = most_cells(found, budget, self.unit)
        every = rules.among(tables_of(domain, sizes, most_cells=most))
        tables = connected(every, measured, domain, _MOST_TABLES)
        for asked in (tables, rules.preferred(tables)):
            if asked and errors_noise(share, self.unit, len(asked)) <= _HOPELESS * found.total:
                return asked
        return []

    def _anyway(
        self, found: Estimation, kernel: ModelErrors, tables: list[Attributes], budget: Budget
    ) -> Floats:
        """The part of errors that measuring would not remove, with a budget for all tables."""
        domain = found.domain
        noise = expected_noise(budget, self.unit, tables=2 * len(domain))
        return expected_anyway(
            kernel, tables, alone=found.one_way_noise, noise=noise, domain=domain
        )

    def _picked(
        self, curator: Curator, found: Estimation, budget: Budget, sizes: tuple[int, ...]
    ) -> tuple[list[Attributes], Budget]:
        """One table, by a private choice: its error less the noise that it would have."""
        domain, unit = curator.domain, curator.unit
        every = tables_of(domain, sizes, most_cells=most_cells(found, budget, unit))
        tables = self._rules.among(every)
        if not tables:
            return [], budget
        weights = {table: self._rules.weight(table) for table in tables}
        kernel = ModelErrors({table: found.pool.project(table) for table in tables})
        share = budget * _PICK_SHARE
        left = Budget(budget.measure, budget.amount - share.amount)
        noise = REMAINING * mean_noise(left, unit)
        anyway = dict(zip(tables, self._anyway(found, kernel, tables, left), strict=True))
        chosen = curator.select(
            tables,
            WeightedErrors(kernel, weights).score(unit),
            share,
            of=lambda table: table,
            penalty=lambda t: weights[t] * (noise * domain.cells(t) + anyway[t]),
        )
        return [chosen], left


@dataclass(frozen=True)
class RoundPlan:
    """The budgets of a run, fixed before its rounds.

    Attributes:
        one_way: for the one-way tables of the start.
        rounds: for every round, its budget and the sizes of the tables that it may choose.
        again: whether every round measures one-way tables too.
    """

    one_way: Budget
    rounds: tuple[tuple[Budget, tuple[int, ...]], ...]
    again: bool

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
        one_way = budget * one_way_share(domain, budget, unit, size)
        left = Budget(budget.measure, budget.amount - one_way.amount)
        if len(domain) < 2 or left.amount == 0 < budget.amount:
            return cls(budget, (), again=False)
        if budget.measure is Measure.UNLIMITED:
            return cls(one_way, ((left, (2, 3)),), again=True)
        if budget.measure is Measure.PURE:
            return cls._one_by_one(domain, one_way, left, unit, size)
        parts = left.split([share for share, _ in _ROUNDS])
        pairs = len(domain) * (len(domain) - 1) // 2 if pairs is None else pairs
        if errors_noise(errors_budget(budget, parts[0]), unit, pairs) > _HOPELESS * size:
            return cls(budget, (), again=False)
        rounds = zip(parts, (sizes for _, sizes in _ROUNDS), strict=True)
        return cls(one_way, tuple(rounds), again=True)

    @classmethod
    def _one_by_one(
        cls, domain: Domain, one_way: Budget, left: Budget, unit: Unit, size: float
    ) -> RoundPlan:
        """As many choices as there is budget for useful tables, and not too many."""
        sizes = sorted(domain[attribute] for attribute in domain)
        typical = sizes[len(sizes) // 2] ** 2
        affordable = _USEFUL * size / max(mean_noise(left, unit) * typical, 1e-9)
        picks = math.floor(min(affordable, _PICKS_PER_ATTRIBUTE * len(domain)))
        if picks < 1 or not any(tables_of(domain, (2,), most_cells=_MOST_CELLS)):
            return cls(Budget(left.measure, one_way.amount + left.amount), (), again=False)
        triples = affordable >= _PICKS_FOR_TRIPLES * len(domain)
        asked = (2, 3) if triples else (2,)
        rounds = tuple((part, asked) for part in left.split([1] * picks))
        return cls(one_way, rounds, again=False)


def one_way_share(domain: Domain, budget: Budget, unit: Unit, size: float) -> Fraction:
    """The part of a budget that one-way tables get: more, the noisier they would be."""
    ratio = one_way_noise(domain, budget, unit) / size
    share = min(_LEAST_ONE_WAY + ratio / (ratio + _HALF_ONE_WAY), 1.0)
    return Fraction(round(1000 * share), 1000)


def most_cells(found: Estimation, budget: Budget, unit: Unit) -> int:
    """The cells of the largest table that is considered, by the noise that it would have."""
    share = 1 if budget.measure is Measure.PURE else 2 * len(found.domain)
    noise = REMAINING * expected_noise(budget, unit, tables=share)
    affordable = _DISPLACED * found.total / max(noise, 1e-9)
    most = _LEAST_CELLS if budget.measure is Measure.PURE else _MOST_CELLS
    return int(min(max(affordable, _LEAST_CELLS), most))


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
