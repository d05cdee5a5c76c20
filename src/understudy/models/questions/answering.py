"""Answer questions beyond probabilities from a model: post-processing, at no cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.models.inference import Evidence
from understudy.models.inference.labels import Label, labels_of
from understudy.models.inference.question import Question
from understudy.models.intervals.coverage import PAIRS_COVERAGE
from understudy.models.intervals.interval import NoiseInterval
from understudy.models.questions.answers import (
    Answer,
    BaseAnswer,
    ChanceAnswer,
    NumberAnswer,
    PairsAnswer,
    RowAnswer,
)
from understudy.models.questions.independence import independence_chance
from understudy.models.questions.noise import NO_TABLES, AnswerNoise, rows_counted
from understudy.models.questions.reading import (
    AnyQuestion,
    ColumnQuestion,
    CountQuestion,
    IndependenceQuestion,
    PairsQuestion,
    RowQuestion,
)
from understudy.models.sampling.estimate import (
    SampledProbabilities,
    estimated_chance,
    estimated_distribution,
)
from understudy.models.strengths import distance_from_independence
from understudy.system.arrays import Floats

if TYPE_CHECKING:
    from understudy.models.model import Model

_SAMPLES = 10**6
NO_INTERVAL = NoiseInterval.none("a p-value allows for the noise itself")
# Rows among which the most probable one is looked for where it cannot be computed.
_LOOKED_AT = 2**17


@dataclass(frozen=True)
class Asking:
    """A model and how it is asked.

    Attributes:
        model: what is asked.
        noise: finds intervals.
        samples: how many rows to estimate from; exact where possible unless given.
        seed: makes an estimate repeatable.
    """

    model: Model
    noise: AnswerNoise
    samples: int | None
    seed: int | None

    def answer(self, text: str, asked: AnyQuestion) -> BaseAnswer:
        """Answer a question of any form."""
        match asked:
            case CountQuestion():
                return self._count(text, asked)
            case ColumnQuestion():
                return self._column(text, asked)
            case RowQuestion():
                return self._row(text, asked)
            case PairsQuestion():
                return self._pairs(text, asked)
            case IndependenceQuestion():
                return self._independence(text, asked)
            case _:
                return self._probabilities(text, asked)

    @property
    def _rows(self) -> int | None:
        """How many rows to draw; None where the answer is exact.

        Constraints change the law of rows in a way that has no exact answer here, and a law may
        have too many factors for one, so that a million rows are drawn for them.
        """
        sampled = self.model.schema.constraints or not self.model.law.is_exact
        return _SAMPLES if self.samples is None and sampled else self.samples

    def found(self, asked: Question) -> SampledProbabilities:
        """Probabilities, exact or from sampled rows."""
        if self._rows is None:
            return self._exactly(asked)
        rows = self.model.law.weighted(asked.given, self._rows, np.random.default_rng(self.seed))
        if asked.both is not None:
            return estimated_chance(rows, asked.both, asked.given)
        return estimated_distribution(rows, self.model.domain, asked.targets)

    def _exactly(self, asked: Question) -> SampledProbabilities:
        chances, evidence = self.model.posterior(asked.targets, asked.given)
        if asked.both is not None:
            chances = np.array(self.model.chance(asked.both) / evidence)
        return SampledProbabilities(chances, np.zeros_like(chances), evidence)

    def _probabilities(self, text: str, asked: Question) -> Answer:
        found = self.found(asked)
        columns = self.model.schema.learned
        return Answer(
            question=text,
            targets=asked.targets,
            labels=tuple(labels_of(columns[name]) for name in asked.targets),
            chances=found.chances,
            errors=found.errors,
            evidence=found.evidence,
            exact=self._rows is None,
            interval=self.noise.interval(asked, found.chances),
            within_bins=_cuts(asked.given) or _cuts(asked.both or {}),
        )

    def _count(self, text: str, asked: CountQuestion) -> NumberAnswer:
        found = self.found(Question((), {}, asked.fits))
        rows = rows_counted(self.model)
        value = float(found.chances) * rows
        return NumberAnswer(
            question=text,
            kind="count",
            value=value,
            error=float(found.errors) * rows,
            exact=self._rows is None,
            interval=self.noise.interval(asked, np.array(value)),
            within_bins=_cuts(asked.fits),
        )

    def _column(self, text: str, asked: ColumnQuestion) -> NumberAnswer:
        found = self.found(Question((asked.name,), asked.given, None))
        value, error = _of_column(asked, found)
        return NumberAnswer(
            question=text,
            kind="mean" if asked.share is None else "quantile",
            value=value,
            error=error,
            evidence=found.evidence,
            exact=self._rows is None,
            interval=self.noise.interval(asked, np.array(value)),
            within_bins=True,
            places=asked.places,
        )

    def _row(self, text: str, asked: RowQuestion) -> RowAnswer:
        row, chance, exact = self._most_probable(asked.given)
        evidence = self._evidence(asked.given)
        reason = "which row is the most probable one depends on the noise itself"
        return RowAnswer(
            question=text,
            row=row,
            probability=min(chance / max(evidence, chance), 1.0) if chance else 0.0,
            evidence=evidence,
            exact=exact,
            interval=NoiseInterval.none(reason),
        )

    def _evidence(self, given: Evidence) -> float:
        """The chance of some conditions; 1 where there are none."""
        if not given:
            return 1.0
        return float(self.found(Question((next(iter(self.model.domain)),), given, None)).evidence)

    def _most_probable(self, given: Evidence) -> tuple[Mapping[str, Label], float, bool]:
        """The row and its probability, computed, or looked for among sampled rows."""
        if self._rows is None:
            return *self.model.most_probable(given), True
        law, generator = self.model.law, np.random.default_rng(self.seed or 0)
        drawn = law.weighted(given, _LOOKED_AT, generator)
        codes = {name: held[drawn.weights > 0] for name, held in drawn.codes.items()}
        logarithms = law.log_chances(codes)
        if logarithms is None or not logarithms.size:
            raise UsageError("none of the sampled rows fits the conditions; loosen one of them")
        best = int(logarithms.argmax())
        columns = self.model.schema.learned
        row = {name: labels_of(columns[name])[held[best]] for name, held in codes.items()}
        return row, min(math.exp(logarithms[best] - law.log_left_out), 1.0), False

    def _pairs(self, text: str, asked: PairsQuestion) -> PairsAnswer:
        model = self.model
        every = [*itertools.combinations(model.domain, 2)]
        scores = {pair: distance_from_independence(_joint(model, pair)) for pair in every}
        best = sorted(every, key=lambda pair: -scores[pair])[: asked.number]
        if not best:
            raise UsageError("the model has only one column; ask for its distribution")
        values = np.array([scores[pair] for pair in best])
        held = [any(Axes(t.attributes).holds(p, model.domain) for t in model.tables) for p in best]
        return PairsAnswer(
            question=text,
            pairs=tuple(best),
            scores=values,
            measured=tuple(held),
            exact=model.distribution.is_exact,
            interval=self._spread(best, values),
        )

    def _independence(self, text: str, asked: IndependenceQuestion) -> ChanceAnswer:
        chance = independence_chance(self.model, asked.pair, seed=self.seed)
        return ChanceAnswer(question=text, chance=chance, exact=True, interval=NO_INTERVAL)

    def _spread(self, pairs: list[tuple[str, str]], values: Floats) -> NoiseInterval:
        if not self.model.tables:
            return NoiseInterval.none(NO_TABLES)
        try:
            refits = self.noise.refits()
            joints = [refits.posteriors(pair, {})[0] for pair in pairs]
        except UsageError as error:
            return NoiseInterval.none(str(error))
        found = [[distance_from_independence(table) for table in joint] for joint in joints]
        interval = self.noise.modelled(values, np.array(found).T, (0.0, 1.0))
        return replace(interval, coverage=PAIRS_COVERAGE.get(self.model.statement.method))


def _joint(model: Model, pair: tuple[str, str]) -> Floats:
    return model.distribution.project(pair)


def _of_column(asked: ColumnQuestion, found: SampledProbabilities) -> tuple[float, float | None]:
    """A mean or a quantile, and its standard error of sampling; None where that is not known."""
    places = asked.places
    if asked.share is None:
        value = float(found.chances @ places.means)
        spread = float((found.errors**2) @ ((places.means - value) ** 2))
        return value, spread**0.5
    place = places.quantile(found.chances, asked.share)
    return places.value(place), None if found.errors.any() else 0.0


def _cuts(evidence: Evidence) -> bool:
    """Whether conditions leave a part of a bin."""
    return any(((fits > 0) & (fits < 1)).any() for fits in evidence.values())
