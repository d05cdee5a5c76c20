"""Notations that a cell may be written in: public lists, matched by the cell's own text alone.

Days in an order other than year, month and day, and numbers with a sign of currency or of percent,
by the number of their decimals. A cell has at most one notation, so that counts of notations are a
histogram of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
_BY_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.(?P<decimals>[0-9]+))?")
_NUMBER = re.compile(r"[0-9]+(\.(?P<decimals>[0-9]+))?")
# Sums of money have two decimals at most, and so have nearly all percentages.
_MOST_DECIMALS = 2


@dataclass(frozen=True)
class MarkedNumber:
    """Numbers with a sign of currency or percent.

    Attributes:
        unit: the sign, and the place of the number.
        grouped: whether commas separate thousands.
        decimals: their number; None for more than two.
    """

    unit: str
    grouped: bool
    decimals: int | None

    def __str__(self) -> str:
        digits = "more" if self.decimals is None else self.decimals
        return f"{self.unit}{' in thousands' if self.grouped else ''}, {digits} decimals"


_MARKED = {
    str(marked): marked
    for unit in _UNITS
    for grouped in (False, True)
    for decimals in (*range(_MOST_DECIMALS + 1), None)
    for marked in (MarkedNumber(unit, grouped, decimals),)
}

NOTATIONS = (*_DAYS.values(), _MONTH_FIRST, _EITHER, *_MARKED)
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
        ['%d.%m.%Y', '%m/%d/%Y', '$# in thousands, 2 decimals', None]
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
        plain = _NUMBER.fullmatch(dialect.plain_number(number))
        grouped = _BY_COMMAS.fullmatch(number) if dialect.spells_plainly else None
        if found := plain or grouped:
            digits = len(found["decimals"] or "")
            decimals = digits if digits <= _MOST_DECIMALS else None
            return str(MarkedNumber(unit, plain is None, decimals))
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
    if not found or not found <= _MARKED.keys():
        return None
    marked = [_MARKED[name] for name in found]
    if len({each.unit for each in marked}) > 1:
        return None
    return LearnedNotation("float", _keys(marked))


def _keys(marked: Sequence[MarkedNumber]) -> dict[str, Any]:
    """Declare numbers of one unit, with the most decimals unless some have too many."""
    digits = [each.decimals for each in marked]
    known = [number for number in digits if number is not None]
    decimals = {"decimals": max(known)} if len(known) == len(digits) else {}
    thousands = {"thousands": ","} if any(each.grouped for each in marked) else {}
    unit = marked[0].unit
    sign = {"percent": True} if unit == "#%" else {"unit": unit}
    return {**sign, **decimals, **thousands}
