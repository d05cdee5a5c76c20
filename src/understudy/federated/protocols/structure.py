"""Networks learned from what holders released: nothing here costs anything.

Tables that are sums over holders carry the noise of all of them, so families are weighed against
that. Scores of released tables are those of central fits, computed on real-valued counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.federated.analyst.plan import Collaboration
from understudy.methods.structure.candidates import Candidates, grow
from understudy.methods.structure.genetic import genetic_network
from understudy.methods.structure.pairwise import PairScores, spanning_tree
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.table_cost import TableCost, by_gain
from understudy.models.estimation.consistency import Estimate
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.rows.counting import Scores
from understudy.system.arrays import Floats

Scorer = Callable[[Sequence[Attributes]], Scores]

# The theses have no bound on tables; those that no memory would hold are left out all the same.
_MOST_CELLS = 2**22
_FREE = TableCost(0.0, _MOST_CELLS)


def table_cost_of_sums(
    plan: Collaboration, tables: Budget, *, rows: float, holders: int
) -> TableCost:
    """Return the cost of a cell, in rows, when the tables of all holders are added up.

    Variances add up, so the noise is √M times that of one holder.
    """
    if not plan.form.sized:
        return _FREE
    one = by_gain(plan.domain, tables, plan.unit, rows=rows)
    more = math.sqrt(max(holders, 1))
    most = max(math.floor(one.most_cells / more), 1)
    return TableCost(one.price * more, most, one.noise * more)


def greedy(
    domain: Domain,
    rate: Scorer,
    table_cost: TableCost,
    *,
    degree: int,
    restrictions: Restrictions = NONE,
) -> Network:
    """The network that takes the best family at every step, by scores that are known.

    Source: TUC-1 Algorithm 3.5, lines 6 to 16; Algorithm 3.7, line 6.
    """
    candidates = Candidates(domain, degree=degree, table_cost=table_cost, restrictions=restrictions)
    worth: dict[Attributes, float] = {}

    def best(families: list[Family]) -> Family:
        new = [family.axes for family in families if family.axes not in worth]
        if new:
            worth.update(zip(new, rate(new).tolist(), strict=True))
        return max(families, key=lambda f: worth[f.axes] - table_cost.cost(domain, f))

    return grow(candidates, best)


def from_pairs(
    domain: Domain,
    rate: Scorer,
    table_cost: TableCost,
    *,
    learner: str,
    degree: int,
    restrictions: Restrictions = NONE,
) -> Network:
    """The best tree, or the fittest network of a genetic search, by scores of pairs that are known.

    Source: TUC-1 sections 3.4 and 3.6 say that any algorithm can learn from the tables.
    """
    sets = [pair for pair in itertools.combinations(domain, 2) if restrictions.permits(*pair)]
    values = rate(sets).tolist() if sets else []
    named = {frozenset(pair): value for pair, value in zip(sets, values, strict=True)}
    pairs = PairScores(domain, named, 0.0)
    if learner == "tree":
        return spanning_tree(pairs, table_cost, restrictions=restrictions)
    return genetic_network(pairs, table_cost, degree=degree, restrictions=restrictions)


def rating_of(estimates: Sequence[Estimate], domain: Domain, score: str) -> Scorer:
    """Scores from released tables, each from the smallest one that holds the attributes.

    Where none does, parents are worth nothing.
    """
    function = information if score == "MI" else distance_to_independence

    def rate(sets: Sequence[Attributes]) -> Scores:
        return np.array([_rated(names, estimates, domain, function) for names in sets])

    return rate


def _rated(
    names: Attributes,
    estimates: Sequence[Estimate],
    domain: Domain,
    function: Callable[[Floats], float],
) -> float:
    holders = [e for e in estimates if Axes(e.attributes).holds(names)]
    if len(names) < 2 or not holders:
        return 0.0
    table = min(holders, key=lambda e: e.counts.size)
    seen = table.project(names, domain).counts
    return function(seen.reshape(-1, seen.shape[-1]))


def distance_to_independence(joint: Floats) -> float:
    """½ Σ |C[π, x] − C[π]·C[x] / n|, in rows."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    return 0.5 * float(np.abs(joint - alone).sum())


def information(joint: Floats) -> float:
    """Mutual information in bits."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / alone[held])).sum() / total)
