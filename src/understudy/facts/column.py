"""Kinds of column: the values that one may hold, and where each value lies.

Numbers, days and moments lie on a line and are cut into bins; categories and booleans are listed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from understudy.facts.taxonomy import Branch, paths_of

Scalar = bool | int | float | str
Ordinate = int | float

DEFAULT_BINS = 16
# A range of whole numbers or days no longer than this keeps every value apart.
WHOLE_RANGE = 32
# Codes are held in 16 bits.
MOST_LEVELS = 2**16 - 1

# Whole numbers beyond 64 bits are taken to the last one within; the last such double is below it.
LOWEST_WHOLE, HIGHEST_WHOLE = -(2**63), 2**63 - 1
HIGHEST_WHOLE_REAL = math.nextafter(2.0**63, 0)

# What a cell of a boolean column may say, cases aside.
TRUE_WORDS = ("true", "t", "yes", "y", "1")
FALSE_WORDS = ("false", "f", "no", "n", "0")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_PER_DAY = 86400


def text_of(value: object) -> str:
    """The text by which a value is matched: integer 3, 3.0 and "3" are all "3"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case date():
            return value.isoformat()
        case _:
            return str(value)


def _plain(text: str) -> str:
    """The text, unless it spells a number in a way that only Python knows."""
    if "_" in text or not text.isascii():
        raise ValueError
    return text


class _Column(BaseModel):
    """The base of all columns: a kind, a note for people, and whether somebody vouches for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    note: str | None = None
    unreviewed: bool = False

    def document(self) -> dict[str, Any]:
        """Return the column as a schema file has it."""
        given = self.model_dump(exclude_defaults=True).items()
        kind = getattr(self, "kind")  # noqa: B009 - every kind of column declares it
        return {"kind": kind} | {k: list(v) if isinstance(v, tuple) else v for k, v in given}


class _Learned(_Column):
    """A column that becomes an attribute: declared levels, and perhaps one for missing cells."""

    missing: Annotated[tuple[str, ...] | None, Field(strict=False)] = None

    @field_validator("missing", mode="before")
    @classmethod
    def _markers_are_text(cls, value: object) -> object:
        if isinstance(value, str | int | float):
            raise ValueError(
                f"missing is {value!r}; write a list of markers: missing = [{value!r}]"
            )
        if not isinstance(value, Sequence):
            return value
        if not all(isinstance(marker, str | int | float | date) for marker in value):
            raise ValueError(
                "missing holds a value that is neither text nor number; empty cells need no marker"
            )
        return [text_of(marker).strip() for marker in value]

    @property
    def levels(self) -> int:
        """How many declared values or bins the column has, the missing level not counted."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many codes the attribute has: levels, and one more if cells may be missing."""
        return self.levels + (self.missing is not None)

    @property
    def missing_code(self) -> int | None:
        """The code of a missing cell, the last one; None when the column declares no missing."""
        return self.levels if self.missing is not None else None


class _Listed(_Learned):
    """A column whose values are listed one by one."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The listed values as the texts they are matched by, in code order."""
        raise NotImplementedError

    @property
    def levels(self) -> int:
        """One level for each listed value."""
        return len(self.texts)

    @property
    def outside_code(self) -> int | None:
        """The code that undeclared values take; None when their rows are dropped."""
        outside = getattr(self, "outside", "drop")
        if outside == "drop":
            return None
        text = text_of(outside)
        return self.texts.index(text) if text in self.texts else self.missing_code

    def _check_listed(self, outside: Scalar) -> None:
        both = sorted(set(self.texts) & set(self.missing or ()))
        if both:
            raise ValueError(f"{both[0]!r} is both a value and a missing marker; keep one of them")
        if outside == "clip":
            raise ValueError('outside = "clip" needs numbers; use "drop" or one of the values')
        declared = {*self.texts, *(self.missing or ())}
        if outside != "drop" and text_of(outside) not in declared:
            raise ValueError(
                f'outside is {outside!r}, which is not a declared value; declare it or use "drop"'
            )


