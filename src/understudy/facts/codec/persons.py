"""Persons with several rows: at most a given number of each are kept, whatever other persons hold.

Which of a person's rows stay is decided by these rows alone, and not by the order they come in:
each is given a number computed from its codes, and the lowest stay. The number scatters like a draw
by lot, so that no kind of row is preferred. Equal rows are counted first, so that each has a number
of its own. Rows without a name are nobody's, and none of them stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.codec.names import UNNAMED, number_names
from understudy.facts.codes import Codes, Mask
from understudy.facts.unit import check_rows_per_person
from understudy.system.arrays import Integers

# Lehmer's generator: public numbers that scatter.
MODULUS = 2**31 - 1
_MULTIPLIER = 48271


def multipliers(count: int) -> list[int]:
    """Return the factors for the codes of each attribute, and for the number among equal rows."""
    return [pow(_MULTIPLIER, i + 1, MODULUS) for i in range(count + 1)]


@dataclass(frozen=True)
class Persons:
    """The column that names persons, and how many rows of each are kept.

    Rows without a name are dropped: they may be several persons', and one more of them must move
    nobody else's. What a name is, `codec.names` says.
    """

    column: str
    most: int

    def __post_init__(self) -> None:
        check_rows_per_person(self.most)

    @classmethod
    def given(cls, column: str | None, most: int | None) -> Persons | None:
        """Return the persons that both together declare; none where neither is given."""
        if column is None and most is None:
            return None
        if column is None or most is None:
            raise UsageError("persons need both a column that names them and the most rows of each")
        return cls(column, most)

    def left_out(
        self, names: pa.ChunkedArray, codes: Mapping[str, Codes], dropped: Mask | None = None
    ) -> Mask:
        """Which rows do not stay: those dropped before, those without a name, and surplus ones.

        Args:
            names: the cells that name persons, one for each row.
            codes: of the same rows.
            dropped: those that were dropped by their other cells and count as nobody's.
        """
        person = number_names(self.column, names)
        gone: Mask = person == UNNAMED
        if dropped is not None:
            gone |= dropped
        held = np.flatnonzero(~gone)
        many = held[np.bincount(person[held])[person[held]] > self.most]
        columns = [column[many].astype(np.int64) for column in codes.values()]
        gone[many[_turns(person[many], columns) >= self.most]] = True
        return gone

    def misfits(self, names: pa.ChunkedArray, unfit: Mask | None) -> int:
        """How many rows do not fit, of every person at most what fitting rows leave of `most`.

        Args:
            names: the cells that name persons, one for each row.
            unfit: the rows that other cells send away; None where there are none.
        """
        if unfit is None or not unfit.any():
            return 0
        person = number_names(self.column, names)
        named = person != UNNAMED
        size = int(person.max(initial=UNNAMED)) + 1
        fitting = np.bincount(person[named & ~unfit], minlength=size)
        others = np.bincount(person[named & unfit], minlength=size)
        return int(np.minimum(others, self.most - np.minimum(fitting, self.most)).sum())


def _turns(person: Integers, columns: Sequence[Integers]) -> Integers:
    """The place of every row among its person's, by scattered numbers."""
    copy = _places_within([person, *columns])
    factors = multipliers(len(columns))
    terms = [f * (c + 1) for f, c in zip(factors, [*columns, copy], strict=True)]
    scattered = np.sum(terms, axis=0) % MODULUS
    return _places_within([person], then=[scattered, *columns, copy])


def _places_within(groups: Sequence[Integers], then: Sequence[Integers] = ()) -> Integers:
    """The place of every row among those of its group, in the order that `then` gives."""
    order = np.lexsort([*then[::-1], *groups[::-1]])
    starts = np.ones(order.size, bool)
    starts[1:] = np.any([np.diff(group[order]) != 0 for group in groups], axis=0)
    counted = np.arange(order.size)
    places = np.empty(order.size, np.int64)
    places[order] = counted - np.maximum.accumulate(np.where(starts, counted, 0))
    return places
