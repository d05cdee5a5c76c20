"""The genetic network: orders and parent sets that mutate, cross over and are selected.

Source: SBA section III. An individual has two chromosomes: an order of the attributes, and for
every attribute a set of possible parents; those that come before it count. The search sees nothing
but pair scores, which are asked for once; noisy ones make it private at no further cost.

Where this differs: parents whose score could be noise only are not candidates; of a set, as
many parents count as a table's bound and price allow, best first; orders that restrictions rule out
are never made, so that every individual is a network; of equals one is selected; and there are
several populations, and a rival.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.chromosomes import Genes, flip, places_in, swap
from understudy.methods.structure.pairwise import PairScores
from understudy.methods.structure.populations import Population, Problem
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Network

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
        patience: a population is given up after this many generations without a fitter
            individual.
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
        """Say how likely each mutation is."""
        return 1 / attributes if self.mutation is None else self.mutation


def genetic_network(
    pairs: PairScores,
    table_cost: TableCost,
    *,
    degree: int,
    restrictions: Restrictions = NONE,
    search: GeneticSearch | None = None,
) -> Network:
    """The fittest network of at most `degree` parents that a genetic search finds.

    Fitness is the sum of the scores of all edges, less what the noise of the tables costs. Same
    scores and same search, same network.
    """
    names = search_names(pairs.domain, table_cost.most_cells)
    problem = Problem.of(
        pairs.discounted(), names, table_cost=table_cost, degree=degree, restrictions=restrictions
    )
    search = search or GeneticSearch()
    found = _fittest(problem, search)
    return problem.network(found.joined(problem.grown()).best(1) if search.rival else found)


def search_names(domain: Domain, most_cells: int) -> dict[str, str]:
    """The one name that each attribute has in all tables of the search.

    Where it has coarser copies, the finest of at most √τ codes, so that the table of any two
    attributes has at most τ cells, or else the coarsest.
    """
    most = math.isqrt(max(most_cells, 1))
    return {a: _finest(domain.levels(a), domain, most) for a in domain}


def _finest(levels: Attributes, domain: Domain, most: int) -> str:
    return next((name for name in levels if domain[name] <= most), levels[-1])


def _fittest(problem: Problem, search: GeneticSearch) -> Population:
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
    problem: Problem, search: GeneticSearch, generator: np.random.Generator, most: int
) -> tuple[Population, int]:
    """The fittest individual of one population, and how many generations it took."""
    orders = problem.first_orders(search.population, generator)
    sets = problem.first_sets(places_in(orders), generator)
    elite = Population.of(problem, orders, sets).best(search.selected)
    unmoved = spent = 0
    while spent < most and unmoved < search.patience:
        before = elite.fitness[0]
        young = _descendants(problem, elite, search, generator)
        elite = elite.joined(young).best(search.selected)
        unmoved = 0 if elite.fitness[0] > before else unmoved + 1
        spent += 1
    return elite.best(1), spent


def _descendants(
    problem: Problem, elite: Population, search: GeneticSearch, generator: np.random.Generator
) -> Population:
    """Next Generation, without the elite: Crossover, Order Flip and Swap."""
    rate, count = search.rate(len(problem.domain)), search.population - len(elite.fitness)
    first = generator.integers(0, len(elite.fitness), count)
    orders, sets = elite.orders[first], _crossed(elite.sets, first, rate, generator)
    places = elite.places[first]
    flip(orders, places, problem.before, rate, generator)
    swap(sets, places, problem.fixed, problem.choices, rate, generator)
    return Population.of(problem, orders, sets)


def _crossed(
    sets: Genes, first: npt.NDArray[np.int64], rate: float, generator: np.random.Generator
) -> Genes:
    """Crossover, for some: the first j sets of one individual, the last d − j of another."""
    count, attributes = first.size, sets.shape[1]
    crossing = generator.random(count) < rate
    second = generator.integers(0, len(sets), count)
    cuts = np.where(crossing, generator.integers(0, attributes + 1, count), attributes)
    crossed = sets[first]
    for place in np.flatnonzero(crossing).tolist():
        crossed[place, cuts[place] :] = sets[second[place], cuts[place] :]
    return crossed
