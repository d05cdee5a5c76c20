"""A holder's own model as the theses print it, beside the improved one that holders learn.

Source: TUC-1 Algorithms 3.2 and 3.3, with ε₁ = ε₂ = ε/2 (section 3.3); TUC-2 Algorithms 3 and 7.
"""

from __future__ import annotations

import numpy as np

from understudy.facts.unit import Neighbours
from understudy.methods.estimation.learned import Learned
from understudy.methods.structure.candidates import Candidates, grow
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.estimation.consistency import best_total
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.selection import exponential_choice
from understudy.rows.counting import Score

# The theses have no bound on tables; those that no memory would hold are left out all the same.
_FREE = TableCost(0.0, 2**22)


def learn_plain(
    curator: Curator, *, score: Score, degree: int, restrictions: Restrictions
) -> Learned:
    """A network for half of the budget, a table of each family for the other half.

    Privacy: d − 1 choices by the exponential mechanism cost ε/(2(d − 1)) each, d tables with
    Laplace noise ε/(2d) each. Clipping and normalising see released counts alone.
    """
    structure, tables = curator.budget.split([1, 1])
    network = plain_network(
        curator, structure, score=score, degree=degree, restrictions=restrictions
    )
    noisy = curator.measure([family.axes for family in network], tables)
    found = [
        Conditional.from_weights(family, np.maximum(table.counts, 0).astype(np.float64))
        for family, table in zip(network, noisy, strict=True)
    ]
    public = curator.unit.neighbours is Neighbours.REPLACE
    rows = curator.public_rows if public else max(round(best_total(noisy)), 0)
    assert rows is not None
    return Learned(BayesNet(curator.domain, tuple(found)), rows, tuple(noisy))


def plain_network(
    curator: Curator, budget: Budget, *, score: Score, degree: int, restrictions: Restrictions
) -> Network:
    """The greedy network of d − 1 choices by the exponential mechanism, an equal part each."""
    flat = curator.domain.without_hierarchies()
    candidates = Candidates(flat, degree=degree, table_cost=_FREE, restrictions=restrictions)
    shares = iter(budget.split([1] * (len(flat) - 1)) if len(flat) > 1 else [])

    def choose(families: list[Family]) -> Family:
        return curator.select(
            families, score, next(shares), of=lambda family: family.axes, by=exponential_choice
        )

    return grow(candidates, choose)
