"""The genetic network: orders and parent sets that mutate, cross over and are selected.

Source: SBA section III. An individual has two chromosomes: an order of the attributes, and for
every attribute a set of possible parents; those that come before it count. The search sees nothing
but pair scores, which are asked for once; noisy ones make it private at no further cost.

Where this differs: parents whose score noise alone could have made are no candidates; of a set, as
many parents count as a table's bound and price allow, best first; orders that restrictions rule out
are never made, so that every individual is a network; of equals one is selected; and there are
several populations, and a rival.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Attributes, Domain
from understudy.errors import UsageError
from understudy.learn.chromosomes import Reals, Truths, Whole, evaluate, flip, places_in, swap
from understudy.learn.pairwise import PairScores, weighed_network
from understudy.learn.restrict import NONE, Restrictions
from understudy.learn.weighing import Weighing
from understudy.network import Family, Network

# The most parents unless told: what SBA takes on its largest table.
USUAL_DEGREE = 3


@dataclass(frozen=True)
class GeneticSearch:
    """How long and how widely to search.

    Attributes:
        population: P, the individuals of a generation.
        selected: S, how many of them, the fittest, live on and have descendants.
        mutation: r, the chance of each mutation; 1/d unless given.
        generations: e, how many at the most, in all starts together.
        patience: after so many generations without a fitter individual a population is given up.
        starts: how many populations are tried, one after another; the paper has one. Any may
            get stuck, and rarely do all.
        rival: whether the network that grows from the same scores parent by parent is taken where
            it is fitter than all that the search found; the paper's search has no rival.
        seed: of the search alone. It is public, and takes no part in any noise.
    """

    population: int = 200
    selected: int = 10
    mutation: float | None = None
    generations: int = 2000
    patience: int = 100
    starts: int = 8
    rival: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.selected <= self.population:
            raise UsageError(
                f"{self.selected} of a population of {self.population} cannot be selected; "
                "select at least one and at most all"
            )
        if self.mutation is not None and not 0 <= self.mutation <= 1:
            raise UsageError(f"mutation is {self.mutation}; it is a chance, give 0 to 1")
        if self.generations < 0 or min(self.patience, self.starts) < 1:
            raise UsageError(
                f"{self.generations} generations, patience {self.patience}, {self.starts} starts: "
                "no search; give no generations or more, and at least 1 of the others"
            )

    def rate(self, attributes: int) -> float:
        """The chance of each mutation."""
        return 1 / attributes if self.mutation is None else self.mutation


def genetic_network(
    pairs: PairScores,
    weighing: Weighing,
    *,
    degree: int,
    restrictions: Restrictions = NONE,
    search: GeneticSearch | None = None,
) -> Network:
    """The fittest network of at most `degree` parents that a genetic search finds.

    Fitness is the sum of the scores of all edges, less what the noise of the tables costs. Same
    scores and same search, same network.
    """
    names = search_names(pairs.domain, weighing.most_cells)
    problem = _Problem.of(pairs.discounted(), names, weighing, degree, restrictions)
    search = search or GeneticSearch()
    found = _fittest(problem, search)
    return problem.network(found.joined(problem.grown()).best(1) if search.rival else found)


def search_names(domain: Domain, most_cells: int) -> dict[str, str]:
    """The one name under which each attribute stands in all tables of the search.

    Where it has coarser copies, the finest of at most √τ codes, so that the table of any two
    attributes has at most τ cells, or else the coarsest.
    """
    most = math.isqrt(max(most_cells, 1))
    return {a: _finest(domain.levels(a), domain, most) for a in domain}


def _finest(levels: Attributes, domain: Domain, most: int) -> str:
    return next((name for name in levels if domain[name] <= most), levels[-1])


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is searched, in numbers; attributes by their place in the domain.

    Attributes:
        scores: of pairs, less what noise alone may have given them.
        names: under which each of them stands in tables.
        gains: the score of every parent (line) for every child.
        candidate: the edges that may be and are worth something.
        required: the edges that must be.
        before: which attribute (line) must come before which.
        sizes: the codes of every attribute, by its name in tables.
        weighing: what cells cost.
        degree: how many parents a set has.
        restrictions: what networks may look like.
    """

    scores: PairScores
    names: Mapping[str, str]
    gains: Reals
    candidate: Truths
    required: Truths
    before: Truths
    sizes: Reals
    weighing: Weighing
    degree: int
    restrictions: Restrictions

    @classmethod
    def of(
        cls,
        scores: PairScores,
        names: Mapping[str, str],
        weighing: Weighing,
        degree: int,
        restrictions: Restrictions,
    ) -> _Problem:
        """The problem that scores and restrictions make."""
        domain = scores.domain
        attributes = domain.attributes
        gains = _table(lambda p, c: scores[names[p], names[c]], attributes, np.float64)
        required = _table(lambda p, c: p in restrictions.parents(c), attributes, np.bool_)
        allowed = _table(restrictions.allows, attributes, np.bool_)
        tiers = np.array([restrictions.tier(a) for a in attributes])
        sizes = np.array([domain[names[a]] for a in attributes], float)
        fits = sizes[:, None] * sizes <= weighing.most_cells
        candidate = allowed & fits & (gains > 0) & ~required
        before = required | (tiers[:, None] < tiers)
        most = max(min(degree, len(domain) - 1), int(required.sum(axis=0).max(initial=0)))
        numbers = (gains, candidate, required, before, sizes)
        return cls(scores, names, *numbers, weighing, most, restrictions)

    @property
    def domain(self) -> Domain:
        """The attributes."""
        return self.scores.domain

    @cached_property
    def fixed(self) -> Whole:
        """How many parents of every attribute are required; they stand first in its set."""
        return np.asarray(self.required.sum(axis=0), np.int32)

    @cached_property
    def choices(self) -> Whole:
        """The candidates of every child, a line each, filled up with −1."""
        return _lines([np.flatnonzero(column) for column in self.candidate.T])

    @property
    def edges(self) -> int:
        """How many pairs are candidates, one way or the other."""
        return int(np.triu(self.candidate | self.candidate.T).sum())

    def first_orders(self, count: int, generator: np.random.Generator) -> Whole:
        """Random orders that restrictions allow."""
        return np.array([self._order(generator) for _ in range(count)], np.int32)

    def _order(self, generator: np.random.Generator) -> list[int]:
        order = generator.permutation(len(self.domain)).tolist()
        return list(_repaired(order, self.before)) if self.before.any() else order

    def first_sets(self, places: Whole, generator: np.random.Generator) -> Whole:
        """Random sets: required parents, then candidates that come before, then later ones."""
        count, attributes = places.shape
        sets = np.full((count, attributes, self.degree), -1, np.int32)
        for child in range(attributes):
            must = np.flatnonzero(self.required[:, child])
            sets[:, child, : must.size] = must
            may = np.flatnonzero(self.candidate[:, child])
            keys = generator.random((count, may.size)) + (places[:, may] > places[:, [child]])
            drawn = may[np.argsort(keys, axis=1, kind="stable")][:, : self.degree - must.size]
            sets[:, child, must.size : must.size + drawn.shape[1]] = drawn
        return sets

    def grown(self) -> _Population:
        """The individual whose parents were added one by one, each as the best of its time."""
        names = set(self.names.values())
        known = {pair: s for pair, s in self.scores.scores.items() if pair <= names}
        network = weighed_network(
            PairScores(self.domain, known, 0.0),
            self.weighing,
            degree=self.degree,
            restrictions=self.restrictions,
        )
        number = {attribute: place for place, attribute in enumerate(self.domain)}
        orders = np.array([[number[child] for child in network.order]], np.int32)
        sets = np.full((1, len(number), self.degree), -1, np.int32)
        for family in network:
            parents = [number[parent] for parent in family.parents]
            sets[0, number[family.child], : len(parents)] = parents
        return _Population.of(self, orders, sets)

    def evaluate(self, sets: Whole, places: Whole) -> tuple[Reals, Truths]:
        """The fitness of individuals, and which parents of their sets count."""
        most, price = float(self.weighing.most_cells), self.weighing.price
        kept = np.zeros(sets.shape, np.bool_)
        fitness = evaluate(sets, places, self.fixed, self.gains, self.sizes, most, price, kept)
        return fitness, kept

    def network(self, individual: _Population) -> Network:
        """The network that an individual stands for."""
        _, kept = self.evaluate(individual.sets, individual.places)
        return Network(tuple(self._families(individual.orders[0], individual.sets[0], kept[0])))

    def _families(self, order: Whole, sets: Whole, kept: Truths) -> Iterator[Family]:
        attributes = self.domain.attributes
        for child in order.tolist():
            parents = [attributes[p] for p in sets[child][kept[child]].tolist()]
            axes = [self.names[a] for a in (*parents, attributes[child])]
            yield Family.over(axes, self.domain) if parents else Family(attributes[child])


