"""Rows whose categories are not declared yet: their texts are counted beside an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from understudy.codec import Codec
from understudy.codec.categories import ListedCodec
from understudy.column import Scalar
from understudy.counting import CountSource, KeyCounts, ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.marginal import Marginal


@dataclass(frozen=True, repr=False)
class KeyedSource:
    """An engine, and what stands in some columns of its rows. Private.

    Attributes:
        counted: answers whatever is about declared values.
        found: how often each text of a column occurs.
        types: what the data declares those columns to hold; public.
    """

    counted: CountSource
    found: Mapping[str, KeyCounts]
    types: Mapping[str, type[Scalar]]

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

    def keys(self, column: str) -> KeyCounts:
        """How often each text of a column occurs."""
        return self.found[column]

    def value_type(self, column: str) -> type[Scalar]:
        """What the data declares a column to hold."""
        return self.types[column]

    def __repr__(self) -> str:
        return f"KeyedSource({', '.join(self.domain)}; rows private)"


def tallied(
    blocks: Iterable[pa.Table], codec: Codec, columns: Sequence[str]
) -> tuple[dict[str, KeyCounts], dict[str, type[Scalar]]]:
    """The texts of some columns with their counts, and the types of those columns."""
    found: dict[str, Counter[str]] = {name: Counter() for name in columns}
    types: dict[str, type[Scalar]] = dict.fromkeys(columns, str)
    for block in map(codec.without_surplus, blocks):
        for name, counter in found.items():
            counter.update(_listed(codec, name).tally(block.column(name)))
            types[name] = _python_type(block.column(name).type)
    return {name: KeyCounts(counter) for name, counter in found.items()}, types


def _listed(codec: Codec, name: str) -> ListedCodec:
    column = codec.columns[name]
    assert isinstance(column, ListedCodec)
    return column


def _python_type(kind: pa.DataType) -> type[Scalar]:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return bool
    if pa.types.is_integer(kind):
        return int
    return float if pa.types.is_floating(kind) else str
