"""The genetic search: as fit as exact search, repeatable, and calm about bad input."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from benchmarks.real_tables import TABLES, credit_card
from support.learners import random_pairs
from support.shared import shared_file
from support.tiers import full_but
from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.hierarchy import Level
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.chromosomes import flip, places_in, swap
from understudy.methods.structure.genetic import (
    GeneticSearch,
    genetic_network,
    search_names,
)
from understudy.methods.structure.pairwise import (
    PairScores,
    noisy_pair_scores,
    priced_network,
)
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.scores import mutual_information
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

FREE = TableCost(0.0, 2**31)
# Nothing but descent.
PLAIN = GeneticSearch(rival=False)


def _domain(sizes: list[int]) -> Domain:
    return Domain({f"a{i}": size for i, size in enumerate(sizes)})


def _problem(attributes: int, seed: int) -> PairScores:
    """Skewed scores, as real ones are: a few pairs have most of the information."""
    generator = np.random.default_rng(seed)
    domain = _domain(generator.integers(2, 6, attributes).tolist())
    pairs = itertools.combinations(domain, 2)
    return PairScores(domain, {frozenset(p): float(generator.random() ** 3) for p in pairs}, 0.0)


def fitness(network: Network, pairs: PairScores, table_cost: TableCost = FREE) -> float:
    """The scores of all edges, less the price of the tables' cells."""
    axes = [family.axes for family in network if family.parents]
    cost = sum(table_cost.price * pairs.domain.cells(table) for table in axes)
    return sum(pairs.between(child, parents) for *parents, child in axes) - cost


def exact_best(
    pairs: PairScores, degree: int, restrictions: Restrictions = NONE, table_cost: TableCost = FREE
) -> float:
    """The best fitness there is, by all subsets: the last attribute and its best family."""
    domain = pairs.domain

    def family(child: str, others: frozenset[str]) -> float:
        may = [p for p in others if restrictions.allows(p, child)]
        sets = (c for size in range(degree + 1) for c in itertools.combinations(may, size))
        fitting = (c for c in sets if not c or domain.cells((*c, child)) <= table_cost.most_cells)
        cost = {True: 0.0, False: table_cost.price}
        return max(
            pairs.between(child, c) - cost[not c] * domain.cells((*c, child)) for c in fitting
        )

    @cache
    def best(placed: frozenset[str]) -> float:
        if not placed:
            return 0.0
        return max(best(placed - {a}) + family(a, placed - {a}) for a in placed)

    return best(frozenset(domain))


@pytest.mark.slow
@pytest.mark.parametrize("seed", full_but(range(18), range(50)))
def test_the_search_comes_within_a_hundredth_of_the_best(seed: int) -> None:
    """On random problems that exact search can solve, with and without forbidden edges."""
    generator = np.random.default_rng(seed)
    attributes, degree = int(generator.integers(2, 9)), int(generator.integers(1, 4))
    pairs = _problem(attributes, seed)
    edges = [e for e in itertools.permutations(pairs.domain, 2) if generator.random() < 0.3]
    wished = Restrictions(forbidden=tuple(edges)) if seed % 2 else NONE
    table_cost = FREE if seed % 3 else TableCost(0.002, 60)
    found = genetic_network(pairs, table_cost, degree=degree, restrictions=wished, search=PLAIN)
    best = exact_best(pairs, degree, wished, table_cost)
    assert 0.99 * best <= fitness(found, pairs, table_cost) <= best + 1e-9


def test_a_shorter_search_would_not_do() -> None:
    """Without descendants the best of 200 random networks is far from the best there is."""
    pairs = _problem(8, 3)
    found = genetic_network(pairs, FREE, degree=2, search=GeneticSearch(rival=False, generations=0))
    assert fitness(found, pairs) < 0.95 * exact_best(pairs, 2)


REAL = {name: lambda name=name: TABLES[name]()[1] for name in TABLES} | {"credit": credit_card}


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but(TABLES, REAL))
def test_real_tables_lose_nothing_against_growing(name: str) -> None:
    """On no real table is the network less fit than the one that grows parent by parent."""
    shared_file("data", "creditcard_fraud.parquet")
    table = REAL[name]()
    assert isinstance(table, Table)
    source = MemorySource(table)
    curator = Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.unlimited()))
    score = mutual_information(source.rows_read, binary=False)
    pairs = noisy_pair_scores(curator, Budget.unlimited(), score, most_cells=2**31)
    for degree in (1, 3):
        grown = priced_network(pairs, FREE, degree=degree)
        found = genetic_network(pairs, FREE, degree=degree)
        assert 0.99 * fitness(grown, pairs) <= fitness(found, pairs)


def test_same_scores_same_network() -> None:
    """A search has a seed of its own; another one may find something else."""
    pairs = _problem(12, 1)
    quick = GeneticSearch(generations=5, rival=False)
    first, second = (genetic_network(pairs, FREE, degree=2, search=quick) for _ in range(2))
    assert first == second
    other = GeneticSearch(generations=5, rival=False, seed=1)
    assert first != genetic_network(pairs, FREE, degree=2, search=other)


def test_global_random_state_is_left_alone() -> None:
    """Nobody else's random numbers change what is found, nor are they changed."""
    pairs = _problem(8, 1)
    quick = GeneticSearch(generations=5, rival=False)
    np.random.seed(1)
    first = genetic_network(pairs, FREE, degree=2, search=quick)
    drawn = np.random.random()
    np.random.seed(1)
    assert drawn == np.random.random()
    assert first == genetic_network(pairs, FREE, degree=2, search=quick)


