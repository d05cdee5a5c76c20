"""Which number of real rows, resampled, would come as near as the synthetic ones do.

For a cell of share p, n resampled rows miss it by E|X/n − p| on average, X binomial. De Moivre gave
it in closed form: 2·ν·C(n, ν)·p^ν·(1 − p)^(n − ν + 1) / n with ν = ⌊n·p⌋ + 1. Half the sum over all
cells is the expected total variation distance of a resample. It falls with n, so the n that gives
the distance of the synthetic rows is found by halving, without drawing anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.rows.counting import Counts, Scores

# A stand-in that is nearer than a resample of so many times the rows is as good as the rows.
_MOST_TIMES = 1_000


@dataclass(frozen=True)
class Equivalent:
    """The resample that is as near to the real rows as the synthetic rows are.

    Attributes:
        rows: how many rows it has; None where there is no such resample, and `reason` says why.
        fraction: of the real rows; more than 1 where synthetic rows scatter less than real ones.
    """

    rows: int | None
    fraction: float | None
    reason: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the resample for JSON."""
        return {"rows": self.rows, "fraction": self.fraction, "reason": self.reason}


@dataclass(frozen=True, repr=False, eq=False)
class CountFrequencies:
    """The occupied cells of some marginals: different counts, and how many cells have each.

    Privacy: exact counts of real rows.
    """

    counts: Counts
    times: Counts
    rows: int
    marginals: int

    @classmethod
    def of(cls, counts: Sequence[Counts], rows: int) -> CountFrequencies:
        """Collect the cells of marginals of a table with this number of rows."""
        together = np.concatenate(counts) if counts else np.empty(0, np.int64)
        different, times = np.unique(together[together > 0], return_counts=True)
        return cls(different, times, rows, len(counts))

    def expected_distance(self, resampled_rows: int) -> float:
        """The expected total variation distance of a resample, the mean over all marginals."""
        misses = absolute_deviation(self.counts / self.rows, resampled_rows)
        return float(0.5 * (misses * self.times).sum() / self.marginals)

    def __repr__(self) -> str:
        return "CountFrequencies(counts private)"


def absolute_deviation(shares: Scores, rows: int) -> Scores:
    """E|X/n − p| of a binomial X, for every p and n rows; de Moivre's closed form."""
    from scipy.special import gammaln, xlog1py, xlogy

    above = np.floor(rows * shares) + 1
    # At p = 1 nothing is missed, and C(n, n + 1) is nothing.
    sure = above > rows
    above = np.where(sure, rows, above)
    choices = gammaln(rows + 1) - gammaln(above + 1) - gammaln(rows - above + 1)
    chance = choices + xlogy(above, shares) + xlog1py(rows - above + 1, -shares)
    return np.where(sure, 0.0, 2 * above * np.exp(chance) / rows)


def equivalent(cells: CountFrequencies, distance: float) -> Equivalent:
    """The number of resampled rows whose expected mean distance is the one given."""
    if not cells.rows or not cells.marginals:
        return Equivalent(None, None, "there are no real rows to resample")
    if distance >= cells.expected_distance(1):
        return Equivalent(None, None, "one resampled row is as near, or nearer")
    most = _MOST_TIMES * cells.rows
    if distance < cells.expected_distance(most):
        times = f"{_MOST_TIMES:,}"
        return Equivalent(None, None, f"nearer than a resample of {times} times the real rows")
    rows = _search(cells, distance, most)
    return Equivalent(rows, rows / cells.rows)


def _search(cells: CountFrequencies, distance: float, most: int) -> int:
    """The least number of rows that come as near; of two neighbours the difference is nothing."""
    far, near = 1, most
    while near - far > 1:
        middle = (far + near) // 2
        if cells.expected_distance(middle) > distance:
            far = middle
        else:
            near = middle
    return near
