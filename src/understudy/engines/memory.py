"""Counting encoded rows held in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.counting import ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import ensure_tables_fit
from understudy.jit import kernel
from understudy.marginal import Counts, Marginal
from understudy.table import Codes, Table

# A block of cell numbers stays in the first-level cache between the loops below.
_BLOCK = 4096


@kernel
def _extend(cells: npt.NDArray[np.uint32], codes: Codes, size: int) -> None:
    """Mixed radix: cell ← cell · size + code."""
    for i in range(codes.size):
        cells[i] = cells[i] * np.uint32(size) + np.uint32(codes[i])


@kernel
def _tally(cells: npt.NDArray[np.uint32], counts: Counts) -> None:
    for i in range(cells.size):
        counts[cells[i]] += 1


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
        return [self._count(attributes) for attributes in sets]

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; one table stands in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(self._count(attributes)) for attributes in sets], np.float64)

    def _count(self, attributes: Attributes) -> Marginal:
        counts = np.zeros(self.domain.cells(attributes), np.int64)
        cells = np.empty(_BLOCK, np.uint32)
        for start in range(0, self.table.rows, _BLOCK):
            block = cells[: min(_BLOCK, self.table.rows - start)]
            block[:] = 0
            for attribute in attributes:
                codes = self.table.codes[attribute][start : start + _BLOCK]
                _extend(block, codes, self.domain[attribute])
            _tally(block, counts)
        return Marginal(attributes, counts.reshape(self.domain.shape(attributes)))

    def __repr__(self) -> str:
        return f"MemorySource({self.table!r})"
