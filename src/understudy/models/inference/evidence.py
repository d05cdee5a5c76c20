"""Evidence on a column as weights on its codes: how much of each level fits.

A listed value fits wholly or not at all. Of a bin that conditions cut, that part fits which values
drawn inside it would: whole numbers, days and moments are alike there, and so are places on the
line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from functools import reduce

import numpy as np

from understudy.errors import UsageError
from understudy.facts.codec.regions import Region
from understudy.facts.column import (
    BinnedColumn,
    LearnedColumn,
    ListedColumn,
    Ordinate,
    text_of,
)
from understudy.facts.constraints.meaning import (
    bins_of,
    exact_place,
    noun_of,
    respelled,
)
from understudy.system.arrays import Probabilities

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


def region_of(name: str, column: BinnedColumn, said: Sequence[Said]) -> Region:
    """The part of a column's line where all that is said of it holds.

    Args:
        name: of the column, for messages.
        column: its declaration.
        said: the conditions; that a cell is missing or not says nothing of the line.
    """
    region = Region()
    for relation, values in said:
        places = [_place(name, column, value) for value in values]
        region = region.narrowed(column, relation, places)
    return region


def _on_the_line(name: str, column: BinnedColumn, said: Sequence[Said]) -> Probabilities:
    region = region_of(name, column, said)
    shares = [region.share_of(column, within) for within in bins_of(column)]
    # A missing cell equals nothing and has no place in an order.
    compared = any(relation in (*_POINTS, *_ORDERS) for relation, _ in said)
    rest = [] if column.missing_code is None else [float(not compared)]
    return np.array([*shares, *rest])


def _place(name: str, column: BinnedColumn, value: Value) -> Ordinate:
    text = text_of(value)
    place = exact_place(column, text)
    if place is None:
        raise UsageError(f"column {name!r}: {text!r} is not a {noun_of(column)}; write one")
    low, high = column.bounds
    if not low <= place <= high:
        raise UsageError(f"column {name!r}: {text} is out of its declared bounds; use one within")
    return place
