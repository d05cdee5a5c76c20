"""Everything that is measured of a stand-in, in one value.

Privacy: an evaluation is made of exact functions of real rows, with no mechanism between. It is for
the owner's eyes and for public data; publishing it gives away more than any budget says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from understudy.errors import UsageError
from understudy.evaluation.analyses.aggregates import (
    Aggregate,
    AggregateAnswer,
    aggregates_of,
    answered,
)
from understudy.evaluation.analyses.independence import IndependenceTests, independence_tests
from understudy.evaluation.analyses.regression import RegressionPair, regression
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.failures.cells import CellErrors, cell_errors
from understudy.evaluation.failures.copies import Copies, copies
from understudy.evaluation.failures.detection import NOT_ASKED, Detection, detection
from understudy.evaluation.failures.outliers import Outliers, outliers
from understudy.evaluation.failures.ranges import range_queries
from understudy.evaluation.failures.subgroups import Subgroups, check_subgroup, subgroups
from understudy.evaluation.failures.violations import Violation, violations
from understudy.evaluation.marginals.association import Association, associations
from understudy.evaluation.marginals.distributions import ColumnShares, distributions
from understudy.evaluation.marginals.nist import Tasks, roles_of, tasks
from understudy.evaluation.marginals.variation import WAYS, Variation, variation
from understudy.evaluation.metric import Result, StepProgress
from understudy.evaluation.prediction.features import Target
from understudy.evaluation.prediction.learners import learners
from understudy.evaluation.prediction.prediction import (
    SECONDS_PER_MODEL,
    Prediction,
    Settings,
    predict,
)
from understudy.evaluation.raw.columns import RawColumn, raw_columns
from understudy.evaluation.sheets import MOST_ROWS, EvaluationTable, load_all
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.facts.schema import Schema
from understudy.rows.table import Table
from understudy.system.extras import require
from understudy.system.frames import Rows
from understudy.system.notebooks import Card, notebook_bar

if TYPE_CHECKING:
    from understudy.evaluation.verdict import Verdict
    from understudy.privacy.statements.statement import Statement

PRIVATE = (
    "These numbers were computed from real rows without noise. They are private: for the owner of "
    "the data, or for data that is public."
)

_NO_TARGET = "no target is named; name one, or write target = 'NAME' in the schema"

Found = TypeVar("Found")


@dataclass(frozen=True)
class Side:
    """How many rows of a table were looked at.

    Attributes:
        read: that the source has. `fitting`: that the schema allows. `used`: that were compared,
            fewer where a seeded choice was made.
    """

    read: int
    fitting: int
    used: int

    @classmethod
    def of(cls, sheet: EvaluationTable) -> Side:
        """Return the rows of a sheet."""
        return cls(sheet.read, sheet.fitting, sheet.rows)

    def document(self) -> dict[str, int]:
        """Return the rows for JSON."""
        return {"read": self.read, "fitting": self.fitting, "used": self.used}


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """The utility of a stand-in, beside that of resampled rows and independent columns.

    Attributes:
        sides: rows of the real, the synthetic and perhaps the held-out table.
        distributions: every column in both tables.
        variations: distances of 1-, 2- and 3-way marginals.
        associations: Cramér's V, Pearson's and Spearman's correlation.
        tasks: those of the NIST challenge.
        raw: every column as it is in the files; empty for tables of codes.
        cells: single cells of cross tables: the worst, and how small a count is usable.
        ranges: the mean error of random range queries, and the error that most of them keep.
        copies: synthetic rows that equal a real one.
        subgroups: both tables within the groups of a column; None where none was named.
        detection: how well a classifier tells the tables apart, where that was asked for.
        regression: coefficients of one regression on both tables.
        independence: power and type I error of tests of independence.
        aggregates: the aggregates that a user listed, answered by both tables.
        outliers: extreme numbers and isolated rows.
        violations: declared constraints, and how many rows break each.
        draws: how many resamples, and tables of independent columns, results are means over.
        notes: what a reader should know before the numbers.
        seconds: that each part took.

    Privacy: private throughout.
    """

    sides: Mapping[str, Side]
    distributions: tuple[ColumnShares, ...]
    variations: tuple[Variation, ...]
    associations: Mapping[str, Association]
    tasks: Tasks
    prediction: Prediction
    raw: tuple[RawColumn, ...]
    cells: CellErrors
    ranges: tuple[Result, Result]
    copies: Copies
    subgroups: Subgroups | None
    detection: Detection
    regression: RegressionPair
    independence: IndependenceTests
    aggregates: tuple[AggregateAnswer, ...]
    outliers: Outliers
    violations: tuple[Violation, ...]
    seed: int
    draws: int
    notes: tuple[str, ...]
    seconds: Mapping[str, float]

    @property
    def has_rows(self) -> bool:
        """Whether both tables have rows that can be compared."""
        return all(self.sides[side].used for side in ("real", "synthetic"))

    def verdict(
        self, statement: Statement | None = None, *, unpromised: str | None = None
    ) -> Verdict:
        """Judge the stand-in, with what is promised about it.

        Args:
            statement: what is promised; None where nothing is.
            unpromised: why nothing is promised, in a sentence; by default that no statement came
                with the rows.

        Privacy: private as the evaluation is.
        """
        from understudy.evaluation.verdict import judge
        from understudy.evaluation.verdict.privacy import NOTHING_PROMISED

        return judge(self, statement, unpromised=unpromised or NOTHING_PROMISED)

    def document(self) -> dict[str, Any]:
        """Return the evaluation for JSON."""
        return {
            "private": PRIVATE,
            "rows": {name: side.document() for name, side in self.sides.items()},
            "columns": [found.document() for found in self.distributions],
            "tvd": {str(found.ways): found.document() for found in self.variations},
            "entropy": {str(found.ways): found.entropy_document() for found in self.variations},
            "association": {name: found.document() for name, found in self.associations.items()},
            "nist": self.tasks.document(),
            "prediction": self.prediction.document(),
            "raw": [found.document() for found in self.raw],
            "cells": self.cells.document(),
            "ranges": [found.document() for found in self.ranges],
            "copies": self.copies.document(),
            "subgroups": None if self.subgroups is None else self.subgroups.document(),
            "detection": self.detection.document(),
            "regression": self.regression.document(),
            "independence": self.independence.document(),
            "aggregates": [found.document() for found in self.aggregates],
            "outliers": self.outliers.document(),
            "violations": [found.document() for found in self.violations],
            "seed": self.seed,
            "draws": self.draws,
            "notes": list(self.notes),
            "seconds": dict(self.seconds),
        }

    def __repr__(self) -> str:
        return "Evaluation(private; see document())"

    def _repr_html_(self) -> str:
        head = ("distance of marginals", "this stand-in", "resampled rows", "independent columns")
        lines = [head, *(_line(found) for found in self.variations)]
        return Card("Utility of the stand-in", PRIVATE, [lines]).html()


def _line(found: Variation) -> tuple[str, str, str, str]:
    """The mean distance of all marginals of a number of columns, beside floor and ceiling."""
    values = (found.mean.value, found.mean.resampled, found.mean.independent)
    first, second, third = ("-" if value is None else f"{value:.4f}" for value in values)
    return f"{found.ways} columns", first, second, third


def evaluate(
    real: Rows | Table,
    synthetic: Rows | Table,
    schema: Schema,
    *,
    target: str | None = None,
    holdout: Rows | Table | None = None,
    classifiers: str | Sequence[str] = "default",
    roles: Mapping[str, str] | None = None,
    subgroup: str | None = None,
    detect: bool = False,
    aggregates: Sequence[str | Aggregate] = (),
    seed: int = 0,
    seconds_per_model: float = SECONDS_PER_MODEL,
    most_rows: int = MOST_ROWS,
    file_format: FileFormat = DECLARED,
    progress: StepProgress | None = None,
) -> Evaluation:
    """Compare synthetic rows with real ones by every metric there is.

    Args:
        real: the rows that the stand-in was made from: a file, a data frame, or a table of codes.
        synthetic: the stand-in.
        schema: what both hold; columns that it does not declare are passed over.
        target: the column to predict; the schema's free key `target` unless given.
        holdout: real rows that the fit has not seen, to test predictions on.
        classifiers: `default`, `all`, `tuc-2`, `sba`, `none`, or names of learners.
        roles: the columns that are `city`, `gender` and `income` in NIST's regression task; the
            schema's free key `roles` unless given.
        subgroup: a column, within whose groups the tables are compared too.
        detect: whether a classifier is taught to tell real rows from synthetic ones.
        aggregates: what is asked of both tables, such as `mean(age | sex = male)`.
        seed: of everything that is drawn: rows of large tables, resamples, splits, learners.
        seconds_per_model: when a model is ended that has not come to an end by itself.
        most_rows: the most rows of a table that are compared, chosen by the seed.
        file_format: how files of real rows are spelled, in place of what the schema says.
        progress: called with the steps done, the steps in all, and what comes next.

    Raises:
        UsageError: for an unknown target, role, classifier or form of an aggregate, before
            anything is read.
        DataError: for a table that lacks a column of the schema, or holds another kind.

    Example:
        >>> schema = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
        >>> found = evaluate({"smoker": ["yes", "no"]}, {"smoker": ["no", "no"]}, schema)
        >>> found.document()["tvd"]["1"]["mean"]
        0.5

    Privacy: the result is private, and nothing is charged for it.
    """
    # Longer than 60 lines: a line for each keyword, each step and each part of the result. Split up
    # it would hide the order of the steps, and pass the same names on twice.
    settings = Settings(classifiers, seconds=seconds_per_model, seed=seed)
    asked = _asked(schema, target, roles, settings)
    if subgroup is not None:
        check_subgroup(schema, subgroup)
    questions = _questions(aggregates, schema)
    steps = _Timer(progress or notebook_bar("Comparing"), len(_STAGES) + len(learners(classifiers)))
    given = {"real": real, "synthetic": synthetic}
    if holdout is not None:
        given["held-out"] = holdout
    sheets = steps.take(
        "reading",
        lambda: load_all(given, schema, seed=seed, most=most_rows, file_format=file_format),
    )
    both = steps.take("drawing", lambda: _compared(sheets, schema, seed))
    columns = steps.take("columns", lambda: distributions(both))
    variations = steps.take("marginals", lambda: tuple(variation(both, ways) for ways in WAYS))
    associated = steps.take("associations", lambda: associations(both))
    cells = steps.take("cells", lambda: cell_errors(both, columns))
    ranges = steps.take("range queries", lambda: range_queries(both))
    raw = steps.take(
        "raw values", lambda: raw_columns(real, synthetic, schema, file_format=file_format)
    )
    grouped = steps.take("subgroups", lambda: _grouped(both, columns, subgroup, asked))
    told = steps.take("detection", lambda: _detected(schema, sheets, settings, detect=detect))
    copied = steps.take("copies", lambda: copies(sheets["real"], sheets["synthetic"]))
    broken = steps.take("constraints", lambda: violations(both))
    strays = steps.take("outliers", lambda: outliers(both))
    asked_for = steps.take("aggregates", lambda: answered(both, questions))
    strengths = associated["cramers_v"]
    regressed = steps.take("regression", lambda: regression(both, strengths, target=asked.target))
    tested = steps.take("tests", lambda: independence_tests(both))
    nist = steps.take("NIST tasks", lambda: tasks(both, asked.roles))
    prediction = steps.take("prediction", lambda: _predicted(schema, sheets, asked, steps.inner))
    sides = {name: Side.of(sheet) for name, sheet in sheets.items()}
    notes = _notes(sheets, prediction, seed)
    return Evaluation(
        sides=sides,
        distributions=columns,
        variations=variations,
        associations=associated,
        tasks=nist,
        prediction=prediction,
        raw=raw,
        cells=cells,
        ranges=ranges,
        copies=copied,
        subgroups=grouped,
        detection=told,
        regression=regressed,
        independence=tested,
        aggregates=asked_for,
        outliers=strays,
        violations=broken,
        seed=seed,
        draws=both.draws,
        notes=notes,
        seconds=steps.seconds,
    )


_STAGES = (
    *("reading", "drawing", "columns", "marginals", "associations"),
    *("cells", "range queries", "raw values", "subgroups", "detection", "copies"),
    *("constraints", "outliers", "aggregates", "regression", "tests", "NIST tasks"),
)


def _questions(asked: Sequence[str | Aggregate], schema: Schema) -> tuple[Aggregate, ...]:
    """Aggregates that were read before, or their texts by their place in the list."""
    known = [each for each in asked if isinstance(each, Aggregate)]
    texts = {n: each for n, each in enumerate(asked, 1) if isinstance(each, str)}
    return (*known, *aggregates_of(texts, schema))


@dataclass(frozen=True)
class _Given:
    """The columns that were asked for beside the tables, found to exist.

    Attributes:
        target: the column to predict. `reason`: why none is predicted, if none is.
    """

    settings: Settings
    roles: Mapping[str, str]
    target: str | None = None
    reason: str | None = None


def _asked(
    schema: Schema, target: str | None, roles: Mapping[str, str] | None, settings: Settings
) -> _Given:
    """Refuse what was asked for and is not there; what the schema suggests may be a reason."""
    known = roles_of(schema, roles)
    needs_packages = bool(learners(settings.classifiers))
    named = schema.extras.get("target") if target is None else target
    if not isinstance(named, str) or (target is None and named not in schema.learned):
        return _Given(settings, known, reason=_NO_TARGET)
    try:
        name = Target.of(schema, named).name
        if needs_packages:
            require("sklearn", extra="evaluate")
            require("xgboost", extra="evaluate")
    except UsageError as error:
        if target is not None:
            raise
        return _Given(settings, known, reason=str(error))
    return _Given(settings, known, name)


class _Timer:
    """Reports the progress of the work, and keeps the seconds of each part."""

    def __init__(self, watch: StepProgress, total: int) -> None:
        self.seconds: dict[str, float] = {}
        self._watch = watch
        self._total = total

    def take(self, what: str, work: Callable[[], Found]) -> Found:
        self._watch(len(self.seconds), self._total, what)
        started = time.perf_counter()
        found = work()
        self.seconds[what] = round(time.perf_counter() - started, 3)
        return found

    def inner(self, done: int, total: int, what: str) -> None:
        self._watch(len(_STAGES) + done, self._total, f"prediction: {what}")


def _compared(sheets: Mapping[str, EvaluationTable], schema: Schema, seed: int) -> Comparison:
    return Comparison.of(schema, sheets["real"], sheets["synthetic"], seed=seed)


def _grouped(
    both: Comparison, columns: Sequence[ColumnShares], subgroup: str | None, asked: _Given
) -> Subgroups | None:
    """The groups of a column, if one was named; a model is taught where learners are wanted."""
    if subgroup is None:
        return None
    shares = next(column for column in columns if column.column == subgroup)
    wanted = bool(learners(asked.settings.classifiers))
    return subgroups(both, shares, target=asked.target, models=wanted)


def _detected(
    schema: Schema, sheets: Mapping[str, EvaluationTable], settings: Settings, *, detect: bool
) -> Detection:
    if not detect:
        return NOT_ASKED
    return detection(
        schema,
        real=sheets["real"],
        synthetic=sheets["synthetic"],
        seed=settings.seed,
        seconds=settings.seconds,
    )


def _predicted(
    schema: Schema, sheets: Mapping[str, EvaluationTable], asked: _Given, watch: StepProgress
) -> Prediction:
    if asked.target is None:
        return Prediction(target=None, reason=asked.reason)
    return predict(
        schema,
        real=sheets["real"],
        synthetic=sheets["synthetic"],
        target=asked.target,
        held_out=sheets.get("held-out"),
        settings=asked.settings,
        watch=watch,
    )


def _notes(
    sheets: Mapping[str, EvaluationTable], prediction: Prediction, seed: int
) -> tuple[str, ...]:
    """List what was left out, and warnings."""
    notes = [note for name, sheet in sheets.items() for note in sheet.remarks(name, seed)]
    found = prediction.overlap
    warning = None if found is None else found.warning
    return tuple(notes) if warning is None else (*notes, warning)
