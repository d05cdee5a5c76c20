"""Networks from scores: what each learner finds, against brute force and by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.candidates import Candidates
from understudy.methods.structure.greedy import affordable_degree, greedy_network
from understudy.methods.structure.pairwise import (
    PairScores,
    capped_network,
    noisy_pair_scores,
    priced_network,
    spanning_tree,
)
from understudy.methods.structure.scores import (
    mutual_information,
    r_score,
    total_variation,
)
from understudy.methods.structure.table_cost import TableCost, by_usefulness
from understudy.models.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import Marginal, Score, ScoreKernel, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

FREE = TableCost(0.0, 2**31)


class WatchedSource:
    """A source that remembers which tables it was asked to score."""

    def __init__(self, source: MemorySource) -> None:
        self._source = source
        self.scored: list[Attributes] = []

    @property
    def domain(self) -> Domain:
        """The attributes."""
        return self._source.domain

    @property
    def rows_read(self) -> int:
        """The rows."""
        return self._source.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """Whatever it is."""
        return self._source.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Counts as they are."""
        return self._source.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores as they are, written down."""
        self.scored += sets
        return self._source.score(sets, kernel)


def _source(sizes: Sequence[int], rows: int, seed: int) -> MemorySource:
    """Rows whose attributes lean on the ones before them."""
    generator = np.random.default_rng(seed)
    domain = Domain({f"a{i}": size for i, size in enumerate(sizes)})
    codes: dict[str, np.ndarray[tuple[int], np.dtype[np.uint8]]] = {}
    mix = np.zeros(rows, np.int64)
    for name in domain:
        fresh = generator.integers(0, domain[name], rows)
        codes[name] = np.where(generator.random(rows) < 0.6, mix % domain[name], fresh).astype(
            np.uint8
        )
        mix = mix + codes[name]
    return MemorySource(Table(domain, codes, rows))


def _curator(source: MemorySource | WatchedSource, paid: Budget | Grant) -> Curator:
    grant = paid if isinstance(paid, Grant) else Grant(paid)
    return Curator(source, Unit(Neighbours.REPLACE), grant)


def _within(domain: Domain, family: Family, table_cost: TableCost) -> bool:
    return not family.parents or domain.cells(family.attributes) <= table_cost.most_cells


def _families(
    domain: Domain, placed: Sequence[str], *, degree: int, table_cost: TableCost
) -> Iterator[Family]:
    """Every family that may come next, from scratch."""
    for child in (a for a in domain if a not in placed):
        for size in range(degree + 1):
            for parents in itertools.combinations(placed, size):
                family = Family(child, parents)
                if _within(domain, family, table_cost):
                    yield family


sizes = st.lists(st.integers(1, 5), min_size=1, max_size=6)


@given(sizes, st.integers(0, 4), st.integers(1, 40), st.randoms(use_true_random=False))
def test_candidates_are_all_families_and_no_others(
    counts: list[int], degree: int, most: int, random: object
) -> None:
    """Kept from step to step they are what enumeration from scratch gives, each once."""
    domain = Domain({f"a{i}": size for i, size in enumerate(counts)})
    table_cost = TableCost(0.0, most)
    candidates = Candidates(domain, degree=degree, table_cost=table_cost)
    order = list(domain)
    random.shuffle(order)  # type: ignore[attr-defined]
    for place in range(len(order)):
        expected = _families(domain, order[:place], degree=degree, table_cost=table_cost)
        actual = list(candidates)
        assert set(expected) == set(actual)
        assert len(set(actual)) == len(actual)
        candidates.place(order[place])
    assert not candidates


def _exact_greedy(
    source: MemorySource, score: Score, table_cost: TableCost, degree: int
) -> tuple[Family, ...]:
    """The greedy network by enumeration, on the grid of scores, the first of equals taken."""
    domain, placed = source.domain, [source.domain.attributes[0]]
    families = [Family(placed[0])]
    step = float(score.sensitivity / 2**16)
    while len(placed) < len(domain):
        # Children in the domain's order, each with its parent sets as they became possible.
        order = {attribute: place for place, attribute in enumerate(placed)}
        ranked = sorted(
            _families(domain, placed, degree=degree, table_cost=table_cost),
            key=lambda f: (
                domain.attributes.index(f.child),
                max((order[p] for p in f.parents), default=-1),
            ),
        )
        values = source.score([f.attributes for f in ranked], score.kernel)
        costs = [table_cost.price * domain.cells(f.attributes) * bool(f.parents) for f in ranked]
        grid = np.rint((values - np.array(costs)) / step)
        best = {f for f, value in zip(ranked, grid, strict=True) if value == grid.max()}
        families.append(next(f for f in ranked if f in best))
        placed.append(families[-1].child)
    return tuple(families)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("table_cost", [FREE, TableCost(0.002, 40), TableCost(0.0, 12)], ids=str)
def test_greedy_without_noise_is_the_brute_force_greedy(degree: int, table_cost: TableCost) -> None:
    """All families within degree and cap are considered, and the best one taken, every time."""
    for seed in range(5):
        source = _source([2, 3, 2, 4, 2], 400, seed)
        for score in (r_score(400), mutual_information(400, binary=False)):
            network = greedy_network(
                _curator(source, Budget.unlimited()),
                Budget.unlimited(),
                score=score,
                table_cost=table_cost,
                degree=degree,
            )
            assert _exact_greedy(source, score, table_cost, degree) == network.families


def test_a_table_is_looked_at_once() -> None:
    """Along the whole search no family is scored twice, and no other table is touched."""
    source = WatchedSource(_source([2, 3, 2, 4, 2], 300, 1))
    curator = _curator(source, Budget.pure(1))
    network = greedy_network(curator, Budget.pure(1), score=r_score(300), table_cost=FREE, degree=3)
    assert len(set(source.scored)) == len(source.scored)
    possible = {
        family.attributes
        for place in range(1, 5)
        for family in _families(source.domain, network.order[:place], degree=3, table_cost=FREE)
    }
    assert possible == set(source.scored)


def test_greedy_spends_exactly_its_budget() -> None:
    """d − 1 choices of equal cost, and nothing left."""
    grant = Grant(Budget.pure("3/10"))
    curator = _curator(_source([2, 2, 2, 2], 100, 1), grant)
    greedy_network(curator, Budget.pure("3/10"), score=r_score(100), table_cost=FREE, degree=2)
    assert 3 == len(grant.charges)
    assert 0 == grant.remaining.amount


def test_the_affordable_degree_shrinks_with_the_attributes() -> None:
    """Four parents for a few attributes, one for thousands."""
    assert [4, 4, 3, 2, 1, 1] == [affordable_degree(d) for d in (1, 20, 25, 50, 100, 5000)]


def _pairs(domain: Domain, values: Sequence[float], noise: float = 0.0) -> PairScores:
    names = map(frozenset, itertools.combinations(domain, 2))
    return PairScores(domain, dict(zip(names, values, strict=True)), noise)


def _trees(count: int) -> Iterator[list[tuple[int, int]]]:
    """All labelled trees, from their Prüfer sequences."""
    if count == 1:
        yield []
        return
    for sequence in itertools.product(range(count), repeat=count - 2):
        degrees = [1 + sequence.count(node) for node in range(count)]
        edges = []
        for node in sequence:
            leaf = degrees.index(1)
            edges.append((leaf, node))
            degrees[leaf] -= 1
            degrees[node] -= 1
        first, second = (node for node in range(count) if degrees[node] == 1)
        yield [*edges, (first, second)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_spanning_tree_is_the_best_of_all_trees(count: int) -> None:
    """With exact scores and free cells no labelled tree has a larger sum."""
    assert max(count, 1) ** max(count - 2, 0) == sum(1 for _ in _trees(count))
    domain = Domain({f"a{i}": 2 for i in range(count)})
    names = domain.attributes
    for seed in range(10):
        values = np.random.default_rng(seed).random(count * (count - 1) // 2)
        pairs = _pairs(domain, values.tolist())
        best = max(sum(pairs[names[a], names[b]] for a, b in tree) for tree in _trees(count))
        tree = spanning_tree(pairs, FREE)
        found = sum(pairs.between(family.child, family.parents) for family in tree)
        assert best == pytest.approx(found)
        assert count - 1 == sum(len(family.parents) for family in tree)
        assert tree.degree <= 1


def test_the_spanning_tree_takes_another_edge_where_the_best_is_too_large() -> None:
    """A child whose best table is beyond the cap gets the best one that is not."""
    domain = Domain({"small": 2, "wide": 50, "child": 10})
    # small–wide, small–child, wide–child; the last is the best and has 500 cells.
    pairs = _pairs(domain, [1.0, 2.0, 9.0])
    tree = spanning_tree(pairs, TableCost(0.0, 100))
    expected = {Family("small"), Family("child", ("small",)), Family("wide", ("small",))}
    assert expected == set(tree)


def test_the_spanning_tree_drops_edges_that_noise_outweighs() -> None:
    """Scores that are as noise alone would be are nothing."""
    domain = Domain({"a": 2, "b": 2, "c": 2})
    pairs = _pairs(domain, [40.0, 4.0, 3.0], noise=10.0)
    assert {Family("a"), Family("b", ("a",)), Family("c")} == set(spanning_tree(pairs, FREE))
    assert {Family("a"), Family("b"), Family("c")} == set(
        spanning_tree(pairs, TableCost(7.0, 2**31))
    )


# Worked by hand. Sizes A 2, B 3, C 4, D 2, E 5; scores of pairs:
#        A   B   C   D
#   B   30
#   C   16  12
#   D   10  36   8
#   E   20   9  40  12
BY_HAND = Domain({"A": 2, "B": 3, "C": 4, "D": 2, "E": 5})
#             AB    AC    AD    AE    BC    BD    BE   CD   CE    DE
HAND_SCORES = [30.0, 16.0, 10.0, 20.0, 12.0, 36.0, 9.0, 8.0, 40.0, 12.0]


def test_the_capped_network_is_nists_worked_by_hand() -> None:
    """τ = 24. Algorithm 2, then Algorithm 3, step by step as on paper.

    Normalised: AB 30/6 = 5, AC 2, AD 2.5, AE 2, BC 1, BD 36/6 = 6, BE 0.6, CD 1, CE 2, DE 1.2.
    The best pair is BD; x = 24/6 = 4. To {B, D}: A 7.5, C 2, E 1.8. A: 4/2 > 1, kept, x = 2.
    To {B, D, A}: C 4, E 3.8. C: 2/4 ≤ 1, tried and left. E: 2/5 ≤ 1, left. The head is B, D, A.
    Algorithm 3. C: by score A 16, B 12, D 8; A: 8 cells, then B: 24, then D: 48 is too many: 28.
    E: A 20, D 12, B 9; A: 10 cells, D: 20, B: 60 is too many: 32. E comes first. Then C again:
    E 40 first: 20 cells, A: 40 is too many, and so are B and D: 40.
    """
    network = capped_network(_pairs(BY_HAND, HAND_SCORES), most_cells=24)
    expected = (
        Family("B"),
        Family("D", ("B",)),
        Family("A", ("B", "D")),
        Family("E", ("A", "D")),
        Family("C", ("E",)),
    )
    assert expected == network.families


@pytest.mark.parametrize(("most", "parents"), [(12, ("D", "B")), (13, ("B", "D"))])
def test_the_head_keeps_what_is_strictly_below_the_cap(most: int, parents: Attributes) -> None:
    """Algorithm 2 asks for x/|A| > 1: a head of 12 cells needs τ above 12.

    Algorithm 3 allows 12 cells, but takes parents by score, D before B; the head has B before D.
    """
    scores = [10.0, 16.0, 30.0, 20.0, 12.0, 60.0, *HAND_SCORES[6:]]
    network = capped_network(_pairs(BY_HAND, scores), most_cells=most)
    assert (Family("B"), Family("D", ("B",)), Family("A", parents)) == network.families[:3]


def test_the_capped_network_leaves_out_parents_of_negative_score() -> None:
    """The largest sum of scores has no negative part."""
    domain = Domain({"a": 2, "b": 2, "c": 5})
    network = capped_network(_pairs(domain, [9.0, -3.0, 2.0]), most_cells=11)
    assert (Family("a"), Family("b", ("a",)), Family("c", ("b",))) == network.families


def test_no_pair_below_the_cap_leaves_everybody_alone() -> None:
    """A budget that supports no table supports no edge."""
    network = capped_network(_pairs(BY_HAND, HAND_SCORES), most_cells=3)
    assert {Family(a) for a in BY_HAND} == set(network)


def test_what_all_pairs_show_counts_where_a_single_score_is_lost_in_noise() -> None:
    """Scores of 10 under noise of 10: of many the mean is sure, of one alone nothing is."""
    many = Domain({f"a{i}": 2 for i in range(12)})
    spread = [0.0, 20.0] * 33
    sure = _pairs(many, spread, noise=10.0).discounted()
    assert all(score > 8 for score in sure.scores.values())
    alone = _pairs(Domain({"a": 2, "b": 2}), [10.0], noise=10.0).discounted()
    assert all(score <= 0 for score in alone.scores.values())


def test_few_pairs_that_stand_out_are_not_drawn_to_the_others() -> None:
    """One pair of 66 is tied; it is discounted by the largest of twelve draws of noise at most."""
    many = Domain({f"a{i}": 2 for i in range(12)})
    values = [100.0, *[-10.0, 10.0] * 32, 0.0]
    sure = _pairs(many, values, noise=10.0).discounted()
    scores = [*sure.scores.values()]
    assert scores[0] >= 100 - 10 * math.sqrt(2 * math.log(12))
    assert max(scores[1:]) < 10


def test_the_weighed_network_weighs_scores_against_cells() -> None:
    """Worked by hand, price 1: edges that add more score than cells, and no others."""
    domain = Domain({"a": 2, "b": 2, "c": 2})
    # ab 10, ac 7, bc 9. b has the largest sum. Then a: 10 − 4 = 6 against c: 9 − 4 = 5; a is
    # next. c: b 9 − 4 = 5; with a too: 16 − 8 = 8.
    pairs = _pairs(domain, [10.0, 7.0, 9.0])
    both = (Family("b"), Family("a", ("b",)), Family("c", ("b", "a")))
    assert both == priced_network(pairs, TableCost(1.0, 2**31), degree=3).families
    one = (Family("b"), Family("a", ("b",)), Family("c", ("b",)))
    assert one == priced_network(pairs, TableCost(1.0, 2**31), degree=1).families
    # At price 2: a 10 − 8, c 9 − 8; the second parent would add 7 for 8 more.
    assert one == priced_network(pairs, TableCost(2.0, 2**31), degree=3).families
    # At price 3 no edge is worth its 12.
    assert 0 == priced_network(pairs, TableCost(3.0, 2**31), degree=3).degree


def test_the_weighed_network_drops_edges_that_noise_outweighs() -> None:
    """What noise alone may have added is taken off every score."""
    domain = Domain({"a": 2, "b": 2, "c": 2})
    pairs = _pairs(domain, [40.0, 4.0, 3.0], noise=10.0)
    network = priced_network(pairs, FREE, degree=2)
    assert 1 == sum(len(family.parents) for family in network)
    assert 3 == sum(
        len(f.parents) for f in priced_network(_pairs(domain, [40, 4, 3]), FREE, degree=2)
    )


@st.composite
def _scored_pairs(draw: st.DrawFn) -> PairScores:
    counts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    domain = Domain({f"a{i}": size for i, size in enumerate(counts)})
    scores = st.floats(-100, 1000)
    length = len(counts) * (len(counts) - 1) // 2
    values = draw(st.lists(scores, min_size=length, max_size=length))
    return _pairs(domain, values, draw(st.floats(0, 50)))


@settings(max_examples=examples(200))
@given(_scored_pairs(), st.integers(1, 100), st.floats(0, 10), st.integers(1, 4))
def test_every_learner_gives_a_network_of_the_domain(
    pairs: PairScores, most: int, price: float, degree: int
) -> None:
    """Whatever the scores: exactly the domain's attributes, within degree and cap."""
    domain, table_cost = pairs.domain, TableCost(price, most)
    weighed = priced_network(pairs, table_cost, degree=degree)
    tree = spanning_tree(pairs, table_cost)
    capped = capped_network(pairs, most_cells=most)
    assert weighed.degree <= degree
    assert tree.degree <= 1
    for network in (weighed, tree, capped):
        assert set(domain) == set(network.order)
        assert len(domain) == len(network.families)
        assert Network(network.families) == network
        assert all(_within(domain, family, table_cost) for family in network)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_attributes_are_enough(count: int) -> None:
    """One, two or three attributes have a network by every learner, from rows on."""
    source = _source([2, 3, 2][:count], 50, 2)
    unit = Unit(Neighbours.ADD_REMOVE)
    curator = Curator(source, unit, Grant(Budget.zcdp(2)))
    score = total_variation()
    greedy = greedy_network(curator, Budget.zcdp(1), score=score, table_cost=FREE, degree=2)
    pairs = noisy_pair_scores(curator, Budget.zcdp(1), score, most_cells=10**6)
    assert count * (count - 1) // 2 == len(pairs.scores)
    for network in (
        greedy,
        priced_network(pairs, FREE, degree=2),
        capped_network(pairs, most_cells=100),
        spanning_tree(pairs, FREE),
    ):
        assert set(source.domain) == set(network.order)


