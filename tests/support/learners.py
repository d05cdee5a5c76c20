"""Every learner as one function of a table, and random restrictions that do not contradict."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.errors import UsageError
from understudy.learn.genetic import GeneticSearch, genetic_network
from understudy.learn.greedy import greedy_network
from understudy.learn.pairwise import (
    PairScores,
    capped_network,
    spanning_tree,
    weighed_network,
)
from understudy.learn.restrict import Restrictions
from understudy.learn.scores import r_score
from understudy.learn.weighing import Weighing
from understudy.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.grant import Grant
from understudy.privacy.unit import Neighbours, Unit
from understudy.protection import Protection
from understudy.table import Codes, Table

Learner = Callable[[Domain, int, Weighing, int, Restrictions], Network]
QUICK = GeneticSearch(population=12, selected=3, generations=15)
WITHOUT_RIVAL = GeneticSearch(population=12, selected=3, generations=15, rival=False)


def random_pairs(domain: Domain, seed: int) -> PairScores:
    """Scores as noise leaves them: some negative, one of each pair of names."""
    generator = np.random.default_rng(seed)
    names = [
        pair
        for first, second in itertools.combinations(domain, 2)
        for pair in itertools.product(domain.levels(first), domain.levels(second))
    ]
    return PairScores(domain, {frozenset(n): float(generator.normal(1, 2)) for n in names}, 0.1)


def _greedy(domain: Domain, seed: int, weighing: Weighing, degree: int, r: Restrictions) -> Network:
    generator = np.random.default_rng(seed)
    codes: dict[str, Codes] = {
        name: generator.integers(0, size, 50, dtype=np.uint16)
        for name, size in domain.sizes.items()
    }
    source = MemorySource(Table(domain, codes, 50))
    curator = Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.pure(1)))
    return greedy_network(
        curator,
        Budget.pure(1),
        score=r_score(50),
        weighing=weighing,
        degree=degree,
        restrictions=r,
    )


LEARNERS: dict[str, Learner] = {
    "greedy": _greedy,
    "weighed": lambda domain, seed, weighing, degree, r: weighed_network(
        random_pairs(domain, seed), weighing, degree=degree, restrictions=r
    ),
    "capped": lambda domain, seed, weighing, degree, r: capped_network(
        random_pairs(domain, seed), most_cells=weighing.most_cells, degree=degree, restrictions=r
    ),
    "tree": lambda domain, seed, weighing, _, r: spanning_tree(
        random_pairs(domain, seed), weighing, restrictions=r
    ),
    "genetic": lambda domain, seed, weighing, degree, r: genetic_network(
        random_pairs(domain, seed), weighing, degree=degree, restrictions=r, search=QUICK
    ),
    "genetic without rival": lambda domain, seed, weighing, degree, r: genetic_network(
        random_pairs(domain, seed), weighing, degree=degree, restrictions=r, search=WITHOUT_RIVAL
    ),
}


@st.composite
def restrictions_on(draw: st.DrawFn, domain: Domain, degree: int) -> Restrictions:
    """Restrictions that some order of the attributes can keep, all kinds of them together."""
    order = draw(st.permutations(domain.attributes))
    target = order[0] if draw(st.booleans()) else None
    others = [name for name in order if name != target]
    protected = {
        name: draw(st.sampled_from([(), order[:1], None if target else tuple(order[:2])]))
        for name in draw(st.lists(st.sampled_from(others), max_size=2, unique=True))
    }
    forward = list(itertools.combinations(order, 2))
    edges = st.lists(st.sampled_from(forward), max_size=3, unique=True)
    required, forbidden = draw(edges), draw(edges)
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=2)))
    tiers = [order[start:end] for start, end in itertools.pairwise([0, *cuts])]
    predictors = None
    if draw(st.booleans()):
        allowed = set(draw(st.lists(st.sampled_from(forward), max_size=12))) | set(required)
        allowed |= {(order[0], child) for child in others}
        predictors = {c: tuple(p for p in domain if (p, c) in allowed) for c in domain}
    protection = Protection(
        target, {n: of if of is None else tuple(of) for n, of in protected.items()}
    )
    for kept in (required, []):
        found = Restrictions(
            tuple(kept), tuple(forbidden), tuple(map(tuple, tiers)), predictors, protection
        )
        if _stands(found, domain, degree):
            return found
    return Restrictions(forbidden=tuple(forbidden))


def _stands(restrictions: Restrictions, domain: Domain, degree: int) -> bool:
    try:
        restrictions.check(domain, degree=degree)
    except UsageError:
        return False
    return True
