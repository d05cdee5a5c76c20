"""Mechanisms that add noise to every cell of an integer vector: integers, or steps of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.events import (
    FINENESS,
    ExactEvent,
    FineGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
)
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.mechanisms.mechanism import drawable, positive
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Floats, Integers


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
class FineGaussian:
    """Adds Gaussian noise on a fine grid to integers. Proof: docs/proofs/gaussian_curve.md.

    The vector is multiplied by `finer`, discrete Gaussian noise of (finer·σ)² is added to every
    cell, and the sum is divided by `finer` again.

    Privacy: ρ = sensitivity² / 2σ² for vectors within the sensitivity of each other in L2 that
    differ in at most `moved` cells. Runs of nothing else are bounded by the Gaussian curve.
    """

    sigma_squared: Fraction
    sensitivity_squared: Fraction
    moved: int
    finer: int

    @classmethod
    def costing(cls, rho: Fraction, *, sensitivity_squared: Fraction, moved: int) -> FineGaussian:
        """The mechanism that costs exactly ρ, on the coarsest grid that is fine enough."""
        coarse = DiscreteGaussian.costing(rho, sensitivity_squared=sensitivity_squared)
        finer = _root_above(FINENESS * moved / sensitivity_squared)
        drawable(Fraction(finer * math.isqrt(math.ceil(coarse.sigma_squared))))
        return cls(coarse.sigma_squared, sensitivity_squared, moved, finer)

    @property
    def event(self) -> FineGaussianEvent:
        """The event that this noise is accounted as."""
        moved, finer = Fraction(self.moved), Fraction(self.finer)
        return FineGaussianEvent(self.sigma_squared, self.sensitivity_squared, moved, finer)

    @property
    def in_steps(self) -> DiscreteGaussian:
        """The same noise, in steps of the grid."""
        square = self.finer**2
        return DiscreteGaussian(self.sigma_squared * square, self.sensitivity_squared * square)

    @property
    def variance(self) -> float:
        """Just below σ², as far as a double can show."""
        return self.in_steps.variance / self.finer**2

    def probability(self, value: float) -> float:
        """P(z) ∝ exp(−z²/2σ²) over the multiples of 1/finer."""
        return self.in_steps.probability(round(value * self.finer))

    def release(self, exact: Integers, noise: Noise) -> Floats:
        """Add noise to every cell; multiples of 1/finer, exact up to 2⁵³ of them."""
        steps = self.in_steps.release(exact * self.finer, noise)
        return np.asarray(steps / self.finer, np.float64)

    def covers(self, difference: Integers) -> bool:
        """Whether the L2 norm and the number of cells that differ are within the bounds."""
        moved = int(np.count_nonzero(difference))
        coarse = DiscreteGaussian(self.sigma_squared, self.sensitivity_squared)
        return moved <= self.moved and coarse.covers(difference)


def _root_above(square: Fraction) -> int:
    """The smallest power of two whose square is not below a number."""
    return 1 << (math.isqrt(math.ceil(square) - 1).bit_length() if square > 1 else 0)


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


Additive = DiscreteLaplace | DiscreteGaussian | FineGaussian | ExactAnswer


def additive(
    budget: Budget, *, l1: Fraction, l2_squared: Fraction, moved: int | None = None
) -> Additive:
    """The noise for an integer vector of these sensitivities: Laplace for ε, Gaussian for ρ.

    Args:
        budget: what the answer may cost; its measure decides the noise.
        l1: the sensitivity in L1.
        l2_squared: the squared sensitivity in L2.
        moved: in how many cells neighbours may differ; as integers do, in `l2_squared` of them
            at most, unless given.
    """
    match budget.measure:
        case Measure.PURE:
            return DiscreteLaplace.costing(budget.amount, sensitivity=l1)
        case Measure.ZCDP:
            return DiscreteGaussian.costing(budget.amount, sensitivity_squared=l2_squared)
        case Measure.GAUSSIAN:
            cells = math.floor(l2_squared) if moved is None else moved
            return FineGaussian.costing(budget.amount, sensitivity_squared=l2_squared, moved=cells)
        case Measure.UNLIMITED:
            return ExactAnswer()
        case Measure.APPROXIMATE:
            raise UsageError("mechanisms are paid for in epsilon or rho; convert the budget")
