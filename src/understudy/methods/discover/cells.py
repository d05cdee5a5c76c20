"""Where a column's values lie: public cells of a line, and their parts.

Numbers are first counted in cells that double in width away from zero, dates in cells of equal
width. The cells between the first and the last that stand out of their noise are then cut into
sixteen parts and each part into sixteen leaves, and counted on both levels; the cells beyond are
counted a second time as they are.
Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.facts.column import (
    MOST_LEVELS,
    BinnedColumn,
    FloatColumn,
    IntegerColumn,
    Ordinate,
)
from understudy.methods.discover.shares import CountNoise, reached
from understudy.system.arrays import Integers

Noisy = npt.NDArray[np.int64] | npt.NDArray[np.float64]

_PARTS = 16
_TIME_CELLS = 200
# The smallest cell of real numbers beside zero ends at 2 to this power.
_LEAST_POWER, _MOST_POWER = -40, 1000
# The edge that leaves zero alone in its cell.
TINIEST = math.nextafter(0.0, 1.0)
# The chance that empty cells stretch a range: far away, and beside it or inside a cell.
STRAY, STRAY_BESIDE = 1 / 10_000, 1 / 20


@dataclass(frozen=True)
class Intervals:
    """Adjoining intervals of a line.

    Attributes:
        edges: their left edges.
        high: the last value.
        whole: whether values are whole numbers.
        doubling: whether they double in width away from zero.
    """

    edges: tuple[Ordinate, ...]
    high: Ordinate
    whole: bool
    doubling: bool = True

    @classmethod
    def over(cls, column: BinnedColumn) -> Intervals:
        """The public cells of a column's range."""
        low, high = column.bounds
        if isinstance(column, IntegerColumn):
            marks = _whole_marks(max(abs(int(low)), abs(int(high))))
        elif isinstance(column, FloatColumn):
            marks = _real_marks(max(abs(low), abs(high)))
        else:
            marks = _equal_parts(low, high + 1, _TIME_CELLS, whole=True)
        within = sorted({low, *(mark for mark in marks if low < mark <= high)})
        doubling = isinstance(column, IntegerColumn | FloatColumn)
        return cls(tuple(within), high, column.whole, doubling)

    def end(self, index: int) -> Ordinate:
        """Where a cell ends: the next one's edge, or just beyond the last value."""
        if index + 1 < len(self.edges):
            return self.edges[index + 1]
        return self.high + 1 if self.whole else self.high


def _whole_marks(largest: int) -> list[Ordinate]:
    """0, ±1, and from there cells that double in width."""
    powers = [2**k for k in range(largest.bit_length() + 1)]
    return [0, *powers, *(1 - 2 * power for power in powers)]


def _real_marks(largest: float) -> list[Ordinate]:
    """Zero alone, and cells that double in width."""
    most = math.frexp(largest)[1] + 1
    powers = [math.ldexp(1.0, k) for k in range(_LEAST_POWER, min(most, _MOST_POWER))]
    return [0.0, TINIEST, *powers, *(-power for power in powers)]


