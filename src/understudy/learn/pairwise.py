"""Networks from noisy pair scores: the rows are asked once, the search itself is free.

Source: NIST Algorithms 1 to 3. A pair's score is its total variation distance to independence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.counting import Score
from understudy.domain import Attributes, Domain
from understudy.learn.weighing import Weighing
from understudy.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator

# In standard deviations: of pairs that have nothing to do with each other one in fifteen passes.
_DISCOUNT = 1.5


@dataclass(frozen=True)
class PairScores:
    """A noisy score for pairs of attributes, and the standard deviation of its noise.

    Pairs too large to be measured are not asked about; they count as nothing.
    """

    domain: Domain
    scores: Mapping[frozenset[str], float]
    noise: float

    def __getitem__(self, pair: tuple[str, str]) -> float:
        return self.scores.get(frozenset(pair), 0.0)

    def between(self, attribute: str, others: Sequence[str]) -> float:
        """The summed scores of an attribute with several others."""
        return sum(self[attribute, other] for other in others)

    def discounted(self) -> PairScores:
        """The scores less what noise alone may have given them: the best of many is flattered."""
        less = {pair: s - _DISCOUNT * self.noise for pair, s in self.scores.items()}
        return PairScores(self.domain, less, 0.0)


def noisy_pair_scores(
    curator: Curator, budget: Budget, score: Score, *, most_cells: int
) -> PairScores:
    """The score of every pair of at most so many cells, at once (NIST Algorithm 1)."""
    every = itertools.combinations(curator.domain, 2)
    pairs = [pair for pair in every if curator.domain.cells(pair) <= most_cells]
    if not pairs:
        return PairScores(curator.domain, {}, 0.0)
    values, variance = curator.score(pairs, score, budget)
    named = {frozenset(pair): float(value) for pair, value in zip(pairs, values, strict=True)}
    return PairScores(curator.domain, named, variance**0.5)


def weighed_network(pairs: PairScores, weighing: Weighing, *, degree: int) -> Network:
    """Grow families while the scores they add outweigh the noise of the cells they add.

    The variant of NIST Algorithm 3 that has a price for cells instead of a cap: next comes the
    attribute whose best family has the largest surplus.
    """
    scores = pairs.discounted()
    root = max(pairs.domain, key=lambda a: scores.between(a, _without(pairs.domain, a)))
    families = [Family(root)]
    while left := [a for a in pairs.domain if all(a != f.child for f in families)]:
        placed = [family.child for family in families]
        grown = [_grow(child, placed, scores, weighing, degree) for child in left]
        families.append(max(grown, key=lambda f: _surplus(f, scores, weighing)))
    return Network(tuple(families))


def _grow(
    child: str, placed: Sequence[str], scores: PairScores, weighing: Weighing, degree: int
) -> Family:
    """The family reached by adding the best parent while that pays."""
    gains = np.array([scores[child, parent] for parent in placed])
    sizes = np.array([scores.domain[parent] for parent in placed], float)
    parents: Attributes = ()
    cells, price = float(scores.domain[child]), 0.0
    while len(parents) < min(degree, len(placed)):
        wider = cells * sizes
        surplus = np.where(wider <= weighing.most_cells, gains - weighing.price * wider, -np.inf)
        best = int(surplus.argmax())
        if surplus[best] + price <= 0:
            break
        parents, cells, price = (*parents, placed[best]), wider[best], weighing.price * wider[best]
        gains[best] = -np.inf
    return Family(child, parents)


def _surplus(family: Family, scores: PairScores, weighing: Weighing) -> float:
    gain = scores.between(family.child, family.parents)
    return gain - weighing.cost(scores.domain, family)


def capped_network(pairs: PairScores, *, most_cells: int, degree: int | None = None) -> Network:
    """NIST's own: a fully connected head, then families bounded by τ cells (Algorithms 2, 3)."""
    domain = pairs.domain
    if len(domain) < 2:
        return Network.without_edges(domain.attributes)
    degree = len(domain) if degree is None else degree
    head = _head(pairs, most_cells)[: degree + 1]
    families = [Family(child, tuple(head[:place])) for place, child in enumerate(head)]
    while left := [a for a in domain if all(a != f.child for f in families)]:
        placed = [family.child for family in families]
        grown = [_fill(child, placed, pairs, most_cells, degree) for child in left]
        families.append(max(grown, key=lambda f: pairs.between(f.child, f.parents)))
    return Network(tuple(families))


def _head(pairs: PairScores, most_cells: int) -> list[str]:
    """Algorithm 2: the best pair, then all attributes in order of normalised score that fit.

    The paper takes the best pair even beyond τ; here one that fits, or no pair at all.
    """
    domain = pairs.domain
    normalised = _normalised(pairs)
    fitting = (p for p in itertools.combinations(domain, 2) if domain.cells(p) <= most_cells)
    first = max(fitting, key=normalised, default=domain.attributes[:1])
    head, tried = [*first], {*first}
    while len(tried) < len(domain):
        left = [a for a in domain if a not in tried]
        best = max(left, key=lambda a: sum(normalised((a, h)) for h in head))
        tried.add(best)
        if domain.cells((*head, best)) < most_cells:
            head.append(best)
    return head


def _normalised(pairs: PairScores) -> Callable[[tuple[str, str]], float]:
    return lambda pair: pairs[pair] / pairs.domain.cells(pair)


def _fill(
    child: str, placed: Sequence[str], pairs: PairScores, most_cells: int, degree: int
) -> Family:
    """Algorithm 3 for one child: the best parents, by score, that fit under the cap.

    It wants the largest sum of scores, so one that noise made negative is left out.
    """
    parents: Attributes = ()
    promising = [parent for parent in placed if pairs[child, parent] > 0]
    for parent in sorted(promising, key=lambda p: -pairs[child, p]):
        fits = pairs.domain.cells((*parents, parent, child)) <= most_cells
        if fits and len(parents) < degree:
            parents = (*parents, parent)
    return Family(child, parents)


def spanning_tree(pairs: PairScores, weighing: Weighing) -> Network:
    """The tree of the largest summed score, less the edges whose noise outweighs them.

    Source: Chow, Liu 1968; TUC-1 Algorithm 3.1. With exact scores and free cells this is the best
    network of degree one.
    """
    scores = pairs.discounted()
    domain = pairs.domain
    families = [Family(domain.attributes[0])]
    left = list(domain.attributes[1:])
    while left:
        edges = [Family(child, (f.child,)) for child in left for f in families]
        fitting = [edge for edge in edges if weighing.allows(domain, edge)]
        alone = Family(left[0])
        best = max([alone, *fitting], key=lambda f: _surplus(f, scores, weighing))
        families.append(best)
        left.remove(best.child)
    return Network(tuple(families))


def _without(domain: Domain, attribute: str) -> list[str]:
    return [other for other in domain if other != attribute]
