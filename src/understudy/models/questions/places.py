"""The numbers behind the codes of a column, for means and quantiles.

All values that a bin may hold are alike, as they are where rows are sampled. Of a bin that
conditions cut, only the part that fits is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from understudy.errors import UsageError
from understudy.facts.codec.regions import ANYWHERE, Region, Span
from understudy.facts.column import (
    BinnedColumn,
    CategoricalColumn,
    DateColumn,
    DatetimeColumn,
    LearnedColumn,
    Ordinate,
)
from understudy.facts.column.notation import NumberNotation
from understudy.facts.constraints.meaning import spelled
from understudy.system.arrays import Floats


@dataclass(frozen=True, eq=False)
class CodePlaces:
    """Where the values of a column's codes lie; missing cells have none.

    Attributes:
        column: its declaration.
        means: the mean value of every code, 0 for missing cells.
        ends: the lower and upper end of every code that is not missing, in increasing order.
        order: the codes in that order.
    """

    column: LearnedColumn
    means: Floats
    ends: Floats
    order: tuple[int, ...]

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest value."""
        return float(self.ends.min()), float(self.ends.max())

    @property
    def present(self) -> Floats:
        """Return 1 for every code that is a value, and 0 for missing cells."""
        found = np.zeros(len(self.means))
        found[[*self.order]] = 1.0
        return found

    @property
    def steps_at(self) -> Floats:
        """The places that a cumulative distribution runs through: all ends, in order."""
        return self.ends.ravel()

    def cumulative(self, chances: Floats) -> Floats:
        """The share of values up to every place; chances of all codes are along the last axis."""
        reached = np.cumsum(chances[..., [*self.order]], axis=-1)
        before = np.concatenate([np.zeros((*reached.shape[:-1], 1)), reached[..., :-1]], axis=-1)
        return np.stack([before, reached], axis=-1).reshape(*reached.shape[:-1], -1)

    def quantile(self, chances: Floats, share: float) -> float:
        """The place below which a share of the values lies."""
        reached = self.cumulative(chances / chances[[*self.order]].sum())
        return crossing(self.steps_at, reached, share)

    def value(self, place: float) -> float:
        """The value at a place: itself, or the whole number that the place belongs to."""
        if not isinstance(self.column, BinnedColumn) or not self.column.whole:
            return place
        low, high = self.bounds
        return float(np.clip(math.ceil(place - 1e-9) - 1, low, high - 1))

    def written(self, value: float, *, decimals: int | None = None) -> str:
        """A value as the schema says it is written.

        Args:
            value: the number, or the ordinate of a day or moment.
            decimals: how many decimals it has; those of the column unless given.
        """
        if isinstance(self.column, DateColumn | DatetimeColumn):
            return spelled(self.column, round(value))
        digits = decimals if decimals is not None else self.decimals
        notation = getattr(self.column, "notation", None)
        if not isinstance(notation, NumberNotation):
            return f"{value:.{digits}f}"
        return replace(notation, decimals=digits, digits=0).written(round(float(value), digits))

    @property
    def decimals(self) -> int:
        """How many decimals the column's values have."""
        if isinstance(self.column, CategoricalColumn):
            return max(_decimals(value) for value in self.column.values)
        return getattr(self.column, "written_decimals", None) or 0


def crossing(places: Floats, reached: Floats, share: float) -> float:
    """The first place where a piecewise linear curve reaches a share, or its last place."""
    above = np.flatnonzero(reached >= share)
    if not len(above):
        return float(places[-1])
    at = int(above[0])
    if at == 0 or reached[at] <= reached[at - 1]:
        return float(places[at])
    part = (share - reached[at - 1]) / (reached[at] - reached[at - 1])
    return float(places[at - 1] + part * (places[at] - places[at - 1]))


def places_of(name: str, column: LearnedColumn, region: Region = ANYWHERE) -> CodePlaces:
    """Find the numbers behind a column's codes.

    Args:
        name: of the column, for messages.
        column: its declaration.
        region: the part of the line that is left of it.

    Raises:
        UsageError: the column has no numbers.
    """
    if isinstance(column, BinnedColumn):
        runs = [region.runs(column, within) or [within] for within in column.bin_ends]
        means = [_mean(column, held) for held in runs]
        ends = [(held[0][0], held[-1][1] + int(column.whole)) for held in runs]
        return CodePlaces(column, _padded(means, column), np.array(ends, float), _all(column))
    if isinstance(column, CategoricalColumn) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in column.values
    ):
        values = np.array(column.values, float)
        order = np.argsort(values, kind="stable")
        points = np.repeat(values[order][:, None], 2, axis=1)
        return CodePlaces(column, _padded([*values], column), points, tuple(map(int, order)))
    raise UsageError(
        f"column {name!r} holds no numbers, days or moments; ask for its distribution by P({name})"
    )


def _all(column: LearnedColumn) -> tuple[int, ...]:
    return tuple(range(column.levels))


def _padded(means: list[float], column: LearnedColumn) -> Floats:
    return np.array([*means, *([0.0] if column.missing_code is not None else [])], float)


def _mean(column: BinnedColumn, runs: list[Span]) -> float:
    """The mean of all values of some runs, each value alike."""
    lengths = [float(last - first) + int(column.whole) for first, last in runs]
    middles = [_middle(column, run) for run in runs]
    weights = lengths if sum(lengths) > 0 else [1.0] * len(runs)
    return float(np.average(middles, weights=weights))


def _middle(column: BinnedColumn, run: Span) -> float:
    ends: tuple[Ordinate, Ordinate] = run
    steps = column.steps
    if steps is not None:
        first, last = steps.first_from(run[0]), steps.last_to(run[1])
        if first <= last:
            ends = steps.value(first), steps.value(last)
    return (float(ends[0]) + float(ends[1])) / 2


def _decimals(value: object) -> int:
    text = repr(value)
    return len(text.partition(".")[2]) if "." in text and not text.endswith(".0") else 0
