"""Persons with several rows: at most so many of each are kept, whatever other persons hold.

Which of a person's rows stay is decided by these rows alone, and not by the order they come in:
each is given a number computed from its codes, and the lowest stay. The number scatters like a draw
by lot, so that no kind of row is preferred. Equal rows are counted first, so that each has a number
of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.codec.missing import Mask
from understudy.codec.ordinates import undictionary
from understudy.errors import UsageError
from understudy.table import Codes

Places = npt.NDArray[np.int64]

# Lehmer's generator: public numbers that scatter.
MODULUS = 2**31 - 1
_MULTIPLIER = 48271


def multipliers(count: int) -> list[int]:
    """What the codes of each attribute, and the number among equal rows, are multiplied with."""
    return [pow(_MULTIPLIER, i + 1, MODULUS) for i in range(count + 1)]


@dataclass(frozen=True)
class Persons:
    """The column that names persons, and how many rows of each are kept.

    Rows whose name is missing count as one person's, for they may be.
    """

    column: str
    most: int

    def __post_init__(self) -> None:
        if self.most < 1:
            raise UsageError(f"rows per person is {self.most}; it must be at least 1")

    @classmethod
    def given(cls, column: str | None, most: int | None) -> Persons | None:
        """The persons that both together tell; none where neither is given."""
        if column is None and most is None:
            return None
        if column is None or most is None:
            raise UsageError("persons need both a column that names them and the most rows of each")
        return cls(column, most)

    def surplus(self, names: pa.ChunkedArray, codes: Mapping[str, Codes]) -> Mask:
        """Which rows are too many."""
        person = _numbers(names)
        many = np.flatnonzero(np.bincount(person)[person] > self.most)
        found = np.zeros(person.size, bool)
        columns = [column[many].astype(np.int64) for column in codes.values()]
        found[many] = _turns(person[many], columns) >= self.most
        return found


def _numbers(names: pa.ChunkedArray) -> Places:
    """Persons counted from 0; those without a name are one more."""
    if pa.types.is_dictionary(names.type):
        # A dictionary may list a name twice, and its chunks may have one each.
        names = undictionary(names)
    encoded = names.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    indices = encoded.indices.cast(pa.int64()).fill_null(len(encoded.dictionary))
    return np.asarray(indices.to_numpy(zero_copy_only=False))


def _turns(person: Places, columns: Sequence[Places]) -> Places:
    """The place of every row among its person's, by scattered numbers."""
    copy = _places_within([person, *columns])
    factors = multipliers(len(columns))
    terms = [f * (c + 1) for f, c in zip(factors, [*columns, copy], strict=True)]
    scattered = np.sum(terms, axis=0) % MODULUS
    return _places_within([person], then=[scattered, *columns, copy])


def _places_within(groups: Sequence[Places], then: Sequence[Places] = ()) -> Places:
    """The place of every row among those of its group, in the order that `then` gives."""
    order = np.lexsort([*then[::-1], *groups[::-1]])
    starts = np.ones(order.size, bool)
    starts[1:] = np.any([np.diff(group[order]) != 0 for group in groups], axis=0)
    counted = np.arange(order.size)
    places = np.empty(order.size, np.int64)
    places[order] = counted - np.maximum.accumulate(np.where(starts, counted, 0))
    return places
