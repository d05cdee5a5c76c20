"""The greedy network: one family at a time, each by a private choice.

Source: Zhang et al. 2017 (GreedyBayes); AAU section 4.1; TUC-1 Algorithm 3.2 (whose printed
probabilities lack the exponential function).
"""

from __future__ import annotations

import math

from understudy.counting import Score
from understudy.learn.candidates import Candidates
from understudy.learn.restrict import NONE, Restrictions
from understudy.learn.weighing import Weighing
from understudy.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms import ExactChoice, choice

# Beyond so many families a search is not worth its time; fewer parents are considered instead.
_MOST_FAMILIES = 100_000
# In scales of the choice's noise: parents must be worth more than none by this much.
_DISCOUNT = 3


def greedy_network(
    curator: Curator,
    budget: Budget,
    *,
    score: Score,
    weighing: Weighing,
    degree: int,
    restrictions: Restrictions = NONE,
) -> Network:
    """A network of at most `degree` parents, grown from the first attribute that may be first.

    Privacy: each of the d − 1 choices costs an equal part of the budget.
    """
    domain = curator.domain
    candidates = Candidates(domain, degree=degree, weighing=weighing, restrictions=restrictions)
    root = restrictions.next_among(domain.attributes)[0]
    families = [Family(root)]
    candidates.place(root)
    shares = budget.split([1] * (len(domain) - 1)) if candidates else []
    for share in shares:
        flattery = _flattery(score, share) if weighing.price else 0.0

        def handicap(family: Family, flattery: float = flattery) -> float:
            return weighing.cost(domain, family) + (flattery if family.parents else 0.0)

        family = curator.select(
            list(candidates), score, share, of=lambda family: family.axes, handicap=handicap
        )
        families.append(family)
        candidates.place(family.child)
    return Network(tuple(families))


def _flattery(score: Score, share: Budget) -> float:
    """What a family may owe to the noise of the choice: the best of many is flattered."""
    mechanism = choice(share, sensitivity=score.sensitivity)
    return 0.0 if isinstance(mechanism, ExactChoice) else _DISCOUNT * float(mechanism.scale)


def affordable_degree(attributes: int, *, most: int = 4) -> int:
    """The largest degree whose families, d·C(d − 1, k) at most, can all be looked at."""
    degrees = range(most, 1, -1)
    fits = (k for k in degrees if attributes * math.comb(attributes - 1, k) <= _MOST_FAMILIES)
    return next(fits, 1)
