"""The meaning of a condition: the codes for which it holds, the whole of each level or none of it.

Rows are drawn by codes, so that a condition on part of a bin could not be kept; it is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import reduce

from understudy.facts.column import (
    BinnedColumn,
    BooleanColumn,
    CategoricalColumn,
    DateColumn,
    DatetimeColumn,
    IntegerColumn,
    LearnedColumn,
    ListedColumn,
    Ordinate,
    text_of,
)
from understudy.facts.constraints.grammar import Condition, ParseError, Token

# A set of codes as the bits of an integer: bit i stands for code i.
CodeSet = int

_ORDERS: dict[str, Callable[[Ordinate, Ordinate], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def all_codes(size: int) -> CodeSet:
    """Every code below a size."""
    return (1 << size) - 1


def codes_of(condition: Condition, column: LearnedColumn) -> CodeSet:
    """The codes of a column for which a condition holds.

    A missing cell equals nothing and has no place in an order: of all comparisons only != holds
    for it.
    """
    match condition.relation:
        case "missing":
            return _missing(condition, column)
        case "not missing":
            return all_codes(column.size) & ~_missing(condition, column)
        case "!=":
            return all_codes(column.size) & ~_equal(condition, column)
        case "=" | "in":
            return _equal(condition, column)
        case _:
            return _ordered(condition, column)


def _missing(condition: Condition, column: LearnedColumn) -> CodeSet:
    if column.missing_code is None:
        name = condition.column
        raise ParseError(
            name.position, f"column {name} has no missing level; declare missing = [] for it"
        )
    return 1 << column.missing_code


def _equal(condition: Condition, column: LearnedColumn) -> CodeSet:
    if isinstance(column, CategoricalColumn | BooleanColumn):
        return _union(1 << _listed_code(condition, column, value) for value in condition.values)
    return _equal_on_the_line(condition, column)


def _ordered(condition: Condition, column: LearnedColumn) -> CodeSet:
    holds, [value] = _ORDERS[condition.relation], condition.values
    if isinstance(column, CategoricalColumn | BooleanColumn):
        if not getattr(column, "ordered", False):
            raise ParseError(
                condition.column.position,
                f"column {condition.column} has no order; use = or in, or declare ordered = true",
            )
        limit = _listed_code(condition, column, value)
        return _union(1 << code for code in range(column.levels) if holds(code, limit))
    return _ordered_on_the_line(condition, column, holds)


def _union(sets: Iterable[CodeSet]) -> CodeSet:
    return reduce(operator.or_, sets, 0)


def _listed_code(condition: Condition, column: ListedColumn, value: Token) -> int:
    for spelling in (value.text, respelled(column, value.text)):
        if spelling in column.texts:
            return column.texts.index(spelling)
    _refuse_marker(condition, column, value)
    raise ParseError(
        value.position,
        f"{value} is not a declared value of column {condition.column}; declare or correct it",
    )


def respelled(column: ListedColumn, text: str) -> str:
    """Read a text's other meanings, as for cells: yes is true, and 3.0 is 3 among numbers."""
    if isinstance(column, BooleanColumn):
        return column.respelled(text)
    if not all(type(value) in (int, float) for value in column.values):
        return text
    try:
        return text_of(float(text))
    except ValueError:
        return text


def _refuse_marker(condition: Condition, column: LearnedColumn, value: Token) -> None:
    if value.text in (column.missing or ()):
        name = condition.column.text
        raise ParseError(value.position, f"{value} is a missing marker; write: {name} missing")


def _equal_on_the_line(condition: Condition, column: BinnedColumn) -> CodeSet:
    places = {_place(condition, column, value): value for value in condition.values}
    codes = 0
    for code, (low, last) in enumerate(bins_of(column)):
        inside = [place for place in places if low <= place <= last]
        values = last - low + 1 if column.whole else 1 if low == last else math.inf
        if inside and len(inside) < values:
            edges = [e for place in sorted(inside) for e in (place, place + 1) if low < e <= last]
            raise _straddling(column, places[inside[0]], (low, last), edges)
        codes |= (1 << code) if inside else 0
    return codes


def _ordered_on_the_line(
    condition: Condition, column: BinnedColumn, holds: Callable[[Ordinate, Ordinate], bool]
) -> CodeSet:
    [value] = condition.values
    limit = _place(condition, column, value)
    codes = 0
    for code, (low, last) in enumerate(bins_of(column)):
        if holds(low, limit) != holds(last, limit):
            edge = limit if condition.relation in ("<", ">=") else limit + 1
            raise _straddling(column, value, (low, last), [edge])
        codes |= (1 << code) if holds(low, limit) else 0
    return codes


def bins_of(column: BinnedColumn) -> list[tuple[Ordinate, Ordinate]]:
    """The first and the last value that each bin holds."""
    return column.bin_ends


def _straddling(
    column: BinnedColumn,
    value: Token,
    within: tuple[Ordinate, Ordinate],
    edges: Sequence[Ordinate],
) -> ParseError:
    low, last = (spelled(column, end) for end in within)
    wanted = " and ".join(spelled(column, edge) for edge in edges)
    way_out = f"put an edge at {wanted}"
    if not column.whole:
        # Bins hold their left edges, so that no edge cuts right behind a real number.
        way_out = f"compare by < or >=, with an edge at {value.text}"
    return ParseError(
        value.position,
        f"{value} cuts the bin from {low} to {last}, and rows are drawn by whole bins; {way_out}",
    )


def _place(condition: Condition, column: BinnedColumn, value: Token) -> Ordinate:
    """Where a value lies; one that its kind of column would round or not hold is refused."""
    _refuse_marker(condition, column, value)
    place = exact_place(column, value.text)
    if place is None:
        raise ParseError(
            value.position, f"{value} is not a {noun_of(column)}; write one, as in the column's max"
        )
    low, high = column.bounds
    if not low <= place <= high:
        ends = f"{spelled(column, low)} to {spelled(column, high)}"
        raise ParseError(
            value.position,
            f"{value} is out of the bounds of column {condition.column}, {ends}; use one within",
        )
    return place


def exact_place(column: BinnedColumn, text: str) -> Ordinate | None:
    """Where a text lies that is a value of the column's kind just as it stands, else None."""
    try:
        return column.place(text) if _is_exact(column, text) else None
    except (ValueError, OverflowError):
        return None


def _is_exact(column: BinnedColumn, text: str) -> bool:
    """Whether a text is a value of the column's kind just as it stands."""
    match column:
        case IntegerColumn():
            return text.lstrip("+-").isdigit() or float(text).is_integer()
        case DateColumn():
            return date.fromisoformat(text) is not None
        case DatetimeColumn():
            return datetime.fromisoformat(text).microsecond == 0
        case _:
            return True


def noun_of(column: BinnedColumn) -> str:
    """Name the values of the column's kind."""
    nouns = {"integer": "whole number", "float": "number", "date": "day", "datetime": "moment"}
    return nouns[column.kind]


def spelled(column: BinnedColumn, place: Ordinate) -> str:
    """An ordinate as people write it in a schema."""
    match column:
        case DateColumn():
            return (_EPOCH + timedelta(days=place)).date().isoformat()
        case DatetimeColumn():
            return (_EPOCH + timedelta(seconds=place)).replace(tzinfo=None).isoformat()
        case IntegerColumn():
            return str(place)
        case _:
            return f"{place:.6g}"
