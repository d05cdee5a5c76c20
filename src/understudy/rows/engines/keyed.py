"""Rows whose categories are not declared yet: their texts are counted beside an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import (
    CountSource,
    KeyCounts,
    Marginal,
    ScoreKernel,
    Scores,
    fitting_rows,
)


@dataclass(frozen=True, repr=False)
class KeyedSource:
    """An engine, and the values of some columns of its rows. Private.

    Attributes:
        counted: answers whatever is about declared values.
        found: how often each text of a column occurs.
    """

    counted: CountSource
    found: Mapping[str, KeyCounts]

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted."""
        return self.counted.domain

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included."""
        return self.counted.rows_read

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of a person, where that was seen to."""
        return self.counted.rows_per_person

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        return self.counted.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores, one for each set of attributes."""
        return self.counted.score(sets, kernel)

    def count_misfits(self) -> int:
        """How many rows did not fit the schema."""
        return int(fitting_rows(self.counted)[1])

    def keys(self, column: str) -> KeyCounts:
        """How often each text of a column occurs."""
        return self.found[column]

    def __repr__(self) -> str:
        return f"KeyedSource({', '.join(self.domain)}; rows private)"


def tallied(
    blocks: Iterable[pa.Table], codec: Codec, columns: Sequence[str]
) -> dict[str, KeyCounts]:
    """The texts of some columns, with their counts."""
    found: dict[str, Counter[str]] = {name: Counter() for name in columns}
    for block in map(codec.without_surplus, blocks):
        for name, counter in found.items():
            counter.update(_listed(codec, name).tally(block.column(name)))
    return {name: KeyCounts(counter) for name, counter in found.items()}


def _listed(codec: Codec, name: str) -> ListedCodec:
    column = codec.columns[name]
    assert isinstance(column, ListedCodec)
    return column
