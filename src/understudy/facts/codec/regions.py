"""Parts of a line: what conditions leave of a column's bins, and draws among the values left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.facts.codec.ordinates import Ordinates
from understudy.facts.codes import Codes
from understudy.facts.column import BinnedColumn, Ordinate
from understudy.facts.column.steps import Steps
from understudy.facts.constraints.meaning import bins_of

# Its first and its last value; all values between them belong to it.
Span = tuple[Ordinate, Ordinate]


@dataclass(frozen=True)
class Region:
    """A part of the line: from `low` to `high`, both within, or points of it; without some."""

    low: Ordinate = -math.inf
    high: Ordinate = math.inf
    points: frozenset[Ordinate] | None = None
    without: frozenset[Ordinate] = frozenset()

    def narrowed(self, column: BinnedColumn, relation: str, places: list[Ordinate]) -> Region:
        """Return the part that is left under one more condition."""
        low, high, points, without = self.low, self.high, self.points, self.without
        match relation:
            case "=" | "in":
                points = frozenset(places) if points is None else points & frozenset(places)
            case "!=":
                without |= frozenset(places)
            case "<" | "<=":
                high = min(high, places[0] if relation == "<=" else _before(column, places[0]))
            case ">" | ">=":
                low = max(low, places[0] if relation == ">=" else _after(column, places[0]))
        return Region(low, high, points, without)

    def runs(self, column: BinnedColumn, within: Span) -> list[Span]:
        """The values of a bin that lie in it."""
        first, last = max(within[0], self.low), min(within[1], self.high)
        if self.points is not None:
            return [(p, p) for p in sorted(self.points - self.without) if first <= p <= last]
        found = []
        for hole in sorted(hole for hole in self.without if first <= hole <= last):
            found.append((first, _before(column, hole)))
            first = _after(column, hole)
        return [(first, last) for first, last in [*found, (first, last)] if first <= last]

    def share_of(self, column: BinnedColumn, within: Span) -> float:
        """How much of a bin lies in it."""
        runs, whole = self.runs(column, within), _length(column, within)
        if whole == 0 or (self.points is not None and not column.whole):
            # One real number is nothing on the line; what is known of an equal one is its bin.
            return float(bool(runs))
        return sum(_length(column, run) for run in runs) / whole


ANYWHERE = Region()


def _before(column: BinnedColumn, place: Ordinate) -> Ordinate:
    return place - 1 if column.whole else math.nextafter(place, -math.inf)


def _after(column: BinnedColumn, place: Ordinate) -> Ordinate:
    return place + 1 if column.whole else math.nextafter(place, math.inf)


def _length(column: BinnedColumn, run: Span) -> Ordinate:
    """How many values a run holds, or how long it is."""
    return run[1] - run[0] + int(column.whole)


@dataclass(frozen=True)
class Pieces:
    """The part of every bin that a region leaves, ready to be drawn from."""

    column: BinnedColumn
    region: Region

    def draw(self, bins: Codes, generator: np.random.Generator) -> Ordinates:
        """A value inside each bin, all that are left of it alike."""
        chosen = self._chosen(bins, generator)
        if self.column.steps is not None:
            return self._draw_steps(self.column.steps, chosen, generator)
        return self._draw_any(chosen, generator)

    def _draw_steps(
        self, steps: Steps, chosen: npt.NDArray[np.int64], generator: np.random.Generator
    ) -> Ordinates:
        """Values that the column writes; where a run holds none of them, any of the run."""
        first, last = self._step_ends
        empty = first > last
        numbers = generator.integers(
            first[chosen], np.where(empty, first, last)[chosen], endpoint=True
        )
        values = steps.origin + numbers * steps.stride
        found: Ordinates = values if self.column.whole else values / steps.scale
        if empty.any():
            found = np.where(empty[chosen], self._draw_any(chosen, generator), found)
        return found

    def _draw_any(self, chosen: npt.NDArray[np.int64], generator: np.random.Generator) -> Ordinates:
        first, last = self._first[chosen], self._last[chosen]
        if self.column.whole:
            ends = first.astype(np.int64, copy=False), last.astype(np.int64, copy=False)
            return np.asarray(generator.integers(*ends, endpoint=True))
        # A draw is at most 1 - 2**-53, and that times a length rounds to less than the true one: no
        # value is carried beyond the last.
        return np.asarray(first + generator.random(chosen.size) * (last - first))

    def _chosen(self, bins: Codes, generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """For each bin, one of its runs in proportion to their lengths."""
        starts = self._starts
        if starts.size == self._first.size + 1:
            return starts[bins]
        places = bins + generator.random(bins.size)
        runs = np.searchsorted(self._reached, places, side="right")
        return np.asarray(np.clip(runs, starts[bins], starts[bins.astype(np.int64) + 1] - 1))

    @cached_property
    def _runs(self) -> list[list[Span]]:
        """The runs of every bin; one that nothing is left of is never drawn, and stays whole."""
        column = self.column
        return [self.region.runs(column, within) or [within] for within in bins_of(column)]

    @cached_property
    def _starts(self) -> npt.NDArray[np.int64]:
        """The number of each bin's first run, and of all runs."""
        return np.cumsum([0, *map(len, self._runs)])

    @cached_property
    def _first(self) -> Ordinates:
        return self._ends(0)

    @cached_property
    def _last(self) -> Ordinates:
        return self._ends(1)

    @cached_property
    def _step_ends(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the first and the last written value of each run."""
        steps = self.column.steps or Steps()
        runs = [run for runs in self._runs for run in runs]
        first = np.array([steps.first_from(run[0]) for run in runs], np.int64)
        return first, np.array([steps.last_to(run[1]) for run in runs], np.int64)

    def _ends(self, which: int) -> Ordinates:
        ends = [run[which] for runs in self._runs for run in runs]
        return np.array(ends, np.int64 if self.column.whole else np.float64)

    @cached_property
    def _reached(self) -> npt.NDArray[np.float64]:
        """The bin of each run, and the share of it that this run and those before it hold."""
        reached = []
        for code, runs in enumerate(self._runs):
            lengths = np.array([float(_length(self.column, run)) for run in runs])
            # Points of the line have no length; they are alike.
            shares = lengths if lengths.sum() else np.ones(len(runs))
            reached.append(code + shares.cumsum() / shares.sum())
        return np.concatenate(reached)
