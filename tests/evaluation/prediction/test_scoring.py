"""Scores of predictions: closed forms, and the numbers of scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.promised import need
from understudy.evaluation.prediction.scoring import (
    area,
    classification_scores,
    f_score,
    regression_scores,
)

metrics = need("sklearn.metrics")


def test_two_classes_by_hand() -> None:
    """Of class 1: one hit, one missed, two false. F1 = 2/5, F2 = 5/(5 + 4 + 2)."""
    truth, predicted = np.array([1, 1, 0, 0, 0]), np.array([1, 0, 1, 1, 0])
    strength = np.array([0.9, 0.2, 0.8, 0.7, 0.1])
    found = classification_scores(truth, predicted, {0: 1 - strength, 1: strength}, positive=1)
    assert 2 / 5 == found["accuracy"]
    assert (2 / 5 + 2 / 5) / 2 == pytest.approx(found["macro_f1"])
    assert 5 / 11 == pytest.approx(found["f2"])
    # Of six pairs, 0.9 is before three and 0.2 before one.
    assert 4 / 6 == pytest.approx(found["auroc"])


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_scores_are_those_of_scikit_learn(seed: int, classes: int) -> None:
    """Macro F1, F2 and areas agree on random predictions with ties."""
    generator = np.random.default_rng(seed)
    truth, predicted = generator.integers(0, classes, (2, 60))
    strength = generator.integers(0, 6, (60, classes)) / 5
    ranking = {label: strength[:, label] for label in range(classes)}
    found = classification_scores(truth, predicted, ranking, positive=None)
    assert metrics.accuracy_score(truth, predicted) == pytest.approx(found["accuracy"])
    assert metrics.f1_score(truth, predicted, average="macro") == pytest.approx(found["macro_f1"])
    assert metrics.fbeta_score(truth, predicted, beta=2, average="macro") == pytest.approx(
        found["f2"]
    )
    areas = [metrics.roc_auc_score(truth == c, strength[:, c]) for c in np.unique(truth)]
    assert float(np.mean(areas)) == pytest.approx(found["auroc"])


def test_a_class_that_was_never_learned_is_a_coin() -> None:
    """Its area is ½; a class that is alone has none."""
    assert 0.5 == area(np.array([True, False]), None)
    assert area(np.array([True, True]), np.array([0.1, 0.2])) is None


def test_a_class_that_is_nowhere_has_no_score() -> None:
    """Neither in the rows nor named."""
    assert 0.0 == f_score(np.array([0, 0]), np.array([0, 0]), 1, beta=2)


def test_numbers_by_hand() -> None:
    """Errors 0, 0, 2: mean square 4/3 against a variance of 2/3."""
    found = regression_scores(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 5.0]))
    assert -1.0 == pytest.approx(found["r2"])
    assert math.sqrt(4 / 3) == pytest.approx(found["rmse"])


def test_a_target_that_never_varies_explains_nothing() -> None:
    """There is no variance to explain, and still an error."""
    found = regression_scores(np.array([2.0, 2.0]), np.array([3.0, 3.0]))
    assert {"r2": None, "rmse": 1.0} == found
