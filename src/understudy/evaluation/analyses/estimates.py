"""Coefficients of linear and logistic regressions with their 95 % intervals.

Both are those of every textbook: least squares, and maximum likelihood by Newton's steps, which are
iteratively re-weighted least squares. Intervals are Wald's: the inverse of the information matrix
has the variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from understudy.system.arrays import Floats

_TIMES = NormalDist().inv_cdf(0.975)
_MOST_STEPS = 50
# Logits beyond this are a class that terms separate perfectly: there is no finite estimate.
_SEPARATED = 30.0


@dataclass(frozen=True)
class CoefficientEstimate:
    """A coefficient and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero, so that the sign is known."""
        return self.low > 0 or self.high < 0

    def overlap(self, other: CoefficientEstimate) -> float:
        """How much two intervals share, from 0 to 1: the mean part of each that lies in the other.

        Source: Karr, Kohnen, Oganian, Reiter, Sanil 2006, The American Statistician 60, 224-232.
        """
        shared = max(min(self.high, other.high) - max(self.low, other.low), 0.0)
        widths = (self.high - self.low, other.high - other.low)
        return sum(shared / width if width > 0 else 0.0 for width in widths) / 2

    def document(self) -> dict[str, Any]:
        """Return the estimate for JSON."""
        return {"value": self.value, "low": self.low, "high": self.high}


def estimates(
    matrix: Floats, targets: Floats, *, logistic: bool
) -> list[CoefficientEstimate | None] | None:
    """Every coefficient, None for a term that has none; None where there is no fit.

    A term that these rows do not vary has no coefficient. Nor has a flag of a logistic regression
    whose rows are all of one class: it is left out with those rows, as Stata's `logit` does, and
    the others keep theirs.

    Args:
        matrix: a column of ones, then a column for each term.
        targets: a number for each row; 0 or 1 for a logistic regression.
        logistic: which of the two regressions it is.
    """
    if logistic:
        matrix, targets = _undecided(matrix, targets)
    if not targets.size:
        return None
    varies = np.flatnonzero(np.ptp(matrix, axis=0) > 0)
    used = np.concatenate([[0], varies])
    if len(targets) <= 2 * used.size or np.ptp(targets) == 0:
        return None
    fit = (_logistic if logistic else _linear)(matrix[:, used], targets)
    if fit is None:
        return None
    found: list[CoefficientEstimate | None] = [None] * matrix.shape[1]
    for place, value, error in zip(used.tolist(), *fit, strict=True):
        ends = (value - _TIMES * error, value + _TIMES * error)
        found[place] = CoefficientEstimate(float(value), float(ends[0]), float(ends[1]))
    return found


def _undecided(matrix: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The rows whose class no flag decides by itself; where a flag did, it does not vary there."""
    while targets.size:
        deciding = _deciding(matrix, targets)
        if deciding is None:
            break
        kept = matrix[:, deciding[0]] != deciding[1]
        matrix, targets = matrix[kept], targets[kept]
    return matrix, targets


def _deciding(matrix: Floats, targets: Floats) -> tuple[int, float] | None:
    """A flag and a value of it whose rows are all of one class, where others are not."""
    if np.ptp(targets) == 0:
        return None
    ones = targets @ (matrix == 1.0)
    rows = (matrix == 1.0).sum(axis=0)
    flags = np.flatnonzero(((matrix == 0.0) | (matrix == 1.0)).all(axis=0))
    for flag in flags.tolist():
        for value, share, of in (
            (1.0, ones[flag], rows[flag]),
            (0.0, targets.sum() - ones[flag], len(targets) - rows[flag]),
        ):
            if 0 < of < len(targets) and share in (0, of):
                return flag, value
    return None


_Fit = tuple[Floats, Floats]


def _linear(matrix: Floats, targets: Floats) -> _Fit | None:
    """Least squares, with the standard error of each coefficient."""
    inverse = _inverse(matrix.T @ matrix)
    if inverse is None:
        return None
    values = inverse @ (matrix.T @ targets)
    left = targets - matrix @ values
    spread = float(left @ left) / (len(targets) - matrix.shape[1])
    return values, np.sqrt(np.diag(inverse) * spread)


def _logistic(matrix: Floats, targets: Floats) -> _Fit | None:
    """Maximum likelihood; None where it has no finite maximum."""
    values = np.zeros(matrix.shape[1])
    for _ in range(_MOST_STEPS):
        logits = matrix @ values
        if np.abs(values).max() > _SEPARATED:
            return None
        chances = 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
        inverse = _inverse(matrix.T @ (matrix * (chances * (1 - chances))[:, None]))
        if inverse is None:
            return None
        step = inverse @ (matrix.T @ (targets - chances))
        values = values + step
        if np.abs(step).max() < 1e-8:
            return values, np.sqrt(np.diag(inverse))
    return None


def _inverse(information: Floats) -> Floats | None:
    """The inverse of an information matrix; None where terms determine each other."""
    if not np.isfinite(information).all() or np.linalg.cond(information) > 1e12:
        return None
    return np.asarray(np.linalg.inv(information))
