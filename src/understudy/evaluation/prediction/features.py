"""From rows to what learners read: one-hot categories, standardised numbers, and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.column import (
    BooleanColumn,
    CategoricalColumn,
    IntegerColumn,
    LearnedColumn,
    text_of,
)
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats

# Longer lists would fill memory with zeros; their codes are taken as numbers.
_MOST_FLAGS = 64
# Whole numbers of so few values are classes.
_FEW_VALUES = 10

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Target:
    """The column to predict."""

    name: str
    column: LearnedColumn

    @classmethod
    def of(cls, schema: Schema, name: str) -> Target:
        """A column of the schema that is learned."""
        if name not in schema.learned:
            known = ", ".join(schema.learned)
            raise UsageError(f"target {name!r} is not a column to predict; the columns are {known}")
        if len(schema.learned) == 1:
            raise UsageError(
                f"target {name!r} is the only column; there is nothing to predict from"
            )
        return cls(name, schema.learned[name])

    @cached_property
    def task(self) -> str:
        """Classification of listed values and of whole numbers of few values, else regression."""
        column = self.column
        if isinstance(column, CategoricalColumn | BooleanColumn):
            return "classification"
        low, high = column.bounds
        few = column.levels <= _FEW_VALUES and column.levels == high - low + 1
        return "classification" if isinstance(column, IntegerColumn) and few else "regression"

    def known(self, sheet: EvaluationTable) -> npt.NDArray[np.int64]:
        """The rows whose target is not missing."""
        return np.flatnonzero(sheet.table.codes[self.name] != self._missing)

    @property
    def _missing(self) -> int:
        return -1 if self.column.missing_code is None else self.column.missing_code

    def values(self, sheet: EvaluationTable) -> Floats:
        """Codes of classes, or the numbers themselves."""
        if self.task == "classification":
            return sheet.table.codes[self.name].astype(np.float64)
        return sheet.numbers[self.name]

    def label(self, code: int) -> str:
        """Name a class for people."""
        if isinstance(self.column, CategoricalColumn | BooleanColumn):
            return self.column.texts[code]
        return text_of(self.column.value_at(self.column.left_edges[code]))


@dataclass(frozen=True, repr=False, eq=False)
class Features:
    """The columns of rows besides the target, as a learner reads them.

    Attributes:
        numbers: a column for each number, NaN where missing.
        flags: a column for each category, and for each number that may be missing.
    """

    numbers: Floats
    flags: Matrix

    @classmethod
    def of(cls, sheet: EvaluationTable, schema: Schema, target: str) -> Features:
        """The features of all columns but the target."""
        return cls.among(sheet, schema, [name for name in schema.learned if name != target])

    @classmethod
    def among(cls, sheet: EvaluationTable, schema: Schema, names: Sequence[str]) -> Features:
        """Return the features of some columns."""
        numbers, flags = [], [np.empty((sheet.rows, 0), np.float32)]
        for name in names:
            column = schema.learned[name]
            codes = sheet.table.codes[name]
            if is_flagged(column):
                flags.append(np.eye(column.size, dtype=np.float32)[codes])
                continue
            numbers.append(_number(sheet, name, column))
            if column.missing_code is not None:
                flags.append((codes == column.missing_code).astype(np.float32)[:, None])
        return cls(_side_by_side(numbers, sheet.rows), np.hstack(flags))

    def matrix(self, scale: Scaler) -> Matrix:
        """All features, numbers on the scale of the training rows."""
        return np.hstack([scale.applied(self.numbers), self.flags])


@dataclass(frozen=True, repr=False, eq=False)
class Scaler:
    """Mean and spread of each number among training rows."""

    mean: Floats
    spread: Floats

    @classmethod
    def of(cls, numbers: Floats) -> Scaler:
        """The scale of some rows; a number that never varies keeps its unit."""
        known = ~np.isnan(numbers)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, numbers, 0.0).sum(axis=0) / count
        squares = np.where(known, (numbers - mean) ** 2, 0.0).sum(axis=0) / count
        return cls(mean, np.where(squares > 0, np.sqrt(squares), 1.0))

    def applied(self, numbers: Floats) -> Matrix:
        """Standardised numbers; what is missing is put at the mean, and its flag says so."""
        scaled = (numbers - self.mean) / self.spread
        return np.nan_to_num(scaled, nan=0.0).astype(np.float32)


def is_flagged(column: LearnedColumn) -> bool:
    """Whether a column becomes a flag for each value."""
    if isinstance(column, CategoricalColumn) and column.ordered:
        return False
    return isinstance(column, CategoricalColumn | BooleanColumn) and column.size <= _MOST_FLAGS


def _number(sheet: EvaluationTable, name: str, column: LearnedColumn) -> Floats:
    if name in sheet.numbers:
        return sheet.numbers[name]
    codes = sheet.table.codes[name].astype(np.float64)
    return (
        codes
        if column.missing_code is None
        else np.where(codes == column.missing_code, np.nan, codes)
    )


def _side_by_side(numbers: list[Floats], rows: int) -> Floats:
    return np.column_stack(numbers) if numbers else np.empty((rows, 0))
