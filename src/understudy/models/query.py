"""A question to a model, answered exactly or from sampled rows: post-processing, at no cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from understudy.models.intervals.refits import Refits
from understudy.models.questions.answering import Asking
from understudy.models.questions.answers import (
    Answer,
    BaseAnswer,
    NumberAnswer,
    PairsAnswer,
    RowAnswer,
)
from understudy.models.questions.noise import AnswerNoise
from understudy.models.questions.reading import read_any

if TYPE_CHECKING:
    from understudy.models.model import Model

__all__ = ["Answer", "BaseAnswer", "NumberAnswer", "PairsAnswer", "RowAnswer", "ask"]


def ask(
    model: Model,
    question: str,
    *,
    samples: int | None = None,
    seed: int | None = None,
    refits: Callable[[], Refits] | None = None,
) -> BaseAnswer:
    """Answer a question to a model, such as P(income | age >= 30, sex = Female).

    Args:
        model: what is asked.
        question: columns whose distribution, or conditions whose chance is asked for, and
            behind a bar what is known; or a count, a mean, a quantile, the most probable row or
            the strongest pairs.
        samples: how many rows to estimate from; exact unless given. Constraints change the law of
            rows in a way that has no exact answer here, and a law may have too many factors for
            one, so that a million rows are drawn for them.
        seed: makes an estimate repeatable.
        refits: makes or reads the refitted models; the model's own unless given.
    """
    asked = read_any(question, model.schema.columns)
    noise = AnswerNoise(model, refits or (lambda: model.refits))
    return Asking(model, noise, samples, seed).answer(question.strip(), asked)