def test_pair_scores_come_with_their_noise() -> None:
    """Without noise they are the scores themselves, and nothing is taken off."""
    source = _source([2, 3, 4], 200, 5)
    curator = Curator(source, Unit(Neighbours.ADD_REMOVE), Grant(Budget.unlimited()))
    pairs = noisy_pair_scores(curator, Budget.unlimited(), total_variation(), most_cells=10**6)
    [exact] = source.score([("a0", "a2")], total_variation().kernel)
    assert exact == pytest.approx(pairs["a2", "a0"], abs=1e-4)
    assert 0 == pairs.noise


def _share_with_parents(table_cost: TableCost) -> float:
    """How often the second of two unrelated attributes gets the first for a parent."""
    codes: dict[str, Codes] = {
        "a": np.tile(np.arange(2, dtype=np.uint8), 200),
        "b": np.repeat(np.arange(2, dtype=np.uint8), 200),
    }
    source = MemorySource(Table(Domain({"a": 2, "b": 2}), codes, 400))
    found = 0
    for _ in range(300):
        curator = Curator(source, Unit(Neighbours.ADD_REMOVE), Grant(Budget.pure(1)))
        network = greedy_network(
            curator, Budget.pure(1), score=total_variation(), table_cost=table_cost, degree=1
        )
        found += network.degree
    return found / 300


