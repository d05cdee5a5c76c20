"""Networks from noisy pair scores: the rows are asked once, the search itself is free.

Source: NIST Algorithms 1 to 3. A pair's score is its total variation distance to independence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.required import (
    child_names,
    required_axes,
    required_family,
)
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.rounds import shrunk, signal_part
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.rows.counting import Score


@dataclass(frozen=True)
class PairScores:
    """A noisy score for pairs of attributes, and the standard deviation of its noise.

    An attribute with coarser copies has a score by each of them. Pairs too large to be measured are
    not asked about; they count as nothing.
    """

    domain: Domain
    scores: Mapping[frozenset[str], float]
    noise: float

    def __getitem__(self, pair: tuple[str, str]) -> float:
        return self.scores.get(frozenset(pair), 0.0)

    def between(self, attribute: str, others: Sequence[str]) -> float:
        """The summed scores of an attribute with several others."""
        return sum(self[attribute, other] for other in others)

    def best(self, attribute: str, other: str) -> float:
        """The largest score of two attributes, as they are or coarsened."""
        levels = itertools.product(self.domain.levels(attribute), self.domain.levels(other))
        return max(self[pair] for pair in levels)

    def discounted(self) -> PairScores:
        """The scores less what noise alone may have added to the best of many.

        Either by what is usual of all pairs, which is known well where single scores are not: a
        score is drawn to the mean, and by the doubt that is left. Or, where few pairs stand out of
        many, by what the largest of as many draws of noise as there are attributes would be.
        """
        values = np.array([*self.scores.values()])
        if not values.size or self.noise == 0:
            return self
        kept = signal_part(values, self.noise**2)
        doubt = self.noise * math.sqrt(kept + (1 - kept) / values.size)
        usual = shrunk(values, self.noise**2) - doubt
        apart = values - self.noise * math.sqrt(2 * math.log(max(len(self.domain), 2)))
        sure = np.maximum(usual, apart).tolist()
        return PairScores(self.domain, dict(zip(self.scores, sure, strict=True)), 0.0)


def noisy_pair_scores(
    curator: Curator,
    budget: Budget,
    score: Score,
    *,
    most_cells: int,
    restrictions: Restrictions = NONE,
    names: Mapping[str, str] | None = None,
) -> PairScores:
    """The score of every pair whose table is small enough, all at once (NIST Algorithm 1).

    Args:
        curator: is asked.
        budget: what all scores together may cost.
        score: of a pair.
        most_cells: pairs of more are not asked about.
        restrictions: nor are pairs that cannot be an edge.
        names: the one name to ask about each attribute by; all its copies unless given.
    """
    domain = curator.domain
    levels = {a: domain.levels(a) if names is None else (names[a],) for a in domain}
    pairs = [pair for pair in _pairs(levels, restrictions) if domain.cells(pair) <= most_cells]
    if not pairs:
        return PairScores(domain, {}, 0.0)
    values, variance = curator.score(pairs, score, budget)
    named = {frozenset(pair): float(value) for pair, value in zip(pairs, values, strict=True)}
    return PairScores(domain, named, variance**0.5)


def _pairs(
    levels: Mapping[str, Attributes], restrictions: Restrictions
) -> Iterator[tuple[str, str]]:
    """All pairs of different attributes that may be an edge, as they are and coarsened."""
    for first, second in itertools.combinations(levels, 2):
        if restrictions.permits(first, second):
            yield from itertools.product(levels[first], levels[second])


def priced_network(
    pairs: PairScores, table_cost: TableCost, *, degree: int, restrictions: Restrictions = NONE
) -> Network:
    """Grow families while the scores they add outweigh the noise of the cells they add.

    The variant of NIST Algorithm 3 that has a price for cells instead of a cap: next comes the
    attribute whose best family has the largest surplus.
    """
    scores, domain = pairs.discounted(), pairs.domain
    root = max(
        restrictions.next_among(domain.attributes),
        key=lambda a: sum(scores.best(a, other) for other in _without(domain, a)),
    )
    families = [Family(root)]
    while left := [a for a in domain if all(a != f.child for f in families)]:
        placed = [family.child for family in families]
        grown = [
            _grow(
                name,
                placed,
                scores=scores,
                table_cost=table_cost,
                degree=degree,
                restrictions=restrictions,
            )
            for child in restrictions.next_among(left)
            for name in child_names(child, restrictions, domain, most_cells=table_cost.most_cells)
        ]
        families.append(max(grown, key=lambda f: _surplus(f, scores, table_cost)))
    return Network(tuple(families))


def _grow(
    child: str,
    placed: Sequence[str],
    *,
    scores: PairScores,
    table_cost: TableCost,
    degree: int,
    restrictions: Restrictions,
) -> Family:
    """The family reached by adding the best parent, as coarse as is best, while that pays.

    It starts with the parents that are required.
    """
    domain = scores.domain
    parents = required_axes(child, restrictions, domain, most_cells=table_cost.most_cells)
    free = open_to(child, placed, domain, restrictions)
    names = [name for parent in free for name in domain.levels(parent)]
    owners = np.array([p for p, parent in enumerate(free) for _ in domain.levels(parent)])
    gains = np.array([scores[child, name] for name in names], float)
    sizes = np.array([domain[name] for name in names], float)
    most = min(degree, len(parents) + len(free))
    cells = float(domain.cells((*parents, child)))
    price = table_cost.price * cells if parents else 0.0
    while len(parents) < most:
        wider = cells * sizes
        surplus = np.where(
            wider <= table_cost.most_cells, gains - table_cost.price * wider, -np.inf
        )
        best = int(surplus.argmax())
        if surplus[best] + price <= 0:
            break
        parents, cells, price = (*parents, names[best]), wider[best], table_cost.price * wider[best]
        gains[owners == owners[best]] = -np.inf
    return Family.over((*parents, child), domain) if parents else Family(domain.base(child))


def open_to(
    child: str, placed: Sequence[str], domain: Domain, restrictions: Restrictions
) -> list[str]:
    """The attributes that may become parents besides those that must."""
    base = domain.base(child)
    must = restrictions.parents(base)
    return [p for p in placed if p not in must and restrictions.allows(p, base)]


def _surplus(family: Family, scores: PairScores, table_cost: TableCost) -> float:
    *parents, child = family.axes
    return scores.between(child, parents) - table_cost.cost(scores.domain, family)


def capped_network(
    pairs: PairScores,
    *,
    most_cells: int,
    degree: int | None = None,
    restrictions: Restrictions = NONE,
) -> Network:
    """NIST's own: a fully connected head, then families bounded by τ cells (Algorithms 2, 3)."""
    domain = pairs.domain
    if len(domain) < 2:
        return Network.without_edges(domain.attributes)
    degree = len(domain) if degree is None else degree
    head = _head(pairs, most_cells, restrictions)[: degree + 1]
    families = [Family(child, tuple(head[:place])) for place, child in enumerate(head)]
    while left := [a for a in domain if all(a != f.child for f in families)]:
        placed = [family.child for family in families]
        grown = [
            _fill(
                name,
                placed,
                pairs=pairs,
                most_cells=most_cells,
                degree=degree,
                restrictions=restrictions,
            )
            for child in restrictions.next_among(left)
            for name in child_names(child, restrictions, domain, most_cells=most_cells)
        ]
        families.append(max(grown, key=lambda f: pairs.between(f.axes[-1], f.axes[:-1])))
    return Network(tuple(families))


