"""More parents for a network's families: each is scored given the parents that are there.

A sum of pair scores counts one dependence as often as there are attributes that show it. Here a
parent adds what it says of the child beyond the others, asked of the rows round by round: one
further parent for each family in a round, of a few candidates that the pair scores name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.pairwise import PairScores, open_to
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.rows.counting import Score
from understudy.system.arrays import Floats

# So many candidates of each family are asked about in a round, the best by their pair scores.
_CANDIDATES = 6
# A parent may say more of the child together with the others than by itself: so many times.
_HOPE = 2
# By and large a parent adds this part of its pair's score to others, give or take as much.
_USUAL_PART = 0.1
# In standard deviations of its noise: what is taken off a score that stands out.
_DISCOUNT = 1.5
# Of the budget that is left a round gets this part; the first ones matter to most families.
_OF_REST = Fraction(1, 3)


@dataclass(frozen=True)
class Extension:
    """How families may grow.

    Attributes:
        pairs: noisy scores of pairs, which name the candidates.
        gain: the score of a child and a new parent given the other parents.
        table_cost: what the cells of a table cost.
        degree: the most parents.
        most_cells: larger tables are not considered.
        restrictions: which parents are allowed.
    """

    pairs: PairScores
    gain: Score
    table_cost: TableCost
    degree: int
    most_cells: int
    restrictions: Restrictions = NONE

    @property
    def domain(self) -> Domain:
        """Return the attributes and their coarser copies."""
        return self.pairs.domain

    def candidates(self, family: Family, placed: Sequence[str]) -> list[Attributes]:
        """The wider tables of a family that may be worth their cells, the best by pairs first.

        A parent whose pair's score is far from worth the cells is not asked about: what it could
        still show is mostly chance. An attribute is taken at the level that is best for it.
        """
        if not family.parents or len(family.parents) >= self.degree:
            return []
        *parents, child = family.axes
        fresh = [p for p in placed if p not in family.parents]
        best = [
            max((self._hoped(family, name), name) for name in self.domain.levels(parent))
            for parent in open_to(child, fresh, self.domain, self.restrictions)
        ]
        hopeful = sorted((b for b in best if b[0] > 0), reverse=True)[:_CANDIDATES]
        return [(*parents, name, child) for _, name in hopeful]

    def _hoped(self, family: Family, parent: str) -> float:
        """Return the most that a parent could be worth, by its pair's score."""
        wider = (parent, *family.axes)
        if self.domain.cells(wider) > self.most_cells:
            return -1.0
        return _HOPE * self.pairs[parent, family.axes[-1]] - self.extra_cost(family, wider)

    def believed(
        self, asked: Sequence[tuple[str, Attributes]], values: Floats, variance: float
    ) -> Floats:
        """The score that parents surely add: by their own scores, or by those of their pairs.

        Where scores are mostly noise, a parent is judged by a part of its pair's score, and where
        they are not, by what the rows say: the two are averaged by their precisions.
        """
        pairs = np.array([max(self.pairs[wider[-2], wider[-1]], 0.0) for _, wider in asked])
        usual = _USUAL_PART * pairs
        known = usual**2 + variance
        seen = np.divide(usual**2, known, out=np.ones_like(known), where=known > 0)
        expected = seen * values + (1 - seen) * usual
        return np.asarray(np.maximum(expected, values - _DISCOUNT * variance**0.5))

    def extra_cost(self, family: Family, wider: Attributes) -> float:
        """The cost of the cells that a wider table has more."""
        more = self.domain.cells(wider) - self.domain.cells(family.axes)
        return self.table_cost.price * more


def extended(
    curator: Curator, network: Network, extension: Extension, *, budget: Budget, each: Budget
) -> tuple[Network, Budget]:
    """A network whose families have further parents, and what is left of the budget.

    Args:
        curator: is asked, once for each parent that may be added up to the degree.
        network: a family that has no parent gets none.
        extension: how families may grow.
        budget: the most that all rounds together may cost, each a part of what is left.
        each: what one score costs where a round can afford it.

    Privacy: which scores are asked for follows from earlier answers; a round without questions
    costs nothing.
    """
    families = {family.child: family for family in network}
    placed = {child: network.order[:place] for place, child in enumerate(network.order)}
    growing, left = [*families], budget
    for _ in range(extension.degree - 1):
        share = left * _OF_REST
        asked = [
            (child, wider)
            for child in growing
            for wider in extension.candidates(families[child], placed[child])
        ]
        if not asked:
            break
        cost = Budget(share.measure, min(share.amount, each.amount * len(asked)))
        values, variance = curator.score([w for _, w in asked], extension.gain, cost)
        left = Budget(left.measure, left.amount - cost.amount)
        sure = extension.believed(asked, values, variance)
        found = _best(families, [(*a, v) for a, v in zip(asked, sure, strict=True)], extension)
        families |= found
        growing = [*found]
    return Network(tuple(families.values())), left


def _best(
    families: Mapping[str, Family],
    scored: Sequence[tuple[str, Attributes, float]],
    extension: Extension,
) -> dict[str, Family]:
    """The best wider family of every child that has one worth its cells."""
    best: dict[str, tuple[float, Attributes]] = {}
    for child, wider, value in scored:
        surplus = float(value) - extension.extra_cost(families[child], wider)
        if surplus > max(0.0, best[child][0] if child in best else 0.0):
            best[child] = (surplus, wider)
    return {child: Family.over(wider, extension.domain) for child, (_, wider) in best.items()}
