"""Private rows counted in groups of codes that came with a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.capacity import in_batches
from understudy.facts.domain import Attributes, Domain
from understudy.facts.grouping import Grouping
from understudy.rows.counting import CountSource, Marginal, ScoreKernel, Scores

# So many bytes of tables are counted before they are added up by groups and forgotten.
_BATCH = 1 << 26


@dataclass(frozen=True, repr=False)
class GroupedSource:
    """A source whose attributes can also be counted in groups of their codes.

    Privacy: a row is in one cell of a table in groups, as in every other: the sensitivity of
    counts holds. Proof: docs/proofs/count_sensitivity.md.

    Attributes:
        source: the rows.
        grouping: the groups, which are public.
    """

    source: CountSource
    grouping: Grouping

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted, and their copies in groups."""
        return self.grouping.extended

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.source.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of one person that are counted."""
        return self.source.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, added up by groups."""
        different = dict.fromkeys(sets)
        found = {marginal.attributes: marginal for marginal in self._each(list(different))}
        return [found[names] for names in sets]

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores of tables in groups."""
        return np.array([kernel(marginal) for marginal in self.count(sets)], np.float64)

    def _each(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        """A few tables are counted at a time, as finely as groups need, and then added up."""
        finer: dict[Attributes, list[Attributes]] = {}
        for names in sets:
            finer.setdefault(self.grouping.finer(names), []).append(names)
        for batch in in_batches(self.source.domain, finer, memory=_BATCH):
            for held in self.source.count(batch):
                for names in finer[held.attributes]:
                    yield held.project(names, self.domain)
