"""Adaptive tables: a log-linear model of all holders' rows, from tables chosen in rounds.

Source: the method `adaptive` of central fits. There the L1 errors of all tables are asked for; the
error of a sum is not the sum of errors, so holders are asked for what adds up: tables of all
candidates in groups of codes, which are small and show where the model is wrong. The analyst
chooses by their sums, and asks for the chosen tables themselves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from understudy.facts.axes import Axes, projections
from understudy.facts.domain import Attributes
from understudy.facts.grouping import Grouping
from understudy.facts.hierarchy import Groups
from understudy.facts.unit import Neighbours
from understudy.facts.workload import Workload
from understudy.federated.analyst.asking import (
    Sizes,
    cell_variances,
    grouped_tables,
    summed,
    tables,
)
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.protocols.parameters import Held
from understudy.methods.adaptive import most_cells
from understudy.methods.estimation.allocation import least_error_weights
from understudy.methods.estimation.law import Estimation
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import range_tables
from understudy.methods.structure.grouped_errors import (
    balanced_groups,
    error_noise,
    shown_errors,
)
from understudy.methods.structure.round_plan import mean_noise, one_way_share
from understudy.methods.structure.rounds import (
    CandidateTables,
    Choice,
    ModelErrors,
    connected,
    expected_anyway,
    tables_of,
)
from understudy.methods.structure.table_cost import expected_noise
from understudy.methods.structure.table_rules import TableRules
from understudy.privacy.budget import Budget, Measure

# What each round gets of the rest, the attributes of a table that it may choose, and the most
# groups of an attribute in tables that show errors.
_ROUNDS = ((Fraction(4, 10), 2, 6), (Fraction(6, 10), 3, 4))
# Tables in groups get this part of a round. Laplace noise grows with their number, and Gaussian
# noise with its root.
_GROUPS_SHARE = {Measure.PURE: Fraction(3, 10), Measure.ZCDP: Fraction(1, 10)}
# Codes are in as many groups as keep the error that noise shows below the first part of the rows,
# two at least; nothing is asked for where it would be above the second even then.
_CLEAR, _HOPELESS = 0.1, 0.6
_FEWEST_GROUPS = 2
# Larger tables are looked at for so many sets of attributes; pairs are looked at for all.
_MOST_LARGER = 100


@dataclass(frozen=True, eq=False)
class GroupedTables:
    """Tables in groups of codes that holders released.

    Attributes:
        sets: the attributes of each table.
        grouping: the groups.
        held: the tables of every holder.
    """

    sets: Sequence[Attributes]
    grouping: Grouping
    held: Held

    def errors(self, found: Estimation, holders: Sequence[str]) -> dict[Attributes, float]:
        """Return the errors of a model that the sums of some holders' tables show."""
        pool = replace(found.pool, domain=self.grouping.extended)
        released = summed([self.held[name] for name in holders])
        expected = [pool.project(table.attributes) for table in released]
        shown = shown_errors(released, expected).tolist()
        return dict(zip(self.sets, shown, strict=True))


def learn_adaptive(conversation: Conversation, sizes: Sizes, share: Fraction) -> Learned:
    """One-way tables; rounds of tables in groups, choice and tables; one law of all sums."""
    run = AdaptiveRun(conversation, sizes)
    alone = run.one_way_share(share)
    held, seen = tables(conversation, run.ones, share * alone, sizes=sizes), list[GroupedTables]()
    for part, ways, groups in _ROUNDS if alone < 1 else ():
        found, left = run.estimated(held), share * (1 - alone) * part
        shown = run.in_groups(found, left, ways=ways, groups=groups)
        if shown is not None:
            seen, left = [*seen, shown], left * (1 - run.groups_share)
        more = tables(conversation, [*run.chosen(found, seen, left), *run.ones], left, sizes=sizes)
        # Only holders that answered to the end are in the sums, with all of their tables.
        held = {name: [*held[name], *more[name]] for name in more}
    return run.learned(run.estimated(held))


