"""Tables chosen round by round, where the model so far is most wrong; a log-linear model of all.

Source: the loop of choosing, measuring and estimating is that of MWEM (Hardt, Ligett, McSherry
2012) and AIM (McKenna, Mullins, Sheldon, Miklau 2022). Here a few rounds measure many tables each,
chosen by noisy errors in closed form, and the estimate is a re-weighted network.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from understudy.errors import UsageError
from understudy.facts.capacity import bytes_of_pool, ensure_pool_fits
from understudy.facts.domain import Attributes, Domain
from understudy.facts.protection import Protection
from understudy.facts.unit import Unit
from understudy.facts.workload import USUAL_WEIGHT, Workload
from understudy.methods.abilities import TABLE_OPTIONS, Abilities
from understudy.methods.base import Synthesizer
from understudy.methods.estimation.law import POOL_ROWS, Estimation
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import (
    measure_tables,
    range_tables,
)
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.round_plan import (
    MOST_CELLS,
    SIZE_SHARE,
    Round,
    RoundPlan,
    mean_noise,
)
from understudy.methods.structure.rounds import (
    REMAINING,
    CandidateTables,
    Choice,
    ModelErrors,
    apart,
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

# A table may have so many cells that its noise displaces this part of the rows, in a fair share
# of the budget, and not fewer or more than these.
_DISPLACED, _LEAST_CELLS = 0.5, 3_000
_MOST_TABLES = 2_000
# How much more tables with the target count. Without a delta the largest weight makes every private
# choice less certain, and the usual one has to do.
_TARGET_WEIGHT = 10.0
# Tables of four and five attributes are small ones, or are not considered.
_MOST_LARGER_CELLS = 64
# Fewer rows than these show next to nothing; a plan takes fewer than a fit.
_LEAST_POOL_ROWS, _REHEARSED_POOL_ROWS = 1_000, 25_000


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
        pool_rows: how many made-up rows the estimate weighs; fewer are faster and less near.

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
    abilities: ClassVar[Abilities] = Abilities(options=TABLE_OPTIONS, in_rounds=True)

    rows: int | None = None
    target: str | None = None
    workload: Workload | None = None
    restrictions: Restrictions = NONE
    pool_rows: int = POOL_ROWS

    @property
    def rehearsing(self) -> Self:
        """The same method with a small pool: a plan learns many models, and time is short."""
        return self._with_pool(_REHEARSED_POOL_ROWS)

    @property
    def outlined(self) -> Self:
        """The same method with the smallest pool: which questions it asks first needs none."""
        return self._with_pool(_LEAST_POOL_ROWS)

    def _with_pool(self, rows: int) -> Self:
        """The same method with at most `rows` made-up rows."""
        twin = copy.copy(self)
        twin.pool_rows = min(self.pool_rows, rows)
        return twin

    @property
    def rehearsed_part(self) -> float:
        """Return the part of the pool that a rehearsal has: raking is linear in its rows."""
        return self.rehearsing.pool_rows / max(self.pool_rows, 1)

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
        if self.pool_rows < _LEAST_POOL_ROWS:
            raise UsageError(
                f"pool_rows is {self.pool_rows:,}; an estimate weighs at least "
                f"{_LEAST_POOL_ROWS:,} rows"
            )
        ensure_pool_fits(domain, self.pool_rows, self._compared(domain))

    def pool_bytes(self, domain: Domain) -> int:
        """Return the most bytes that the pool takes with the tables compared with it."""
        return bytes_of_pool(domain, self.pool_rows, self._compared(domain))

    def _compared(self, domain: Domain) -> list[Attributes]:
        """The tables that the pool is compared with before anything is known: all pairs."""
        pairs = tables_of(domain, (2,), most_cells=MOST_CELLS)
        return [*pairs, *range_tables(domain, self.schema)]

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
        pure = self.budget.measure is Measure.PURE
        weight = USUAL_WEIGHT if pure else _TARGET_WEIGHT
        towards = workload.towards(targets[0] if targets else None, weight=weight)
        return TableRules(Domain.of(self.schema), towards, self.restrictions)

    def learn(self, curator: Curator) -> Learned:
        """One-way tables; rounds of errors, choice and tables; one law of all that was measured."""
        plan, alone = self._plan(curator), range_tables(curator.domain, self.schema)
        found = self._estimated(curator, measure_tables(curator, alone, plan.one_way))
        for each in curator.watched(plan.rounds):
            chosen, left = self._chosen(curator, found, each)
            asked = [*chosen, *(alone if plan.again else ())]
            tables = measure_tables(curator, asked, left, counting=self._rules.weight)
            found = self._estimated(curator, [*found.marginals, *tables])
        made = found.rows if self.rows is None else self.rows
        return Learned(found.law(self._last), made, found.marginals)

    def _estimated(self, curator: Curator, tables: list[NoisyMarginal]) -> Estimation:
        return Estimation.of(
            tables,
            curator.domain,
            self.schema,
            rows=curator.public_rows,
            pool_rows=self.pool_rows,
        )

    def _plan(self, curator: Curator) -> RoundPlan:
        """The budgets of all stages, from public numbers and the number of rows."""
        share = curator.budget * (0 if self._known_rows(curator) is not None else SIZE_SHARE)
        size = self._known_rows(curator)
        if size is None:
            [count] = curator.measure([()], share)
            size = max(float(count.total), 1.0)
        left = Budget(curator.budget.measure, curator.budget.amount - share.amount)
        return RoundPlan.of(
            curator.domain,
            left,
            curator.unit,
            size,
            pairs=self._fewest_pairs,
            unasked=[curator.domain.cells(pair) for pair in self._target_pairs],
        )

    @property
    def _target_pairs(self) -> list[Attributes]:
        """Every other column with the target, as finely as a table may be.

        Few rows of a class move the error of a table by less than its noise, however much they
        differ from others, so that errors would never show it.
        """
        domain, targets = self._rules.domain, {*self._targets}
        pairs = tables_of(domain, (2,), most_cells=MOST_CELLS)
        return self._rules.among(p for p in pairs if {*map(domain.base, p)} & targets)

    @property
    def _fewest_pairs(self) -> int:
        """How many pairs there are to ask about; with a target or a workload, of those in it."""
        pairs = self._rules.among(itertools.combinations(self._rules.domain, 2))
        return len(self._rules.preferred(pairs) or pairs)

    def _known_rows(self, curator: Curator) -> float | None:
        known = curator.public_rows if curator.public_rows is not None else self.rows
        return None if known is None else max(float(known), 1.0)

    def _chosen(
        self, curator: Curator, found: Estimation, planned: Round
    ) -> tuple[list[Attributes], Budget]:
        """The tables that are worth a round's budget, and what is left of it for them."""
        if planned.picks:
            return self._picked(curator, found, planned)
        return self._by_errors(curator, found, planned)

    def _by_errors(
        self, curator: Curator, found: Estimation, planned: Round
    ) -> tuple[list[Attributes], Budget]:
        """Ask for noisy errors of all candidates at once, and choose in closed form."""
        domain, unit, left = curator.domain, curator.unit, planned.measuring
        unasked = self._unasked(found, planned)
        tables = [table for table in self._candidates(found, planned) if table not in unasked]
        if not tables:
            return unasked, planned.budget
        kernel = ModelErrors.of(found.pool, tables)
        errors, variance = curator.score(tables, kernel.score(unit), planned.choosing)
        anyway = self._anyway(found, kernel, tables, left)
        # Weights multiply after the noise: they are public, and so is what they do to answers.
        worth = (shrunk(errors, variance) - anyway) * self._rules.weights(tables)
        largest = np.array([kernel.largest(table) for table in tables])
        candidates = CandidateTables.of(tables, worth, domain, most=largest)
        if 3 in planned.sizes:
            candidates = candidates.with_larger(
                domain, most_cells=_MOST_LARGER_CELLS, allowed=self._rules.allows
            )
        beside = sum(domain.cells(table) ** (2 / 3) for table in unasked)
        choice = Choice(mean_noise(left, unit), 2 / 3, beside=beside, may_wait=not planned.is_last)
        return [*unasked, *choice.among(candidates, domain)], left

    def _unasked(self, found: Estimation, planned: Round) -> list[Attributes]:
        """The pairs with the target that were not measured yet, where they are affordable."""
        measured = {marginal.attributes for marginal in found.marginals}
        pairs = [pair for pair in self._target_pairs if pair not in measured]
        cells = [found.domain.cells(pair) for pair in pairs]
        return pairs if planned.affords(cells, found.total, self.unit) else []

    def _candidates(self, found: Estimation, planned: Round) -> list[Attributes]:
        """The tables to ask about: all, those that count more if all are too many, or none."""
        domain, rules = found.domain, self._rules
        measured = [marginal.attributes for marginal in found.marginals]
        most = most_cells(found, planned.budget, self.unit)
        listed = tables_of(domain, planned.sizes, most_cells=most, measured=measured)
        every = rules.among(listed)
        tables = connected(every, measured, domain, _MOST_TABLES)
        for asked in (tables, rules.preferred(tables)):
            if planned.may_ask(len(asked), found.total, self.unit):
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
        self, curator: Curator, found: Estimation, planned: Round
    ) -> tuple[list[Attributes], Budget]:
        """A few tables, each by a private choice: its error less the noise that it would have.

        Tables that share two attributes with one that was chosen explain much of the same error,
        and wait for the next estimate.
        """
        domain, each = curator.domain, planned.budget * Fraction(1, planned.picks)
        rules, most = self._rules, most_cells(found, each, self.unit)
        # Of many columns, only triples of pairs that were measured.
        wide = math.comb(len(domain), 3) > _MOST_TABLES
        measured = [marginal.attributes for marginal in found.marginals] if wide else None
        every = tables_of(domain, planned.sizes, most_cells=most, measured=measured)
        tables, chosen = rules.among(every), list[Attributes]()
        if not tables:
            return [], planned.budget
        weights = {table: rules.weight(table) for table in tables}
        kernel = ModelErrors.of(found.pool, tables)
        score = WeightedErrors(kernel, weights).score(self.unit)
        penalties = self._penalties(found, kernel, planned, weights)
        for share in planned.choosing.split([1] * planned.picks):
            left = apart(tables, chosen, domain) or tables
            chosen.append(
                curator.select(left, score, share, of=tuple, penalty=penalties.__getitem__)
            )
        return [*dict.fromkeys(chosen)], planned.measuring

    def _penalties(
        self,
        found: Estimation,
        kernel: ModelErrors,
        planned: Round,
        weights: Mapping[Attributes, float],
    ) -> dict[Attributes, float]:
        """The noise that every table would have, and the part of its error that would remain."""
        left = planned.measuring * Fraction(1, planned.picks)
        noise, tables = REMAINING * mean_noise(left, self.unit), [*weights]
        anyway = self._anyway(found, kernel, tables, left)
        return {
            table: weights[table] * (noise * found.domain.cells(table) + remains)
            for table, remains in zip(tables, anyway, strict=True)
        }


def most_cells(found: Estimation, budget: Budget, unit: Unit) -> int:
    """The cells of the largest table that is considered, by the noise that it would have."""
    share = 1 if budget.measure is Measure.PURE else 2 * len(found.domain)
    noise = REMAINING * expected_noise(budget, unit, tables=share)
    affordable = _DISPLACED * found.total / max(noise, 1e-9)
    most = _LEAST_CELLS if budget.measure is Measure.PURE else MOST_CELLS
    return int(min(max(affordable, _LEAST_CELLS), most))
