"""Notations that a cell may be written in: public lists, matched by the cell's own text alone.

Days in an order other than year, month and day, and numbers with a sign of currency or of percent.
A cell has at most one notation, so that counts of notations are a histogram of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from understudy.facts.file_format import TextDialect

_DAYS = {".": "%d.%m.%Y", "-": "%d-%m-%Y", "/": "%d/%m/%Y"}
_MONTH_FIRST = "%m/%d/%Y"
_EITHER = "day or month first"
_DAY = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2[0-9]{4}")
_LAST_MONTH = 12

_UNITS = ("$#", "€#", "£#", "#€", "# €", "#%", "# %")
_GROUPED = " in thousands"
_BY_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
# Sums of money are written so.
_DECIMALS_OF_MONEY = 2

NOTATIONS = (
    *(*_DAYS.values(), _MONTH_FIRST, _EITHER),
    *(f"{unit}{grouped}" for unit in _UNITS for grouped in ("", _GROUPED)),
)
"""The names of all notations, in the order of a released vector."""


@dataclass(frozen=True)
class LearnedNotation:
    """The kind of a column that is written in a notation, and the keys that declare it."""

    kind: str
    keys: Mapping[str, Any] = field(default_factory=dict)


def notation_of(text: str, dialect: TextDialect) -> str | None:
    """The notation of a cell; None where it has none of the list.

    Example:
        >>> plain = TextDialect()
        >>> [notation_of(t, plain) for t in ("18.04.2021", "02/13/2021", "-$1,234.50", "x")]
        ['%d.%m.%Y', '%m/%d/%Y', '$# in thousands', None]
    """
    day = _DAY.fullmatch(text)
    return _unit(text, dialect) if day is None else _order(text, day)


def _order(text: str, day: re.Match[str]) -> str | None:
    """The order of day and month; a number above 12 decides where both could come first."""
    first, mark, second = int(day[1]), day[2], int(day[3])
    shown = _DAYS[mark]
    if mark == "/" and max(first, second) <= _LAST_MONTH:
        shown = _EITHER
    elif mark == "/" and second > _LAST_MONTH:
        shown = _MONTH_FIRST
    try:
        datetime.strptime(text, _DAYS[mark] if shown == _EITHER else shown)
    except ValueError:
        return None
    return shown


def _unit(text: str, dialect: TextDialect) -> str | None:
    bare = text.removeprefix("-")
    for unit in _UNITS:
        before, behind = unit.split("#")
        if not bare.startswith(before) or not bare.endswith(behind):
            continue
        number = bare.removeprefix(before).removesuffix(behind)
        if _NUMBER.fullmatch(dialect.plain_number(number)):
            return unit
        if dialect.spells_plainly and _BY_COMMAS.fullmatch(number):
            return f"{unit}{_GROUPED}"
    return None


def learned_notation(seen: Iterable[str]) -> LearnedNotation | None:
    """Combine notations that stand out into one; None where they contradict each other."""
    found = {*seen}
    for shown in (*_DAYS.values(), _MONTH_FIRST):
        if found - {_EITHER} == {shown}:
            is_slashed = "/" in shown
            return (
                LearnedNotation("date", {"format": shown})
                if is_slashed or found == {shown}
                else None
            )
    for unit in _UNITS:
        if found and found <= {unit, f"{unit}{_GROUPED}"}:
            return LearnedNotation("float", _keys(unit, grouped=f"{unit}{_GROUPED}" in found))
    return None


def _keys(unit: str, *, grouped: bool) -> dict[str, Any]:
    keys: dict[str, Any] = {"thousands": ","} if grouped else {}
    if unit == "#%":
        return {"percent": True, **keys}
    decimals = {} if "%" in unit else {"decimals": _DECIMALS_OF_MONEY}
    return {"unit": unit, **decimals, **keys}
