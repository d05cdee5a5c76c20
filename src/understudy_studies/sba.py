"""The common part of SBA's studies: three tables, networks fitted to them, and five classifiers.

Categories are numbered in the order of their names and read as numbers, SBA's label encoding; all
numbers are standardised. Classifiers run in this process: hundreds of small ones are trained, and
to start a process for each would take longer than all of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.evaluation.prediction.features import Features, Scaler
from understudy.evaluation.prediction.learners import LEARNERS
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.prediction.scoring import Labels
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import PrivBayes
from understudy.methods.structure.genetic import GeneticSearch
from understudy.methods.structure.restrict import NONE, Restrictions
from understudy.models.model import Model
from understudy.models.sampling import sample_rows
from understudy.privacy.budget import Budget
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.extras import require
from understudy.system.frames import Rows
from understudy.testing import seeded
from understudy_studies.cells import Setting
from understudy_studies.census import dependent
from understudy_studies.tables import (
    ADULT,
    CMC,
    CREDIT_CARD,
    DataFolder,
    integer_schema,
    published_columns,
)

# Five of section V, as the paper's tables call them.
FIVE = {
    "naive-bayes": "NB",
    "svm": "SV",
    "nearest-neighbours": "KN",
    "random-forest": "RF",
    "logistic-regression": "LR",
}
SMALL = "small"
GREEDY, GENETIC = "greedy", "genetic"
# The search of this package, beside the paper's own.
RIVALLED = "genetic with a grown rival"
TARGETS = {
    "cmc": "contraceptive_method",
    "adult": "income",
    "credit card": "Class",
    SMALL: "c3",
}
# No ε: exact scores and tables, as the paper has them.
OFF = "none"
# What SBA's own copy of Adult lacks: a weight of the survey, and what another column numbers.
_LEFT_OUT = ("fnlwgt", "education")
# Public choices. Most people have no capital gain or loss at all, which is a bin of its own.
_EDGES: Mapping[str, Sequence[float]] = {
    "capital-gain": (0, 1, 2_500, 5_000, 7_500, 10_000, 15_000, 25_000, 50_000),
    "capital-loss": (0, 1, 1_000, 1_500, 1_750, 2_000, 2_250, 2_500, 4_000),
    "Amount": (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000),
}
_COMPONENT = (-10, -6, -4, -3, -2.5, -2, -1.5, -1, -0.5, -0.25, 0)
_COMPONENT_EDGES = (*_COMPONENT, *(-edge for edge in _COMPONENT[-2:0:-1]))
_BINS = {"age": 20, "hours-per-week": 20, "wife_age": 35, "Time": 20}
_GENERATIONS = {"credit card": 2_000, SMALL: 20}
_USUAL_GENERATIONS = 400
_HELD_OUT = 0.2


@dataclass(frozen=True, repr=False, eq=False)
class Task:
    """A table, the column that is predicted, and which of its rows the paper holds out, if any."""

    name: str
    schema: Schema
    rows: EvaluationTable
    test: EvaluationTable | None = None

    @property
    def target(self) -> str:
        """Return the column to predict."""
        return TARGETS[self.name]

    def split(self, number: int) -> tuple[EvaluationTable, EvaluationTable]:
        """Rows to learn from and rows to test on: the published split, else a random fifth."""
        if self.test is not None:
            return self.rows, self.test
        order = np.random.default_rng([number, 8]).permutation(self.rows.rows)
        held = round(_HELD_OUT * order.size)
        return self.rows.take(np.sort(order[held:])), self.rows.take(np.sort(order[:held]))


@cache
def task(name: str, shelf: DataFolder) -> Task:
    """One of the three tables, or a small one that is made up."""
    if name == SMALL:
        schema = integer_schema({"c0": 4, "c1": 3, "c2": 5, "c3": 2})
        made = dependent(Domain.of(schema), 400)
        return Task(name, schema, load(made, schema, side="real", seed=0))
    description, *files = {"cmc": CMC, "adult": ADULT, "credit card": CREDIT_CARD}[name]
    schema = _schema(shelf.description(description))
    sheets = [_sheet(shelf.path(file), schema) for file in files]
    return Task(name, schema, *sheets)


def _sheet(rows: Rows, schema: Schema) -> EvaluationTable:
    return load(rows, schema, side="real", seed=0)


def _schema(description: dict[str, Any]) -> Schema:
    """The published columns, components of no published range among them, in SBA's encoding."""
    columns = published_columns(description)
    for column in description["columns"]:
        name = column["name"]
        if column["type"] == "float" and name not in columns:
            columns[name] = {"kind": "float", "edges": list(_COMPONENT_EDGES), "max": 10}
    kept = [c["name"] for c in description["columns"] if c["name"] not in _LEFT_OUT]
    return Schema.parse({"columns": {name: _encoded(name, columns[name]) for name in kept}})


def _encoded(name: str, column: dict[str, Any]) -> dict[str, Any]:
    """Categories in the order of their names, a marker of the missing among them; numbers cut."""
    if column["kind"] == "categorical":
        values = [str(value) for value in (*column["values"], *column.get("missing", ()))]
        return {"kind": "categorical", "values": sorted(values), "ordered": True}
    if name in _EDGES:
        return {"kind": column["kind"], "edges": list(_EDGES[name]), "max": column["max"]}
    return {**column, "bins": _BINS[name]} if name in _BINS else column