def _table(value: Callable[[str, str], Any], attributes: Attributes, kind: type[Any]) -> Any:
    """A number for every parent (line) and child; nothing for an attribute and itself."""
    lines = [[value(p, c) if p != c else 0 for c in attributes] for p in attributes]
    return np.array(lines, kind)


def _lines(lists: Sequence[npt.NDArray[np.int64]]) -> Whole:
    """Lists of unequal length as lines of one array, filled up with −1."""
    width = max((len(each) for each in lists), default=0)
    return np.array([[*each, *[-1] * (width - len(each))] for each in lists], np.int32)


def _repaired(order: list[int], before: Truths) -> Iterator[int]:
    """The order with everything delayed until what must come before it is there."""
    waiting = before.sum(axis=0)
    left = list(order)
    while left:
        ready = next(attribute for attribute in left if waiting[attribute] == 0)
        left.remove(ready)
        waiting = waiting - before[ready]
        yield ready


@dataclass(frozen=True, eq=False)
class _Population:
    """Individuals, fittest first once they are ranked: orders, sets, places, and fitness."""

    orders: Whole
    sets: Whole
    places: Whole
    fitness: Reals

    @classmethod
    def of(cls, problem: _Problem, orders: Whole, sets: Whole) -> _Population:
        """Individuals with their places and fitness."""
        places = places_in(orders)
        return cls(orders, sets, places, problem.evaluate(sets, places)[0])

    def best(self, count: int) -> _Population:
        """The fittest, of equals the earliest alone: copies of one would soon be all there is."""
        chosen = np.unique(-self.fitness, return_index=True)[1][:count]
        parts = (self.orders, self.sets, self.places, self.fitness)
        return _Population(*(part[chosen] for part in parts))  # type: ignore[arg-type]

    def joined(self, other: _Population) -> _Population:
        """These and the others."""
        return _Population(
            np.concatenate([self.orders, other.orders]),
            np.concatenate([self.sets, other.sets]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.fitness, other.fitness]),
        )


