"""The terms of a regression: numbers on one scale, and a flag for each frequent value.

Terms are chosen by the real rows, and the same terms are then read from every table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.column import BinnedColumn, LearnedColumn, ListedColumn
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats

# A value has a flag if this share of real rows has it, and these rows; others join the baseline.
_SHARE, _ROWS = 0.01, 30
_MOST_FLAGS = 12
# A term is left out if less than this part of it is new, given the terms before it.
_NEW = 0.05


@dataclass(frozen=True)
class RegressionTerm:
    """One term of a regression.

    Attributes:
        column: that it is read from.
        code: the value whose flag it is; None for a number.
        scale: mean and spread of a number among real rows; it is standardised by them.
        words: the term for people.
    """

    column: str
    words: str
    code: int | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    def values(self, sheet: EvaluationTable) -> Floats:
        """The term of every row; a missing number is at the mean."""
        if self.code is not None:
            return np.asarray(sheet.table.codes[self.column] == self.code, np.float64)
        mean, spread = self.scale
        scaled = (sheet.numbers[self.column] - mean) / spread
        return np.asarray(np.where(np.isnan(scaled), 0.0, scaled), np.float64)


def terms_of(
    real: EvaluationTable, schema: Schema, columns: Sequence[str]
) -> tuple[RegressionTerm, ...]:
    """Choose the terms of some columns, without those that follow from terms before them."""
    found = [t for name in columns for t in _terms(real, name, schema.learned[name])]
    return tuple(_independent(real, found))


def matrix_of(sheet: EvaluationTable, terms: Sequence[RegressionTerm]) -> Floats:
    """The terms of all rows, a column for each, after a column of ones."""
    return np.column_stack([np.ones(sheet.rows), *(term.values(sheet) for term in terms)])


def _terms(real: EvaluationTable, name: str, column: LearnedColumn) -> Iterator[RegressionTerm]:
    if isinstance(column, ListedColumn):
        yield from _flags(real, name, column)
        return
    if isinstance(column, BinnedColumn):
        known = real.numbers[name][~np.isnan(real.numbers[name])]
        if known.size and known.std() > 0:
            scale = (float(known.mean()), float(known.std()))
            yield RegressionTerm(name, f"{name}, per deviation", scale=scale)


def _flags(real: EvaluationTable, name: str, column: ListedColumn) -> Iterator[RegressionTerm]:
    """A flag for each frequent value but the most frequent one, which is the baseline."""
    counts = np.bincount(real.table.codes[name].astype(np.int64), minlength=column.size)
    least = max(_ROWS, _SHARE * real.rows)
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] >= least]
    for code in order[1 : 1 + _MOST_FLAGS]:
        value = column.texts[code] if code < column.levels else "missing"
        yield RegressionTerm(name, f"{name} = {value}", code)


def _independent(
    real: EvaluationTable, terms: Sequence[RegressionTerm]
) -> Iterator[RegressionTerm]:
    """Terms that the terms before them, and the constant, do not determine."""
    basis = [np.ones(real.rows) / np.sqrt(real.rows)]
    for term in terms:
        values = term.values(real)
        left = values.copy()
        for _ in range(2):
            for axis in basis:
                left -= (axis @ left) * axis
        size = float(np.linalg.norm(left))
        if size > _NEW * float(np.linalg.norm(values)):
            basis.append(left / size)
            yield term
