"""Estimates: their standard errors are right, and smaller than those of forward samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from support.asking import ask
from support.constraints import STATEMENT
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference.question import read_question
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import sample_codes, weighted_codes
from understudy.models.sampling.estimate import estimated_distribution
from understudy.models.sampling.weighting import WeightedRows, fit_of

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 29, "bins": 3},
            "sex": {"kind": "categorical", "values": ["male", "female"]},
            "ill": {"kind": "boolean"},
        }
    }
)
QUESTIONS = (
    "P(age | ill = yes, sex = male)",
    "P(sex = male, age < 15 | ill = yes)",
    "P(age < 15 | age >= 7, ill = yes)",
)
RUNS, SAMPLES = 2_000, 2_000


def _model() -> Model:
    """age → sex, (age, sex) → ill, which is rare."""
    ill = np.array([[0.01, 0.02], [0.04, 0.03], [0.08, 0.05]])
    conditionals = (
        Conditional(Family("age"), np.array([0.5, 0.3, 0.2])),
        Conditional(Family("sex", ("age",)), np.array([[0.3, 0.7], [0.5, 0.5], [0.6, 0.4]])),
        Conditional(Family("ill", ("age", "sex")), np.stack([1 - ill, ill], axis=-1)),
    )
    return Model(SCHEMA, BayesNet.of(SCHEMA, conditionals), 100, STATEMENT)


def _covered(question: str, stretch: float) -> int:
    """In how many runs the truth is within 1.96 standard errors, these stretched."""
    model = _model()
    exact = ask(model, question).chances.ravel()[0]
    found = [ask(model, question, samples=SAMPLES, seed=seed) for seed in range(RUNS)]
    strays = [
        abs(a.chances.ravel()[0] - exact) - 1.96 * stretch * a.errors.ravel()[0] for a in found
    ]
    return sum(stray <= 0 for stray in strays)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_standard_errors_cover_the_truth(question: str) -> None:
    """Ninety-five times in a hundred, give or take one; errors a fifth smaller would not."""
    likely = binom.ppf(1e-8, RUNS, 0.94), binom.isf(1e-8, RUNS, 0.96)
    assert likely[0] <= _covered(question, 1) <= likely[1]
    assert _covered(question, 0.8) < likely[0]


def test_errors_are_smaller_than_by_forward_samples() -> None:
    """Rows that are drawn towards rare evidence give smaller errors."""
    model = _model()
    asked = read_question(QUESTIONS[0], SCHEMA.columns)
    towards = weighted_codes(model, asked.given, 20_000, np.random.default_rng(1))
    codes = sample_codes(model, 20_000, np.random.default_rng(1))
    forward = WeightedRows(codes, fit_of(codes, asked.given))
    ours, theirs = (
        estimated_distribution(rows, model.domain, asked.targets) for rows in (towards, forward)
    )
    assert (ours.errors < 0.5 * theirs.errors).all()
