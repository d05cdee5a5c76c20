"""Noisy sufficient statistics: all tables of so many attributes, from every holder, at once.

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

from understudy.domain import Attributes
from understudy.federated.asking import Sizes, summed, tables
from understudy.federated.conversation import Conversation
from understudy.federated.parameters import agreed, from_sums, total_rows
from understudy.federated.plan import Plan
from understudy.federated.structure import greedy, rating_of, weighing_for_sums
from understudy.learn.consistency import Estimate
from understudy.learn.parameters import conditionals_of, one_way_tables
from understudy.learn.required import least_tables
from understudy.learn.restrict import Restrictions
from understudy.learn.weighing import Weighing
from understudy.marginal import NoisyMarginal
from understudy.privacy.budget import Budget
from understudy.synthesizers.base import Learned

# Tables that noise made stand out are dear twice: for their own noise and for having flattered.
_FLATTERY = 2.0


def learn_statistics(talk: Conversation, sizes: Sizes, share: Fraction) -> Learned:
    """A network and its conditionals from the sums of all tables of k + 1 attributes."""
    plan, rows = talk.plan, sizes.total(talk.holders)
    sets, weighing = subsets(plan, plan.spendable * share, rows=rows, holders=len(talk.holders))
    found = tables(talk, sets, share, sizes=sizes, equally=not plan.form.full_budget)
    marginals = summed(list(found.values()))
    estimates = _estimates(talk, marginals, sizes)
    score = plan.score or ("TVD" if plan.form.sized else "MI")
    flat = plan.domain.without_hierarchies()
    rate = rating_of(estimates, flat, score)
    network = greedy(
        flat,
        rate,
        _priced(weighing, score, rows),
        degree=plan.subset_degree,
        restrictions=plan.restrictions,
    )
    if not plan.form.consistent:
        return from_sums(talk, network, marginals, sizes)
    # Making so many tables agree is most of the work, and the tables are the same.
    total = total_rows(talk, marginals, sizes)
    return Learned(conditionals_of(network, estimates, plan.domain), max(round(total), 0))


def subsets(
    plan: Plan, budget: Budget, *, rows: float, holders: int
) -> tuple[list[Attributes], Weighing]:
    """The tables to ask for, and what their cells cost.

    The theses ask for every subset. Sized for the noise of the sums, subsets that it would drown
    are left out, which makes it less for the others; each attribute is then asked for by itself
    as well, so that none is without a table. Subsets that can be no family are never asked for.
    """
    flat, size = plan.domain.without_hierarchies(), min(plan.subset_degree + 1, len(plan.domain))
    every = _possible(flat.attributes, size, plan.restrictions)
    if not plan.form.sized:
        return every, weighing_for_sums(plan, budget, rows=rows, holders=holders)
    alone = one_way_tables(flat) if size > 1 else []
    every = [names for names in every if size == 1 or len(names) > 1]
    kept, weighing = every, Weighing(0.0, 1)
    for _ in range(4):
        # The weighing thinks of one table for each attribute but the first; here are more.
        each = budget * Fraction(max(len(flat) - 1, 1), max(len(kept) + len(alone), 1))
        weighing = weighing_for_sums(plan, each, rows=rows, holders=holders)
        kept = [names for names in every if size == 1 or weighing.allows(flat.cells(names))]
        # What is required is measured even where noise drowns it.
        kept += [names for names in least_tables(plan.restrictions, flat) if not _held(names, kept)]
    return [*alone, *kept], weighing


def _possible(attributes: Attributes, size: int, restrictions: Restrictions) -> list[Attributes]:
    """All sets of so many attributes that may be a family, and smaller ones that are in none."""
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
    talk: Conversation, marginals: Sequence[NoisyMarginal], sizes: Sizes
) -> list[Estimate]:
    if talk.plan.form.consistent:
        return agreed(talk, marginals, sizes)
    return [
        Estimate(m.attributes, np.maximum(m.counts, 0).astype(float), m.variance) for m in marginals
    ]


def _priced(weighing: Weighing, score: str, rows: float) -> Weighing:
    """The weighing in the unit of the score: bits are not rows, and have no price."""
    if score == "MI" or math.isclose(weighing.price, 0):
        return replace(weighing, price=0.0)
    return replace(weighing, price=_FLATTERY * weighing.price)
