"""The greedy network: one family at a time, each by a private choice.

Source: Zhang et al. 2017 (GreedyBayes); AAU section 4.1; TUC-1 Algorithm 3.2 (whose printed
probabilities lack the exponential function).
"""

from __future__ import annotations

import math

from understudy.methods.structure.candidates import Candidates, grow
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.selection import ExactChoice, choice
from understudy.rows.counting import Score

# Beyond so many families a search is not worth its time; fewer parents are considered instead.
_MOST_FAMILIES = 100_000
# In scales of the choice's noise: parents must be worth more than none by this much.
_DISCOUNT = 3


def greedy_network(
    curator: Curator,
    budget: Budget,
    *,
    score: Score,
    table_cost: TableCost,
    degree: int,
    restrictions: Restrictions = NONE,
) -> Network:
    """A network of at most `degree` parents, grown from the first attribute that may be first.

    Privacy: each of the d − 1 choices costs an equal part of the budget.
    """
    domain = curator.domain
    candidates = Candidates(domain, degree=degree, table_cost=table_cost, restrictions=restrictions)
    parts = budget.split([1] * (len(domain) - 1)) if len(domain) > 1 else []
    shares = curator.watched(parts)

    def choose(families: list[Family]) -> Family:
        share = next(shares)
        bias = _selection_bias(score, share) if table_cost.price else 0.0

        def penalty(family: Family) -> float:
            return table_cost.cost(domain, family) + (bias if family.parents else 0.0)

        return curator.select(
            families, score, share, of=lambda family: family.axes, penalty=penalty
        )

    return grow(candidates, choose)


def _selection_bias(score: Score, share: Budget) -> float:
    """Bound what a family may owe to the noise of the choice: the best of many scores too high."""
    mechanism = choice(share, sensitivity=score.sensitivity)
    return 0.0 if isinstance(mechanism, ExactChoice) else _DISCOUNT * float(mechanism.scale)


def affordable_degree(attributes: int, *, most: int = 4) -> int:
    """The largest degree whose families, d·C(d − 1, k) at most, can all be looked at."""
    degrees = range(most, 1, -1)
    fits = (k for k in degrees if attributes * math.comb(attributes - 1, k) <= _MOST_FAMILIES)
    return next(fits, 1)
