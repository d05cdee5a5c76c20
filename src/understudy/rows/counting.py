"""The questions an engine answers: counts, and scores computed from counts.

An engine sits behind the Curator. Whatever it returns is exact, and private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.facts.axes import NOTHING_COARSER, Axes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours

Counts = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class Marginal:
    """Exact counts over some attributes. Private: never shown, never written."""

    attributes: Attributes
    counts: Counts

    def project(self, attributes: Attributes, /, domain: Domain = NOTHING_COARSER) -> Marginal:
        """The exact counts of fewer attributes, or of coarser copies; as private as these."""
        return Marginal(attributes, Axes(self.attributes).project(self.counts, attributes, domain))

    def __repr__(self) -> str:
        return f"Marginal({', '.join(self.attributes)}; counts private)"


class ScoreKernel(Protocol):
    """The part of a score that runs beside the data, table by table."""

    def __call__(self, marginal: Marginal) -> float:
        """The exact score of one contingency table."""


@dataclass(frozen=True)
class Score:
    """A function of contingency tables that carries its own sensitivity.

    Attributes:
        name: what the statement calls it.
        kernel: computes the exact score of one table.
        sensitivity: the most one unit of privacy can move the score.
        neighbours: the relation the sensitivity holds for.
    """

    name: str
    kernel: ScoreKernel
    sensitivity: Fraction
    neighbours: Neighbours


class CountSource(Protocol):
    """Private rows that can be counted where they are."""

    @property
    def domain(self) -> Domain:
        """The attributes that can be counted; public."""

    @property
    def rows_read(self) -> int:
        """How many rows were read, dropped ones included: public under replace-one only."""

    @property
    def rows_per_person(self) -> int | None:
        """The most rows of one person that are counted; None where persons are not known."""

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes; () counts the rows."""

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores, one for each set of attributes."""


@runtime_checkable
class NumbersRows(Protocol):
    """Sources that can also say into which cell each single row falls."""

    def number_rows(self, sets: Sequence[Attributes]) -> Counts:
        """A line for each row read, in its place: its cell in each table, −1 if it was dropped."""


@runtime_checkable
class CountsMisfits(Protocol):
    """Sources that bound the rows of a person, and count those that did not fit the schema."""

    def count_misfits(self) -> int:
        """How many rows did not fit, of each person at most what is left of the allowance."""


@runtime_checkable
class TellsReading(Protocol):
    """Sources that know how all questions of a run come to see the same rows."""

    @property
    def reading(self) -> str | None:
        """The meaning of one reading of the rows; public, None where it is a file's."""


def reading_of(source: object) -> str | None:
    """How all questions to a source come to see the same rows, where it says so; public."""
    return source.reading if isinstance(source, TellsReading) else None


def fitting_rows(source: CountSource) -> Counts:
    """How many rows fit the schema, and how many do not. Private.

    Every row counts once, as one or the other. Where persons are bounded, the rows of one that fit
    come first, and all rows of one count at most as often as the allowance has it; rows without a
    name count as neither.
    """
    [fitting] = source.count([()])
    kept = int(fitting.counts)
    if isinstance(source, CountsMisfits):
        return np.array([kept, source.count_misfits()], np.int64)
    if source.rows_per_person is not None:
        raise UsageError(
            "these rows are bounded by person, and their engine does not count those that do not "
            "fit; leave the preflight out"
        )
    return np.array([kept, source.rows_read - kept], np.int64)


@dataclass(frozen=True, repr=False)
class KeyCounts:
    """How often each different text of a column occurs, as far as it does. Private."""

    counts: Mapping[str, int]

    def __sub__(self, other: KeyCounts) -> KeyCounts:
        keys = self.counts.keys() | other.counts.keys()
        return KeyCounts({k: self.counts.get(k, 0) - other.counts.get(k, 0) for k in keys})

    def __repr__(self) -> str:
        return "KeyCounts(private)"


@dataclass(frozen=True)
class ReleasedKeys:
    """Texts that may leave, each with its noisy count."""

    counts: Mapping[str, int]


@runtime_checkable
class HasKeys(Protocol):
    """Private rows that can be asked which texts a column holds."""

    def keys(self, column: str) -> KeyCounts:
        """How often each text of a column occurs; missing cells are not counted."""


class KeySource(HasKeys, CountSource, Protocol):
    """Private rows that can be counted, those of some columns by their texts."""
