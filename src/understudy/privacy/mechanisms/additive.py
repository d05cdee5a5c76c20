"""Mechanisms that add integer noise to every cell of an integer vector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.events import ExactEvent, GaussianEvent, LaplaceEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.mechanisms.mechanism import drawable, positive
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Integers


@dataclass(frozen=True)
class DiscreteLaplace:
    """Adds discrete Laplace noise to an integer vector. Proof: docs/proofs/discrete_laplace.md.

    Privacy: ε = sensitivity / scale for vectors within `sensitivity` of each other in L1.
    """

    scale: Fraction
    sensitivity: Fraction

    @classmethod
    def costing(cls, epsilon: Fraction, *, sensitivity: Fraction) -> DiscreteLaplace:
        """The mechanism that costs exactly ε."""
        return cls(drawable(sensitivity / positive(epsilon)), sensitivity)

    @property
    def event(self) -> LaplaceEvent:
        """The event that this noise is accounted as."""
        return LaplaceEvent(self.scale, self.sensitivity)

    @property
    def variance(self) -> float:
        """2q / (1 − q)² with q = exp(−1/scale)."""
        return (
            0.5 / math.sinh(0.5 / float(self.scale)) ** 2 if self.scale > Fraction(1, 700) else 0.0
        )

    def probability(self, value: int) -> float:
        """P(z) = (1 − q)/(1 + q) · q^|z|."""
        return math.tanh(0.5 / float(self.scale)) * math.exp(-abs(value) / float(self.scale))

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Add noise to every cell."""
        return exact + noise.laplace(self.scale, exact.size).reshape(exact.shape)

    def covers(self, difference: Integers) -> bool:
        """Whether the L1 norm is within the sensitivity."""
        return int(np.abs(difference).sum()) <= self.sensitivity


@dataclass(frozen=True)
class DiscreteGaussian:
    """Adds discrete Gaussian noise to an integer vector. Proof: docs/proofs/discrete_gaussian.md.

    Privacy: ρ = sensitivity² / 2σ² for vectors within the sensitivity of each other in L2.
    """

    sigma_squared: Fraction
    sensitivity_squared: Fraction

    @classmethod
    def costing(cls, rho: Fraction, *, sensitivity_squared: Fraction) -> DiscreteGaussian:
        """The mechanism that costs exactly ρ."""
        sigma_squared = sensitivity_squared / (2 * positive(rho))
        drawable(Fraction(math.isqrt(math.ceil(sigma_squared))))
        return cls(sigma_squared, sensitivity_squared)

    @property
    def event(self) -> GaussianEvent:
        """The event that this noise is accounted as."""
        return GaussianEvent(self.sigma_squared, self.sensitivity_squared)

    @property
    def variance(self) -> float:
        """Just below σ²: summed for small σ, equal to σ² beyond the precision of a double."""
        if self.sigma_squared > 25:
            return float(self.sigma_squared)
        values = np.arange(-60, 61)
        weights = np.exp(-(values**2) / (2 * float(self.sigma_squared)))
        return float((values**2 * weights).sum() / weights.sum())

    def probability(self, value: int) -> float:
        """P(z) = exp(−z²/2σ²) / Σ exp(−k²/2σ²)."""
        doubled = 2 * float(self.sigma_squared)
        reach = math.ceil(20 * math.sqrt(doubled)) + 1
        values = np.arange(-reach, reach + 1)
        return float(np.exp(-(value**2) / doubled) / np.exp(-(values**2) / doubled).sum())

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Add noise to every cell."""
        return exact + noise.gaussian(self.sigma_squared, exact.size).reshape(exact.shape)

    def covers(self, difference: Integers) -> bool:
        """Whether the L2 norm is within the sensitivity."""
        return sum(int(d) ** 2 for d in difference.ravel() if d) <= self.sensitivity_squared


@dataclass(frozen=True)
class ExactAnswer:
    """Hands the answer out as it is: no privacy, for studies on public data."""

    @property
    def event(self) -> ExactEvent:
        """An event that no ε bounds."""
        return ExactEvent()

    @property
    def variance(self) -> float:
        """Zero: no noise is added."""
        return 0.0

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Return the answer as it is."""
        del noise
        return exact

    def covers(self, difference: Integers) -> bool:
        """Return true: nothing is promised, so every difference is allowed."""
        del difference
        return True


Additive = DiscreteLaplace | DiscreteGaussian | ExactAnswer


def additive(budget: Budget, *, l1: Fraction, l2_squared: Fraction) -> Additive:
    """The noise for an integer vector of these sensitivities: Laplace for ε, Gaussian for ρ."""
    match budget.measure:
        case Measure.PURE:
            return DiscreteLaplace.costing(budget.amount, sensitivity=l1)
        case Measure.ZCDP:
            return DiscreteGaussian.costing(budget.amount, sensitivity_squared=l2_squared)
        case Measure.UNLIMITED:
            return ExactAnswer()
        case Measure.APPROXIMATE:
            raise UsageError("mechanisms are paid for in epsilon or rho; convert the budget")
