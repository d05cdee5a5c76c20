"""The unit of the promise: the neighbouring relation, and how many rows a person may own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from understudy.errors import UsageError


class Neighbours(StrEnum):
    """Which two tables must be hard to tell apart."""

    ADD_REMOVE = "add-remove"
    """One has a row more than the other; the number of rows is private."""

    REPLACE = "replace"
    """One row differs; the number of rows is public."""

    @classmethod
    def parse(cls, name: str) -> Neighbours:
        """The relation that a name stands for."""
        try:
            return cls(name)
        except ValueError:
            raise UsageError(f"neighbours is {name!r}; use {' or '.join(cls)}") from None


def check_rows_per_person(most: object) -> None:
    """Refuse a number of rows that is not a whole one, or is below 1.

    Privacy: of one and a half rows a person would keep two, and noise would cover one and a half.
    """
    if not isinstance(most, int) or isinstance(most, bool):
        raise UsageError(f"rows per person is {most!r}; it must be a whole number such as 3")
    if most < 1:
        raise UsageError(f"rows per person is {most}; it must be at least 1")


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: one row, one image, or one person with at most `rows_per_person` rows.

    A person with at most one row is not a row: a row that comes may take the place of another.
    An image counts as a row does, under another name.

    Example:
        >>> Unit(Neighbours.REPLACE).count_l1
        Fraction(2, 1)
    """

    neighbours: Neighbours
    rows_per_person: int | None = None
    of_images: bool = False

    def __post_init__(self) -> None:
        if self.rows_per_person is None:
            return
        check_rows_per_person(self.rows_per_person)
        if self.neighbours is Neighbours.REPLACE:
            raise UsageError(
                "persons with several rows need add-remove neighbours; "
                "choose them, as --neighbours add-remove"
            )

    @property
    def rows(self) -> int:
        """How many rows one unit may bring or take along."""
        return self.rows_per_person or 1

    @property
    def count_l1(self) -> Fraction:
        """How far one unit moves a contingency table in L1: c, or 2 when a row is replaced."""
        return Fraction(2 if self.neighbours is Neighbours.REPLACE else self.rows)

    @property
    def count_l2_squared(self) -> Fraction:
        """Return the squared L2 sensitivity: c rows may share a cell, a replaced one has two."""
        if self.neighbours is Neighbours.REPLACE:
            return Fraction(2)
        return Fraction(self.rows) ** 2

    @property
    def new_rows(self) -> int:
        """How many rows a table may hold that its neighbour does not: c, or the one put in."""
        return 1 if self.neighbours is Neighbours.REPLACE else self.rows

    @property
    def label(self) -> str:
        """Describe the unit in words."""
        if self.rows_per_person is None:
            return "image" if self.of_images else "row"
        rows = "row" if self.rows_per_person == 1 else "rows"
        return f"person with at most {self.rows_per_person} {rows}"
