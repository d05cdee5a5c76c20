"""Contingency tables of several tables side by side, and distances between them.

Tables are counted by the engine's own kernels. What would have too many cells is found by sorting
the cells that rows fall into, so that no set of attributes is too large to be compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from understudy.facts.capacity import in_batches
from understudy.facts.domain import Attributes
from understudy.rows.counting import Counts, Marginal, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

# Larger tables hold more cells than rows, and sorting is cheaper.
_MOST_CELLS = 1 << 22
# Tables of so many bytes, of all tables together, stand in memory at a time.
_MEMORY = 1 << 28


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Joint:
    """The cells of a marginal that any of several tables occupies.

    Attributes:
        cells: the numbers of these cells, in mixed radix.
        counts: the rows of each table in each of them, a line for each table.
        rows: the rows of each table.

    Privacy: exact counts of real rows.
    """

    attributes: Attributes
    shape: tuple[int, ...]
    cells: Counts
    counts: Counts
    rows: Counts

    @property
    def size(self) -> int:
        """How many cells there are, the empty ones included."""
        return int(np.prod(np.array(self.shape, dtype=object)))

    @cached_property
    def shares(self) -> Scores:
        """The share of rows in each cell; none in a table without rows."""
        return self.counts / np.maximum(self.rows, 1)[:, None]

    def codes(self) -> tuple[npt.NDArray[np.intp], ...]:
        """The codes of every occupied cell, attribute by attribute."""
        return np.unravel_index(self.cells, self.shape)

    def variation(self) -> Scores:
        """The total variation distance of every table but the first from the first."""
        distances = 0.5 * np.abs(self.shares[1:] - self.shares[0]).sum(axis=1)
        one_empty = (self.rows[1:] == 0) != (self.rows[0] == 0)
        return np.where(one_empty, 1.0, distances)

    def divergence(self) -> Scores:
        """Bits lost by taking another table for the first: KL(first ‖ other).

        The other is smoothed as in TUC-1 section 3.7.1, one row more in every cell:
        q = (count + 1) / (rows + cells). The first is taken as it is.
        """
        seen = self.counts[0] > 0
        first = self.shares[0][seen]
        smoothed = (self.counts[1:, seen] + 1) / (self.rows[1:] + self.size)[:, None]
        return np.asarray((first * np.log2(first / smoothed)).sum(axis=1))

    def entropy(self) -> float:
        """The bits of the first table's own distribution."""
        first = self.shares[0][self.counts[0] > 0]
        return float(-(first * np.log2(first)).sum())

    def __repr__(self) -> str:
        return f"Joint({', '.join(self.attributes)}; counts private)"


def joints(tables: Sequence[Table], sets: Sequence[Attributes]) -> Iterator[Joint]:
    """Each set's marginal of all tables, which share a domain; in the order of the sets."""
    domain = tables[0].domain
    small = [s for s in sets if domain.cells(s) <= _MOST_CELLS]
    dense = _counted(tables, small)
    for attributes in sets:
        yield (
            next(dense) if domain.cells(attributes) <= _MOST_CELLS else _sorted(tables, attributes)
        )


def _counted(tables: Sequence[Table], sets: Sequence[Attributes]) -> Iterator[Joint]:
    """By the engine, as many sets together as memory is set aside for."""
    domain, rows = tables[0].domain, _rows(tables)
    sources = [MemorySource(table) for table in tables]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for batch in in_batches(domain, sets, memory=_MEMORY // len(tables)):
            found = list(pool.map(partial(_count, sets=batch), sources))
            for place, attributes in enumerate(batch):
                counts = np.stack([marginals[place].counts.reshape(-1) for marginals in found])
                cells = np.flatnonzero(counts.any(axis=0))
                yield Joint(
                    attributes=attributes,
                    shape=domain.shape(attributes),
                    cells=cells,
                    counts=counts[:, cells],
                    rows=rows,
                )


def _count(source: MemorySource, *, sets: Sequence[Attributes]) -> list[Marginal]:
    return source.count(sets)


def _sorted(tables: Sequence[Table], attributes: Attributes) -> Joint:
    """By the cells that rows fall into, of which there are at most as many as rows."""
    domain, rows = tables[0].domain, _rows(tables)
    lines = [MemorySource(table).number_rows([attributes])[:, 0] for table in tables]
    numbers = [line[line >= 0] for line in lines]
    cells, place = np.unique(np.concatenate(numbers), return_inverse=True)
    ends = np.cumsum(rows)[:-1]
    counts = [np.bincount(part, minlength=cells.size) for part in np.split(place, ends)]
    shape = domain.shape(attributes)
    return Joint(
        attributes=attributes,
        shape=shape,
        cells=cells,
        counts=np.stack(counts).astype(np.int64),
        rows=rows,
    )


def _rows(tables: Sequence[Table]) -> Counts:
    return np.array([table.rows for table in tables], np.int64)
