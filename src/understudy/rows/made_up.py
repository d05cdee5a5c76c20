"""Made-up tables: rows that belong to nobody, counted as private ones are.

Plans rehearse methods on them and audits attack methods on them. This is the one place from which
they come, so that what asks through the door sees of other rows the counting protocols alone.

Privacy: nothing here may be given private rows; its counts are exact and nobody pays for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import Counts, Marginal, ScoreKernel, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table


@dataclass(frozen=True, repr=False)
class MadeUp(MemorySource):
    """A made-up table in memory, counted by the same code as private ones."""

    @classmethod
    def of_codes(cls, domain: Domain, codes: Mapping[str, Codes], rows: int) -> Self:
        """The table of some codes, one array for each attribute."""
        return cls(Table(domain, codes, rows))

    @classmethod
    def of_rows(cls, rows: pa.Table, codec: Codec) -> Self:
        """The table of raw rows, encoded, dropped and bounded as those of a file are."""
        return cls(Table.of(codec.encode(rows)))

    @property
    def rows(self) -> int:
        """How many rows were kept."""
        return self.table.rows

    @property
    def codes(self) -> Mapping[str, Codes]:
        """The codes of the rows that were kept."""
        return self.table.codes

    def shares(self, sets: Sequence[Attributes]) -> list[Scores]:
        """The share of rows in each cell of some contingency tables."""
        return [marginal.counts / max(self.rows, 1) for marginal in self.count(sets)]


@dataclass(repr=False)
class ScaledSource:
    """A made-up table that answers as if every row were in it several times.

    It is asked the same for every budget, so tables of two attributes are kept once counted.

    Attributes:
        once: the table, with every row in it once.
        times: how many times each row is counted.
        seconds: the processor's seconds that counting has taken so far in its thread.
    """

    once: MadeUp
    times: int
    seconds: float = 0.0
    _kept: dict[Attributes, Marginal] = field(default_factory=dict)

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.once.domain

    @property
    def rows_read(self) -> int:
        """How many rows it seems to have, each counted several times."""
        return self.once.rows_read * self.times

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of a person, as the table says."""
        return self.once.rows_per_person

    def timed_afresh(self) -> Self:
        """The same table and what was kept of it, for another rehearsal that is timed apart."""
        return replace(self, seconds=0.0)

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Contingency tables of the stretched rows."""
        with self._timed():
            return [self._stretched(marginal) for marginal in self.once.count(sets)]

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores of contingency tables of the stretched rows."""
        wide = [attributes for attributes in sets if len(attributes) > 2]
        with self._timed():
            # In this thread, whose time is taken: rehearsals are side by side themselves.
            found = {m.attributes: kernel(self._stretched(m)) for m in self.once.each(wide)}
            self._keep([attributes for attributes in sets if attributes not in found])
            return np.array([found[s] if s in found else kernel(self._kept[s]) for s in sets])

    def _keep(self, sets: Sequence[Attributes]) -> None:
        new = [attributes for attributes in sets if attributes not in self._kept]
        for marginal in self.once.each(new):
            self._kept[marginal.attributes] = self._stretched(marginal)

    def _stretched(self, marginal: Marginal) -> Marginal:
        return Marginal(marginal.attributes, marginal.counts * self.times)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        started = time.thread_time()
        yield
        self.seconds += time.thread_time() - started


@dataclass(frozen=True)
class AllAlike:
    """Rows that are all the same: for what a method asks before it has learned anything."""

    domain: Domain
    rows_read: int
    rows_per_person: int | None = None
    scored: list[Attributes] = field(default_factory=list)

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Contingency tables with every row in the first cell."""
        return [Marginal(attributes, self._counts(attributes)) for attributes in sets]

    def _counts(self, attributes: Attributes) -> Counts:
        counts = np.zeros(self.domain.shape(attributes), np.int64)
        counts[(0,) * len(attributes)] = self.rows_read
        return counts

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores of 0: attributes that do not vary do not depend on each other."""
        del kernel
        self.scored.extend(sets)
        return np.zeros(len(sets))
