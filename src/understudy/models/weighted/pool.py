"""A pool: many coded rows of a network, each with a weight. It is made up, and costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.hierarchy import Groups
from understudy.models.distribution import CodedRows
from understudy.system.arrays import Floats
from understudy.system.jit import kernel_after

RowCells = npt.NDArray[np.uint16 | np.uint32]
"""For every row of a pool, the number of its cell in a table."""


@dataclass(frozen=True, eq=False)
class Pool:
    """Coded rows with weights.

    Attributes:
        domain: the attributes of the rows, and their coarser copies.
        codes: the rows.
        weights: one for each row; together they are the number of rows that the pool stands for.
    """

    domain: Domain
    codes: CodedRows
    weights: Floats

    @classmethod
    def of(cls, domain: Domain, codes: CodedRows, total: float) -> Pool:
        """Return a pool whose rows weigh alike."""
        rows = len(next(iter(codes.values()), ()))
        return cls(domain, codes, np.full(rows, total / max(rows, 1)))

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def total(self) -> float:
        """The number of rows that the pool stands for."""
        return float(self.weights.sum())

    @property
    def effective(self) -> float:
        """How many rows of equal weight would be as informative (Kish 1965)."""
        squares = float((self.weights**2).sum())
        return self.total**2 / squares if squares else 0.0

    def places(self, attributes: Attributes) -> RowCells:
        """For every row, the number of its cell in the table of some attributes, or copies."""
        narrow = self.domain.cells(attributes) <= 2**16
        found: RowCells = np.zeros(len(self), np.uint16 if narrow else np.uint32)
        for name in attributes:
            codes, size = self.codes[self.domain.base(name)], self.domain[name]
            if name in self.domain.coarser:
                _extend_coarse(found, codes, self.domain.coarser[name].groups, size)
            else:
                _extend(found, codes, size)
        return found

    def project(self, attributes: Attributes, /) -> Floats:
        """The summed weights of every cell of a table."""
        masses = np.zeros(self.domain.cells(attributes))
        add_weights(self.places(attributes), self.weights, masses)
        return masses.reshape(self.domain.shape(attributes))

    def with_weights(self, weights: Floats) -> Pool:
        """The same rows with other weights."""
        return replace(self, weights=weights)

    def resampled(self, rows: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """Numbers of rows, each as often as its weight says, rounded systematically.

        Rows are taken in the order of their codes, so that every part of the pool gets the number
        of rows that it stands for, to less than one.
        """
        order = self._ordered
        return np.asarray(order[_systematic(self.weights[order], rows, generator)])

    def chosen(
        self,
        rows: int,
        generator: np.random.Generator,
        *,
        most: Floats | None = None,
        ordered: bool = True,
    ) -> npt.NDArray[np.int64]:
        """Numbers of rows, each as often as its weight says, but within bounds.

        Args:
            rows: how many.
            generator: what the draws are made from.
            most: for every row, how often it and its equals together may be expected; each row
                once unless given.
            ordered: whether rows are taken in the order of their codes, so that every part of the
                pool gets the number of rows that it stands for; in random order otherwise.
        """
        order = self._ordered if ordered else generator.permutation(len(self))
        bounds = np.ones(len(self)) if most is None else most / self.copies[self.equals]
        expected = bounded_numbers(self.weights, rows, bounds)
        return np.asarray(order[_systematic(expected[order], rows, generator)])

    @cached_property
    def equals(self) -> npt.NDArray[np.int64]:
        """For every row, a number that it shares with all rows of the same codes."""
        order = self._ordered
        differs = np.zeros(len(self), np.bool_)
        for codes in self.codes.values():
            differs[1:] |= codes[order[1:]] != codes[order[:-1]]
        found = np.empty(len(self), np.int64)
        found[order] = differs.cumsum()
        return found

    @cached_property
    def copies(self) -> npt.NDArray[np.int64]:
        """For every such number, how many rows share it."""
        return np.bincount(self.equals)

    @cached_property
    def _ordered(self) -> npt.NDArray[np.int64]:
        return np.lexsort([self.codes[name] for name in reversed(self.domain.attributes)])


def bounded_numbers(weights: Floats, rows: int, most: Floats) -> Floats:
    """How often each row is expected: in proportion to weights, within bounds, n rows together.

    Where the bounds leave room for fewer rows than that, they are the weights as they are.
    """
    if float(most[weights > 0].sum()) <= rows:
        return weights
    seen = weights > float(weights.max()) * 1e-200
    reached_at = np.divide(most, weights, out=np.full(len(weights), np.inf), where=seen)
    order = reached_at.argsort()
    # With the first k rows at their bounds, the others share in proportion what is left.
    left = rows - np.concatenate([[0.0], most[order].cumsum()[:-1]])
    behind = weights[order][::-1].cumsum()[::-1]
    share = np.divide(left, behind, out=np.zeros(len(weights)), where=behind > 0)
    first = int((share <= reached_at[order]).argmax())
    return np.asarray(np.minimum(weights * share[first], most))


def _systematic(
    weights: Floats, rows: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """RowCells of rows, each taken as often as its weight says, rounded up or down."""
    reached = weights.cumsum()
    points = (np.arange(rows) + generator.random()) * (reached[-1] / max(rows, 1))
    # Rounding may carry a point beyond the last row that has a weight.
    last = int(np.searchsorted(reached, reached[-1]))
    return np.asarray(np.minimum(np.searchsorted(reached, points, side="right"), last))


def rows_of(codes: CodedRows, numbers: npt.NDArray[np.int64]) -> CodedRows:
    """Return the rows with these numbers."""
    return {attribute: held[numbers] for attribute, held in codes.items()}


def joined(parts: Sequence[CodedRows]) -> CodedRows:
    """Rows one part after the other."""
    return {a: np.concatenate([part[a] for part in parts]) for a in parts[0]}


class InVectors:
    """The loops below in vectors of NumPy: the same results, to the last bit."""

    @staticmethod
    def extend(places: RowCells, codes: Codes, size: int) -> None:
        """Mixed radix: place ← place · size + code."""
        # As in the loop, a size of one too many bits is cut: it multiplies nothing but zeros.
        places *= np.asarray(size).astype(places.dtype)
        places += codes

    @staticmethod
    def extend_coarse(places: RowCells, codes: Codes, groups: Groups, size: int) -> None:
        """Extend places by the group of every code."""
        places *= np.asarray(size).astype(places.dtype)
        places += groups.astype(places.dtype)[codes]

    @staticmethod
    def add_weights(places: RowCells, weights: Floats, masses: Floats) -> None:
        """Add the weight of every row to its cell."""
        masses += np.bincount(places, weights, masses.size)

    @staticmethod
    def multiply_weights(places: RowCells, weights: Floats, factors: Floats) -> None:
        """Multiply the weight of every row by the factor of its cell."""
        weights *= factors[places]

    @staticmethod
    def multiply_and_add(
        before: RowCells, factors: Floats, places: RowCells, weights: Floats, masses: Floats
    ) -> None:
        """Multiply weights by the factors of one table and add them to the cells of the next."""
        InVectors.multiply_weights(before, weights, factors)
        cells, fourths = masses.size, places.size - places.size % 4
        if 4 * cells > places.size:
            fourths = 0
        if fourths:
            first, second, third, fourth = (
                np.bincount(places[lane:fourths:4], weights[lane:fourths:4], cells)
                for lane in range(4)
            )
            masses += first + second + third + fourth
        np.add.at(masses, places[fourths:], weights[fourths:])

    @staticmethod
    def add_values(places: RowCells, values: Floats, sums: Floats) -> None:
        """Add to every row's sum the value of its cell."""
        sums += values[places]


