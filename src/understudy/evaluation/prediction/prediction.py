"""Learn from synthetic rows, predict real ones; beside it, the same learnt from real rows.

Test rows are real, are never learned from, and keep their natural balance of classes: nothing is
weighed, oversampled or left out to favour rare classes. Where one class is rare accuracy says
little, which is why the baseline, F2 and AUROC are shown beside it.

Privacy: scores are exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.evaluation.metric import StepProgress, unwatched_steps
from understudy.evaluation.prediction.features import Features, Scaler, Target
from understudy.evaluation.prediction.learners import Learner, learners
from understudy.evaluation.prediction.overlap import Overlap, overlap
from understudy.evaluation.prediction.scoring import (
    CLASSIFICATION,
    REGRESSION,
    Labels,
    MetricValues,
    classification_scores,
    regression_scores,
)
from understudy.evaluation.prediction.worker import Job, LearnerOutput, run
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats, Indices

SECONDS_PER_MODEL = 120.0
MOST_ROWS = 100_000
_TEST_SHARE = 0.2

_IMBALANCE = (
    "classes keep their natural balance, in training and in testing; compare accuracy with the "
    "baseline's"
)
_SEEN = (
    "no held-out rows were given: a fifth of the real rows, chosen by the seed, is tested on, and "
    "the fit of the synthesizer may have seen them"
)


@dataclass(frozen=True)
class Trained:
    """A model learnt from one table.

    Attributes:
        rows: that it learned from.
        seconds: of learning and predicting; None where it did not come to an end.
        scores: on the test rows, by metric; empty where `reason` says why there are none.
    """

    rows: int
    seconds: float | None = None
    scores: MetricValues = field(default_factory=dict)
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the model for JSON."""
        return {
            "rows": self.rows,
            "seconds": self.seconds,
            "scores": dict(self.scores),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class ModelPair:
    """One learner, trained on synthetic rows and on real ones."""

    learner: Learner
    synthetic: Trained
    real: Trained
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the pair for JSON."""
        return {
            "name": self.learner.name,
            "title": self.learner.title,
            "used_by": list(self.learner.used_by),
            "synthetic": self.synthetic.document(),
            "real": self.real.document(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The scores of predicting one column.

    Attributes:
        baseline: scores of always naming the real training rows' most frequent class, or mean.
        positive: the rarer of two classes, which F2 and AUROC are about.
        never_generated: classes of the test rows that no synthetic row holds.
        overlap: of held-out rows with the real ones, where they were given.
        reason: why there is nothing, where there is nothing.
    """

    target: str | None
    task: str | None = None
    test_rows: int = 0
    baseline: MetricValues = field(default_factory=dict)
    models: tuple[ModelPair, ...] = ()
    positive: str | None = None
    never_generated: tuple[str, ...] = ()
    overlap: Overlap | None = None
    notes: tuple[str, ...] = ()
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """The prediction for JSON, what its metrics mean included."""
        metrics = REGRESSION if self.task == "regression" else CLASSIFICATION
        return {
            "target": self.target,
            "task": self.task,
            "reason": self.reason,
            "test_rows": self.test_rows,
            "baseline": dict(self.baseline),
            "positive": self.positive,
            "never_generated": list(self.never_generated),
            "models": [model.document() for model in self.models],
            "overlap": None if self.overlap is None else self.overlap.document(),
            "notes": list(self.notes),
            "metrics": {name: metric.document() for name, metric in metrics.items()},
        }


@dataclass(frozen=True)
class Settings:
    """How predictions are made.

    Attributes:
        classifiers: `default`, `all`, `tuc-2`, `sba`, `none`, or names of learners.
        seconds: the time that a model may take; its process is then ended. None learns in this
            process, without a limit: quicker for many small models.
        most_rows: rows that a model learns from, and is tested on, at most.
    """

    classifiers: str | Sequence[str] = "default"
    seconds: float | None = SECONDS_PER_MODEL
    most_rows: int = MOST_ROWS
    seed: int = 0


def predict(
    schema: Schema,
    *,
    real: EvaluationTable,
    synthetic: EvaluationTable,
    target: str,
    held_out: EvaluationTable | None = None,
    settings: Settings | None = None,
    watch: StepProgress = unwatched_steps,
) -> Prediction:
    """Score the prediction of a column, learnt from synthetic and from real rows.

    Privacy: exact functions of real rows.
    """
    settings = settings or Settings()
    chosen = learners(settings.classifiers)
    contest = _contest(
        schema,
        Target.of(schema, target),
        real=real,
        synthetic=synthetic,
        held_out=held_out,
        settings=settings,
    )
    nothing = contest.nothing_to_do
    if nothing is not None:
        return Prediction(
            target=target, task=contest.target.task, test_rows=contest.test.rows, reason=nothing
        )
    models = []
    for place, learner in enumerate(chosen):
        watch(place, len(chosen), learner.title)
        models.append(contest.pair(learner))
    return Prediction(
        target=target,
        task=contest.target.task,
        test_rows=contest.test.rows,
        baseline=contest.baseline(),
        models=tuple(models),
        positive=None if contest.positive is None else contest.target.label(contest.positive),
        never_generated=contest.never_generated(),
        overlap=None if held_out is None else overlap(real, held_out),
        notes=contest.notes,
    )


def learn(
    schema: Schema, *, rows: EvaluationTable, test: EvaluationTable, target: str, settings: Settings
) -> dict[str, Trained]:
    """Score each learner, by name, that learns from one table and is tested on another.

    Privacy: exact functions of the rows that are tested on.
    """
    contest = _contest(
        schema,
        Target.of(schema, target),
        real=rows,
        synthetic=rows,
        held_out=test,
        settings=settings,
    )
    nothing = contest.nothing_to_do
    return {
        learner.name: Trained(0, reason=nothing)
        if nothing
        else contest.trained(learner, contest.synthetic)
        for learner in learners(settings.classifiers)
    }


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class _Contest:
    """The three tables: two to learn from, one to be tested on."""

    schema: Schema
    target: Target
    real: EvaluationTable
    synthetic: EvaluationTable
    test: EvaluationTable
    settings: Settings
    notes: tuple[str, ...]

    @property
    def nothing_to_do(self) -> str | None:
        """Why nothing can be predicted at all, if so."""
        if not self.test.rows:
            return f"no row to test on has a value of {self.target.name!r}"
        if not self.real.rows:
            return f"no real row to learn from has a value of {self.target.name!r}"
        return None

    @property
    def positive(self) -> int | None:
        """The rarer class among real training rows, where there are two or fewer in all."""
        if self.target.task == "regression" or self.target.column.levels > 2:
            return None
        counts = np.bincount(self._labels(self.real), minlength=self.target.column.levels)
        # Of two classes of equal frequency the later one.
        return int(counts.size - 1 - counts[::-1].argmin())

    def _labels(self, sheet: EvaluationTable) -> Labels:
        return self.target.values(sheet).astype(np.int64)

    def never_generated(self) -> tuple[str, ...]:
        """Classes of the test rows that no synthetic row holds."""
        if self.target.task == "regression":
            return ()
        absent = np.setdiff1d(self._labels(self.test), self._labels(self.synthetic))
        return tuple(self.target.label(int(code)) for code in absent)

    def baseline(self) -> MetricValues:
        """The scores of a model that has learnt one number from the real training rows."""
        if self.target.task == "regression":
            numbers = self.target.values(self.test)
            mean = self.target.values(self.real).mean()
            return regression_scores(numbers, np.full(numbers.size, mean))
        truth = self._labels(self.test)
        named = int(np.bincount(self._labels(self.real)).argmax())
        return classification_scores(truth, np.full(truth.size, named), {}, positive=self.positive)

    def pair(self, learner: Learner) -> ModelPair:
        """One learner on both tables."""
        most = learner.capped(self.settings.most_rows)
        capped = max(self.real.rows, self.synthetic.rows) > most
        note = f"learns from {most:,} rows at most, chosen by the seed"
        synthetic, real = (self.trained(learner, s) for s in (self.synthetic, self.real))
        return ModelPair(learner, synthetic, real, (note,) if capped else ())

    def trained(self, learner: Learner, sheet: EvaluationTable) -> Trained:
        """One learner on one table."""
        chosen = at_most(sheet, learner.capped(self.settings.most_rows), self.settings.seed)
        reason = self._cannot_learn(learner, chosen)
        if reason is not None:
            return Trained(chosen.rows, reason=reason)
        classes, job = self._job(learner, chosen)
        answer = run(job, seconds=self.settings.seconds)
        scores = {} if answer.predicted is None else self._scores(answer, classes)
        return Trained(chosen.rows, answer.seconds, scores, answer.reason)

    def _cannot_learn(self, learner: Learner, sheet: EvaluationTable) -> str | None:
        if learner.recipe(self.target.task) is None:
            return "it predicts classes only"
        if not sheet.rows:
            return f"there are no rows with a value of {self.target.name!r} to learn from"
        if self.target.task == "classification" and np.unique(self._labels(sheet)).size == 1:
            return f"all rows to learn from have the same {self.target.name!r}"
        return None

    def _job(self, learner: Learner, sheet: EvaluationTable) -> tuple[Labels, Job]:
        """The job, and the classes that its numbers from 0 stand for."""
        known = Features.of(sheet, self.schema, self.target.name)
        asked = Features.of(self.test, self.schema, self.target.name)
        scale = Scaler.of(known.numbers)
        targets: Any = self.target.values(sheet)
        classes = np.empty(0, np.int64)
        if self.target.task == "classification":
            classes, targets = np.unique(self._labels(sheet), return_inverse=True)
        train, test = known.matrix(scale), asked.matrix(scale)
        job = Job(
            learner=learner.name,
            task=self.target.task,
            seed=self.settings.seed,
            train=train,
            targets=targets,
            test=test,
        )
        return classes, job

    def _scores(self, answer: LearnerOutput, classes: Labels) -> MetricValues:
        predicted: Any = answer.predicted
        if self.target.task == "regression":
            return regression_scores(self.target.values(self.test), predicted)
        strength: Any = answer.strength
        ranking: Mapping[int, Floats] = {
            int(label): strength[:, place] for place, label in enumerate(classes)
        }
        return classification_scores(
            self._labels(self.test), classes[predicted], ranking, positive=self.positive
        )


def _contest(
    schema: Schema,
    target: Target,
    *,
    real: EvaluationTable,
    synthetic: EvaluationTable,
    held_out: EvaluationTable | None,
    settings: Settings,
) -> _Contest:
    """Rows without a target are left out; without held-out rows the real ones are split."""
    notes = [_IMBALANCE] if target.task == "classification" else []
    known = [sheet.take(target.known(sheet)) for sheet in (real, synthetic)]
    if held_out is None:
        notes.append(_SEEN)
        train, test = _split(known[0], target, settings.seed)
    else:
        train, test = known[0], held_out.take(target.known(held_out))
    if test.rows > settings.most_rows:
        notes.append(f"{settings.most_rows:,} rows are tested on, chosen by the seed")
    tested = at_most(test, settings.most_rows, settings.seed)
    return _Contest(
        schema=schema,
        target=target,
        real=train,
        synthetic=known[1],
        test=tested,
        settings=settings,
        notes=tuple(notes),
    )


def _split(
    sheet: EvaluationTable, target: Target, seed: int
) -> tuple[EvaluationTable, EvaluationTable]:
    """Four fifths to learn from and a fifth to be tested on, of every class alike."""
    generator = np.random.default_rng([seed, 2])
    order = generator.permutation(sheet.rows)
    if target.task == "classification":
        order = order[np.argsort(target.values(sheet)[order], kind="stable")]
    # Every fifth row of the rows in order of class: each class has its share to within a row.
    is_test = np.arange(sheet.rows) % round(1 / _TEST_SHARE) == 0
    test: Indices = np.sort(order[is_test])
    train: Indices = np.sort(order[~is_test])
    return sheet.take(train), sheet.take(test)


def at_most(sheet: EvaluationTable, most: int, seed: int) -> EvaluationTable:
    """Return the rows, or `most` of them chosen by the seed."""
    if sheet.rows <= most:
        return sheet
    generator = np.random.default_rng([seed, 3])
    return sheet.take(np.sort(generator.choice(sheet.rows, most, replace=False)))
