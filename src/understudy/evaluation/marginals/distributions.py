"""Column by column: the share of rows at every value, real beside synthetic.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.marginals.marginals import Joint, joints
from understudy.evaluation.metric import mean_of
from understudy.facts.column import BooleanColumn, CategoricalColumn, LearnedColumn
from understudy.facts.constraints.meaning import bins_of, spelled
from understudy.models.inference.labels import Label, labels_of
from understudy.rows.counting import Scores

MISSING = "missing"


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class ColumnShares:
    """One column of both tables.

    Attributes:
        labels: what each code is called; missing is the last where the column has that level.
        starts: where each code begins, shorter than its label.
        real, synthetic: the share of rows at each code.
        has_missing: whether the last code is the missing level.
        distance: total variation distance, with that of a resample and of independent columns.
    """

    column: str
    kind: str
    labels: tuple[str, ...]
    starts: tuple[str, ...]
    is_ordered: bool
    has_missing: bool
    real: Scores
    synthetic: Scores
    distance: float
    floor: float | None
    ceiling: float | None

    @property
    def never_generated(self) -> int:
        """How many values real rows hold and no synthetic row does."""
        return int(((self.real > 0) & (self.synthetic == 0)).sum())

    def document(self) -> dict[str, Any]:
        """Return the distance for JSON."""
        return {
            "name": self.column,
            "distance": self.distance,
            "floor": self.floor,
            "ceiling": self.ceiling,
            "values": len(self.labels),
            "never_generated": self.never_generated,
        }

    def __repr__(self) -> str:
        return f"ColumnShares({self.column}; shares private)"


def distributions(comparison: Comparison) -> tuple[ColumnShares, ...]:
    """Every column of the schema, in its order."""
    columns = comparison.schema.learned
    found = joints(comparison.tables, [(name,) for name in columns])
    return tuple(
        _distribution(comparison, name, column, joint)
        for (name, column), joint in zip(columns.items(), found, strict=True)
    )


def _distribution(
    comparison: Comparison, name: str, column: LearnedColumn, joint: Joint
) -> ColumnShares:
    shares = np.zeros((2, column.size))
    shares[:, joint.cells] = joint.shares[:2]
    own, *others = joint.variation().tolist()
    draws = comparison.draws
    return ColumnShares(
        column=name,
        kind=column.kind,
        labels=tuple(map(_text, labels_of(column))),
        starts=tuple(_starts(column)),
        is_ordered=is_ordered(column),
        has_missing=column.missing_code is not None,
        real=shares[0],
        synthetic=shares[1],
        distance=own,
        floor=mean_of(others[:draws]),
        ceiling=mean_of(others[draws:]),
    )


def _text(label: Label) -> str:
    if label is None:
        return MISSING
    return str(label).lower() if isinstance(label, bool) else str(label)


def _starts(column: LearnedColumn) -> list[str]:
    """The first value of every bin; of what has no bins the value itself."""
    if isinstance(column, CategoricalColumn | BooleanColumn):
        return [_text(label) for label in labels_of(column)]
    starts = [spelled(column, low) for low, _ in bins_of(column)]
    return starts if column.missing_code is None else [*starts, MISSING]
