"""Rows that were read out of a database, behind what every database answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import (
    CountSource,
    Marginal,
    ScoreKernel,
    Scores,
    fitting_rows,
    reading_of,
)


@dataclass(frozen=True, repr=False)
class CountedOnly:
    """Counts of rows, and no single rows.

    Privacy: one cell can decide whether a table is counted in its database or read out of it. What
    may be asked of it, and so which methods it is refused to, is the same both ways.

    Attributes:
        source: the rows that were read out.
    """

    source: CountSource

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.source.domain

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.source.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of a person, where that was seen to."""
        return self.source.rows_per_person

    @property
    def reading(self) -> str | None:
        """The meaning of one reading of the rows."""
        return reading_of(self.source)

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        return self.source.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores, one for each set of attributes."""
        return self.source.score(sets, kernel)

    def count_misfits(self) -> int:
        """How many rows did not fit, of each person within the allowance."""
        return int(fitting_rows(self.source)[1])


__all__ = ["CountedOnly"]