class CategoricalColumn(_Listed):
    """A column holding one of a list of values, matched by their text."""

    kind: Literal["categorical"] = "categorical"
    values: Annotated[tuple[Scalar, ...], Field(strict=False)]
    ordered: bool = False
    taxonomy: dict[str, Any] | None = None
    prefixes: bool = False
    outside: Scalar = "drop"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The declared values as the texts they are matched by."""
        return tuple(text_of(value) for value in self.values)

    @cached_property
    def beginnings(self) -> tuple[tuple[str, int], ...]:
        """With `prefixes`, the beginnings that values such as `42*` stand for, longest first."""
        codes = enumerate(self.texts if self.prefixes else ())
        found = [(text[:-1], code) for code, text in codes if text.endswith("*")]
        return tuple(sorted(found, key=lambda pair: -len(pair[0])))

    @cached_property
    def paths(self) -> Mapping[str, Branch]:
        """For every value, by its text, the groups of the taxonomy that hold it; none without."""
        return {text_of(v): path for v, path in paths_of(self.taxonomy or {})}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.values:
            raise ValueError("values is empty; list the values the column may hold")
        for text, times in Counter(self.texts).items():
            if times > 1:
                raise ValueError(f"value {text!r} is listed more than once; list it once")
        if any(isinstance(value, float) and not math.isfinite(value) for value in self.values):
            raise ValueError("values holds nan or inf; list finite numbers, and use missing = []")
        if self.missing is not None and "" in self.texts:
            raise ValueError(
                "an empty text is listed, and empty cells are missing; keep one of them"
            )
        self._check_listed(self.outside)
        self._check_taxonomy()
        return self

    def _check_taxonomy(self) -> None:
        if self.taxonomy is None:
            return
        grouped = Counter(text_of(value) for value, _ in paths_of(self.taxonomy))
        for text in (*self.texts, *grouped):
            if text not in self.texts:
                raise ValueError(f"taxonomy groups {text!r}, which is not a declared value")
            if grouped[text] != 1:
                times = "in no group" if text not in grouped else f"{grouped[text]} times"
                raise ValueError(f"value {text!r} is {times} in taxonomy; put it into one group")


class BooleanColumn(_Listed):
    """A column that is true or false."""

    kind: Literal["boolean"] = "boolean"
    outside: Scalar = "drop"

    @property
    def texts(self) -> tuple[str, ...]:
        """False, then true."""
        return ("false", "true")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_listed(self.outside)
        return self


class _Binned(_Learned):
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


# Far from the ends, so that the width of a bin is a number too.
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]
Day = Annotated[date, Field(strict=False)]
Moment = Annotated[datetime, Field(strict=False)]


class IntegerColumn(_Binned):
    """A column of whole numbers."""

    kind: Literal["integer"] = "integer"
    min: Whole | None = None
    max: Whole
    edges: Annotated[tuple[Whole, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Return the number unchanged."""
        return int(value)

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> int:
        """Return the number unchanged."""
        return int(ordinate)

    @classmethod
    def place(cls, text: str) -> int:
        """The number itself; others are rounded down."""
        try:
            return max(LOWEST_WHOLE, min(int(_plain(text)), HIGHEST_WHOLE))
        except ValueError:
            real = float(_plain(text))
            return math.floor(max(min(real, HIGHEST_WHOLE_REAL), LOWEST_WHOLE))


class FloatColumn(_Binned):
    """A column of real numbers."""

    kind: Literal["float"] = "float"
    whole: ClassVar[bool] = False
    min: Finite | None = None
    max: Finite
    edges: Annotated[tuple[Finite, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> float:
        """Return the number unchanged."""
        return float(value)

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> float:
        """Return the number unchanged."""
        return float(ordinate)

    @classmethod
    def place(cls, text: str) -> float:
        """Return the number unchanged."""
        return float(_plain(text))


class DateColumn(_Binned):
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


class DatetimeColumn(_Binned):
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


class IdColumn(_Column):
    """A column that names rows: generated afresh, never learned."""

    kind: Literal["id"] = "id"
    prefix: str = ""


LearnedColumn = (
    CategoricalColumn | BooleanColumn | IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
)
ListedColumn = CategoricalColumn | BooleanColumn
BinnedColumn = IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
Column = LearnedColumn | IdColumn

KINDS = ("categorical", "boolean", "integer", "float", "date", "datetime", "id")