@dataclass(frozen=True, eq=False)
class AdaptiveRun:
    """The analyst's side of a run: everything here comes from public numbers and releases.

    Attributes:
        conversation: with the holders.
        sizes: the rows of each holder, as far as they are known.
    """

    conversation: Conversation
    sizes: Sizes

    @property
    def plan(self) -> Collaboration:
        """Return the plan that was agreed on."""
        return self.conversation.plan

    @property
    def ones(self) -> list[Attributes]:
        """Every attribute on its own, large ordered ones in groups of neighbours too."""
        return range_tables(self.plan.domain, self.plan.schema)

    @property
    def groups_share(self) -> Fraction:
        """The part of a round that tables in groups get."""
        return _GROUPS_SHARE[self.plan.spendable.measure]

    @property
    def rows(self) -> float:
        """The rows of all holders that answer."""
        return float(self.sizes.total(self.conversation.holders))

    @cached_property
    def rules(self) -> TableRules:
        """Which tables may be asked for, and how much each counts."""
        restrictions = self.plan.restrictions
        workload = Workload().towards(restrictions.protection.target)
        return TableRules(self.plan.domain, workload, restrictions)

    def one_way_share(self, share: Fraction) -> Fraction:
        """The part of a share that one-way tables get; all of it where there is nothing else."""
        plan, budget = self.plan, self.as_one(share)
        alone = one_way_share(plan.domain, budget, plan.unit, self.rows)
        pairs = [pair for pair in itertools.combinations(plan.domain, 2) if self._allows(pair)]
        asked = share * (1 - alone) * _ROUNDS[0][0] * self.groups_share
        if not pairs or not asked or self._noise(pairs, _FEWEST_GROUPS, asked) > _HOPELESS:
            return Fraction(1)
        return alone

    def as_one(self, share: Fraction) -> Budget:
        """The budget with which one holder of all rows would have the noise of the sums.

        Variances add up: M times that of one holder is that of ρ/M, or of ε/√M.
        """
        budget, holders = self.plan.spendable * share, max(len(self.conversation.holders), 1)
        if budget.measure is Measure.PURE:
            return budget * Fraction(1 / math.sqrt(holders)).limit_denominator(10**6)
        return budget * Fraction(1, holders)

    def estimated(self, held: Held) -> Estimation:
        """The law that the sums of all holders' tables speak for."""
        plan = self.plan
        public = plan.neighbours is Neighbours.REPLACE
        marginals = summed([held[name] for name in self.conversation.holders])
        rows = self.sizes.total(self.conversation.holders) if public else None
        return Estimation.of(marginals, plan.domain, plan.schema, rows=rows)

    def learned(self, found: Estimation) -> Learned:
        """The model; protected attributes are drawn last."""
        last = tuple(self.plan.restrictions.protection.protected)
        return Learned(found.law(last), found.rows, found.marginals)

    def in_groups(
        self, found: Estimation, part: Fraction, *, ways: int, groups: int
    ) -> GroupedTables | None:
        """Ask for tables in as many groups as noise allows; None where it allows none.

        Args:
            found: the model so far.
            part: the round's share of the budget.
            ways: the attributes of a table.
            groups: the most groups of an attribute.
        """
        sets, share = self._looked_at(found, part, ways), part * self.groups_share
        if not sets or self._noise(sets, _FEWEST_GROUPS, share) > _HOPELESS:
            return None
        clear = (n for n in range(groups, 1, -1) if self._noise(sets, n, share) <= _CLEAR)
        grouping = self._grouping(found, next(clear, _FEWEST_GROUPS))
        held = grouped_tables(self.conversation, sets, share, grouping=grouping, sizes=self.sizes)
        return GroupedTables(sets, grouping, held)

    def chosen(
        self, found: Estimation, seen: Sequence[GroupedTables], share: Fraction
    ) -> list[Attributes]:
        """The tables that are worth a share, by the errors that tables in groups show."""
        domain, unit, budget = self.plan.domain, self.plan.unit, self.as_one(share)
        errors: dict[Attributes, float] = {}
        for shown in seen:
            errors |= shown.errors(found, self.conversation.holders)
        sizes = sorted({len(names) for names in errors})
        asked = [(t, errors.get(self._bases(t), 0.0)) for t in self._tables(found, share, sizes)]
        wrong = [table for table, error in asked if error > 0]
        if not wrong:
            return []
        kernel = ModelErrors(projections(found.pool, wrong))
        noise = expected_noise(budget, unit, tables=2 * len(domain))
        anyway = expected_anyway(
            kernel, wrong, alone=found.one_way_noise, noise=noise, domain=domain
        )
        worth = np.array([error for _, error in asked if error > 0]) - anyway
        candidates = CandidateTables.of(wrong, worth * self.rules.weights(wrong), domain)
        power = 1 / 2 if budget.measure is Measure.PURE else 2 / 3
        return Choice(mean_noise(budget, unit), power).among(candidates, domain)

    def _looked_at(self, found: Estimation, share: Fraction, ways: int) -> list[Attributes]:
        """All sets; of many larger ones, those of which most pairs were measured."""
        every = self._tables(found, share, (ways,))
        if ways > 2 and len(every) > _MOST_LARGER:
            measured = [marginal.attributes for marginal in found.marginals]
            every = connected(every, measured, self.plan.domain, _MOST_LARGER)
        return list(dict.fromkeys(map(self._bases, every)))

    def _tables(self, found: Estimation, share: Fraction, sizes: Sequence[int]) -> list[Attributes]:
        """The tables of some sizes that may be asked for, and whose noise they would survive."""
        most = most_cells(found, self.as_one(share), self.plan.unit)
        every = tables_of(self.plan.domain, sizes, most_cells=most)
        return self.rules.among(filter(self._allows, every))

    def _bases(self, table: Attributes) -> Attributes:
        return tuple(map(self.plan.domain.base, table))

    def _allows(self, table: Attributes) -> bool:
        """Whether a table can be a family under the restrictions, as holders read them."""
        rules = self.plan.restrictions
        return self.rules.allows(table) and (not rules or rules.may_be_family(self._bases(table)))

    def _grouping(self, found: Estimation, most: int) -> Grouping:
        """Groups of about the same number of rows, by the one-way tables so far."""
        domain, groups = self.plan.domain, dict[str, Groups]()
        alone = {aim.attributes: aim.counts for aim in found.aims}
        for attribute in domain:
            coarsest = (domain.levels(attribute)[-1],)
            counts = Axes((attribute,)).project(alone[attribute,], coarsest, domain)
            groups[attribute] = balanced_groups(counts, most)
        return Grouping(domain, groups)

    def _noise(self, sets: Sequence[Attributes], most: int, share: Fraction) -> float:
        """The error that noise alone would show in tables in groups, as a part of the rows."""
        domain = self.plan.domain
        sizes = {name: min(domain[domain.levels(name)[-1]], most) for name in domain}
        shapes = [tuple(sizes[name] for name in names) for names in sets]
        weights = least_error_weights([math.prod(s) for s in shapes], self.plan.spendable.measure)
        one = cell_variances(self.conversation, share, weights)
        holders = len(self.conversation.holders)
        noises = [error_noise(s, holders * v) for s, v in zip(shapes, one, strict=True)]
        return float(np.mean(noises)) / self.rows
