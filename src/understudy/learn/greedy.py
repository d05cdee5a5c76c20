"""The greedy network: one family at a time, each by a private choice.

Source: Zhang et al. 2017, Algorithms 2 and 4; AAU section 4.1; TUC-1 Algorithm 3.2 (whose printed
probabilities lack the exponential function).
"""

from __future__ import annotations

import math

from understudy.counting import Score
from understudy.learn.candidates import Candidates
from understudy.learn.weighing import Weighing
from understudy.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator

# Beyond so many families a search is not worth its time; fewer parents are considered instead.
_MOST_FAMILIES = 100_000


def greedy_network(
    curator: Curator, budget: Budget, *, score: Score, weighing: Weighing, degree: int
) -> Network:
    """A network of at most `degree` parents, grown from the first attribute of the domain.

    Privacy: each of the d − 1 choices costs an equal part of the budget.
    """
    domain = curator.domain
    candidates = Candidates(domain, degree=degree, weighing=weighing)
    root = domain.attributes[0]
    families = [Family(root)]
    candidates.place(root)
    shares = budget.split([1] * (len(domain) - 1)) if candidates else []
    for share in shares:
        family = curator.select(
            list(candidates),
            score,
            share,
            of=lambda candidate: candidate.attributes,
            handicap=lambda candidate: weighing.cost(domain, candidate),
        )
        families.append(family)
        candidates.place(family.child)
    return Network(tuple(families))


def affordable_degree(attributes: int, *, most: int = 4) -> int:
    """The largest degree whose families, d·C(d − 1, k) at most, can all be looked at."""
    degrees = range(most, 1, -1)
    fits = (k for k in degrees if attributes * math.comb(attributes - 1, k) <= _MOST_FAMILIES)
    return next(fits, 1)