@pytest.mark.parametrize("sizes", [[3], [3, 2], [3, 2, 4]])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 9])
def test_few_attributes_and_many_parents(sizes: list[int], degree: int) -> None:
    """One attribute has no parents, and no attribute has more than there are others."""
    domain = _domain(sizes)
    pairs = PairScores(domain, {frozenset(p): 1.0 for p in itertools.combinations(domain, 2)}, 0.0)
    for search in (GeneticSearch(generations=10), PLAIN):
        network = genetic_network(pairs, FREE, degree=degree, search=search)
        assert min(degree, len(sizes) - 1) == network.degree
        assert set(domain) == set(network.order)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_scores_that_say_nothing_give_no_edges(value: float) -> None:
    """Noise makes scores negative; they are worth less than no table."""
    domain = _domain([2] * 5)
    pairs = PairScores(
        domain, {frozenset(p): value for p in itertools.combinations(domain, 2)}, 0.0
    )
    assert 0 == genetic_network(pairs, FREE, degree=3, search=PLAIN).degree
    assert 0 == genetic_network(PairScores(domain, {}, 0.0), FREE, degree=3, search=PLAIN).degree


def test_scores_within_their_noise_give_no_edges() -> None:
    """The best of two draws of noise may be √(2 log 2) = 1.18 too high, which is taken off."""
    domain = _domain([2, 2])
    pair = frozenset(domain)
    degrees = [
        genetic_network(PairScores(domain, {pair: s}, 1.0), FREE, degree=1, search=PLAIN).degree
        for s in (0.9, 1.3)
    ]
    assert [0, 1] == degrees


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"population": 5, "selected": 6}, "6 of a population of 5"),
        ({"selected": 0}, "0 of a population of 200"),
        ({"population": 0, "selected": 0}, "0 of a population of 0"),
        ({"mutation": 1.5}, "mutation is 1.5"),
        ({"generations": -1}, "-1 generations"),
        ({"patience": 0}, "patience 0"),
        ({"starts": 0}, "0 starts"),
    ],
)
def test_impossible_searches_are_refused(fields: Mapping[str, int], words: str) -> None:
    """More selected than there are, chances above one, negative steps."""
    with pytest.raises(UsageError, match=words):
        GeneticSearch(**fields)  # type: ignore[arg-type]


def test_a_population_may_be_all_selected() -> None:
    """Then it has no descendants, and the search ends all the same."""
    search = GeneticSearch(population=7, selected=7, generations=9)
    assert 4 == len(genetic_network(_problem(4, 1), FREE, degree=2, search=search).order)


@pytest.mark.parametrize("most", [4, 12, 30, 100])
def test_no_table_has_more_cells_than_allowed(most: int) -> None:
    """Of a set of parents as many count as fit, the most telling first."""
    domain = _domain([2, 3, 4, 5, 6, 7])
    table_cost = TableCost(0.0, most)
    network = genetic_network(random_pairs(domain, 1), table_cost, degree=4, search=PLAIN)
    cells = [domain.cells(family.axes) for family in network if family.parents]
    assert not cells or max(cells) <= most
    assert cells or most < 6


def test_large_attributes_stand_under_one_name() -> None:
    """The finest copy of at most √τ codes, else the coarsest; small attributes as they are."""
    groups = [np.arange(100, dtype=np.uint16) // step for step in (5, 10)]
    coarser = {f"a / {g.max() + 1}": Level("a", g) for g in groups}
    domain = Domain({"a": 100, "b": 3}, coarser)
    assert [("a", "b"), ("a / 20", "b"), ("a / 10", "b"), ("a / 10", "b")] == [
        tuple(search_names(domain, most).values()) for most in (10_000, 9_999, 100, 5)
    ]
    score = {frozenset({"a / 10", "b"}): 5.0, frozenset({"a", "b"}): 50.0}
    pairs = PairScores(domain, score, 0.0)
    network = genetic_network(pairs, TableCost(0.0, 100), degree=1, search=PLAIN)
    assert {"a / 10", "b"} == set(network.families[1].axes)


def test_flips_keep_what_must_come_before() -> None:
    """Attributes swap places, all orders that are allowed are reached, and no others."""
    before = np.zeros((4, 4), np.bool_)
    before[0, 1] = before[1, 2] = True
    generator = np.random.default_rng(0)
    orders = np.tile(np.array([0, 1, 2, 3], np.int32), (50, 1))
    places = places_in(orders)
    seen: set[tuple[int, ...]] = set()
    for _ in range(40):
        flip(orders, places, before, 0.5, generator)
        assert np.array_equal(places_in(orders), places)
        seen |= {tuple(line) for line in orders.tolist()}
    possible = itertools.permutations(range(4))
    assert {o for o in possible if o.index(0) < o.index(1) < o.index(2)} == seen


def test_swaps_repair_what_comes_too_late() -> None:
    """Late parents are exchanged for early ones while there are any; required ones stay."""
    generator = np.random.default_rng(0)
    orders = np.array([[0, 1, 2, 3]], np.int32)
    sets = np.full((1, 4, 2), -1, np.int32)
    sets[0, 0] = [1, 2]
    sets[0, 1] = [0, 3]
    sets[0, 2] = [0, 3]
    fixed = np.array([0, 0, 1, 0], np.int32)
    choices = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], np.int32)
    swap(sets, places_in(orders), fixed, choices, 0.0, generator)
    # The first has nobody before it, the second nobody more, and the third has 1 to take.
    assert [[1, 2], [0, 3], [0, 1], [-1, -1]] == sets[0].tolist()
