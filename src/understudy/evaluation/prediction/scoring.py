"""How good predictions are: of classes, and of numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.evaluation.metric import Goal, Metric, finite
from understudy.system.arrays import Floats

Labels = npt.NDArray[np.int64]

MetricValues = Mapping[str, float | None]

CLASSIFICATION: Mapping[str, Metric] = {
    "accuracy": Metric(
        name="accuracy",
        about="The share of test rows whose class was predicted.",
        goal=Goal.MORE,
        low=0.0,
        high=1.0,
        perfect=1.0,
        useless="the baseline's, which always names the most frequent class",
    ),
    "macro_f1": Metric(
        name="macro F1",
        about="The harmonic mean of precision and recall, each class counting the same.",
        goal=Goal.MORE,
        low=0.0,
        high=1.0,
        perfect=1.0,
        useless="the baseline's; low where a rare class is never named",
    ),
    "f2": Metric(
        name="F2",
        about="As F1, recall counting twice as much as precision: of the rarer of two classes, of "
        "more "
        "classes the mean.",
        goal=Goal.MORE,
        low=0.0,
        high=1.0,
        perfect=1.0,
        useless="0 where the rarer class is never named",
    ),
    "auroc": Metric(
        name="AUROC",
        about="The chance that a row of a class is ranked before one of another: of the rarer of "
        "two "
        "classes, of more classes the mean over one against the rest.",
        goal=Goal.MORE,
        low=0.0,
        high=1.0,
        perfect=1.0,
        useless="0.5, a coin",
    ),
}
REGRESSION: Mapping[str, Metric] = {
    "r2": Metric(
        name="R²",
        about="The part of the test rows' variance that is explained.",
        goal=Goal.MORE,
        low=None,
        high=1.0,
        perfect=1.0,
        useless="0 and below, no better than their mean",
    ),
    "rmse": Metric(
        name="root mean squared error",
        about="The typical error, in the target's own unit (days or seconds of dates).",
        goal=Goal.LESS,
        low=0.0,
        high=None,
        perfect=0.0,
        useless="the baseline's, which always names the mean",
    ),
}


def classification_scores(
    truth: Labels, predicted: Labels, ranking: Mapping[int, Floats], *, positive: int | None
) -> MetricValues:
    """All metrics of predicted classes.

    Args:
        ranking: how strongly each row is held to be of a class, for classes that were learned.
        positive: the rarer of two classes; None where there are more.
    """
    classes = np.union1d(truth, predicted)
    ones = [f_score(truth, predicted, int(c), beta=1) for c in classes]
    if positive is None:
        recalling = float(np.mean([f_score(truth, predicted, int(c), beta=2) for c in classes]))
        areas = [area(truth == c, ranking.get(int(c))) for c in np.unique(truth)]
    else:
        recalling = f_score(truth, predicted, positive, beta=2)
        areas = [area(truth == positive, ranking.get(positive))]
    known = [value for value in areas if value is not None]
    return {
        "accuracy": float((truth == predicted).mean()),
        "macro_f1": float(np.mean(ones)),
        "f2": recalling,
        "auroc": float(np.mean(known)) if known else None,
    }


def f_score(truth: Labels, predicted: Labels, label: int, *, beta: float) -> float:
    """Precision and recall of one class in one number; 0 where it neither is nor was named."""
    hits = int(((truth == label) & (predicted == label)).sum())
    missed = int(((truth == label) & (predicted != label)).sum())
    false = int(((truth != label) & (predicted == label)).sum())
    weight = beta * beta
    total = (1 + weight) * hits + weight * missed + false
    return (1 + weight) * hits / total if total else 0.0


def area(is_class: npt.NDArray[np.bool_], strength: Floats | None) -> float | None:
    """The area under the ROC curve, ties counting half; a class never learned is a coin's toss."""
    from scipy.stats import rankdata

    inside = int(is_class.sum())
    outside = is_class.size - inside
    if not inside or not outside:
        return None
    if strength is None:
        return 0.5
    ranks = rankdata(strength)
    above = ranks[is_class].sum() - inside * (inside + 1) / 2
    return float(above / (inside * outside))


def regression_scores(truth: Floats, predicted: Floats) -> MetricValues:
    """All metrics of predicted numbers."""
    squares = float(((truth - predicted) ** 2).mean())
    variance = float(truth.var())
    return {
        "r2": finite(1 - squares / variance) if variance else None,
        "rmse": finite(float(np.sqrt(squares))),
    }
