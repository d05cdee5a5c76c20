"""Columns of calendar days and of moments."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import Field, model_validator

from understudy.facts.column.binned import BinnedBase, Ordinate
from understudy.facts.column.moment_notation import MomentNotation, check_format
from understudy.facts.column.notation import Notation

Day = Annotated[date, Field(strict=False)]
Moment = Annotated[datetime, Field(strict=False)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_PER_DAY = 86400
# Whole years that 64 bits of nanoseconds reach.
_NANOSECOND_YEARS = (1678, 2261)


class CalendarBase(BinnedBase):
    """The base of columns of days and of moments: a format, and steps between values."""

    format: str | None = None
    step: Annotated[int, Field(ge=1, le=2**40)] | None = None

    @cached_property
    def notation(self) -> Notation | None:
        """How values are written; None where ISO 8601 says it."""
        return self._notation

    @property
    def _notation(self) -> MomentNotation | None:
        return None if self.format is None else MomentNotation(self.format, days=self._days)

    @property
    def _days(self) -> bool:
        return self.named_kind == "date"

    @model_validator(mode="after")
    def _check_unit(self) -> Self:
        low = self.edges[0] if self.edges else self.min
        within = _NANOSECOND_YEARS[0] <= low.year <= self.max.year <= _NANOSECOND_YEARS[1]
        if self.dtype == "datetime64[ns]" and not within:
            raise ValueError(
                "dtype is datetime64[ns], which holds the years 1678 to 2261; use datetime64[us]"
            )
        return self

    @model_validator(mode="after")
    def _check_format(self) -> Self:
        if self._notation is not None:
            low = self.edges[0] if self.edges else self.min
            check_format(self._notation, (low.year, self.max.year))
        return self


class DateColumn(CalendarBase):
    """A column of calendar days."""

    kind: Literal["date"] = "date"
    min: Day | None = None
    max: Day
    edges: Annotated[tuple[Day, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Days since 1970-01-01."""
        return int((value - _EPOCH.date()).days)

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> date:
        """Return the day."""
        return _EPOCH.date() + timedelta(days=int(ordinate))

    @classmethod
    def place(cls, text: str) -> int:
        """The day; of a moment, its day in UTC."""
        try:
            return cls.ordinate(date.fromisoformat(text))
        except ValueError:
            return DatetimeColumn.place(text) // _SECONDS_PER_DAY


class DatetimeColumn(CalendarBase):
    """A column of moments, to the second; those with an offset are taken to UTC.

    With a zone, moments are written in its time, with their offset.
    """

    kind: Literal["datetime"] = "datetime"
    zone: str | None = None
    min: Moment | None = None
    max: Moment
    edges: Annotated[tuple[Moment, ...] | None, Field(strict=False)] = None

    @model_validator(mode="after")
    def _check_resolution(self) -> Self:
        written = self._notation
        if written is None:
            return self
        finest = written.resolution or 1
        if finest > 1 and (not self.step or self.step % finest or self.bounds[0] % finest):
            raise ValueError(
                f"format is {self.format!r}, which is coarser than the values; "
                f"add step = {finest}, and bounds that are whole steps"
            )
        return self

    @model_validator(mode="after")
    def _check_zone(self) -> Self:
        if self.zone is None:
            return self
        try:
            ZoneInfo(self.zone)
        except (KeyError, OSError, ValueError):
            raise ValueError(
                f"zone is {self.zone!r}, which is not known; use a name such as Europe/Berlin"
            ) from None
        first = self.value_at(self.bounds[0])
        offset = ZoneInfo(self.zone).utcoffset(first) or timedelta()
        if offset % timedelta(minutes=1):
            raise ValueError(
                f"zone is {self.zone!r}, whose offset had seconds at the lower bound, which no "
                "text holds; use a later bound, or UTC"
            )
        if self._notation is not None and "z" not in self._notation.parts:
            raise ValueError(
                f"zone is {self.zone!r}, and the format does not write the offset; add %z"
            )
        return self

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Whole seconds since 1970-01-01."""
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return int((moment - _EPOCH) // timedelta(seconds=1))

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> datetime:
        """The moment in UTC, without saying so."""
        return _EPOCH.replace(tzinfo=None) + timedelta(seconds=int(ordinate))

    @classmethod
    def place(cls, text: str) -> int:
        """The moment that ISO 8601 writes so."""
        return cls.ordinate(datetime.fromisoformat(text))
