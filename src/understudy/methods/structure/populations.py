"""Individuals of the genetic search: what their chromosomes mean, and how fit they are.

A problem is what scores and restrictions say, in numbers; a population is orders and parent sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes, Domain
from understudy.methods.structure.chromosomes import (
    Genes,
    Truths,
    evaluate,
    places_in,
)
from understudy.methods.structure.pairwise import PairScores, priced_network
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family, Network
from understudy.system.arrays import Floats


@dataclass(frozen=True, eq=False)
class Problem:
    """The search in numbers; attributes by their place in the domain.

    Attributes:
        scores: of pairs, less what noise alone may have given them.
        names: that each of them has in tables.
        gains: the score of every parent (line) for every child.
        candidate: the edges that may be and are worth something.
        required: the edges that must be.
        before: which attribute (line) must come before which.
        sizes: the codes of every attribute, by its name in tables.
        table_cost: what cells cost.
        degree: how many parents a set has.
        restrictions: what networks may look like.
    """

    scores: PairScores
    names: Mapping[str, str]
    gains: Floats
    candidate: Truths
    required: Truths
    before: Truths
    sizes: Floats
    table_cost: TableCost
    degree: int
    restrictions: Restrictions

    @classmethod
    def of(
        cls,
        scores: PairScores,
        names: Mapping[str, str],
        *,
        table_cost: TableCost,
        degree: int,
        restrictions: Restrictions,
    ) -> Problem:
        """The problem that scores and restrictions make."""
        domain = scores.domain
        attributes = domain.attributes
        gains = _table(lambda p, c: scores[names[p], names[c]], attributes, np.float64)
        required = _table(lambda p, c: p in restrictions.parents(c), attributes, np.bool_)
        allowed = _table(restrictions.allows, attributes, np.bool_)
        tiers = np.array([restrictions.tier(a) for a in attributes])
        sizes = np.array([domain[names[a]] for a in attributes], float)
        fits = sizes[:, None] * sizes <= table_cost.most_cells
        candidate = allowed & fits & (gains > 0) & ~required
        before = required | (tiers[:, None] < tiers)
        most = max(min(degree, len(domain) - 1), int(required.sum(axis=0).max(initial=0)))
        numbers = (gains, candidate, required, before, sizes)
        return cls(scores, names, *numbers, table_cost, most, restrictions)

    @property
    def domain(self) -> Domain:
        """Return the attributes."""
        return self.scores.domain

    @cached_property
    def fixed(self) -> Genes:
        """How many parents of every attribute are required; they come first in its set."""
        return np.asarray(self.required.sum(axis=0), np.int32)

    @cached_property
    def choices(self) -> Genes:
        """The candidates of every child, a line each, filled up with −1."""
        return _lines([np.flatnonzero(column) for column in self.candidate.T])

    @property
    def edges(self) -> int:
        """How many pairs are candidates, one way or the other."""
        return int(np.triu(self.candidate | self.candidate.T).sum())

    def first_orders(self, count: int, generator: np.random.Generator) -> Genes:
        """Random orders that restrictions allow."""
        return np.array([self._order(generator) for _ in range(count)], np.int32)

    def _order(self, generator: np.random.Generator) -> list[int]:
        order = generator.permutation(len(self.domain)).tolist()
        return list(_repaired(order, self.before)) if self.before.any() else order

    def first_sets(self, places: Genes, generator: np.random.Generator) -> Genes:
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

    def grown(self) -> Population:
        """The individual whose parents were added one by one, each as the best of its time."""
        names = set(self.names.values())
        known = {pair: s for pair, s in self.scores.scores.items() if pair <= names}
        network = priced_network(
            PairScores(self.domain, known, 0.0),
            self.table_cost,
            degree=self.degree,
            restrictions=self.restrictions,
        )
        number = {attribute: place for place, attribute in enumerate(self.domain)}
        orders = np.array([[number[child] for child in network.order]], np.int32)
        sets = np.full((1, len(number), self.degree), -1, np.int32)
        for family in network:
            parents = [number[parent] for parent in family.parents]
            sets[0, number[family.child], : len(parents)] = parents
        return Population.of(self, orders, sets)

    def evaluate(self, sets: Genes, places: Genes) -> tuple[Floats, Truths]:
        """The fitness of individuals, and which parents of their sets count."""
        most, price = float(self.table_cost.most_cells), self.table_cost.price
        kept = np.zeros(sets.shape, np.bool_)
        fitness = evaluate(sets, places, self.fixed, self.gains, self.sizes, most, price, kept)
        return fitness, kept

    def network(self, individual: Population) -> Network:
        """The network that an individual stands for."""
        _, kept = self.evaluate(individual.sets, individual.places)
        return Network(tuple(self._families(individual.orders[0], individual.sets[0], kept[0])))

    def _families(self, order: Genes, sets: Genes, kept: Truths) -> Iterator[Family]:
        attributes = self.domain.attributes
        for child in order.tolist():
            parents = [attributes[p] for p in sets[child][kept[child]].tolist()]
            axes = [self.names[a] for a in (*parents, attributes[child])]
            yield Family.over(axes, self.domain) if parents else Family(attributes[child])


def _table(value: Callable[[str, str], Any], attributes: Attributes, kind: type[Any]) -> Any:
    """A number for every parent (line) and child; nothing for an attribute and itself."""
    lines = [[value(p, c) if p != c else 0 for c in attributes] for p in attributes]
    return np.array(lines, kind)


def _lines(lists: Sequence[npt.NDArray[np.int64]]) -> Genes:
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
class Population:
    """Individuals, fittest first once they are ranked: orders, sets, places, and fitness."""

    orders: Genes
    sets: Genes
    places: Genes
    fitness: Floats

    @classmethod
    def of(cls, problem: Problem, orders: Genes, sets: Genes) -> Population:
        """Individuals with their places and fitness."""
        places = places_in(orders)
        return cls(orders, sets, places, problem.evaluate(sets, places)[0])

    def best(self, count: int) -> Population:
        """The fittest, of equals the earliest alone: copies of one would soon be all there is."""
        chosen = np.unique(-self.fitness, return_index=True)[1][:count]
        parts = (self.orders, self.sets, self.places, self.fitness)
        return Population(*(part[chosen] for part in parts))  # type: ignore[arg-type]

    def joined(self, other: Population) -> Population:
        """These and the others."""
        return Population(
            np.concatenate([self.orders, other.orders]),
            np.concatenate([self.sets, other.sets]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.fitness, other.fitness]),
        )
