"""Columns on a line that is cut into bins: what numbers, days and moments have in common."""

from __future__ import annotations

import math
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

from pydantic import field_validator, model_validator

from understudy.facts.column.base import MOST_LEVELS, LearnedBase, text_of
from understudy.facts.column.notation import Notation
from understudy.facts.column.steps import Steps

Ordinate = int | float

DEFAULT_BINS = 16
# A range of whole numbers or days no longer than this keeps every value apart.
WHOLE_RANGE = 32


class BinnedBase(LearnedBase):
    """A column on a line, cut into bins: left edges, the last bin ending at `max` inclusive."""

    whole: ClassVar[bool] = True

    # The kinds below narrow these three to their own type of value.
    min: Any = None
    max: Any
    edges: Any = None
    bins: int | None = None
    outside: Any = "clip"
    step: Any = None

    @field_validator("outside")
    @classmethod
    def _days_are_text(cls, value: object) -> object:
        # TOML has dates of its own, JSON writes them as texts.
        return text_of(value) if isinstance(value, date) else value

    @classmethod
    def ordinate(cls, value: Any) -> Ordinate:
        """Where a value lies on the line; whole numbers for every kind but float."""
        raise NotImplementedError

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> Any:
        """The value that lies at an ordinate."""
        raise NotImplementedError

    @classmethod
    def place(cls, text: str) -> Ordinate:
        """Return a text's ordinate; ValueError or OverflowError when it is not such a value."""
        raise NotImplementedError

    @property
    def bounds(self) -> tuple[Ordinate, Ordinate]:
        """The smallest and the largest ordinate the column may hold."""
        low = self.edges[0] if self.edges else self.min
        return self.ordinate(low), self.ordinate(self.max)

    @cached_property
    def left_edges(self) -> tuple[Ordinate, ...]:
        """The left edge of every bin, as ordinates."""
        if self.edges:
            return tuple(self.ordinate(edge) for edge in self.edges)
        low, high = self.bounds
        count = self._bin_count(low, high)
        if self.whole:
            return tuple(int(low) + i * (int(high) - int(low) + 1) // count for i in range(count))
        return tuple(low + i * ((high - low) / count) for i in range(count))

    def _bin_count(self, low: Ordinate, high: Ordinate) -> int:
        if not self.whole:
            return 1 if low == high else self._real_bins(low, high)
        values = (int(high) - int(low)) // int(self.step or 1) + 1
        default = values if values <= WHOLE_RANGE else DEFAULT_BINS
        return min(self.bins or default, values)

    def _real_bins(self, low: Ordinate, high: Ordinate) -> int:
        """How many bins real numbers get: no more by default than values that are written."""
        steps = self.declared_steps
        if self.bins is not None or steps is None or low > high:
            return self.bins or DEFAULT_BINS
        return max(1, min(DEFAULT_BINS, steps.last_to(high) - steps.first_from(low) + 1))

    @property
    def levels(self) -> int:
        """One level for each bin."""
        return len(self.left_edges)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_keys()
        edges = [self.ordinate(edge) for edge in self.edges or ()]
        if any(right <= left for left, right in pairwise(edges)):
            raise ValueError("edges do not increase; sort them and remove repeated ones")
        if edges and self.ordinate(self.max) < edges[-1]:
            raise ValueError(f"max {self.max} is below the last edge {self.edges[-1]}; raise max")
        low, high = self.bounds
        if high < low:
            raise ValueError(f"upper bound {self.max} is below lower bound {self.min}; swap them")
        if self._bin_count(low, high) > MOST_LEVELS:
            raise ValueError(
                f"bins is {self.bins}, more than {MOST_LEVELS}; use fewer, for example bins = 16"
            )
        if any(right <= left for left, right in pairwise(self.left_edges)):
            raise ValueError("the bins are narrower than floating point can tell apart; use fewer")
        self._check_markers()
        self._check_outside()
        self._check_steps()
        return self

    def _check_steps(self) -> None:
        if self.step is not None and not self.step > 0:
            raise ValueError(f"step is {self.step}; use a number above 0")
        steps = self.declared_steps
        if steps is None:
            return
        low, high = self.bounds
        if not self.whole and not steps.tells_apart(low, high):
            raise ValueError(
                "decimals or step ask for more digits than floating point holds; use fewer decimals"
            )
        ends = self.bin_ends
        if all((last - first) * steps.scale >= steps.stride for first, last in ends):
            return
        for first, last in ends:
            if steps.first_from(first) > steps.last_to(last):
                raise ValueError(
                    f"the bin from {self.value_at(first)} to {self.value_at(last)} holds no value "
                    "of this step or of these decimals; use fewer bins, other edges or finer steps"
                )

    @property
    def declared_steps(self) -> Steps | None:
        """The values that the column writes, where they are declared."""
        if self.step is None or not self.whole:
            return None
        return Steps(origin=int(self.bounds[0]), stride=int(self.step))

    @property
    def steps(self) -> Steps | None:
        """The values that the column writes; None where all of them are written."""
        return self.declared_steps

    @property
    def notation(self) -> Notation | None:
        """How the column's values are written as texts; None where it is the usual way."""
        return None

    @property
    def bin_ends(self) -> list[tuple[Ordinate, Ordinate]]:
        """The first and the last value that each bin may hold."""
        edges = self.left_edges
        before = [e - 1 if self.whole else math.nextafter(e, -math.inf) for e in edges]
        return list(zip(edges, [*before[1:], self.bounds[1]], strict=True))

    def _check_keys(self) -> None:
        if self.edges is not None and not self.edges:
            raise ValueError("edges is empty; list the left edge of every bin, or give min")
        if self.min is None and not self.edges:
            raise ValueError("neither min nor edges is given; give one of them beside max")
        if self.min is not None and self.edges:
            raise ValueError(
                "both min and edges are given; the first edge is the minimum, drop min"
            )
        if self.bins is not None and (self.edges or self.bins < 1):
            raise ValueError(f"bins is {self.bins}; use a positive number beside min and max alone")

    @property
    def marked_places(self) -> list[Ordinate]:
        """The ordinates of those missing markers that are themselves values of this kind."""
        places = (self._place_or_nan(marker) for marker in self.missing or ())
        return [place for place in places if place == place]

    def _check_markers(self) -> None:
        low, high = self.bounds
        within = [m for m in self.missing or () if low <= self._place_or_nan(m) <= high]
        if within:
            raise ValueError(
                f"missing marker {within[0]!r} is within the bounds; move the bounds past it"
            )

    def _place_or_nan(self, text: str) -> Ordinate:
        try:
            return self.place(text)
        except (ValueError, OverflowError):
            return math.nan

    def _check_outside(self) -> None:
        if self.outside in ("clip", "drop") or text_of(self.outside) in (self.missing or ()):
            return
        low, high = self.bounds
        if not low <= self.outside_ordinate <= high:
            raise ValueError(
                f"outside is {self.outside!r}, which is itself out of bounds; use a value within"
            )

    @property
    def outside_ordinate(self) -> Ordinate:
        """The declared stand-in for values out of bounds, when `outside` names one."""
        try:
            return self.place(text_of(self.outside))
        except (ValueError, OverflowError):
            raise ValueError(
                f'outside is {self.outside!r}; use "clip", "drop" or a value of this column'
            ) from None
