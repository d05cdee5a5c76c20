"""Kinds of column: the values that one may hold, and where each value lies.

Numbers, days and moments lie on a line and are cut into bins; categories and booleans are listed.
"""

from __future__ import annotations

from understudy.facts.column.base import MISSING_TEXTS, MOST_LEVELS, Scalar, text_of
from understudy.facts.column.binned import DEFAULT_BINS, WHOLE_RANGE, Ordinate
from understudy.facts.column.generated import IdColumn, TextColumn
from understudy.facts.column.listed import (
    FALSE_WORDS,
    TRUE_WORDS,
    BooleanColumn,
    CategoricalColumn,
)
from understudy.facts.column.moments import DateColumn, DatetimeColumn
from understudy.facts.column.numbers import (
    HIGHEST_WHOLE,
    HIGHEST_WHOLE_REAL,
    LOWEST_WHOLE,
    FloatColumn,
    IntegerColumn,
)

__all__ = [
    "DEFAULT_BINS",
    "FALSE_WORDS",
    "HIGHEST_WHOLE",
    "HIGHEST_WHOLE_REAL",
    "KINDS",
    "LOWEST_WHOLE",
    "MISSING_TEXTS",
    "MOST_LEVELS",
    "TRUE_WORDS",
    "WHOLE_RANGE",
    "BinnedColumn",
    "BooleanColumn",
    "CategoricalColumn",
    "Column",
    "DateColumn",
    "DatetimeColumn",
    "FloatColumn",
    "GeneratedColumn",
    "IdColumn",
    "IntegerColumn",
    "LearnedColumn",
    "ListedColumn",
    "Ordinate",
    "Scalar",
    "TextColumn",
    "text_of",
]

LearnedColumn = (
    CategoricalColumn | BooleanColumn | IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
)
ListedColumn = CategoricalColumn | BooleanColumn
BinnedColumn = IntegerColumn | FloatColumn | DateColumn | DatetimeColumn
GeneratedColumn = IdColumn | TextColumn
Column = LearnedColumn | GeneratedColumn

KINDS = ("categorical", "boolean", "integer", "float", "date", "datetime", "id", "text")
