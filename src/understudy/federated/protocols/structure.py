"""Networks learned from what holders released: nothing here costs anything.

Tables that are sums over holders carry the noise of all of them, so families are weighed against
that. Scores of released tables are those of central fits, computed on real-valued counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from understudy.counting import Scores
from understudy.domain import Attributes, Domain
from understudy.federated.plan import Plan
from understudy.learn.candidates import Candidates
from understudy.learn.consistency import Estimate
from understudy.learn.restrict import NONE, Restrictions
from understudy.learn.weighing import Weighing, by_gain
from understudy.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.projection import project

Weights = npt.NDArray[np.float64]
Rate = Callable[[Sequence[Attributes]], Scores]

# The theses have no bound on tables; those that no memory would hold are left out all the same.
_MOST_CELLS = 2**22
_FREE = Weighing(0.0, _MOST_CELLS)


def weighing_for_sums(plan: Plan, tables: Budget, *, rows: float, holders: int) -> Weighing:
    """What a cell costs, in rows, when the tables of so many holders are added up.

    Variances add up, so the noise is √M times that of one holder.
    """
    if not plan.form.sized:
        return _FREE
    one = by_gain(plan.domain, tables, plan.unit, rows=rows)
    more = math.sqrt(max(holders, 1))
    most = max(math.floor(one.most_cells / more), 1)
    return Weighing(one.price * more, most, one.noise * more)


def greedy(
    domain: Domain,
    rate: Rate,
    weighing: Weighing,
    *,
    degree: int,
    restrictions: Restrictions = NONE,
) -> Network:
    """The network that takes the best family at every step, by scores that are known.

    Source: TUC-1 Algorithm 3.5, lines 6 to 16; Algorithm 3.7, line 6.
    """
    candidates = Candidates(domain, degree=degree, weighing=weighing, restrictions=restrictions)
    families = [Family(restrictions.next_among(domain.attributes)[0])]
    candidates.place(families[0].child)
    worth: dict[Attributes, float] = {}
    while candidates:
        listed = list(candidates)
        new = [family.axes for family in listed if family.axes not in worth]
        if new:
            worth.update(zip(new, rate(new).tolist(), strict=True))
        best = max(listed, key=lambda f: worth[f.axes] - weighing.cost(domain, f))
        families.append(best)
        candidates.place(best.child)
    return Network(tuple(families))


def rating_of(estimates: Sequence[Estimate], domain: Domain, score: str) -> Rate:
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
    function: Callable[[Weights], float],
) -> float:
    holders = [e for e in estimates if set(names) <= set(e.attributes)]
    if len(names) < 2 or not holders:
        return 0.0
    table = min(holders, key=lambda e: e.counts.size)
    seen = project(table.counts, table.attributes, names, domain)
    return function(seen.reshape(-1, seen.shape[-1]))


def distance_to_independence(joint: Weights) -> float:
    """½ Σ |C[π, x] − C[π]·C[x] / n|, in rows."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    return 0.5 * float(np.abs(joint - alone).sum())


def information(joint: Weights) -> float:
    """Mutual information in bits."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    alone = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    held = joint > 0
    return float((joint[held] * np.log2(joint[held] / alone[held])).sum() / total)
