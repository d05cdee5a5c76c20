"""Goodness of fit, so strict that a true hypothesis is rejected once in a thousand million runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest, chi2_contingency, chisquare

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
    """Of common cells by chi-square, of all rare ones together by the exact binomial law."""
    common = expected >= 5
    seen, awaited = observed[common], expected[common]
    share = min(float(expected[~common].sum() / expected.sum()), 1.0)
    rare = binomtest(int(observed[~common].sum()), int(observed.sum()), share).pvalue
    if seen.size < 2:
        return float(rare)
    fit = chisquare(seen, awaited * seen.sum() / awaited.sum()).pvalue
    return float(min(2 * min(fit, rare), 1.0))


def fit_in_bins(
    draws: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], bins: int = 32
) -> float:
    """The p-value of draws under weights of −reach to reach, in bins of about equal chance."""
    reach = weights.size // 2
    reached = np.cumsum(weights) / weights.sum()
    last = np.unique(np.searchsorted(reached, np.arange(1, bins) / bins))
    chances = np.diff(reached[last], prepend=0, append=1)
    observed = np.bincount(np.searchsorted(last - reach, draws), minlength=chances.size)
    return _p_value(observed, chances * draws.size)


def same_law(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], bins: int = 8) -> float:
    """The p-value of two samples being of one law: zero, and bins of like counts on either side."""
    magnitudes = np.abs(second[second != 0])
    last = np.unique(np.quantile(magnitudes, np.arange(1, bins) / bins, method="lower"))

    def counted(draws: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        side = np.sign(draws) * (1 + np.searchsorted(last, np.abs(draws)))
        return np.bincount(side + last.size + 1, minlength=2 * last.size + 3)

    return same_counts(counted(first), counted(second))


def same_counts(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    """The p-value of two rows of counts being of one law."""
    seen = np.array([first, second])
    seen = seen[:, seen.sum(axis=0) > 0]
    return float(chi2_contingency(seen, lambda_="log-likelihood").pvalue)
