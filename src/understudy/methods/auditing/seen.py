"""The view of an attacker on one run, as numbers: answers, the model, and what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.methods.auditing.attack import Observation, Trial
from understudy.models.model import Model
from understudy.system.arrays import Floats

# So many cells of an answer are looked at.
_CELLS = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """The view of an attacker on one run, as numbers.

    Attributes:
        asked: the questions; `priced` has their noise as well.
        parts: the first cells of each answer and of the model's tables, by name.
        totals: of all cells of each answer.
        along: each answer along the difference that the two tables make to it.
    """

    asked: str
    priced: str
    parts: Mapping[str, Floats]
    totals: Mapping[str, float]
    along: Mapping[str, float]


TrueAnswers = Mapping[str, Floats]


def seen(run: Trial, present: TrueAnswers, absent: TrueAnswers) -> Seen:
    """A run as numbers, beside exact answers of both tables, which the attacker knows."""
    parts: dict[str, Floats] = {}
    totals: dict[str, float] = {}
    along: dict[str, float] = {}
    for name, answer in named(run.answers):
        cells = np.asarray(answer.released, np.float64).reshape(-1)
        parts[name], totals[name] = cells[:_CELLS], float(cells.sum())
        one, other = present.get(name), absent.get(name)
        if one is not None and other is not None and one.size == other.size == cells.size:
            along[name] = float(cells @ (one - other))
    priced = repr([answer.charge for answer in run.answers])
    asked = repr([answer.charge.question for answer in run.answers])
    return Seen(
        asked=asked,
        priced=priced,
        parts=parts | dict(_of_model(run.model)),
        totals=totals,
        along=along,
    )


def named(answers: Sequence[Observation]) -> Iterator[tuple[str, Observation]]:
    """Answers by their questions, those that come again numbered."""
    times: Counter[str] = Counter()
    for answer in answers:
        question = answer.charge.question
        times[question] += 1
        yield question if times[question] == 1 else f"{question} ({times[question]})", answer


def _of_model(model: Model) -> Iterator[tuple[str, Floats]]:
    yield "rows of the model", np.array([model.rows], np.float64)
    for name, numbers in model.distribution.numbers().items():
        yield f"{name} in the model", numbers.reshape(-1)[:_CELLS].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Sides:
    """Runs on the table with the person, and on the one without."""

    present: Sequence[Seen]
    absent: Sequence[Seen]

    @property
    def both(self) -> tuple[Sequence[Seen], Sequence[Seen]]:
        """Return the two apart."""
        return self.present, self.absent

    @property
    def every(self) -> list[Seen]:
        """Return the two together."""
        return [*self.present, *self.absent]
