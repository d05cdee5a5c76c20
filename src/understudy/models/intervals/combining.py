"""Combining rules: one estimate and its interval from several stand-ins of one model.

Each stand-in comes from its own draw of the tables given the released ones. Estimates on them then
differ by the noise of privacy and by the sampling of their rows, and the rules of fully synthetic
data apply: T. Raghunathan, J. Reiter, D. Rubin, "Multiple imputation for statistical disclosure
limitation", Journal of Official Statistics 19, 2003; for differential privacy O. Räisä, J. Jälkö,
S. Kaski, A. Honkela, "Noise-aware statistical inference with differentially private synthetic
data", AISTATS 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.errors import UsageError
from understudy.models.intervals.interval import LEVEL, student_quantile

POPULATION, ROWS = "population", "rows"


@dataclass(frozen=True)
class CombinedEstimate:
    """An estimate from several stand-ins.

    Attributes:
        estimate: the mean of their estimates.
        variance: the variance of its error.
        degrees: the degrees of freedom of Student's distribution that the error has.
        low: the lower end of the 95 % interval.
        high: its upper end.
    """

    estimate: float
    variance: float
    degrees: float
    low: float
    high: float

    def __repr__(self) -> str:
        interval = f"95 % interval {self.low:.6g} to {self.high:.6g}"
        return f"CombinedEstimate({self.estimate:.6g}, {interval})"


def combine_replicates(
    estimates: Sequence[float], variances: Sequence[float], *, about: str = POPULATION
) -> CombinedEstimate:
    """Combine what was estimated on several stand-ins, each from its own replicate of a model.

    With M stand-ins, b the variance of their estimates and v the mean of their variances, the
    estimate has variance (1 + 1/M)·b − v about the value in the real rows: what is between
    stand-ins, less the sampling that each of them has by itself. The real rows are a sample of
    their population, of about the variance v, so that about the population it is (1 + 1/M)·b.

    Args:
        estimates: of each stand-in, whose rows were drawn independently and are as many as the
            real ones.
        variances: the squared standard error of each, as for a sample of real rows.
        about: "population", or "rows" for the value that the real rows themselves have.

    Raises:
        UsageError: fewer than two stand-ins, or other numbers of estimates and variances.

    Example:
        >>> found = combine_replicates([1.0, 1.2, 1.1], [0.01, 0.01, 0.01])
        >>> round(found.estimate, 3), round(found.variance, 5)
        (1.1, 0.01333)
    """
    count = len(estimates)
    if count < 2 or len(variances) != count:
        raise UsageError(
            f"there are {count} estimates and {len(variances)} variances; give one of each for "
            "every stand-in, and at least two"
        )
    if about not in (POPULATION, ROWS):
        raise UsageError(f"about is {about!r}; use {POPULATION!r} or {ROWS!r}")
    mean, between = float(np.mean(estimates)), float(np.var(estimates, ddof=1))
    whole = (1 + 1 / count) * between
    if about == POPULATION:
        return _estimate(mean, whole, count - 1.0)
    within = float(np.mean(variances))
    # Even without noise the mean of the stand-ins strays by b/M.
    variance = max(whole - within, between / count)
    share = 1 - within / whole if whole > 0 else 0.0
    return _estimate(mean, variance, max((count - 1) * max(share, 0.0) ** 2, 1.0))


def _estimate(mean: float, variance: float, degrees: float) -> CombinedEstimate:
    margin = student_quantile(0.5 + LEVEL / 2, degrees) * variance**0.5
    return CombinedEstimate(mean, variance, degrees, low=mean - margin, high=mean + margin)
