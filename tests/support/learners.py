"""Every learner as one function of a table, and random restrictions that do not contradict."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.protection import Protection
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.extension import Extension, extended
from understudy.methods.structure.gains import conditional_r
from understudy.methods.structure.genetic import GeneticSearch, genetic_network
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.pairwise import (
    PairScores,
    capped_network,
    priced_network,
    spanning_tree,
)
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.scores import r_score
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

Learner = Callable[[Domain, int, TableCost, int, Restrictions], Network]
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


def _curator(domain: Domain, seed: int) -> Curator:
    """Asks fifty random rows under replace-one, at ε = 1."""
    generator = np.random.default_rng(seed)
    codes: dict[str, Codes] = {
        name: generator.integers(0, size, 50, dtype=np.uint16)
        for name, size in domain.sizes.items()
    }
    source = MemorySource(Table(domain, codes, 50))
    return Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.pure(1)))


def _extended(
    domain: Domain, seed: int, table_cost: TableCost, degree: int, r: Restrictions
) -> Network:
    if degree == 0:
        first = r.protection.target
        return Network.without_edges(sorted(domain, key=lambda name: name != first))
    pairs = random_pairs(domain, seed)
    tree = spanning_tree(pairs, table_cost, restrictions=r)
    most = table_cost.most_cells
    how = Extension(pairs, conditional_r(50), table_cost, degree, most, r)
    budget = Budget.pure(1)
    return extended(_curator(domain, seed), tree, how, budget=budget, each=budget)[0]


def _greedy(
    domain: Domain, seed: int, table_cost: TableCost, degree: int, r: Restrictions
) -> Network:
    return greedy_network(
        _curator(domain, seed),
        Budget.pure(1),
        score=r_score(50),
        table_cost=table_cost,
        degree=degree,
        restrictions=r,
    )


LEARNERS: dict[str, Learner] = {
    "greedy": _greedy,
    "extended": _extended,
    "weighed": lambda domain, seed, table_cost, degree, r: priced_network(
        random_pairs(domain, seed), table_cost, degree=degree, restrictions=r
    ),
    "capped": lambda domain, seed, table_cost, degree, r: capped_network(
        random_pairs(domain, seed), most_cells=table_cost.most_cells, degree=degree, restrictions=r
    ),
    "tree": lambda domain, seed, table_cost, _, r: spanning_tree(
        random_pairs(domain, seed), table_cost, restrictions=r
    ),
    "genetic": lambda domain, seed, table_cost, degree, r: genetic_network(
        random_pairs(domain, seed), table_cost, degree=degree, restrictions=r, search=QUICK
    ),
    "genetic without rival": lambda domain, seed, table_cost, degree, r: genetic_network(
        random_pairs(domain, seed), table_cost, degree=degree, restrictions=r, search=WITHOUT_RIVAL
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
            required=tuple(kept),
            forbidden=tuple(forbidden),
            tiers=tuple(map(tuple, tiers)),
            predictors=predictors,
            protection=protection,
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
