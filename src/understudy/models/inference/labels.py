"""The names of a column's codes in answers."""

from __future__ import annotations

from understudy.facts.column import (
    BooleanColumn,
    CategoricalColumn,
    LearnedColumn,
    Scalar,
)
from understudy.facts.constraints.meaning import bins_of, spelled

Label = Scalar | None


def labels_of(column: LearnedColumn) -> list[Label]:
    """A label for each code: the declared value, a bin's ends, or None for missing cells."""
    match column:
        case CategoricalColumn():
            labels: list[Label] = list(column.values)
        case BooleanColumn():
            labels = [False, True] if column.labels is None else [*reversed(column.labels)]
        case _:
            ends = [(spelled(column, low), spelled(column, last)) for low, last in bins_of(column)]
            labels = [low if low == last else f"{low} to {last}" for low, last in ends]
    return labels if column.missing_code is None else [*labels, None]
