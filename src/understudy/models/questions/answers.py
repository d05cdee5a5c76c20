"""Answers of a model, each with its interval: probabilities, numbers, a row, and pairs."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import escape

from understudy.facts.domain import Attributes
from understudy.models.inference.labels import Label
from understudy.models.intervals.interval import NoiseInterval
from understudy.models.questions.places import CodePlaces
from understudy.system.arrays import Floats, Probabilities
from understudy.system.printable import printable

# As many values as are read at a glance.
_SHOWN = 4
_MOST_DECIMALS = 12
WITHIN_BINS = "values inside a bin are taken to be equally frequent, as in sampled rows"


def _not_asked() -> NoiseInterval:
    return NoiseInterval.none("it was not asked for")


@dataclass(frozen=True, kw_only=True)
class BaseAnswer(ABC):
    """The base of all answers of a model.

    Attributes:
        question: as it was asked.
        exact: whether nothing was sampled.
        evidence: the probability of what was given.
        interval: where the true answer lies, as far as the noise of privacy is concerned.
        within_bins: whether the answer rests on how values lie inside bins.
    """

    question: str
    exact: bool
    evidence: float = 1.0
    interval: NoiseInterval = field(default_factory=_not_asked)
    within_bins: bool = False

    def __repr__(self) -> str:
        estimated = "" if self.exact else " (estimated)"
        return printable(f"{self.question}: {self.text}{estimated}")

    def _repr_html_(self) -> str:
        return str(escape(repr(self)))

    @property
    @abstractmethod
    def text(self) -> str:
        """Say the answer in a few words."""

    @property
    def sampling_error(self) -> float | None:
        """The largest standard error of sampling; None where it is not known."""
        return None

    @property
    def notes(self) -> list[str]:
        """Sentences that a reader should know beside the answer."""
        way = "exact in the model"
        if not self.exact:
            error = self.sampling_error
            known = "" if error is None else f", standard error of sampling up to {error:.2g}"
            way = f"estimated from sampled rows of the model{known}"
        bins = [WITHIN_BINS] if self.within_bins else []
        return [f"{way}; computed at no cost", self.interval.sentence, *bins]

    @property
    @abstractmethod
    def lines(self) -> list[dict[str, Any]]:
        """Every part of the answer for machines."""

    def document(self) -> dict[str, Any]:
        """Describe the answer for machines."""
        return {
            "question": self.question,
            "exact": self.exact,
            "evidence_probability": self.evidence,
            "answers": self.lines,
            "interval": self.interval.document(),
            "within_bins": self.within_bins,
        }

    def _ends(self, place: int) -> dict[str, float | None]:
        """The ends of the interval of one part of the answer."""
        ends = self.interval.ends
        if ends is None:
            return {"low": None, "high": None}
        return {"low": float(ends[0].ravel()[place]), "high": float(ends[1].ravel()[place])}


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(BaseAnswer):
    """The answer of a model to a question about probabilities.

    Attributes:
        targets: the attributes asked about; none where the chance of an event was.
        labels: of each target.
        chances: the joint distribution, or the one chance.
        errors: one standard error of sampling for each, 0 where they are exact.
    """

    targets: Attributes
    labels: tuple[list[Label], ...]
    chances: Probabilities
    errors: Probabilities

    @property
    def text(self) -> str:
        """The few most probable values with their probabilities, or the one probability."""
        if not self.targets:
            return f"{float(self.chances):.4g}{self._range(0)}"
        order = np.argsort(-self.chances, axis=None, kind="stable")
        shown = [self._in_words(int(place)) for place in order[:_SHOWN]]
        more = [f"{order.size - _SHOWN:,} more"] if order.size > _SHOWN else []
        return ", ".join([*shown, *more])

    @property
    def sampling_error(self) -> float | None:
        """Return the largest standard error of sampling."""
        return float(self.errors.max())

    def _in_words(self, place: int) -> str:
        """One combination of values and its probability."""
        codes = np.unravel_index(place, self.chances.shape)
        values = [labels[code] for labels, code in zip(self.labels, codes, strict=True)]
        named = " & ".join("missing" if value is None else str(value) for value in values)
        return f"{named} {self.chances[codes]:.4g}{self._range(place)}"

    def _range(self, place: int) -> str:
        ends = self._ends(place)
        return "" if ends["low"] is None else f" ({ends['low']:.4g} to {ends['high']:.4g})"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every combination of labels with its probability, error and interval."""
        return [
            {
                **dict(zip(self.targets, labels, strict=True)),
                "probability": float(self.chances.ravel()[place]),
                "error": float(self.errors.ravel()[place]),
                **self._ends(place),
            }
            for place, labels in enumerate(itertools.product(*self.labels))
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberAnswer(BaseAnswer):
    """A count, a mean or a quantile.

    Attributes:
        kind: which of them.
        value: the number; of days and moments, the ordinate.
        error: one standard error of sampling; 0 where the answer is exact, None where unknown.
        places: how the column's values are written; None for counts.
    """

    kind: str
    value: float
    error: float | None = 0.0
    places: CodePlaces | None = None

    @property
    def text(self) -> str:
        """The number and its interval, as the schema writes them."""
        ends = self.interval.ends
        between = "" if ends is None else f" ({' to '.join(self.written(float(e)) for e in ends)})"
        return f"{self.written(self.value)}{between}"

    @property
    def sampling_error(self) -> float | None:
        """The standard error of sampling; None where it is not known."""
        return self.error

    def written(self, value: float) -> str:
        """A number as the schema writes it; means have the decimals that their interval shows."""
        if self.places is None:
            return f"{value:,.0f}"
        return self.places.written(value, decimals=self._decimals)

    @property
    def _decimals(self) -> int | None:
        if self.kind != "mean" or self.places is None:
            return None
        ends = self.interval.ends
        width = float(ends[1] - ends[0]) / 2 if ends is not None else 0.0
        shown = math.ceil(-math.log10(width)) + 1 if width > 0 else 2
        return min(max(shown, self.places.decimals, 0), _MOST_DECIMALS)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The number, as it is written too, with its error and interval."""
        numbers = {self.kind: self.value, "written": self.written(self.value)}
        return [numbers | {"error": self.error} | self._ends(0)]


@dataclass(frozen=True, kw_only=True, repr=False)
class RowAnswer(BaseAnswer):
    """The most probable row.

    Attributes:
        row: its labels by column.
        probability: of the row, among the rows that fit the conditions.
    """

    row: Mapping[str, Label]
    probability: float

    @property
    def text(self) -> str:
        """Return the labels and the probability."""
        named = ", ".join(f"{name} = {_shown(label)}" for name, label in self.row.items())
        return f"{named}; probability {self.probability:.4g}"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the row and its probability."""
        return [{"row": dict(self.row), "probability": self.probability}]


@dataclass(frozen=True, kw_only=True, repr=False)
class PairsAnswer(BaseAnswer):
    """The pairs of columns that depend on each other most, strongest first.

    Attributes:
        pairs: the names.
        scores: how far each pair is from independence: total variation distance, 0 to 1.
        measured: whether a released table holds the pair.
    """

    pairs: tuple[tuple[str, str], ...]
    scores: Floats
    measured: tuple[bool, ...]

    @property
    def text(self) -> str:
        """Return the pairs with their scores."""
        found = zip(self.pairs, self.scores, strict=True)
        return ", ".join(f"{a} & {b} {score:.3f}" for (a, b), score in found)

    @property
    def notes(self) -> list[str]:
        """Say also that distances of measured pairs are the model's."""
        own = "all distances are the model's, also those of pairs that a released table holds"
        return [*super().notes, *([own] if any(self.measured) else [])]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every pair with its score and interval."""
        return [
            {"columns": list(pair), "score": float(score), "measured": held} | self._ends(place)
            for place, (pair, score, held) in enumerate(
                zip(self.pairs, self.scores, self.measured, strict=True)
            )
        ]


@dataclass(frozen=True, kw_only=True, repr=False)
class ChanceAnswer(BaseAnswer):
    """The p-value of a test that allows for the noise of privacy.

    Attributes:
        chance: how often tables of independent columns, with as much noise, are as far from
            independence as the released one.
    """

    chance: float

    @property
    def text(self) -> str:
        """Say the p-value."""
        return f"p = {self.chance:.3f}"

    @property
    def notes(self) -> list[str]:
        """Say what the p-value is of, and what it does not allow for."""
        return [
            "p-value of independence, from a released table and the law of its noise; computed at "
            "no cost",
            "tables that a method chose because they showed dependence have smaller p-values",
        ]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the p-value alone."""
        return [{"p_value": self.chance}]


def _shown(label: Label) -> str:
    return "missing" if label is None else str(label)
