"""The common part of TUC-2's studies: its tables, and the accuracy that classifiers lose."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.variation import variation
from understudy.evaluation.prediction.prediction import Settings, Trained, learn
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy.system.extras import require
from understudy_studies.cells import CellValues
from understudy_studies.census import dependent
from understudy_studies.tables import (
    ADULT,
    HEART,
    POKER,
    Coded,
    DataFolder,
    at_most,
    described,
    integer_schema,
)

FILES = {"heart": HEART, "poker": POKER, "adult": ADULT}
TARGETS = {"heart": "num", "poker": "hand", "adult": "income", "small": "c3"}
HELD_OUT = 0.2


def check_packages() -> None:
    """Refuse a run without the packages that hold the classifiers."""
    for module in ("sklearn", "xgboost"):
        # Importing them takes seconds, and a run may yet be refused for other reasons.
        if find_spec(module) is None:
            require(module, extra="evaluate")


def scored(
    schema: Schema, name: str, *, rows: Table, real: tuple[Table, Table], asked: Settings
) -> CellValues:
    """The accuracy of every classifier, their mean, the baseline's, and the divergence.

    Args:
        schema: of the rows.
        name: of the table.
        rows: that classifiers learn from.
        real: rows that those stand for, and rows to be tested on.
        asked: which classifiers, and how many rows they see.
    """
    (train, test), target = real, TARGETS[name]
    sheets = [_sheet(part, schema) for part in (rows, test, train)]
    found = learn(schema, rows=sheets[0], test=sheets[1], target=target, settings=asked)
    accuracy = _accuracies(found, rows, test, target)
    known = [value for value in accuracy.values() if value is not None]
    baseline = _most_frequent(train, test, target)
    return {
        "accuracy": accuracy,
        "reasons": {n: t.reason for n, t in found.items() if t.reason},
        "mean": float(np.mean(known)) if known else baseline,
        "baseline": baseline,
        "divergence": _divergence(schema, sheets[2], sheets[0]),
    }


@cache
def learned_table(name: str, shelf: DataFolder) -> Coded:
    """One of the thesis' tables, or a small made-up one."""
    if name != "small":
        return described(shelf, *FILES[name])
    schema = integer_schema({"c0": 4, "c1": 3, "c2": 5, "c3": 2})
    return schema, dependent(Domain.of(schema), 1_000)


def _sheet(table: Table, schema: Schema) -> EvaluationTable:
    return load(at_most(table, 1_000_000, 0), schema, side="real", seed=0)


def _accuracies(
    found: Mapping[str, Trained], rows: Table, test: Table, target: str
) -> dict[str, float | None]:
    """By classifier; of rows of a single class each of them would learn to name it."""
    if np.ptp(rows.codes[target]) == 0:
        return dict.fromkeys(found, _most_frequent(rows, test, target))
    return {name: trained.scores.get("accuracy") for name, trained in found.items()}


def _most_frequent(train: Table, test: Table, target: str) -> float:
    """The accuracy of naming the most frequent class."""
    most = int(np.bincount(train.codes[target]).argmax())
    return float((test.codes[target] == most).mean())


def _divergence(schema: Schema, real: EvaluationTable, other: EvaluationTable) -> float | None:
    comparison = Comparison(
        schema=schema, real=real, synthetic=other, resampled=(), independent=(), seed=0
    )
    return variation(comparison, 2).divergence.value


def difference(real: CellValues, other: CellValues) -> float:
    """The mean over the classifiers that both could learn; one may fail on a class of one row."""
    both = [
        value - other["accuracy"][name]
        for name, value in real["accuracy"].items()
        if value is not None and other["accuracy"][name] is not None
    ]
    return float(np.mean(both)) if both else float(real["mean"] - other["mean"])
