"""Released counts made into possible ones: not negative, and adding up to what they should."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.marginal import NoisyMarginal

Weights = npt.NDArray[np.float64]


def best_total(marginals: Sequence[NoisyMarginal]) -> float:
    """The number of rows, from every table's total weighted by its inverse variance."""
    variances = np.array([marginal.total_variance for marginal in marginals])
    totals = np.array([float(marginal.total) for marginal in marginals])
    if (variances == 0).any():
        return float(totals[variances == 0].mean())
    return float(np.average(totals, weights=1 / variances))


def onto_simplex(counts: npt.NDArray[np.int64] | Weights, total: float) -> Weights:
    """The nearest non-negative table, in Euclidean distance, with the given total.

    With noise of equal variance on every cell this is the most likely table under Gaussian noise.
    Subtracting one constant and clipping does it (Duchi, Shalev-Shwartz, Singer, Chandra 2008);
    unlike clipping and rescaling it does not inflate the many cells that are nearly empty.

    Example:
        >>> onto_simplex(np.array([6, 5, -2]), 10).tolist()
        [5.5, 4.5, 0.0]
    """
    if total <= 0:
        return np.zeros(counts.shape)
    descending = np.sort(counts.ravel().astype(float))[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, descending.size + 1)
    last = max(np.count_nonzero(descending > excess) - 1, 0)
    return np.asarray(np.maximum(counts - excess[last], 0.0))
