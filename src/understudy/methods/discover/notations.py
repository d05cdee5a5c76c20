"""Notations that a cell may be written in: public lists, matched by the cell's own text alone.

Days in an order other than year, month and day, with and without a time of day, and numbers with a
decimal comma or with a sign of currency or of percent, by the number of their decimals. A cell has
at most one notation, so that counts of notations are a histogram of the rows.
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
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DAY = re.compile(
    r"([0-9]{1,2})([./-])([0-9]{1,2})\2[0-9]{4}(?P<time> [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?"
)
_LAST_MONTH = 12

_BARE = "#"
_UNITS = ("$#", "€#", "£#", "#€", "# €", "# EUR", "EUR #", "#%", "# %", _BARE)
_BY_COMMAS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.(?P<decimals>[0-9]+))?")
_BY_DOTS = re.compile(r"[0-9]{1,3}(\.[0-9]{3})+,(?P<decimals>[0-9]+)")
_NUMBER = re.compile(r"[0-9]+(\.(?P<decimals>[0-9]+))?")
# Three digits behind a comma may be thousands, and say nothing.
_WITH_COMMA = re.compile(r"[0-9]+,(?P<decimals>[0-9]{1,2}|[0-9]{4,})")
# Sums of money have two decimals at most, and so have nearly all percentages.
_MOST_DECIMALS = 2


@dataclass(frozen=True)
class MarkedNumber:
    """Numbers with a decimal comma, or with a sign of currency or percent.

    Attributes:
        unit: the sign, and the place of the number.
        grouped: whether there are marks between thousands.
        decimals: their number; None for more than two.
        decimal: the mark before decimals; the other one of dot and comma separates thousands.
    """

    unit: str
    grouped: bool
    decimals: int | None
    decimal: str = "."

    def __str__(self) -> str:
        digits = "more" if self.decimals is None else self.decimals
        comma = ", decimal comma" if self.decimal == "," else ""
        return f"{self.unit}{' in thousands' if self.grouped else ''}, {digits} decimals{comma}"

    @property
    def shows_its_mark(self) -> bool:
        """Whether a number says which mark is before decimals: `5 €` does not."""
        return self.grouped or self.decimals != 0


def _marked(unit: str, decimal: str) -> list[MarkedNumber]:
    """All numbers of a unit and a decimal mark. Those with a comma have decimals."""
    digits = (*range(1 if decimal == "," else 0, _MOST_DECIMALS + 1), None)
    return [MarkedNumber(unit, grouped, n, decimal) for grouped in (False, True) for n in digits]


# What is bare and has a decimal point is a number without any notation.
_MARKED = {
    str(marked): marked
    for unit in _UNITS
    for decimal in (".", ",")
    if (unit, decimal) != (_BARE, ".")
    for marked in _marked(unit, decimal)
}

NOTATIONS = (
    *(day + time for time in _TIMES for day in (*_DAYS.values(), _MONTH_FIRST, _EITHER)),
    *_MARKED,
)
"""The names of all notations, in the order of a released vector."""


@dataclass(frozen=True)
class LearnedNotation:
    """How the cells of a column are written.

    Attributes:
        kind: the kind of the column.
        keys: what declares the notation.
        beside: the kinds of cells that the column reads besides.
    """

    kind: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()


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
    time = _TIMES[(day["time"] or "").count(":")]
    shown = _DAYS[mark]
    if mark == "/" and max(first, second) <= _LAST_MONTH:
        shown = _EITHER
    elif mark == "/" and second > _LAST_MONTH:
        shown = _MONTH_FIRST
    try:
        datetime.strptime(text, (_DAYS[mark] if shown == _EITHER else shown) + time)
    except ValueError:
        return None
    return shown + time


def _unit(text: str, dialect: TextDialect) -> str | None:
    bare = text.removeprefix("-")
    for unit in _UNITS:
        before, behind = unit.split("#")
        if not bare.startswith(before) or not bare.endswith(behind):
            continue
        number = bare.removeprefix(before).removesuffix(behind)
        if found := _number(number, unit, dialect):
            return str(found)
    return None


def _number(number: str, unit: str, dialect: TextDialect) -> MarkedNumber | None:
    """The notation of a number without its sign; a dialect other than the plain one is kept to."""
    if unit != _BARE and (found := _NUMBER.fullmatch(dialect.plain_number(number))):
        return MarkedNumber(unit, grouped=False, decimals=_decimals(found))
    if not dialect.spells_plainly:
        return None
    if unit != _BARE and (found := _BY_COMMAS.fullmatch(number)):
        return MarkedNumber(unit, grouped=True, decimals=_decimals(found))
    if found := _WITH_COMMA.fullmatch(number) or _BY_DOTS.fullmatch(number):
        return MarkedNumber(unit, "." in number, _decimals(found), ",")
    return None


def _decimals(number: re.Match[str]) -> int | None:
    digits = len(number["decimals"] or "")
    return digits if digits <= _MOST_DECIMALS else None


def alike(seen: Iterable[str]) -> list[str]:
    """All notations of numbers that differ from some in decimals and in thousands alone.

    They change no kind.
    """
    numbers = [_MARKED[name] for name in seen if name in _MARKED]
    families = {(each.unit, each.decimal) for each in numbers}
    return [name for name, each in _MARKED.items() if (each.unit, each.decimal) in families]


def learned_notation(seen: Iterable[str]) -> LearnedNotation | None:
    """Combine notations that stand out into one; None where they contradict each other."""
    found = {*seen}
    for time in _TIMES:
        for shown in (*_DAYS.values(), _MONTH_FIRST):
            if found - {_EITHER + time} == {shown + time}:
                is_slashed = "/" in shown
                kind = "datetime" if time else "date"
                return (
                    LearnedNotation(kind, {"format": shown + time})
                    if is_slashed or found == {shown + time}
                    else None
                )
    if not found or not found <= _MARKED.keys():
        return None
    marked = [_MARKED[name] for name in found]
    marks = {each.decimal for each in marked if each.shows_its_mark}
    if len({each.unit for each in marked}) > 1 or len(marks) > 1:
        return None
    beside = {"integer"} if marked[0].unit == _BARE else set[str]()
    return LearnedNotation("float", _keys(marked, *marks), frozenset(beside))


def _keys(marked: Sequence[MarkedNumber], mark: str = ".") -> dict[str, Any]:
    """Declare numbers of one unit, with the most decimals unless some have too many."""
    digits = [each.decimals for each in marked]
    known = [number for number in digits if number is not None]
    decimals = {"decimals": max(known)} if len(known) == len(digits) else {}
    is_grouped = any(each.grouped for each in marked)
    thousands = {"thousands": "." if mark == "," else ","} if is_grouped else {}
    unit = marked[0].unit
    sign = {"percent": True} if unit == "#%" else {} if unit == _BARE else {"unit": unit}
    return {**sign, **decimals, **({"decimal": mark} if mark == "," else {}), **thousands}