def _fittest(problem: _Problem, search: GeneticSearch) -> _Population:
    """The fittest individual of all populations, alone."""
    generator = np.random.default_rng(search.seed)
    # Of one pair, or none, the first generation knows all there is.
    most = search.generations if problem.edges > 1 else 0
    best, spent = _evolved(problem, search, generator, most)
    for _ in range(1, search.starts):
        if spent >= most:
            break
        found, more = _evolved(problem, search, generator, most - spent)
        best, spent = best.joined(found).best(1), spent + more
    return best


def _evolved(
    problem: _Problem, search: GeneticSearch, generator: np.random.Generator, most: int
) -> tuple[_Population, int]:
    """The fittest individual of one population, and how many generations it took."""
    orders = problem.first_orders(search.population, generator)
    sets = problem.first_sets(places_in(orders), generator)
    elite = _Population.of(problem, orders, sets).best(search.selected)
    unmoved = spent = 0
    while spent < most and unmoved < search.patience:
        before = elite.fitness[0]
        young = _descendants(problem, elite, search, generator)
        elite = elite.joined(young).best(search.selected)
        unmoved = 0 if elite.fitness[0] > before else unmoved + 1
        spent += 1
    return elite.best(1), spent


def _descendants(
    problem: _Problem, elite: _Population, search: GeneticSearch, generator: np.random.Generator
) -> _Population:
    """Next Generation, without the elite: Crossover, Order Flip and Swap."""
    rate, count = search.rate(len(problem.domain)), search.population - len(elite.fitness)
    first = generator.integers(0, len(elite.fitness), count)
    orders, sets = elite.orders[first], _crossed(elite.sets, first, rate, generator)
    places = elite.places[first]
    flip(orders, places, problem.before, rate, generator)
    swap(sets, places, problem.fixed, problem.choices, rate, generator)
    return _Population.of(problem, orders, sets)


def _crossed(
    sets: Whole, first: npt.NDArray[np.int64], rate: float, generator: np.random.Generator
) -> Whole:
    """Crossover, for some: the first j sets of one individual, the last d − j of another."""
    count, attributes = first.size, sets.shape[1]
    crossing = generator.random(count) < rate
    second = generator.integers(0, len(sets), count)
    cuts = np.where(crossing, generator.integers(0, attributes + 1, count), attributes)
    crossed = sets[first]
    for place in np.flatnonzero(crossing).tolist():
        crossed[place, cuts[place] :] = sets[second[place], cuts[place] :]
    return crossed
