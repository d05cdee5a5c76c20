"""Counting files of any size: rows come in blocks, are encoded, counted and forgotten.

What stands in memory is one block and the tables asked for; where those would be too many, the
file is read again for the next ones. Counts are the same, cell by cell, as with all rows in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from understudy.codec import Codec
from understudy.counting import ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import ensure_tables_fit, in_batches
from understudy.engines.memory import MemorySource
from understudy.marginal import Counts, Marginal


@dataclass(frozen=True, repr=False)
class ChunkedSource:
    """Rows that are read anew for every question.

    Attributes:
        blocks: starts reading, and gives the rows a block at a time; always the same rows.
        codec: encodes them.
        memory: how many bytes the tables of one reading may take.
    """

    blocks: Callable[[], Iterator[pa.Table]]
    codec: Codec
    memory: int

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.codec.domain

    def check(self) -> None:
        """Read everything once, so that a file that cannot be read is refused before it costs."""
        for block in itertools.islice(self.blocks(), 1):
            self.codec.encode(block)
        _ = self.rows_read

    @cached_property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return sum(block.num_rows for block in self.blocks())

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        return list(self._counted(sets))

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; the tables of one reading stand in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(marginal) for marginal in self._counted(sets)], np.float64)

    def _counted(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        for batch in in_batches(self.domain, sets, memory=self.memory):
            yield from self._count(batch)

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """One reading of all rows for these sets."""
        different = list(dict.fromkeys(sets))
        totals: dict[Attributes, Counts] = {
            attributes: np.zeros(self.domain.shape(attributes), np.int64)
            for attributes in different
        }
        for block in self.blocks():
            for marginal in MemorySource(self.codec.encode(block)).count(different):
                totals[marginal.attributes] += marginal.counts
        return [Marginal(attributes, totals[attributes]) for attributes in sets]

    def __repr__(self) -> str:
        return f"ChunkedSource({', '.join(self.domain)}; rows private)"