@kernel_after(InVectors.extend)
def _extend(places: RowCells, codes: Codes, size: int) -> None:
    """Mixed radix: place ← place · size + code."""
    for i in range(codes.size):
        places[i] = places[i] * size + codes[i]


@kernel_after(InVectors.extend_coarse)
def _extend_coarse(places: RowCells, codes: Codes, groups: Groups, size: int) -> None:
    """Extend places by the group of every code, so that no column of groups is made."""
    for i in range(codes.size):
        places[i] = places[i] * size + groups[codes[i]]


@kernel_after(InVectors.add_weights)
def add_weights(places: RowCells, weights: Floats, masses: Floats) -> None:
    """Add the weight of every row to its cell."""
    for i in range(places.size):
        masses[places[i]] += weights[i]


@kernel_after(InVectors.multiply_weights)
def multiply_weights(places: RowCells, weights: Floats, factors: Floats) -> None:
    """Multiply the weight of every row by the factor of its cell."""
    for i in range(places.size):
        weights[i] *= factors[places[i]]


@kernel_after(InVectors.multiply_and_add)
def multiply_and_add(
    before: RowCells, factors: Floats, places: RowCells, weights: Floats, masses: Floats
) -> None:
    """Multiply weights by the factors of one table and add them to the cells of the next.

    One pass over the rows instead of two. Where most rows are in one cell, each addition would wait
    for the one before it; of four rows in turn, each adds to masses that no other one waits for.
    """
    cells, fourths = masses.size, places.size - places.size % 4
    if 4 * cells > places.size:
        fourths = 0
    apart = np.zeros((4, cells if fourths else 0))
    for i in range(0, fourths, 4):
        first, second = weights[i] * factors[before[i]], weights[i + 1] * factors[before[i + 1]]
        third, fourth = (
            weights[i + 2] * factors[before[i + 2]],
            weights[i + 3] * factors[before[i + 3]],
        )
        weights[i], weights[i + 1], weights[i + 2], weights[i + 3] = first, second, third, fourth
        apart[0, places[i]] += first
        apart[1, places[i + 1]] += second
        apart[2, places[i + 2]] += third
        apart[3, places[i + 3]] += fourth
    for cell in range(cells if fourths else 0):
        masses[cell] += apart[0, cell] + apart[1, cell] + apart[2, cell] + apart[3, cell]
    for i in range(fourths, places.size):
        weight = weights[i] * factors[before[i]]
        weights[i] = weight
        masses[places[i]] += weight


@kernel_after(InVectors.add_values)
def add_values(places: RowCells, values: Floats, sums: Floats) -> None:
    """Add to every row's sum the value of its cell."""
    for i in range(places.size):
        sums[i] += values[places[i]]
