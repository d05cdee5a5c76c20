"""Counting files of any size: rows come in blocks, are encoded, counted and forgotten.

What stands in memory is a block, the next one, and the tables asked for; where those would be too
many, the file is read again for the next ones. The first reading, which has to be made anyway to
see that all can be read, counts all pairs where they fit, and no question about so few attributes
needs another. Counts are the same, cell by cell, as with all rows in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from understudy.codec import Codec
from understudy.counting import ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.ahead import one_ahead
from understudy.engines.capacity import ensure_tables_fit, in_batches
from understudy.engines.memory import MemorySource
from understudy.marginal import Counts, Marginal
from understudy.table import Table

Watch = Callable[[int, int | None], None]


def unwatched(done: int, total: int | None) -> None:
    """Nobody is told how far a reading has come."""


@dataclass(frozen=True, repr=False)
class _First:
    """What the first reading found: the number of rows, and tables of few attributes. Private."""

    rows_read: int
    tables: dict[Attributes, Counts]


@dataclass(frozen=True, repr=False)
class ChunkedSource:
    """Rows that are read anew for every question.

    Attributes:
        blocks: starts reading, and gives the rows a block at a time; always the same rows.
        codec: encodes them.
        memory: how many bytes tables may take, half of them those that are kept.
        watch: told the rows done and, once known, of how many, as each reading starts and goes on.

    Privacy: what `watch` is told is exact, and for the owner's eyes alone.
    """

    blocks: Callable[[], Iterator[pa.Table]]
    codec: Codec
    memory: int
    watch: Watch = unwatched

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.codec.domain

    def check(self) -> None:
        """Read everything once, so that a file that cannot be read is refused before it costs."""
        _ = self._first

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self._first.rows_read

    @cached_property
    def _first(self) -> _First:
        rows, tables = self._read(self._few(), total=None)
        return _First(rows, tables)

    def _few(self) -> list[Attributes]:
        """No attribute, each one and each pair, as far as their tables may be kept."""
        names = self.domain.attributes
        few = (s for k in range(3) for s in itertools.combinations(names, k))
        return next(in_batches(self.domain, few, memory=self.memory // 2))

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        return list(self._counted(sets))

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; the tables of one reading stand in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(marginal) for marginal in self._counted(sets)], np.float64)

    def _counted(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        for batch in in_batches(self.domain, sets, memory=self.memory // 2):
            yield from self._count(batch)

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """These sets by what is known and, where that is not enough, one reading of all rows."""
        kept = self._first.tables
        new = [s for s in dict.fromkeys(sets) if s not in kept and s[::-1] not in kept]
        found = kept | (self._read(new, total=self.rows_read)[1] if new else {})
        return [Marginal(s, found[s] if s in found else found[s[::-1]].T) for s in sets]

    def _read(
        self, sets: Sequence[Attributes], *, total: int | None
    ) -> tuple[int, dict[Attributes, Counts]]:
        """One reading: how many rows there are, and their tables."""
        tables: dict[Attributes, Counts] = {
            s: np.zeros(self.domain.shape(s), np.int64) for s in sets
        }
        done = 0
        self.watch(done, total)
        for block in one_ahead(self._encoded()):
            for marginal in MemorySource(block).each(sets):
                tables[marginal.attributes] += marginal.counts
            done += block.rows_read
            self.watch(done, total)
        return done, tables

    def _encoded(self) -> Generator[Table]:
        for block in self.blocks():
            yield self.codec.encode(block)

    def __repr__(self) -> str:
        return f"ChunkedSource({', '.join(self.domain)}; rows private)"
