"""Counting encoded rows held in memory."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from understudy.facts.capacity import ensure_tables_fit, in_batches
from understudy.facts.codes import Cells, extend
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import Counts, Marginal, ScoreKernel, Scores
from understudy.rows.engines.bitmaps import count_by_bitmaps, worth_bitmaps
from understudy.rows.engines.kernels import count_pair, tally, tally_in_vectors
from understudy.rows.table import Table
from understudy.system.jit import MANY

# A block of cell numbers stays in the second-level cache between the loops over it.
_BLOCK = 65_536
# Four histograms side by side still fit into the second-level cache.
_SPLIT_CELLS = 16_384
# So many bytes of small tables are counted together before they are scored and forgotten.
_BATCH = 1 << 23

Part = Callable[[], Iterable[Marginal]]


@dataclass(frozen=True, repr=False)
class MemorySource:
    """A table in memory, counted block by block of rows.

    Attributes:
        table: the rows as codes.
        reading: what one reading of the rows meant where they were read; None for files.
    """

    table: Table
    reading: str | None = None

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.table.domain

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.table.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of a person, where that was seen to."""
        return self.table.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        found = {marginal.attributes: marginal for marginal in self.each(sets)}
        return [found[attributes] for attributes in sets]

    def each(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        """The table of every different set, in any order; those taken before may be forgotten."""
        return (marginal for part in self._parts(sets) for marginal in part())

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; each table is forgotten before the next is counted."""
        ensure_tables_fit(self.domain, sets, kept=False)

        def scored(part: Part) -> dict[Attributes, float]:
            return {marginal.attributes: kernel(marginal) for marginal in part()}

        found: dict[Attributes, float] = {}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for scores in pool.map(scored, self._parts(sets)):
                found |= scores
        return np.array([found[attributes] for attributes in sets], np.float64)

    def number_rows(self, sets: Sequence[Attributes]) -> Counts:
        """A line for each row read, in its place: its cell in the table of every set.

        A row that was dropped has −1 in every cell of its line. No row's line depends on another
        row, which is what `noise-gan` rests on.
        """
        kept = self.table.kept
        numbers = np.full((self.rows_read, len(sets)), -1, np.int64)
        for place, attributes in enumerate(sets):
            cells = np.zeros(self.table.rows, np.int64)
            for attribute in attributes:
                cells *= self.domain[attribute]
                cells += self.table.column(attribute)
            numbers[kept, place] = cells
        return numbers

    def count_misfits(self) -> int:
        """How many rows did not fit the schema, of each person within the allowance."""
        return self.table.misfits

    def _parts(self, sets: Sequence[Attributes]) -> Iterator[Part]:
        """The different sets, in parts that have work in common and can go side by side."""
        different = list(dict.fromkeys(sets))
        small = worth_bitmaps(self.domain, different)
        for batch in in_batches(self.domain, small, memory=_BATCH):
            yield partial(count_by_bitmaps, self.table, batch)
        known = set(small)
        rest = sorted((s for s in different if s not in known), key=_leading)
        for leading, group in itertools.groupby(rest, key=_leading):
            yield partial(self._count_group, leading, list(group))

    def _count_group(self, leading: Attributes, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        """Sets that differ in their last attribute alone: the cells of the others are shared."""
        large = [attributes for attributes in sets if not self._can_split(attributes)]
        cells = self._cells(leading) if large else None
        for attributes in sets:
            if cells is None or self._can_split(attributes):
                yield Marginal(attributes, self._count_pair(attributes))
            else:
                yield Marginal(attributes, self._count_last(cells, attributes))

    def _can_split(self, attributes: Attributes) -> bool:
        """Whether a table is a pair's and small enough for several histograms."""
        return len(attributes) == 2 and self.domain.cells(attributes) <= _SPLIT_CELLS

    def _count_pair(self, pair: Attributes) -> Counts:
        first, second = (self.table.column(attribute) for attribute in pair)
        parts = np.zeros((4, self.domain.cells(pair)), np.uint32)
        count_pair(first, second, self.domain[pair[1]], parts)
        return np.asarray(parts.sum(axis=0, dtype=np.int64)).reshape(self.domain.shape(pair))

    def _count_last(self, cells: Cells, attributes: Attributes) -> Counts:
        """One table, by the cells that rows fall into without the last attribute, and its codes."""
        if not attributes:
            return np.array(self.table.rows, np.int64)
        counts = np.zeros(self.domain.shape(attributes), np.int64)
        last = attributes[-1]
        count = tally_in_vectors if self.table.rows <= MANY else tally
        count(cells, self.table.column(last), self.domain[last], counts.reshape(-1))
        return counts

    def _cells(self, attributes: Attributes) -> Cells:
        """The cells that rows fall into."""
        cells = np.zeros(self.table.rows, np.uint32)
        for start in range(0, cells.size, _BLOCK):
            for attribute in attributes:
                codes = self.table.column(attribute)[start : start + _BLOCK]
                extend(cells[start : start + _BLOCK], codes, self.domain[attribute])
        return cells

    def __repr__(self) -> str:
        return f"MemorySource({self.table!r})"


def _leading(attributes: Attributes) -> Attributes:
    """All attributes but the last."""
    return attributes[:-1]
