"""Subgroups: how near the stand-in is within each group of a column, and how models fare there.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.errors import UsageError
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.marginals.marginals import joints
from understudy.evaluation.metric import mean_of
from understudy.evaluation.prediction.features import Features, Scaler, Target
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.prediction.worker import Job, run
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.system.arrays import Array, Floats

MOST_GROUPS = 12
_FEWEST = 30
_MOST_ROWS = 20_000
_LEARNER = "logistic-regression"


@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """One group of rows, by the value of a column.

    Attributes:
        real, synthetic: its share of rows.
        rows: real rows in it.
        distance: the mean over all other columns, and over pairs of them, within the group.
        floor: the same for a resample of the real rows.
        worst: the other column that is farthest off, with its distance.
        rate: the share of the target's rarer class in either table, where it has two.
        predicted: the mean probability of that class for the real rows of the group, by a model
            that learned from synthetic rows; it is calibrated where it equals the real rate.
    """

    value: str
    rows: int
    real: float
    synthetic: float
    distance: tuple[float | None, float | None] = (None, None)
    floor: tuple[float | None, float | None] = (None, None)
    worst: tuple[str, float] | None = None
    rate: tuple[float | None, float | None] = (None, None)
    predicted: float | None = None

    def document(self) -> dict[str, Any]:
        """Return the group for JSON."""
        return {
            "value": self.value,
            "rows": self.rows,
            "share": {"real": self.real, "synthetic": self.synthetic},
            "distance": {"1": self.distance[0], "2": self.distance[1]},
            "floor": {"1": self.floor[0], "2": self.floor[1]},
            "worst": None if self.worst is None else list(self.worst),
            "rate": {"real": self.rate[0], "synthetic": self.rate[1]},
            "predicted": self.predicted,
        }


@dataclass(frozen=True)
class Subgroups:
    """All groups of one column, the largest first.

    Attributes:
        positive: the class of the target that rates are about, in words.
        left_out: how many values had too few rows, or were too many to show.
    """

    column: str
    groups: tuple[Subgroup, ...]
    positive: str | None = None
    left_out: int = 0

    def document(self) -> dict[str, Any]:
        """Return the groups for JSON."""
        return {
            "column": self.column,
            "positive": self.positive,
            "groups": [group.document() for group in self.groups],
            "left_out": self.left_out,
        }


def check_subgroup(schema: Schema, column: str) -> None:
    """Refuse a column that the schema does not learn."""
    if column not in schema.learned:
        known = ", ".join(schema.learned)
        raise UsageError(f"subgroup {column!r} is not a column to group by; columns are {known}")


def subgroups(
    comparison: Comparison, shares: ColumnShares, *, target: str | None = None, models: bool = True
) -> Subgroups:
    """Compare both tables within every group of a column.

    Args:
        comparison: the two tables, and resamples of the real one.
        shares: the column that rows are grouped by.
        target: a column whose rates are compared, where it has two classes.
        models: whether a model is taught, to see whether it is calibrated in each group.
    """
    order = np.argsort(-shares.real, kind="stable")
    rows = comparison.real.rows
    chosen = [int(code) for code in order if shares.real[code] * rows >= _FEWEST]
    rates = _Rates.of(comparison, shares.column, target, models=models)
    groups = [_group(comparison, shares, code, rates) for code in chosen[:MOST_GROUPS]]
    occupied = int((shares.real > 0).sum())
    positive = None if rates is None else rates.label
    return Subgroups(shares.column, tuple(groups), positive, occupied - len(groups))


def _group(
    comparison: Comparison, shares: ColumnShares, code: int, rates: _Rates | None
) -> Subgroup:
    name = shares.column
    sheets = [_within(sheet, name, code) for sheet in comparison.sheets[: 2 + comparison.draws]]
    names = [other for other in comparison.schema.learned if other != name]
    near, floors = [], []
    single: list[float] = []
    for ways in (1, 2):
        sets = [s for s in workload(comparison.real.table.domain, ways) if name not in s]
        found = [joint.variation() for joint in joints([s.table for s in sheets], sets)]
        near.append(mean_of([float(each[0]) for each in found]))
        floors.append(mean_of([float(each[1:].mean()) for each in found]))
        single = [float(each[0]) for each in found] if ways == 1 else single
    return Subgroup(
        value=shares.labels[code],
        rows=sheets[0].rows,
        real=float(shares.real[code]),
        synthetic=float(shares.synthetic[code]),
        distance=(near[0], near[1]),
        floor=(floors[0], floors[1]),
        worst=max(zip(names, single, strict=True), key=lambda p: p[1]) if single else None,
        rate=(None, None) if rates is None else rates.of_group(code),
        predicted=None if rates is None else rates.predicted_of(code),
    )


def _within(sheet: EvaluationTable, column: str, code: int) -> EvaluationTable:
    return sheet.take(np.flatnonzero(sheet.table.codes[column] == code))


@dataclass(frozen=True, repr=False, eq=False)
class _Rates:
    """The rarer class of a target in both tables, and its probability by a model, for each row."""

    label: str
    groups: Sequence[Array]
    classes: Sequence[Array]
    strength: Floats | None
    asked: Array | None

    @classmethod
    def of(
        cls, comparison: Comparison, column: str, target: str | None, *, models: bool
    ) -> _Rates | None:
        """None where the target does not have two classes, or is the column itself."""
        if target is None or target == column:
            return None
        wanted = Target.of(comparison.schema, target)
        sheets = [s.take(wanted.known(s)) for s in (comparison.real, comparison.synthetic)]
        classes = [wanted.values(sheet) for sheet in sheets]
        kinds, counts = np.unique(classes[0], return_counts=True)
        if wanted.task != "classification" or kinds.size != 2:
            return None
        rare = kinds[counts.argmin()]
        groups = [sheet.table.codes[column] for sheet in sheets]
        strength, asked = (
            _probabilities(comparison, sheets, wanted, rare=rare, column=column)
            if models
            else (None, None)
        )
        is_rare = [each == rare for each in classes]
        label = f"{target} = {wanted.label(int(rare))}"
        return cls(label=label, groups=groups, classes=is_rare, strength=strength, asked=asked)

    def of_group(self, code: int) -> tuple[float | None, float | None]:
        """The share of the class in both tables."""
        both = zip(self.groups, self.classes, strict=True)
        real, made = (_mean(classes[groups == code]) for groups, classes in both)
        return real, made

    def predicted_of(self, code: int) -> float | None:
        """The mean probability of the class for the group's real rows."""
        if self.strength is None or self.asked is None:
            return None
        return _mean(self.strength[self.asked == code])


def _mean(values: Array) -> float | None:
    return float(values.mean()) if values.size else None


def _probabilities(
    comparison: Comparison,
    sheets: Sequence[EvaluationTable],
    wanted: Target,
    *,
    rare: float,
    column: str,
) -> tuple[Floats | None, Array | None]:
    """Probabilities of a class for real rows, by a model that learned from synthetic ones."""
    real, made = (at_most(sheet, _MOST_ROWS, comparison.seed) for sheet in sheets)
    features = [Features.of(sheet, comparison.schema, wanted.name) for sheet in (made, real)]
    scale = Scaler.of(features[0].numbers)
    targets = (wanted.values(made) == rare).astype(np.int64)
    if np.unique(targets).size < 2:
        return None, None
    job = Job(
        learner=_LEARNER,
        task="classification",
        seed=comparison.seed,
        train=features[0].matrix(scale),
        targets=targets,
        test=features[1].matrix(scale),
    )
    answer = run(job, seconds=120.0)
    if answer.strength is None:
        return None, None
    return answer.strength[:, 1], real.table.codes[column]
