"""A metric's promise and its result.

A number alone says little. Every result has beside it the value of a resample of the real rows (no
stand-in can be asked for more), and the value of columns that are drawn independently.
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


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric for readers: what it measures, its range, and what the ends of it look like.

    Attributes:
        low: the least it can be; None where there is no end.
        high: the most; None likewise.
        perfect: its value where nothing tells the two tables apart.
        useless: in words, the value of a stand-in without utility.
    """

    name: str
    about: str
    goal: Goal
    low: float | None
    high: float | None
    perfect: float
    useless: str

    def document(self) -> dict[str, Any]:
        """Return the metric for JSON."""
        return {
            "name": self.name,
            "about": self.about,
            "goal": str(self.goal),
            "low": self.low,
            "high": self.high,
            "perfect": self.perfect,
            "useless": self.useless,
        }


@dataclass(frozen=True, kw_only=True)
class Result:
    """The result of a metric, with its value for resampled and for independent rows.

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
    return Result(metric=metric, value=None, reason=reason)


def finite(value: float) -> float | None:
    """Return the number, or None where it is not finite: JSON knows no other way to say so."""
    return float(value) if math.isfinite(value) else None


def mean_of(values: Sequence[float]) -> float | None:
    """The mean of those that are numbers; None where none is."""
    known = [value for value in values if math.isfinite(value)]
    return fmean(known) if known else None


StepProgress = Callable[[int, int, str], None]


def unwatched_steps(done: int, total: int, what: str) -> None:
    """Show nobody how far an evaluation has come."""
