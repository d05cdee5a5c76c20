"""A question to a model, answered exactly or from sampled rows: post-processing, at no cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import escape

from understudy.facts.domain import Attributes
from understudy.models.inference.labels import Label, labels_of
from understudy.models.inference.question import Question, read_question
from understudy.models.sampling.estimate import (
    SampledProbabilities,
    estimated_chance,
    estimated_distribution,
)
from understudy.system.arrays import Probabilities
from understudy.system.printable import printable

if TYPE_CHECKING:
    from understudy.models.model import Model

_SAMPLES = 10**6
# As many values as are read at a glance.
_SHOWN = 4


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a model to a question.

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

    def __repr__(self) -> str:
        estimated = "" if self.exact else " (estimated)"
        return printable(f"{self.question}: {self._most_probable()}{estimated}")

    def _repr_html_(self) -> str:
        return str(escape(repr(self)))

    def _most_probable(self) -> str:
        """The few most probable values with their probabilities, or the one probability."""
        if not self.targets:
            return f"{float(self.chances):.4g}"
        order = np.argsort(-self.chances, axis=None, kind="stable")
        shown = [self._in_words(int(place)) for place in order[:_SHOWN]]
        more = [f"{order.size - _SHOWN:,} more"] if order.size > _SHOWN else []
        return ", ".join([*shown, *more])

    def _in_words(self, place: int) -> str:
        """One combination of values and its probability."""
        codes = np.unravel_index(place, self.chances.shape)
        values = [labels[code] for labels, code in zip(self.labels, codes, strict=True)]
        named = " & ".join("missing" if value is None else str(value) for value in values)
        return f"{named} {self.chances[codes]:.4g}"


def ask(
    model: Model, question: str, *, samples: int | None = None, seed: int | None = None
) -> Answer:
    """Answer a question to a model, such as P(income | age >= 30, sex = Female).

    Args:
        model: what is asked.
        question: columns whose distribution, or conditions whose chance is asked for, and
            behind a bar what is known.
        samples: how many rows to estimate from; exact unless given. Constraints change the law of
            rows in a way that has no exact answer here, and a law may have too many factors for
            one, so that a million rows are drawn for them.
        seed: makes an estimate repeatable.
    """
    if samples is None and (model.schema.constraints or not model.law.is_exact):
        samples = _SAMPLES
    asked = read_question(question, model.schema.columns)
    labels = tuple(labels_of(model.schema.learned[name]) for name in asked.targets)
    found = _exactly(model, asked) if samples is None else _sampled(model, asked, samples, seed)
    return Answer(
        question=question.strip(),
        targets=asked.targets,
        labels=labels,
        chances=found.chances,
        errors=found.errors,
        evidence=found.evidence,
        exact=samples is None,
    )


def _exactly(model: Model, asked: Question) -> SampledProbabilities:
    chances, evidence = model.posterior(asked.targets, asked.given)
    if asked.both is not None:
        chances = np.array(model.chance(asked.both) / evidence)
    return SampledProbabilities(chances, np.zeros_like(chances), evidence)


def _sampled(model: Model, asked: Question, samples: int, seed: int | None) -> SampledProbabilities:
    rows = model.law.weighted(asked.given, samples, np.random.default_rng(seed))
    if asked.both is not None:
        return estimated_chance(rows, asked.both, asked.given)
    return estimated_distribution(rows, model.domain, asked.targets)
