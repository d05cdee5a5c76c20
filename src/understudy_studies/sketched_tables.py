"""All tables of k + 1 two-valued attributes, released whole, by Fourier coefficients, or sketched.

Source: TUC-1 section 5.1 asks for sketches in place of whole tables, and for the entropy of a union
by sketches. Fourier: Barak, Chaudhuri, Dwork, Kale, McSherry, Talwar 2007. Count sketch: Charikar,
Chen, Farach-Colton 2002. Every release is of ε at each holder under replaced rows, and holders'
releases are added up; all of them are linear, so that noise can be drawn for the sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.system.arrays import Floats

Subset = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TableRelease:
    """A release of tables: two-valued attributes of rows at several holders, and a budget.

    Attributes:
        codes: the rows of all holders, 0 or 1, a column for each attribute.
        ways: how many attributes a table has, k + 1.
        epsilon: of every holder.
        holders: how many add noise.
    """

    codes: Floats
    ways: int
    epsilon: float
    holders: int

    @property
    def sets(self) -> list[Subset]:
        """Return the attributes of all tables."""
        return [*itertools.combinations(range(self.codes.shape[1]), self.ways)]

    @cached_property
    def exact(self) -> Floats:
        """Return the counts of all tables, a line of 2^ways cells each."""
        return np.array([_counted(self.codes[:, list(names)]) for names in self.sets])

    def noise(self, scale: float, shape: tuple[int, ...], generator: np.random.Generator) -> Floats:
        """The noise of all holders together: a sum of Laplace draws."""
        return np.asarray(generator.laplace(0, scale, (self.holders, *shape)).sum(axis=0))


def whole(asked: TableRelease, generator: np.random.Generator) -> Floats:
    """Every table with noise of scale 2·C(d, k + 1)/ε on each cell (TUC-1 Theorem 3.4)."""
    exact = asked.exact
    return exact + asked.noise(2 * len(exact) / asked.epsilon, exact.shape, generator)


def averaged(asked: TableRelease, generator: np.random.Generator) -> Floats:
    """Return the noisy tables made to agree: a coefficient that several show is their mean.

    For equal noise on all cells this is the least-squares solution.
    """
    found = whole(asked, generator)
    sums: dict[Subset, list[float]] = {}
    for names, table in zip(asked.sets, found, strict=True):
        for part, value in _coefficients(names, table).items():
            sums.setdefault(part, []).append(value)
    means = {part: float(np.mean(values)) for part, values in sums.items()}
    return _tables(asked, means | {(): float(len(asked.codes))})


def fourier(asked: TableRelease, generator: np.random.Generator) -> Floats:
    """One release of all coefficients of up to k + 1 attributes; a row moves each by at most 2."""
    signs = 1 - 2 * asked.codes
    count = asked.codes.shape[1]
    parts = [
        p for size in range(1, asked.ways + 1) for p in itertools.combinations(range(count), size)
    ]
    exact = np.array([signs[:, list(part)].prod(axis=1).sum() for part in parts])
    found = exact + asked.noise(2 * len(parts) / asked.epsilon, exact.shape, generator)
    known = dict(zip(parts, found.tolist(), strict=True))
    return _tables(asked, known | {(): float(len(asked.codes))})


def count_sketch(
    asked: TableRelease, generator: np.random.Generator, *, lines: int = 3, part: float = 0.5
) -> Floats:
    """All cells of all tables in one sketch of this part as many counters, the median of lines.

    A row adds ±1 to one counter of every line for each of its C(d, k + 1) cells, so that replacing
    it moves 2·lines·C(d, k + 1) in all.
    """
    exact = asked.exact
    cells, width = exact.size, max(int(exact.size * part / lines), 1)
    scale = 2 * lines * len(exact) / asked.epsilon
    found = np.empty((lines, cells))
    for line in range(lines):
        places = generator.integers(0, width, cells)
        signs = generator.choice([-1.0, 1.0], cells)
        sums = np.bincount(places, signs * exact.ravel(), minlength=width)
        counters = sums + asked.noise(scale, (width,), generator)
        found[line] = signs * counters[places]
    return np.asarray(np.median(found, axis=0).reshape(exact.shape))


WAYS_OUT: Mapping[str, Callable[[TableRelease, np.random.Generator], Floats]] = {
    "whole tables": whole,
    "whole tables, made to agree": averaged,
    "Fourier coefficients": fourier,
    "count sketch of half the size": count_sketch,
}


def cell_error(found: Floats, exact: Floats) -> float:
    """The mean absolute error of a cell, in rows."""
    return float(np.abs(found - exact).mean())


def entropy_error(found: Floats, exact: Floats) -> float:
    """The mean absolute error of a table's entropy, in bits; cells below 0 count as 0."""
    return float(
        np.mean(np.abs([_entropy(a) - _entropy(b) for a, b in zip(found, exact, strict=True)]))
    )


def _entropy(table: Floats) -> float:
    held = np.maximum(table, 0)
    total = held.sum()
    shares = held[held > 0] / total if total > 0 else np.full(table.size, 1 / table.size)
    return float(-(shares * np.log2(shares)).sum())


def _counted(columns: Floats) -> Floats:
    ways = columns.shape[1]
    cells = (columns @ (2.0 ** np.arange(ways - 1, -1, -1))).astype(int)
    return np.bincount(cells, minlength=2**ways).astype(float)


def _signs(ways: int, part: tuple[int, ...]) -> Floats:
    """The sign of every cell of a table for a set of its own axes."""
    grid = np.indices((2,) * ways).reshape(ways, -1)
    return np.asarray((1 - 2 * grid[list(part)]).prod(axis=0), float) if part else np.ones(2**ways)


def _coefficients(names: Subset, table: Floats) -> dict[Subset, float]:
    ways = len(names)
    axes = (p for size in range(1, ways + 1) for p in itertools.combinations(range(ways), size))
    return {tuple(names[a] for a in part): float(_signs(ways, part) @ table) for part in axes}


def _tables(asked: TableRelease, known: Mapping[Subset, float]) -> Floats:
    """All tables from their coefficients."""
    found = []
    for names in asked.sets:
        ways = len(names)
        axes = [p for size in range(ways + 1) for p in itertools.combinations(range(ways), size)]
        cells = sum(known[tuple(names[a] for a in part)] * _signs(ways, part) for part in axes)
        found.append(np.asarray(cells) / math.pow(2, ways))
    return np.array(found)