@dataclass(frozen=True, repr=False, eq=False)
class TimedRows:
    """Synthetic rows, and what describing the real ones and generating them took.

    Seconds are the processor's: on the clock they would include what else the machine does.
    """

    rows: EvaluationTable
    describing: float
    generating: float


def made(
    task: Task,
    rows: EvaluationTable,
    *,
    setting: Setting,
    seed: int,
    restrictions: Restrictions = NONE,
) -> TimedRows:
    """As many synthetic rows as there are real ones, by the setting's search, degree and ε."""
    _warm(str(setting["search"]))
    started = time.process_time()
    model = _fitted(task, rows.table, setting=setting, seed=seed, restrictions=restrictions)
    described = time.process_time()
    drawn = sample_rows(model, rows.rows, seed=seed)
    generated = time.process_time()
    sheet = load(drawn, task.schema, side="synthetic", seed=0)
    return TimedRows(sheet, described - started, generated - described)


def _fitted(
    task: Task, table: Table, *, setting: Setting, seed: int, restrictions: Restrictions
) -> Model:
    off = setting["epsilon"] == OFF
    method = PrivBayes(
        task.schema,
        epsilon=Budget.unlimited() if off else str(setting["epsilon"]),
        neighbours="replace",
        structure="greedy" if setting["search"] == GREEDY else "genetic",
        degree=int(setting["degree"]),
        # Bits, as in the paper; they have too large a sensitivity to be of use with noise.
        score="MI" if off else None,
        restrictions=restrictions,
        search=search_of(str(setting["search"]), task.name, seed),
    )
    return seeded(method, seed).fit(MemorySource(table), ledger=None).model_


def search_of(search: str, table: str, seed: int) -> GeneticSearch:
    """The paper's search: one population, all of its generations, no rival; or this package's.

    This package starts several populations and takes the network that grows parent by parent from
    the same scores where that one is fitter.
    """
    generations = _GENERATIONS.get(table, _USUAL_GENERATIONS)
    if search == RIVALLED:
        return GeneticSearch(generations=generations, seed=seed)
    return GeneticSearch(
        generations=generations, patience=max(generations, 1), starts=1, rival=False, seed=seed
    )


@cache
def _warm(search: str) -> None:
    """Compile what is compiled once in a process, so that no clock counts it."""
    schema = integer_schema({"a": 2, "b": 3, "c": 4})
    rows = load(dependent(Domain.of(schema), 100), schema, side="real", seed=0)
    small = Task(SMALL, schema, rows)
    setting: Setting = {"search": search, "degree": 1, "epsilon": OFF}
    sample_rows(_fitted(small, rows.table, setting=setting, seed=0, restrictions=NONE), 10, seed=0)


@dataclass(frozen=True)
class Caps:
    """How many rows learners read at most: support vector machines, and all the others."""

    kernels: int
    others: int

    def of(self, learner: str) -> int:
        """Return the most rows of one learner."""
        return self.kernels if learner == "svm" else self.others


def named(
    schema: Schema,
    learner: str,
    *,
    rows: EvaluationTable,
    asked: EvaluationTable,
    known: Sequence[str],
    wanted: str,
    caps: Caps,
) -> Labels:
    """The codes of a column that a learner names for rows of which it knows other columns."""
    read = at_most(rows, caps.of(learner), 0)
    codes = read.table.codes[wanted].astype(np.int64)
    if np.ptp(codes) == 0:
        return np.full(asked.rows, codes[0])
    features = [Features.among(sheet, schema, known) for sheet in (read, asked)]
    scale = Scaler.of(features[0].numbers)
    train, test = (each.matrix(scale) for each in features)
    classifier = LEARNERS[learner].classifier.make(0)
    if learner == "random-forest":
        # Cells are measured side by side, one core each.
        classifier.set_params(n_jobs=1)
    # Rows that are alike are asked about once.
    different, place = np.unique(test, axis=0, return_inverse=True)
    found: Labels = classifier.fit(train, codes).predict(different)[place.ravel()]
    return found


def ensure_classifiers() -> None:
    """Refuse to continue without the package that holds the classifiers."""
    # Importing it takes seconds, and the processes that need it do so themselves.
    if find_spec("sklearn") is None:
        require("sklearn", extra="evaluate")


def predictors(task: Task) -> list[str]:
    """Every column but the target."""
    return [name for name in task.schema.learned if name != task.target]


def target_named(
    task: Task, learner: str, *, rows: EvaluationTable, test: EvaluationTable, caps: Caps
) -> Labels:
    """The target of test rows, named from all other columns by a classifier of other rows."""
    return named(
        task.schema,
        learner,
        rows=rows,
        asked=test,
        known=predictors(task),
        wanted=task.target,
        caps=caps,
    )


def share_right(codes: npt.NDArray[Any], named: Labels) -> float:
    """The accuracy of what was named."""
    return float((codes == named).mean())
