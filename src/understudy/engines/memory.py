"""Counting encoded rows held in memory."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.counting import ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import ensure_tables_fit, in_batches
from understudy.engines.kernels import (
    Cells,
    Words,
    count_pair,
    count_pairs,
    extend,
    fill_bitmaps,
    tally_once,
)
from understudy.marginal import Counts, Marginal
from understudy.table import Table

# A block of cell numbers stays in the second-level cache between the loops over it.
_BLOCK = 65_536
# Bitmaps are read in blocks of so many words, so that those of many values fit there together.
_WORDS = 128
# Pairs with at most so many cells are counted by bitmaps: within a few per cent of the best
# threshold on processors with and without wide vectors.
_BITMAP_CELLS = 128
# Four histograms side by side still fit into the second-level cache.
_SPLIT_CELLS = 16_384
# So many bytes of tables are counted together before they are scored and forgotten.
_BATCH = 1 << 23


@dataclass(frozen=True, repr=False)
class MemorySource:
    """A table in memory, counted block by block of rows."""

    table: Table

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.table.domain

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.table.rows_read

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        small = [
            attributes for attributes in dict.fromkeys(sets) if self._is_small_pair(attributes)
        ]
        tables = self._count_pairs(small) if small else {}
        for attributes in sets:
            if attributes not in tables:
                tables[attributes] = self._count(attributes)
        return [Marginal(attributes, tables[attributes]) for attributes in sets]

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; some tables stand in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        if any(self._is_small_pair(attributes) for attributes in sets):
            _ = self._bitmaps  # made once, before threads share them

        def scored(batch: list[Attributes]) -> list[float]:
            return [kernel(marginal) for marginal in self.count(batch)]

        batches = in_batches(self.domain, sets, memory=_BATCH)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return np.array([s for batch in pool.map(scored, batches) for s in batch], np.float64)

    def _is_small_pair(self, attributes: Attributes) -> bool:
        """Whether two attributes that have bitmaps make a table small enough to use them."""
        return (
            len(attributes) == 2
            and self.domain.cells(attributes) <= _BITMAP_CELLS
            and all(attribute in self._bitmap_places for attribute in attributes)
        )

    def _count_pairs(self, pairs: Sequence[Attributes]) -> dict[Attributes, Counts]:
        """Small pairs all together, so that a block of bitmaps is read once for all of them."""
        starts = [0, *itertools.accumulate(self.domain.cells(pair) for pair in pairs)]
        asked = np.array(
            [
                (*self._bitmap_places[a], *self._bitmap_places[b], start)
                for (a, b), start in zip(pairs, starts, strict=False)
            ],
            np.int64,
        )
        counts = np.zeros(starts[-1], np.int64)
        words = self._bitmaps.shape[1]
        for start in range(0, words, _WORDS):
            count_pairs(self._bitmaps, start, min(start + _WORDS, words), asked, counts)
        parts = np.split(counts, starts[1:-1])
        return {p: part.reshape(self.domain.shape(p)) for p, part in zip(pairs, parts, strict=True)}

    @cached_property
    def _bitmap_places(self) -> dict[str, tuple[int, int]]:
        """Where the bitmaps of each small attribute begin, and how many there are."""
        small = {a: n for a, n in self.domain.sizes.items() if n <= _BITMAP_CELLS // 2}
        starts = [0, *itertools.accumulate(small.values())]
        return {a: (start, n) for (a, n), start in zip(small.items(), starts, strict=False)}

    @cached_property
    def _bitmaps(self) -> Words:
        """One row of bits for each value of each small attribute."""
        values = sum(size for _, size in self._bitmap_places.values())
        bitmaps = np.zeros((values, -(-self.table.rows // 64)), np.uint64)
        for attribute, (start, size) in self._bitmap_places.items():
            fill_bitmaps(self.table.codes[attribute], bitmaps[start : start + size])
        return bitmaps

    def _count(self, attributes: Attributes) -> Counts:
        cells = self.domain.cells(attributes)
        if len(attributes) == 2 and cells <= _SPLIT_CELLS:
            first, second = (self.table.codes[attribute] for attribute in attributes)
            parts = np.zeros((4, cells), np.uint32)
            count_pair(first, second, self.domain[attributes[1]], parts)
            counts = np.asarray(parts.sum(axis=0, dtype=np.int64))
        else:
            counts = np.zeros(cells, np.int64)
            for block in self._blocks(attributes):
                tally_once(block, counts)
        return counts.reshape(self.domain.shape(attributes))

    def _blocks(self, attributes: Attributes) -> Iterator[Cells]:
        """The cells that rows fall into, a block of rows at a time."""
        buffer = np.empty(_BLOCK, np.uint32)
        for start in range(0, self.table.rows, _BLOCK):
            block = buffer[: min(_BLOCK, self.table.rows - start)]
            block[:] = 0
            for attribute in attributes:
                codes = self.table.codes[attribute][start : start + _BLOCK]
                extend(block, codes, self.domain[attribute])
            yield block

    def __repr__(self) -> str:
        return f"MemorySource({self.table!r})"
