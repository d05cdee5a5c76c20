"""Columns of calendar days and of moments."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from understudy.facts.column.binned import BinnedBase, Ordinate

Day = Annotated[date, Field(strict=False)]
Moment = Annotated[datetime, Field(strict=False)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_PER_DAY = 86400


class DateColumn(BinnedBase):
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


class DatetimeColumn(BinnedBase):
    """A column of moments, to the second; those with an offset are taken to UTC."""

    kind: Literal["datetime"] = "datetime"
    min: Moment | None = None
    max: Moment
    edges: Annotated[tuple[Moment, ...] | None, Field(strict=False)] = None

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
