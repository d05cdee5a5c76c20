"""A question to a model, answered exactly or from sampled rows: post-processing, at no cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.conditional import Probabilities
from understudy.domain import Attributes
from understudy.infer.labels import Label, labels_of
from understudy.infer.question import Question, read_question
from understudy.model import Model
from understudy.sample import weighted_codes
from understudy.sample.estimate import Estimate, estimated_chance, estimated_distribution

_SAMPLES = 10**6


@dataclass(frozen=True)
class Answer:
    """What a model says to a question.

    Attributes:
        question: as it was asked.
        targets: the attributes asked about; none where the chance of an event was.
        labels: of each target.
        chances: the joint distribution, or the one chance.
        errors: one standard error of each, 0 where they are exact.
        evidence: the probability of what was given.
        exact: whether nothing was sampled.
    """

    question: str
    targets: Attributes
    labels: tuple[list[Label], ...]
    chances: Probabilities
    errors: Probabilities
    evidence: float
    exact: bool


def ask(
    model: Model, question: str, *, samples: int | None = None, seed: int | None = None
) -> Answer:
    """What a model says to a question such as P(income | age >= 30, sex = Female).

    Args:
        model: what is asked.
        question: columns whose distribution, or conditions whose chance is asked for, and
            behind a bar what is known.
        samples: how many rows to estimate from; exact unless given. Constraints change the law of
            rows in a way that has no exact answer here, so that a million rows are drawn for them.
        seed: makes an estimate repeatable.
    """
    if samples is None and model.schema.constraints:
        samples = _SAMPLES
    asked = read_question(question, model.schema.columns)
    labels = tuple(labels_of(model.schema.learned[name]) for name in asked.targets)
    found = _exactly(model, asked) if samples is None else _sampled(model, asked, samples, seed)
    return Answer(
        question.strip(),
        asked.targets,
        labels,
        found.chances,
        found.errors,
        found.evidence,
        exact=samples is None,
    )


def _exactly(model: Model, asked: Question) -> Estimate:
    chances, evidence = model.posterior(asked.targets, asked.given)
    if asked.both is not None:
        chances = np.array(model.chance(asked.both) / evidence)
    return Estimate(chances, np.zeros_like(chances), evidence)


def _sampled(model: Model, asked: Question, samples: int, seed: int | None) -> Estimate:
    rows = weighted_codes(model, asked.given, samples, np.random.default_rng(seed))
    if asked.both is not None:
        return estimated_chance(rows, asked.both, asked.given)
    return estimated_distribution(rows, model.domain, asked.targets)
