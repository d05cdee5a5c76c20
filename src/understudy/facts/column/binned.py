"""Columns on a line that is cut into bins: what numbers, days and moments have in common."""

from __future__ import annotations

import math
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

from pydantic import field_validator, model_validator

from understudy.facts.column.base import MOST_LEVELS, LearnedBase, text_of

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
            return 1 if low == high else self.bins or DEFAULT_BINS
        values = int(high) - int(low) + 1
        default = values if values <= WHOLE_RANGE else DEFAULT_BINS
        return min(self.bins or default, values)

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
        return self

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
