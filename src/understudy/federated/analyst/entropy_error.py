"""The error of an entropy that is computed from noisy tables of several holders.

Source: TUC-1 section 3.4.2, Lemmas 3.2 to 3.6, Theorems 3.5 and 3.6. Counts are multinomial, and
each of M holders adds Laplace noise of scale b = 2·C(N, k + 1)/ε to every cell. Three things are
printed otherwise: the sixth moment of the noise is 120M³ + 360M² + 240M, not 240(M³ + 2M), which
agree for one and two holders alone; the covariance of two cells is −pᵢpⱼ/n, not +pᵢpⱼ/n; and the
list of variables leaves out the 2 of b. Entropies are in nats, as there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.errors import UsageError
from understudy.system.arrays import Probabilities


def noise_moment(order: int, holders: int) -> int:
    """E[(Σ of M unit Laplace draws)^order], exact: the generating function is (1 − t²)^−M.

    Example:
        >>> [noise_moment(6, holders) for holders in (1, 2, 3)]
        [720, 2880, 7200]
    """
    if order % 2:
        return 0
    half = order // 2
    return math.factorial(order) * math.comb(holders + half - 1, half)


def noise_scale(attributes: int, degree: int, epsilon: float) -> float:
    """The scale of every holder's noise on each of the C(N, k + 1) tables (Theorem 3.4)."""
    return 2 * math.comb(attributes, degree + 1) / epsilon


@dataclass(frozen=True, eq=False)
class EntropyError:
    """Bias and mean squared error of the entropy of one table, summed over holders.

    Attributes:
        probabilities: of the table's cells, all above 0.
        rows: of all holders together.
        holders: how many add noise.
        scale: of each one's Laplace noise on a count.
    """

    probabilities: Probabilities
    rows: int
    holders: int
    scale: float

    def __post_init__(self) -> None:
        p = self.probabilities
        if p.ndim != 1 or p.min(initial=1.0) <= 0 or not math.isclose(float(p.sum()), 1.0):
            raise UsageError("probabilities are a list of numbers above 0 that add up to 1")
        if self.rows < 1 or self.holders < 1 or self.scale < 0:
            raise UsageError("there are rows, holders, and a scale of 0 or more; give them")

    @property
    def entropy(self) -> float:
        """Return the true entropy, in nats."""
        return float(-(self.probabilities * np.log(self.probabilities)).sum())

    @cached_property
    def noise(self) -> float:
        """The variance of the noise on a share: 2Mb²/n²."""
        return 2 * self.holders * (self.scale / self.rows) ** 2

    @property
    def covariance(self) -> Probabilities:
        """Return the covariances of noisy shares: (diag(p) − p·pᵀ)/n, and the noise of each."""
        p = self.probabilities
        return np.asarray((np.diag(p) - np.outer(p, p)) / self.rows + self.noise * np.eye(p.size))

    def central_moment(self, order: int) -> Probabilities:
        """E[(p̃ᵢ − pᵢ)^order] of every cell, for orders 2, 3 and 4."""
        p, n = self.probabilities, self.rows
        spread = p * (1 - p)
        match order:
            case 2:
                return np.asarray(spread / n + self.noise)
            case 3:
                return np.asarray(spread * (1 - 2 * p) / n**2)
            case 4:
                own = 3 * spread**2 / n**2 + spread * (1 - 6 * spread) / n**3
                fourth = noise_moment(4, self.holders) * (self.scale / n) ** 4
                return np.asarray(own + 6 * spread / n * self.noise + fourth)
            case _:
                raise UsageError(f"order is {order}; moments of order 2, 3 and 4 are known")

    @property
    def bias(self) -> float:
        """E[H̃ − H] by Taylor's series up to the fourth order (Theorem 3.5).

        The first term is −(d − 1)/2n, as without noise; the noise adds −Mb²·Σ(1/pᵢ)/n².
        """
        p = self.probabilities
        parts = (
            -self.central_moment(2) / (2 * p),
            self.central_moment(3) / (6 * p**2),
            -self.central_moment(4) / (12 * p**3),
        )
        return float(sum(part.sum() for part in parts))

    @property
    def noise_bias(self) -> float:
        """Return the part of the bias that is due to noise, to the second order."""
        return float(-self.noise / 2 * (1 / self.probabilities).sum())

    @property
    def squared_error(self) -> float:
        """E[(H̃ − H)²] to the leading order (Theorem 3.6), and the square of the bias.

        σ²/n with σ² = Σ pᵢ log² pᵢ − H², and 2Mb²·Σ(1 + log pᵢ)²/n² of the noise.
        """
        slope = 1 + np.log(self.probabilities)
        return float(slope @ self.covariance @ slope) + self.bias**2

    def corrected(self, found: float) -> float:
        """Return an entropy that was found, less its bias."""
        return found - self.bias


def least_epsilon(
    probabilities: Probabilities,
    *,
    rows: int,
    holders: int,
    attributes: int,
    degree: int,
    bias: float | None = None,
) -> float:
    """The ε at which the noise's bias of an entropy has this size, in nats.

    By default that is the sample's own bias, (d − 1)/2n. Theorem 3.5 has its order then:
    √(M/(p_min·n))·N^(k + 1). Above it statistics of all holders say about as much of an entropy as
    rows without noise would.
    """
    cells = probabilities.size
    if cells < 2:
        raise UsageError("a table of one cell has no entropy to estimate; take more attributes")
    unit = EntropyError(probabilities, rows, holders, noise_scale(attributes, degree, 1.0))
    allowed = (cells - 1) / (2 * rows) if bias is None else bias
    return math.sqrt(-unit.noise_bias / allowed)
