"""Goodness of fit, so strict that a true hypothesis is rejected once in a thousand million runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import chisquare

NEVER = 1e-9


def fit_of_integers(draws: npt.NDArray[np.int64], probability: Callable[[int], float]) -> float:
    """The p-value of integer draws under a closed form, tails pooled to expected counts ≥ 10."""
    reach = 0
    while probability(reach + 1) * draws.size >= 10:
        reach += 1
    inner = np.array([probability(z) for z in range(-reach, reach + 1)])
    tail = max(0.0, (1 - inner.sum()) / 2)
    expected = np.array([tail, *inner, tail]) * draws.size
    clipped = np.clip(draws, -reach - 1, reach + 1) + reach + 1
    observed = np.bincount(clipped, minlength=expected.size)
    return _p_value(observed, expected)


def fit_of_choices(draws: npt.NDArray[np.int64], chances: npt.NDArray[np.float64]) -> float:
    """The p-value of chosen indices under their closed-form chances."""
    observed = np.bincount(draws, minlength=chances.size)
    return _p_value(observed, chances * draws.size)


def _p_value(observed: npt.NDArray[np.int64], expected: npt.NDArray[np.float64]) -> float:
    kept = expected >= 5
    lost = [observed[~kept].sum(), expected[~kept].sum()]
    seen, awaited = observed[kept].astype(float), expected[kept]
    if lost[1] > 0:
        seen, awaited = np.append(seen, lost[0]), np.append(awaited, lost[1])
    if seen.size == 1:
        return 1.0
    return float(chisquare(seen, awaited * seen.sum() / awaited.sum()).pvalue)
