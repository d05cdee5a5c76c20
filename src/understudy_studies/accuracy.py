"""The common part of TUC-2's studies: its tables, and the accuracy that classifiers lose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.variation import variation
from understudy.evaluation.prediction.prediction import Settings, Trained, learn
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.codes import Codes, code_type
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
# The name of the second coding's accuracies in a cell.
FLAGS = "flags"


def check_packages() -> None:
    """Refuse a run without the packages that hold the classifiers."""
    for module in ("sklearn", "xgboost"):
        # Importing them takes seconds, and a run may yet be refused for other reasons.
        if find_spec(module) is None:
            require(module, extra="evaluate")


def scored(
    schema: Schema, name: str, *, rows: Table, real: tuple[Table, Table], asked: Settings
) -> CellValues:
    """The accuracy of every classifier that reads whole numbers, their mean, and the divergence.

    Args:
        schema: of the rows.
        name: of the table.
        rows: that classifiers learn from.
        real: rows that those stand for, and rows to be tested on.
        asked: which classifiers, and how many rows they see.
    """
    (train, test), target = real, TARGETS[name]
    sheets = [_sheet(part, schema) for part in (rows, train)]
    baseline = _most_frequent(train, test, target)
    numbered = as_integers(schema, target)
    tables = [numbered.table(part) for part in (rows, test)]
    return {
        **_coded(numbered.schema, *tables, target=target, asked=asked, baseline=baseline),
        "baseline": baseline,
        "divergence": _divergence(schema, sheets[1], sheets[0]),
    }


def scored_twice(
    schema: Schema, name: str, *, rows: Table, real: tuple[Table, Table], asked: Settings
) -> CellValues:
    """The cell with a second set of accuracies, of classifiers that read a flag per category.

    The thesis' classifiers read categories as whole numbers; `flags` is the same with a flag for
    each category, which some of them read better and others (Gaussian naive Bayes) much worse.
    """
    found, target = scored(schema, name, rows=rows, real=real, asked=asked), TARGETS[name]
    level = float(found["baseline"])
    flags = _coded(schema, rows, real[1], target=target, asked=asked, baseline=level)
    return {**found, FLAGS: flags}


def _coded(
    schema: Schema, rows: Table, test: Table, *, target: str, asked: Settings, baseline: float
) -> dict[str, Any]:
    """The accuracies of one coding, why some are missing, and their mean."""
    sheets = [_sheet(part, schema) for part in (rows, test)]
    found = learn(schema, rows=sheets[0], test=sheets[1], target=target, settings=asked)
    accuracy = _accuracies(found, rows, test, target)
    known = [value for value in accuracy.values() if value is not None]
    return {
        "accuracy": accuracy,
        "reasons": {n: t.reason for n, t in found.items() if t.reason},
        "mean": float(np.mean(known)) if known else baseline,
    }


@dataclass(frozen=True)
class IntegerCoding:
    """Columns as whole numbers: categories in their order, what is missing below all of them.

    Attributes:
        schema: of the numbers.
        shifted: the columns in which missing cells have the last code and become the first.
    """

    schema: Schema
    shifted: tuple[str, ...]

    def table(self, rows: Table) -> Table:
        """Some rows in this coding."""
        domain = Domain.of(self.schema)
        codes = {
            name: (column + 1) % domain[name] if name in self.shifted else column
            for name, column in rows.codes.items()
        }
        typed: dict[str, Codes] = {n: codes[n].astype(code_type(domain[n])) for n in domain}
        return Table(domain, typed, rows.rows)


def as_integers(schema: Schema, target: str) -> IntegerCoding:
    """The coding of the thesis (section 3.6.1), of which the target is a class in any case."""
    sizes = {name: column.size for name, column in schema.learned.items()}
    shifted = tuple(
        n for n, c in schema.learned.items() if c.missing_code is not None and n != target
    )
    return IntegerCoding(integer_schema(sizes), shifted)


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


def winners(numbers: CellValues) -> list[str]:
    """The classifiers of the highest accuracy, where it is above naming the most frequent class."""
    known = {n: v for n, v in numbers["accuracy"].items() if v is not None}
    best = max(known.values(), default=0.0)
    return [n for n, v in known.items() if v == best and v > numbers["baseline"]]


def difference(real: CellValues, other: CellValues) -> float:
    """The mean over the classifiers that both could learn; one may fail on a class of one row."""
    both = [
        value - other["accuracy"][name]
        for name, value in real["accuracy"].items()
        if value is not None and other["accuracy"][name] is not None
    ]
    return float(np.mean(both)) if both else float(real["mean"] - other["mean"])