@pytest.mark.slow
def test_parents_must_be_worth_more_than_the_noise_of_the_choice() -> None:
    """Three scales of noise are taken off: a useless parent is chosen with chance ½·e⁻³."""
    assert 0.35 < _share_with_parents(TableCost(0.0, 10**6)) < 0.65
    assert _share_with_parents(TableCost(1e-9, 10**6)) < 0.12


def test_pairs_too_large_are_not_asked_about() -> None:
    """They would only add to the noise of all others, and count as nothing."""
    domain = Domain({"a": 2, "b": 3, "c": 50})
    codes: dict[str, Codes] = {name: np.zeros(9, np.uint8) for name in domain}
    grant = Grant(Budget.zcdp(1))
    source = MemorySource(Table(domain, codes, 9))
    curator = Curator(source, Unit(Neighbours.ADD_REMOVE), grant)
    pairs = noisy_pair_scores(curator, Budget.zcdp(1), total_variation(), most_cells=20)
    assert [{"a", "b"}] == [set(pair) for pair in pairs.scores]
    assert 0.0 == pairs["a", "c"]
    assert "1 sets" in grant.charges[0].question


@pytest.mark.parametrize("theta", [1, 4])
def test_a_useful_table_has_theta_times_its_noise_in_a_cell(theta: int) -> None:
    """NIST's τ = n*/(4σ̃): three tables share ρ = 3/200, so σ = √(1/(2·1/200)) = 10 rows."""
    domain, unit = Domain(dict.fromkeys("abcd", 2)), Unit(Neighbours.ADD_REMOVE)
    found = by_usefulness(domain, Budget.zcdp(Fraction(3, 200)), unit, rows=4_001, theta=theta)
    assert found.noise == pytest.approx(10)
    assert 4_001 // (theta * 10) == found.most_cells
    assert [True, False] == [found.allows(found.most_cells + more) for more in (0, 1)]
