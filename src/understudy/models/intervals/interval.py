"""Intervals: of ratios of noisy sums, of quantiles, and of answers of refitted models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.system.arrays import Floats

LEVEL = 0.95
# What is said of an answer: a released table holds it, or only the model does.
MEASURED, MODELLED = "measured", "model"


@dataclass(frozen=True, eq=False, kw_only=True)
class NoiseInterval:
    """Where the true answers lie, as far as the noise of released tables shows.

    Attributes:
        low: the lower ends, one for each answer; None where there are none.
        high: the upper ends.
        basis: "measured" where a released table holds the answer, "model" where it rests on the
            model, and empty where there is no interval.
        coverage: of answers that rest on the model, how often such intervals held the truth in
            the benchmark `coverage`; None where the level itself holds.
        reason: why there is no interval.
    """

    low: Floats | None = None
    high: Floats | None = None
    basis: str = ""
    coverage: float | None = None
    reason: str = ""

    @classmethod
    def none(cls, reason: str) -> NoiseInterval:
        """Return that there is no interval, and why."""
        return cls(reason=reason)

    @property
    def ends(self) -> tuple[Floats, Floats] | None:
        """The lower and the upper ends; None where there are none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def sentence(self) -> str:
        """Describe the interval in words."""
        if self.ends is None:
            return f"no interval for the noise of privacy: {self.reason}"
        if self.basis == MEASURED:
            return "95 % interval for the noise of privacy; released tables hold the answer"
        held = f"; such intervals held the truth {self._often}"
        if self.coverage is None:
            held = "; how often such intervals hold the truth was not measured"
        return (
            "rests on the model: the 95 % interval shows how the noise of privacy moves the "
            f"answer, not the model's own error{held}"
        )

    @property
    def _often(self) -> str:
        return f"{100 * (self.coverage or 0.0):.0f} times in 100 when that was measured"

    def document(self) -> dict[str, Any]:
        """Describe the interval for machines; its ends are beside the answers."""
        return {
            "level": None if self.ends is None else LEVEL,
            "basis": self.basis or None,
            "coverage": self.coverage,
            "note": self.sentence,
        }


@dataclass(frozen=True, eq=False)
class NoisySum:
    """A sum of released cells, and draws of its error, the number of the draw first."""

    value: Floats
    errors: Floats


def ratio_interval(
    above: NoisySum, below: NoisySum, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Intervals of ratios of two noisy sums (Fieller 1954).

    The ratios θ for which above − θ·below is not further from 0 than its noise: exact for Gaussian
    noise, however small the sum below is. The multiple of the standard deviation is that of the
    drawn errors, so that Laplace noise has its own.

    Args:
        above: one sum for each answer.
        below: one sum, or one for each answer.
        bounds: what every ratio is between; where noise hides the sum below, they are the answer.
    """
    top, bottom = above.value, np.broadcast_to(below.value, above.value.shape)
    errors = above.errors, np.broadcast_to(below.errors, above.errors.shape)
    of_top, of_bottom = (each.var(axis=0) for each in errors)
    mixed = (errors[0] * errors[1]).mean(axis=0) - errors[0].mean(axis=0) * errors[1].mean(axis=0)
    squared = _multiple(top, bottom, errors) ** 2
    a, b = bottom**2 - squared * of_bottom, top * bottom - squared * mixed
    c = top**2 - squared * of_top
    clear = (a > 0) & (bottom > 0)
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    divisor = np.where(clear, a, 1.0)
    low = np.where(clear, (b - root) / divisor, bounds[0])
    high = np.where(clear, (b + root) / divisor, bounds[1])
    return np.clip(low, *bounds), np.clip(high, *bounds)


def _multiple(top: Floats, bottom: Floats, errors: tuple[Floats, Floats]) -> Floats:
    """How many standard deviations hold 95 % of the drawn errors, near the ratio that was found."""
    ratio = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    apart = errors[0] - ratio * errors[1]
    spread = apart.std(axis=0)
    scaled = np.divide(np.abs(apart), spread, out=np.zeros_like(apart), where=spread > 0)
    return np.asarray(np.quantile(scaled, LEVEL, axis=0))


def spread_interval(
    value: Floats, replicates: Floats, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Intervals that hold an answer and the mean of refitted models, with their spread around both.

    A model shrinks its tables, and refitted ones take draws of them at their word: where the two
    differ, it is not known which is right.

    Args:
        value: the answers of the model.
        replicates: those of refitted models, one after the other.
        bounds: what every answer is between.
    """
    quantile = student_quantile(0.5 + LEVEL / 2, len(replicates) - 1)
    margin, mean = quantile * replicates.std(axis=0, ddof=1), replicates.mean(axis=0)
    low, high = np.minimum(value, mean) - margin, np.maximum(value, mean) + margin
    return np.clip(low, *bounds), np.clip(high, *bounds)


def including(value: Floats, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Widen intervals, where they must be, to hold the answers of the model themselves."""
    return np.minimum(ends[0], value), np.maximum(ends[1], value)


def student_quantile(chance: float, degrees: float) -> float:
    """The quantile of Student's t; with degrees without end, that of the normal law.

    Example:
        >>> round(student_quantile(0.975, 10), 3)
        2.228
    """
    # All of scipy.stats would double the time that a command needs to start.
    from scipy.special import ndtri, stdtrit

    return float(stdtrit(degrees, chance) if math.isfinite(degrees) else ndtri(chance))
