"""What is known of a column as weights on its codes: how much of each level fits.

A listed value fits wholly or not at all. Of a bin that conditions cut, that part fits which values
drawn inside it would: whole numbers, days and moments are alike there, and so are places on the
line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce

import numpy as np

from understudy.column import BinnedColumn, LearnedColumn, ListedColumn, Ordinate, text_of
from understudy.conditional import Probabilities
from understudy.constraints.meaning import respelled
from understudy.errors import UsageError

Value = bool | int | float | str | date
# A relation, "=", "!=", "in", "<", "<=", ">", ">=", "missing" or "not missing", and its values.
Said = tuple[str, Collection[Value]]

_POINTS = ("=", "in")
_ORDERS = ("<", "<=", ">", ">=")


def allowed(name: str, column: LearnedColumn, said: Sequence[Said]) -> Probabilities:
    """How much of each code of a column fits all that is said of it.

    Args:
        name: of the column, for messages.
        column: its declaration.
        said: the conditions.
    """
    compared = [condition for condition in said if "missing" not in condition[0]]
    if isinstance(column, BinnedColumn):
        fits = _on_the_line(name, column, compared)
    else:
        one_by_one = (_listed(name, column, *condition) for condition in compared)
        fits = np.asarray(reduce(np.multiply, one_by_one, np.ones(column.size)))
    for relation, _ in said:
        if relation in ("missing", "not missing"):
            missing = _missing(name, column)
            fits = fits * (missing if relation == "missing" else 1 - missing)
    return fits


def _missing(name: str, column: LearnedColumn) -> Probabilities:
    if column.missing_code is None:
        raise UsageError(f"column {name!r} has no missing level; leave the condition out")
    return np.asarray(np.eye(column.size)[column.missing_code])


def _listed(
    name: str, column: ListedColumn, relation: str, values: Collection[Value]
) -> Probabilities:
    """How a condition sorts the codes of listed values: 1 where it holds, else 0."""
    if relation in _ORDERS:
        return _ordered(name, column, relation, values)
    fits = np.zeros(column.size)
    for value in values:
        fits[_code(name, column, value)] = 1
    return fits if relation in _POINTS else 1 - fits


def _ordered(
    name: str, column: ListedColumn, relation: str, values: Collection[Value]
) -> Probabilities:
    if not getattr(column, "ordered", False):
        raise UsageError(f"column {name!r} has no order; use = or in, or declare ordered = true")
    [value] = values
    limit, codes = _code(name, column, value), np.arange(column.size)
    fits = {"<": codes < limit, "<=": codes <= limit, ">": codes > limit, ">=": codes >= limit}
    return np.where(codes < column.levels, fits[relation], False).astype(float)


def _code(name: str, column: ListedColumn, value: Value) -> int:
    text = text_of(value)
    for spelling in (text, respelled(column, text)):
        if spelling in column.texts:
            return column.texts.index(spelling)
    if text in (column.missing or ()):
        return column.levels
    raise UsageError(f"column {name!r} has no value {text!r}; known are {', '.join(column.texts)}")


@dataclass(frozen=True)
class _Stretch:
    """A part of the line: from `low` up to `end`, single points of it, and without some."""

    low: float = -math.inf
    end: float = math.inf
    points: frozenset[Ordinate] | None = None
    without: frozenset[Ordinate] = frozenset()

    def narrowed(self, column: BinnedColumn, relation: str, places: list[Ordinate]) -> _Stretch:
        """What is left of it under one more condition."""
        step = int(column.whole)
        low, end, points, without = self.low, self.end, self.points, self.without
        match relation:
            case "=" | "in":
                points = frozenset(places) if points is None else points & frozenset(places)
            case "!=":
                without |= frozenset(places)
            case "<" | "<=":
                end = min(end, places[0] + (step if relation == "<=" else 0))
            case ">" | ">=":
                low = max(low, places[0] + (step if relation == ">" else 0))
        return _Stretch(low, end, points, without)

    def share_of(self, column: BinnedColumn, low: Ordinate, end: Ordinate) -> float:
        """How much of a bin lies in it."""
        first, last = max(low, self.low), min(end, self.end)
        if self.points is not None:
            inside = [p for p in self.points - self.without if first <= p < last or p == low == end]
            # One real number is nothing on the line; what is known of an equal one is its bin.
            return len(inside) / (end - low) if column.whole else float(bool(inside))
        if low == end:
            return float(first <= low <= last)
        holes = sum(first <= p < last for p in self.without) if column.whole else 0
        return max(last - first - holes, 0) / (end - low)


def _on_the_line(name: str, column: BinnedColumn, said: Sequence[Said]) -> Probabilities:
    stretch, compared = _Stretch(), False
    for relation, values in said:
        places = [_place(name, column, value) for value in values]
        stretch = stretch.narrowed(column, relation, places)
        compared = compared or relation in (*_POINTS, *_ORDERS)
    shares = [stretch.share_of(column, *ends) for ends in _bins(column)]
    # A missing cell equals nothing and has no place in an order.
    rest = [] if column.missing_code is None else [float(not compared)]
    return np.array([*shares, *rest])


def _place(name: str, column: BinnedColumn, value: Value) -> Ordinate:
    text = text_of(value)
    try:
        place = column.place(text)
    except (ValueError, OverflowError):
        raise UsageError(f"column {name!r}: {text!r} is no {column.kind}; write one") from None
    low, high = column.bounds
    if not low <= place <= high:
        raise UsageError(f"column {name!r}: {text} is out of its declared bounds; use one within")
    return place


def _bins(column: BinnedColumn) -> list[tuple[Ordinate, Ordinate]]:
    """Where each bin begins and ends: behind its last value, where these are counted."""
    high, last = column.bounds[1], column.left_edges[-1]
    if column.whole:
        end: Ordinate = high + 1
    else:
        # The last real number belongs to the last bin; a bin of one number has no length.
        end = high if high == last else math.nextafter(high, math.inf)
    return list(zip(column.left_edges, (*column.left_edges[1:], end), strict=True))
