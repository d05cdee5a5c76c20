"""Predictions on the page: scores of every learner, learnt from either table."""

from __future__ import annotations

from collections.abc import Iterable

from understudy.evaluation.prediction.prediction import ModelPair, Prediction
from understudy.evaluation.prediction.scoring import CLASSIFICATION, REGRESSION, MetricValues
from understudy.evaluation.report.dots import DotChart, DotLine
from understudy.evaluation.report.figure import NONE, Figure, Listing, TableRow, decimal


def prediction_figures(found: Prediction) -> list[Figure]:
    """The main scores of every learner, learnt from either table."""
    chosen = ("r2",) if found.task == "regression" else ("accuracy", "auroc")
    return [_scores(found, name) for name in chosen if found.models]


def _scores(found: Prediction, name: str) -> Figure:
    metric = (REGRESSION if found.task == "regression" else CLASSIFICATION)[name]
    baseline = found.baseline.get(name)
    lines = [
        DotLine(
            pair.learner.title,
            {
                "real-dot": pair.real.scores.get(name),
                "synthetic-dot": pair.synthetic.scores.get(name),
            },
        )
        for pair in found.models
    ]
    high = 1.0 if metric.high == 1 else 0.0
    chart = DotChart(
        lines, f"{metric.name} on real test rows", f"{metric.name} of every learner", baseline,
        high=high,
    )  # fmt: skip
    data = Listing(
        ("learner", "from real rows", "from synthetic rows"),
        tuple(_score_line(pair, name) for pair in found.models),
    )
    legend = (
        ("real-dot", "learnt from real rows"),
        ("synthetic-dot", "learnt from synthetic rows"),
        *((("reference", f"baseline, {decimal(baseline)}"),) if baseline is not None else ()),
    )
    caption = f"{metric.about} {str(metric.goal).capitalize()}."
    return Figure(
        title=metric.name, picture=chart.picture(), caption=caption, data=data, legend=legend
    )


def _score_line(pair: ModelPair, name: str) -> TableRow:
    return (
        pair.learner.title,
        decimal(pair.real.scores.get(name)),
        decimal(pair.synthetic.scores.get(name)),
    )


def prediction_table(found: Prediction) -> Listing:
    """Every score of every learner, synthetic beside real, and the baseline's."""
    metrics = REGRESSION if found.task == "regression" else CLASSIFICATION
    head = ("learner", "learnt from", *(metric.name for metric in metrics.values()), "rows")
    lines = [
        (pair.learner.title, side, *_all_scores(trained.scores, metrics), f"{trained.rows:,}")
        for pair in found.models
        for side, trained in (("real", pair.real), ("synthetic", pair.synthetic))
    ]
    baseline = ("baseline: one answer always", "real", *_all_scores(found.baseline, metrics), NONE)
    return Listing(head, (*lines, baseline), 2)


def _all_scores(scores: MetricValues, metrics: Iterable[str]) -> list[str]:
    return [decimal(scores.get(name)) for name in metrics]


def learner_notes(found: Prediction) -> list[str]:
    """List remarks about single learners: why one has no scores, which rows it saw."""
    return [
        f"{pair.learner.title}: {note}"
        for pair in found.models
        for note in (*pair.notes, *_reasons(pair))
    ]


def _reasons(pair: ModelPair) -> list[str]:
    sides = (("real", pair.real), ("synthetic", pair.synthetic))
    return [f"learnt from {side} rows, {t.reason}" for side, t in sides if t.reason is not None]


def prediction_notes(found: Prediction) -> list[str]:
    """Describe the prediction before its scores."""
    notes = list(found.notes)
    if found.never_generated:
        count, word = len(found.never_generated), ", ".join(found.never_generated[:12])
        notes.insert(0, f"{count} of the classes were never generated and cannot be learnt: {word}")
    warning = None if found.overlap is None else found.overlap.warning
    return notes if warning is None else [warning, *notes]
