"""The base of engines that read their rows again for every question.

Tables are asked for in batches that fit into memory together; each batch costs one reading.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from understudy.facts.capacity import ensure_tables_fit, in_batches
from understudy.facts.codec import Codec
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import Marginal, ScoreKernel, Scores


class BatchedSource(ABC):
    """Rows that are read again for every batch of tables.

    Attributes:
        codec: encodes them.
        memory: how many bytes the tables of one reading may take.
    """

    codec: Codec
    memory: int

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.codec.domain

    @property
    def rows_per_person(self) -> int | None:
        """Not known: a person's rows may lie in several blocks."""
        return None

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        return list(self._counted(sets))

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; the tables of one reading are in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(marginal) for marginal in self._counted(sets)], np.float64)

    def _counted(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        for batch in in_batches(self.domain, sets, memory=self.memory):
            counted = {m.attributes: m for m in self._count(list(dict.fromkeys(batch)))}
            yield from (counted[attributes] for attributes in batch)

    @abstractmethod
    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """One reading of all rows for these sets, all of them different."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.domain)}; rows private)"
