"""Noisy sufficient statistics: all tables of k attributes, from every holder, at once.

Source: TUC-1 Algorithm 3.5, TUC-2 Algorithm 4. The same tables serve structure and parameters, so
that the whole budget goes into one question.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Attributes
from understudy.federated.analyst.asking import Sizes, summed, tables
from understudy.federated.analyst.conversation import Conversation
from understudy.federated.analyst.plan import Collaboration
from understudy.federated.protocols.parameters import agreed, from_sums, total_rows
from understudy.federated.protocols.structure import (
    Scorer,
    from_pairs,
    greedy,
    rating_of,
    table_cost_of_sums,
)
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import one_way_tables
from understudy.methods.structure.required import least_tables
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.estimation.conditionals import conditionals_of
from understudy.models.estimation.consistency import Estimate
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.noisy_marginal import NoisyMarginal

# Tables that stand out by noise cost twice: for their own noise, and for the selection bias.
_SELECTION_BIAS = 2.0


def learn_statistics(conversation: Conversation, sizes: Sizes, share: Fraction) -> Learned:
    """A network and its conditionals from the sums of all tables of k + 1 attributes."""
    plan, rows = conversation.plan, sizes.total(conversation.holders)
    sets, table_cost = subsets(
        plan, plan.spendable * share, rows=rows, holders=len(conversation.holders)
    )
    found = tables(conversation, sets, share, sizes=sizes, equally=not plan.form.full_budget)
    marginals = summed(list(found.values()))
    estimates = _estimates(conversation, marginals, sizes)
    score = plan.score or ("TVD" if plan.form.sized else "MI")
    flat = plan.domain.without_hierarchies()
    rate = rating_of(estimates, flat, score)
    network = _network(plan, rate, _priced(table_cost, score, rows))
    if not plan.form.consistent:
        return from_sums(conversation, network, marginals, sizes)
    # Making so many tables agree is most of the work, and the tables are the same.
    total = total_rows(conversation, marginals, sizes)
    learned = BayesNet(plan.domain, conditionals_of(network, estimates, plan.domain))
    return Learned(learned, max(round(total), 0), tuple(marginals))


def _network(plan: Collaboration, rate: Scorer, table_cost: TableCost) -> Network:
    """The network that the learner asked for finds in the summed tables."""
    flat, degree, rules = (
        plan.domain.without_hierarchies(),
        plan.subset_degree,
        plan.restrictions,
    )
    if plan.learner == "greedy":
        return greedy(flat, rate, table_cost, degree=degree, restrictions=rules)
    return from_pairs(
        flat, rate, table_cost, learner=plan.learner, degree=degree, restrictions=rules
    )


def subsets(
    plan: Collaboration, budget: Budget, *, rows: float, holders: int
) -> tuple[list[Attributes], TableCost]:
    """The tables to ask for, and what their cells cost.

    The theses ask for every subset. Sized for the noise of the sums, subsets that it would drown
    are left out, which makes it less for the others; each attribute is then asked for by itself
    as well, so that none is without a table. Subsets that cannot be a family are never asked for.
    """
    flat, size = plan.domain.without_hierarchies(), min(plan.subset_degree + 1, len(plan.domain))
    every = _possible(flat.attributes, size, plan.restrictions)
    if not plan.form.sized:
        return every, table_cost_of_sums(plan, budget, rows=rows, holders=holders)
    alone = one_way_tables(flat) if size > 1 else []
    every = [names for names in every if size == 1 or len(names) > 1]
    kept, table_cost = every, TableCost(0.0, 1)
    for _ in range(4):
        # The cost of a table supposes one table for each attribute but the first; here are more.
        each = budget * Fraction(max(len(flat) - 1, 1), max(len(kept) + len(alone), 1))
        table_cost = table_cost_of_sums(plan, each, rows=rows, holders=holders)
        kept = [names for names in every if size == 1 or table_cost.allows(flat.cells(names))]
        # What is required is measured even where noise drowns it.
        kept += [names for names in least_tables(plan.restrictions, flat) if not _held(names, kept)]
    return [*alone, *kept], table_cost


def _possible(attributes: Attributes, size: int, restrictions: Restrictions) -> list[Attributes]:
    """Return all sets of k attributes that may be a family, and smaller ones that are in none."""
    if not restrictions:
        return list(itertools.combinations(attributes, size))
    found: list[Attributes] = []
    larger: set[frozenset[str]] = set()
    for count in range(size, 0, -1):
        sets = [
            s for s in itertools.combinations(attributes, count) if restrictions.may_be_family(s)
        ]
        # A set within a possible family is within one of just one attribute more.
        found += [s for s in sets if not any({*s, other} in larger for other in attributes)]
        larger = {frozenset(s) for s in sets}
    return found


def _held(names: Attributes, tables: Sequence[Attributes]) -> bool:
    return any(set(names) <= set(table) for table in tables)


def _estimates(
    conversation: Conversation, marginals: Sequence[NoisyMarginal], sizes: Sizes
) -> list[Estimate]:
    if conversation.plan.form.consistent:
        return agreed(conversation, marginals, sizes)
    return [
        Estimate(m.attributes, np.maximum(m.counts, 0).astype(float), m.variance) for m in marginals
    ]


def _priced(table_cost: TableCost, score: str, rows: float) -> TableCost:
    """The cost of tables in the unit of the score: bits are not rows, and have no price."""
    if score == "MI" or math.isclose(table_cost.price, 0):
        return replace(table_cost, price=0.0)
    return replace(table_cost, price=_SELECTION_BIAS * table_cost.price)
