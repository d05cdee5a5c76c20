"""Bounds and lists as other tools write them, read as the values of a kind of column.

Errors are described without the value, which may have been computed from private rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from understudy.errors import SchemaError
from understudy.facts.column import Scalar

_YEARS = ("%Y", "%y", "%G", "%c", "%x")
"""Without one of these a pattern names no day; Python would add the year 1900."""


def first(body: Mapping[str, Any], *names: str) -> Any:
    """Return the value of the first of some names that exists; None if none does."""
    return next((body[name] for name in names if body.get(name) is not None), None)


def bound(kind: str, value: object, *, pattern: str | None = None) -> Any:
    """A bound of a column of this kind; dates may be written by a strftime pattern."""
    try:
        match kind:
            case "integer":
                return _whole(value)
            case "float":
                return _real(value)
            case "date":
                return _moment(value, pattern).date()
            case _:
                return _moment(value, pattern)
    except (ArithmeticError, TypeError, ValueError, re.error):
        raise SchemaError([f"a bound is not of kind {kind}; correct it, or remove it"]) from None


def listed(value: object) -> list[Scalar]:
    """A list of categories; nulls in it are passed over, because missing cells have a key."""
    if not isinstance(value, list):
        raise SchemaError(["its values are not a list; write them as one"])
    values = [item for item in value if item is not None]
    if not all(isinstance(item, bool | int | float | str) for item in values):
        raise SchemaError(["one of its values is neither text nor number; correct it"])
    return values


def _whole(value: object) -> int:
    number = _number(value)
    if isinstance(number, float) and not number.is_integer():
        raise ValueError
    return int(number)


def _real(value: object) -> float:
    real = float(_number(value))
    if not math.isfinite(real):
        raise ValueError
    return real


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[+-]?[0-9]+", value) else float(value)
    return value


def _moment(value: object, pattern: str | None) -> datetime:
    """A moment to the second, in UTC where it has an offset."""
    if not isinstance(value, str):
        raise TypeError
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        if pattern is None or not any(year in pattern for year in _YEARS):
            raise
        moment = datetime.strptime(value, pattern)
    moment = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return moment.replace(microsecond=0)
