"""What a metric promises, and what one came to.

A number alone says little. Beside every one stands what a resample of the real rows would have come
to (no stand-in can be asked for more), and what columns drawn independently would have come to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Any


class Goal(StrEnum):
    """Which way is better."""

    LESS = "less is better"
    MORE = "more is better"


@dataclass(frozen=True)
class Metric:
    """A metric for readers: what it measures, its range, and what the ends of it look like.

    Attributes:
        low: the least it can be; None where there is no end.
        high: the most; None likewise.
        perfect: its value where nothing tells the two tables apart.
        useless: in words, what a stand-in without worth would come to.
    """

    name: str
    about: str
    goal: Goal
    low: float | None
    high: float | None
    perfect: float
    useless: str

    def document(self) -> dict[str, Any]:
        """The metric for JSON."""
        return {
            "name": self.name,
            "about": self.about,
            "goal": str(self.goal),
            "low": self.low,
            "high": self.high,
            "perfect": self.perfect,
            "useless": self.useless,
        }


@dataclass(frozen=True)
class Result:
    """What a metric came to, beside what else it would have come to.

    Attributes:
        value: for the synthetic rows; None where there is none, and `reason` says why.
        resampled: for as many rows drawn from the real ones with replacement.
        independent: for as many rows whose columns were drawn independently of each other.
    """

    metric: Metric
    value: float | None
    resampled: float | None = None
    independent: float | None = None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """The result for JSON, its metric included."""
        return {
            "value": self.value,
            "resampled": self.resampled,
            "independent": self.independent,
            "reason": self.reason,
            "metric": self.metric.document(),
        }


def without(metric: Metric, reason: str) -> Result:
    """A metric that could not be taken, and why."""
    return Result(metric, None, reason=reason)


def finite(value: float) -> float | None:
    """The number, or None where it is none: JSON knows no other way to say so."""
    return float(value) if math.isfinite(value) else None


def mean_of(values: Sequence[float]) -> float | None:
    """The mean of those that are numbers; None where none is."""
    known = [value for value in values if math.isfinite(value)]
    return fmean(known) if known else None


Watch = Callable[[int, int, str], None]


def unwatched(done: int, total: int, what: str) -> None:
    """Nobody is told how far an evaluation has come."""
