"""Job of `query`: answer a question about columns from a model alone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from understudy.models.query import Answer

AnswerLine = tuple[tuple[Any, ...], float, float]
"""Labels of the target columns, their probability, and its standard error."""


@dataclass(frozen=True)
class QueryResult:
    """An answer, line by line."""

    answer: Answer

    @property
    def lines(self) -> list[AnswerLine]:
        """Every combination of labels with its probability and standard error."""
        answer = self.answer
        every = itertools.product(*answer.labels)
        numbers = zip(answer.chances.ravel().tolist(), answer.errors.ravel().tolist(), strict=True)
        return [(labels, *number) for labels, number in zip(every, numbers, strict=True)]

    def document(self) -> dict[str, Any]:
        """Describe the answer for machines."""
        targets = self.answer.targets
        lines = [
            {**dict(zip(targets, labels, strict=True)), "probability": chance, "error": error}
            for labels, chance, error in self.lines
        ]
        return {
            "question": self.answer.question,
            "exact": self.answer.exact,
            "evidence_probability": self.answer.evidence,
            "answers": lines,
        }


def query(
    model: Path, question: str, *, samples: int | None = None, seed: int | None = None
) -> QueryResult:
    """Ask a model, exactly or from sampled rows.

    Privacy: post-processing of a released model; costs nothing, however often it is done.
    """
    from understudy.models.model import Model
    from understudy.models.query import ask

    return QueryResult(ask(Model.load(model), question, samples=samples, seed=seed))