def _equal_parts(low: Ordinate, end: Ordinate, parts: int, *, whole: bool) -> list[Ordinate]:
    """Left edges of equal parts, as many as there can be."""
    if whole:
        values = int(end) - int(low)
        count = max(1, min(parts, values))
        return [int(low) + i * values // count for i in range(count)]
    marks = (low + i * ((end - low) / parts) for i in range(parts))
    return sorted({low, *(mark for mark in marks if low < mark < end)})


def sure(counts: Noisy, noise: CountNoise, stray: float) -> tuple[int, int] | None:
    """The first and the last cell that surely stand out of their noise; None when none does.

    Of K empty cells one is above what noise reaches by stray / K with a chance of `stray` at most.
    """
    (passed,) = np.nonzero(counts > reached(noise, stray / counts.size))
    return (int(passed[0]), int(passed[-1])) if passed.size else None


def grown(counts: Noisy, noise: CountNoise, first: int, last: int) -> tuple[int, int]:
    """A range of cells with those beside it, as long as empty ones would seldom be so full."""
    likely = counts > reached(noise, STRAY_BESIDE)
    while first > 0 and likely[first - 1]:
        first -= 1
    while last + 1 < counts.size and likely[last + 1]:
        last += 1
    return first, last


@dataclass(frozen=True)
class Tree:
    """Some cells, their parts, and the parts of those: what the second count is about.

    Attributes:
        cells: all cells of the column.
        first: the first that is counted again.
        last: the last one.
        core: the first and the last that surely hold rows; None when none does.
    """

    cells: Intervals
    first: int
    last: int
    core: tuple[int, int] | None

    @classmethod
    def over(cls, cells: Intervals, noisy: Integers, noise: CountNoise) -> Tree:
        """The cells that stand out of a first count's noise, or all where none does."""
        core = sure(noisy, noise, STRAY)
        if core is None:
            return cls(cells, 0, noisy.size - 1, None)
        return cls(cells, *grown(noisy, noise, *core), core)

    @property
    def _second_parts(self) -> int:
        """Cells that are mere noise are not worth two levels, and codes must number all leaves."""
        many = (self.last - self.first + 1) * _PARTS**2 + len(self.cells.edges)
        return _PARTS if self.core and many < MOST_LEVELS - 2 else 1

    @cached_property
    def parts(self) -> tuple[list[Ordinate], Integers]:
        """Left edges of the cells' parts, and the cell of each."""
        whole, parts = self.cells.whole, []
        for i in range(self.first, self.last + 1):
            inside = _equal_parts(self.cells.edges[i], self.cells.end(i), _PARTS, whole=whole)
            parts += [(edge, i - self.first) for edge in inside]
        return [edge for edge, _ in parts], np.array([cell for _, cell in parts])

    @cached_property
    def leaves(self) -> tuple[list[Ordinate], Integers]:
        """Left edges of the parts' parts, and the part of each."""
        edges, whole, leaves = self.parts[0], self.cells.whole, []
        for i, (left, right) in enumerate(zip(edges, [*edges[1:], self.end], strict=True)):
            inside = _equal_parts(left, right, self._second_parts, whole=whole)
            leaves += [(edge, i) for edge in inside]
        return [edge for edge, _ in leaves], np.array([part for _, part in leaves])

    @property
    def end(self) -> Ordinate:
        """Where the last of the cells ends."""
        return self.cells.end(self.last)

    @property
    def has_two_levels(self) -> bool:
        """Whether parts have parts."""
        return len(self.leaves[0]) > len(self.parts[0])

    @property
    def levels(self) -> int:
        """The number of counts of the second question that a row is part of."""
        return 2 if self.has_two_levels else 1

    @property
    def edges(self) -> list[Ordinate]:
        """The bins to count by: the leaves, and the cells below and above them."""
        cells = self.cells.edges
        return [*cells[: self.first], *self.leaves[0], *cells[self.last + 1 :]]

    def answer(self, counts: Integers) -> Integers:
        """Counts of the parts, where they have parts, then of the leaves, then of outer cells.

        A row lies in one part and one of its leaves, or in one outer cell.
        """
        stop = self.first + len(self.leaves[0])
        leaves = counts[self.first : stop]
        outer = [counts[: self.first], counts[stop : len(self.edges)]]
        if not self.has_two_levels:
            return np.concatenate([leaves, *outer])
        parts = np.bincount(self.leaves[1], leaves, len(self.parts[0])).astype(np.int64)
        return np.concatenate([parts, leaves, *outer])

    def split(self, answer: Integers) -> list[Integers]:
        """Return the levels of an answer: of parts and leaves, and last that of outer cells."""
        sizes = [len(self.parts[0])] if self.has_two_levels else []
        return np.split(answer, np.cumsum([*sizes, len(self.leaves[0])]))

    @property
    def parents(self) -> list[Integers]:
        """For every level but the cells', the place of each node's parent in the level above."""
        return [self.parts[1], self.leaves[1]] if self.has_two_levels else [self.parts[1]]