def _head(pairs: PairScores, most_cells: int, restrictions: Restrictions) -> list[str]:
    """Algorithm 2: the best pair, then all attributes in order of normalised score that fit.

    The paper takes the best pair even beyond τ; here one that fits, or no pair at all. Everything
    in the head must be allowed as a parent of all that comes after it.
    """
    domain = pairs.domain
    normalised = _normalised(pairs)

    def may_follow(before: Sequence[str]) -> list[str]:
        coming = restrictions.next_among([a for a in domain if a not in before])
        return [a for a in coming if all(restrictions.allows(b, a) for b in before)]

    firsts = may_follow(())
    starts = ((first, second) for first in firsts for second in may_follow([first]))
    fitting = (pair for pair in starts if domain.cells(pair) <= most_cells)
    head = [*max(fitting, key=normalised, default=tuple(firsts[:1]))]
    tried = {*head}
    while left := [a for a in may_follow(head) if a not in tried]:
        best = max(left, key=lambda a: sum(normalised((a, h)) for h in head))
        tried.add(best)
        if domain.cells((*head, best)) < most_cells:
            head.append(best)
    return head


def _normalised(pairs: PairScores) -> Callable[[tuple[str, str]], float]:
    return lambda pair: pairs[pair] / pairs.domain.cells(pair)


