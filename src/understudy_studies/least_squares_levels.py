"""Levels of Laplace entries placed for the least squared error, as TUC-1 section 4.4.3 proposes.

Source: Lloyd 1982, Max 1960. A draw is replaced by the nearest of L points, which are the means of
the draws that they stand for. Two points are a bit. What counts for a density is the variance of
an entry against the square of the gap between its two means, for users who were seen and not.
"""

from __future__ import annotations

import numpy as np

from understudy.errors import UsageError
from understudy.system.arrays import Floats

# An even number of draws, so that none lies on the border between two points.
_REACH, _POINTS, _MOST_STEPS = 14.0, 40_000, 5_000


def least_squares_points(epsilon: float, levels: int) -> Floats:
    """The points for Laplace draws of scale 1 about −ε/2 and ε/2, as many of either.

    Example:
        >>> low, high = least_squares_points(0.5, 2)
        >>> abs(float(low + high)) < 1e-6
        True
    """
    if levels < 2 or epsilon <= 0:
        raise UsageError(f"{levels} levels at epsilon {epsilon:g}; give two or more, above 0")
    draws, weights = _mixture(epsilon)
    points = np.linspace(-2.0, 2.0, levels)
    for _ in range(_MOST_STEPS):
        place = np.searchsorted((points[1:] + points[:-1]) / 2, draws)
        sums = np.bincount(place, weights, levels)
        found = np.bincount(place, weights * draws, levels) / np.where(sums > 0, sums, 1)
        if np.abs(found - points).max() < 1e-10:
            break
        points = found
    return points


def error_per_user(epsilon: float, points: Floats, density: float = 0.5) -> float:
    """The variance of the density's estimate for one user, before any noise on the answer."""
    draws, _ = _mixture(epsilon)
    place = np.searchsorted((points[1:] + points[:-1]) / 2, draws)
    means, variances = [], []
    for centre in (-epsilon / 2, epsilon / 2):
        chances = np.bincount(place, _law(draws, centre), points.size)
        means.append(float(chances @ points))
        variances.append(float(chances @ points**2) - means[-1] ** 2)
    spread = (1 - density) * variances[0] + density * variances[1]
    return spread / (means[1] - means[0]) ** 2


def _mixture(epsilon: float) -> tuple[Floats, Floats]:
    draws = np.linspace(-_REACH, _REACH, _POINTS)
    return draws, (_law(draws, -epsilon / 2) + _law(draws, epsilon / 2)) / 2


def _law(draws: Floats, centre: float) -> Floats:
    weights = np.exp(-np.abs(draws - centre))
    return np.asarray(weights / weights.sum())
