"""Adjacency: which tables a promise makes hard to tell apart, and what that implies for others.

Losses add up only among promises about the same tables. A promise about one adjacency may imply a
weaker one about another: a replaced row is a row removed and a row added, so it takes two steps of
`add-remove`. Where no number of steps leads from one table to the other, nothing is implied.

Proof: docs/proofs/composition_and_ledger.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.noise.laws import falling

# Deltas are rounded up to a part in 10¹² of themselves, so that they stay short.
_DIGITS = 12
_BITS = 256
# Beyond this a power of e is so large that any delta times it is above one.
_LARGEST_EXPONENT = 1000


class UnitKind(StrEnum):
    """Name what one unit of privacy is: a row, an image, a person or a user."""

    ROW = "row"
    PERSON = "person"
    """Whoever the column of names tells apart, with all rows of that name."""

    IMAGE = "image"
    USER = "user"
    """A user of a stream, with all events."""


_PLURALS = {
    UnitKind.ROW: "rows",
    UnitKind.PERSON: "persons",
    UnitKind.IMAGE: "images",
    UnitKind.USER: "stream users",
}


@dataclass(frozen=True)
class Adjacency:
    """One unit of some kind is added, removed or replaced.

    Attributes:
        kind: what a unit is.
        neighbours: what may happen to one unit.
        person_id: the column that names persons; None where it was not written down.

    Example:
        >>> str(Adjacency(UnitKind.ROW, Neighbours.REPLACE))
        'rows replaced'
    """

    kind: UnitKind = UnitKind.ROW
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    person_id: str | None = None

    @classmethod
    def of(cls, unit: Unit, person_id: str | None = None) -> Adjacency:
        """The adjacency of a unit of privacy; how many rows of a person are kept has no part."""
        if unit.rows_per_person is not None:
            return cls(UnitKind.PERSON, unit.neighbours, person_id)
        return cls(UnitKind.IMAGE if unit.of_images else UnitKind.ROW, unit.neighbours)

    @classmethod
    def written(cls, unit: str, neighbours: str, person_id: str | None) -> Adjacency:
        """The adjacency that a ledger's entry names: its unit by the first word of its label."""
        return cls(UnitKind(unit.split()[0].rstrip(",")), Neighbours(neighbours), person_id)

    def steps(self, to: Adjacency) -> int | None:
        """How many steps of this adjacency lead from any table to its neighbour in another one.

        None where no number of steps is enough, so that a promise here implies nothing there.

        Example:
            >>> Adjacency().steps(Adjacency(neighbours=Neighbours.REPLACE))
            2
            >>> Adjacency(neighbours=Neighbours.REPLACE).steps(Adjacency()) is None
            True
        """
        if self == to:
            return 1
        if self.neighbours is Neighbours.REPLACE:
            return None
        if (self.kind, self.person_id) == (to.kind, to.person_id):
            return 2
        if self.kind is UnitKind.PERSON and to.kind is UnitKind.ROW:
            # A row that comes or goes changes one person; one that is replaced may change two.
            return 4 if to.neighbours is Neighbours.REPLACE else 2
        return None

    def __str__(self) -> str:
        named = "" if self.person_id is None else f" of column {self.person_id!r}"
        changed = "replaced" if self.neighbours is Neighbours.REPLACE else "added or removed"
        return f"{_PLURALS[self.kind]}{named} {changed}"


def group_privacy(epsilon: Fraction, delta: Fraction, *, steps: int) -> tuple[Fraction, Fraction]:
    """Convert (ε, δ) for one step to several: (kε, δ·(1 + e^ε + … + e^((k−1)ε))).

    Example:
        >>> group_privacy(Fraction(1), Fraction(0), steps=2)
        (Fraction(2, 1), Fraction(0, 1))
    """
    if steps == 1 or delta == 0:
        return steps * epsilon, delta
    if steps * epsilon > _LARGEST_EXPONENT:
        return steps * epsilon, Fraction(1)
    factor = sum((_exponential_at_most(i * epsilon) for i in range(steps)), Fraction(0))
    return steps * epsilon, _short(delta * factor)


def _exponential_at_most(exponent: Fraction) -> Fraction:
    """Not below e^exponent."""
    bits = _BITS + 2 * math.ceil(exponent)
    return Fraction(1 << bits, falling(exponent, bits))


def _short(delta: Fraction) -> Fraction:
    """The delta rounded up to a few digits, one at most."""
    if not 0 < delta < 1:
        return min(delta, Fraction(1))
    step = Fraction(10) ** (math.floor(math.log10(delta)) - _DIGITS)
    return min(math.ceil(delta / step) * step, Fraction(1))