def _fill(
    child: str,
    placed: Sequence[str],
    *,
    pairs: PairScores,
    most_cells: int,
    degree: int,
    restrictions: Restrictions,
) -> Family:
    """Algorithm 3 for one child: the best parents, by score, that fit under the cap.

    It wants the largest sum of scores, so one that noise made negative is left out. An attribute
    that does not fit may do so coarsened. Required parents come first.
    """
    domain = pairs.domain
    parents = required_axes(child, restrictions, domain, most_cells=most_cells)
    free = open_to(child, placed, domain, restrictions)
    names = [name for parent in free for name in domain.levels(parent)]
    promising = [name for name in names if pairs[child, name] > 0]
    for name in sorted(promising, key=lambda p: -pairs[child, p]):
        fits = domain.cells((*parents, name, child)) <= most_cells
        new = all(domain.base(name) != domain.base(parent) for parent in parents)
        if fits and new and len(parents) < degree:
            parents = (*parents, name)
    return Family.over((*parents, child), domain) if parents else Family(domain.base(child))


def spanning_tree(
    pairs: PairScores, table_cost: TableCost, *, restrictions: Restrictions = NONE
) -> Network:
    """The tree of the largest summed score, less the edges whose noise outweighs them.

    Source: Chow, Liu 1968; TUC-1 Algorithm 3.1. With exact scores and free cells this is the best
    network of degree one; under restrictions, which give edges directions, it is a good one.
    """
    scores = pairs.discounted()
    domain = pairs.domain

    def surplus(family: Family) -> float:
        return _surplus(family, scores, table_cost)

    families = [Family(restrictions.next_among(domain.attributes)[0])]
    left = [a for a in domain if a != families[0].child]
    # The best edge to each attribute from those that are there; only the last one's are new.
    best: dict[str, Family] = {}
    while left:
        last = families[-1].child
        for child in left:
            if not restrictions.parents(child) and restrictions.allows(last, child):
                known = [best[child]] if child in best else []
                new = [e for e in _edges(domain, last, child) if _fits(e, domain, table_cost)]
                if known or new:
                    best[child] = max([*known, *new], key=surplus)
        coming = restrictions.next_among(left)
        free = [child for child in coming if not restrictions.parents(child)]
        must = [
            required_family(a, restrictions, domain, most_cells=table_cost.most_cells)
            for a in coming
            if a not in free
        ]
        alone = [Family(child) for child in free[:1]]
        edges = [best[child] for child in free if child in best]
        chosen = max([*alone, *must, *edges], key=surplus)
        families.append(chosen)
        left.remove(chosen.child)
    return Network(tuple(families))


def _fits(edge: Family, domain: Domain, table_cost: TableCost) -> bool:
    return table_cost.allows(domain.cells(edge.axes))


def _edges(domain: Domain, parent: str, child: str) -> Iterator[Family]:
    """The families of one parent, both as they are and coarsened."""
    pairs = itertools.product(domain.levels(parent), domain.levels(child))
    return (Family.over(pair, domain) for pair in pairs)


def _without(domain: Domain, attribute: str) -> list[str]:
    return [other for other in domain if other != attribute]
