"""Mechanisms: each computes its event from the fields that set its noise.

All of them take integers. Scores that are no integers are first put on a public grid by the
Curator, so that floating point never decides what noise is added to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from typing_extensions import TypeVar

from understudy.counting import KeyCounts, ReleasedKeys
from understudy.errors import UsageError
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.events import (
    Event,
    ExactEvent,
    ExponentialEvent,
    GaussianEvent,
    KeyReleaseEvent,
    LaplaceEvent,
    PermuteAndFlipEvent,
)
from understudy.privacy.laws import laplace_tail
from understudy.privacy.noise import Integers, Noise
from understudy.privacy.unit import Unit

Exact = TypeVar("Exact", contravariant=True, default=Integers)
Released = TypeVar("Released", covariant=True, default=Integers)
Probabilities = npt.NDArray[np.float64]

# Laplace noise of this scale passes 2⁶² with a chance of exp(−2²²).
_LARGEST_SCALE = 2**40


class Mechanism(Protocol[Exact, Released]):
    """What the Curator releases answers through: integers of integers, unless said otherwise."""

    @property
    def event(self) -> Event:
        """What using the mechanism once costs."""

    def release(self, exact: Exact, noise: Noise) -> Released:
        """The answer that may leave."""

    def covers(self, difference: Exact) -> bool:
        """Whether exact answers may differ by this much between neighbours."""


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
        return cls(_drawable(sensitivity / _positive(epsilon)), sensitivity)

    @property
    def event(self) -> LaplaceEvent:
        """The noise drawn."""
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
        """The vector with noise on every cell."""
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
        sigma_squared = sensitivity_squared / (2 * _positive(rho))
        _drawable(Fraction(math.isqrt(math.ceil(sigma_squared))))
        return cls(sigma_squared, sensitivity_squared)

    @property
    def event(self) -> GaussianEvent:
        """The noise drawn."""
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
        """The vector with noise on every cell."""
        return exact + noise.gaussian(self.sigma_squared, exact.size).reshape(exact.shape)

    def covers(self, difference: Integers) -> bool:
        """Whether the L2 norm is within the sensitivity."""
        return sum(int(d) ** 2 for d in difference.ravel() if d) <= self.sensitivity_squared


@dataclass(frozen=True)
class _Selection:
    """What both selections share: ε = 2 · sensitivity / scale, scores compared in L∞."""

    scale: Fraction
    sensitivity: Fraction

    @classmethod
    def costing(cls, epsilon: Fraction, *, sensitivity: Fraction) -> Self:
        """The mechanism that costs exactly ε."""
        return cls(_drawable(2 * sensitivity / _positive(epsilon)), sensitivity)

    def covers(self, difference: Integers) -> bool:
        """Whether every score is within the sensitivity."""
        return int(np.abs(difference).max(initial=0)) <= self.sensitivity

    def _weights(self, scores: Integers) -> Probabilities:
        return np.asarray(np.exp((scores - scores.max()) / float(self.scale)))


@dataclass(frozen=True)
class PermuteAndFlip(_Selection):
    """Chooses an index of a high score. Proof: docs/proofs/permute_and_flip.md.

    Privacy: ε = 2 · sensitivity / scale for scores within `sensitivity` of each other in L∞.
    """

    @property
    def event(self) -> PermuteAndFlipEvent:
        """The choice made."""
        return PermuteAndFlipEvent(self.scale, self.sensitivity)

    def probabilities(self, scores: Integers) -> Probabilities:
        """The chance of every index: P(i) = pᵢ · ∫₀¹ Π_{j≠i} (1 − t·pⱼ) dt.

        Here pᵢ = exp((sᵢ − max)/scale), and t is the moment at which i has its turn: it wins
        when it is accepted and nobody before it was.
        """
        accept = self._weights(scores)
        return np.array([_wins(accept, i) for i in range(accept.size)])

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """The index chosen."""
        return np.array(noise.permute_and_flip(exact, self.scale), np.int64)


@dataclass(frozen=True)
class Exponential(_Selection):
    """Chooses an index by the exponential mechanism. Proof: docs/proofs/exponential.md.

    Privacy: ε = 2 · sensitivity / scale for scores within `sensitivity` of each other in L∞.
    """

    @property
    def event(self) -> ExponentialEvent:
        """The choice made."""
        return ExponentialEvent(self.scale, self.sensitivity)

    def probabilities(self, scores: Integers) -> Probabilities:
        """The chance of every index: P(i) ∝ exp(sᵢ / scale)."""
        weights = self._weights(scores)
        return np.asarray(weights / weights.sum())

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """The index chosen."""
        return np.array(noise.exponential(exact, self.scale), np.int64)


@dataclass(frozen=True)
class KeyRelease:
    """Releases keys whose noisy count reaches a threshold. Proof: docs/proofs/key_release.md.

    Privacy: ε = sensitivity / scale, and δ is not below the chance that any key is released which
    the neighbouring table does not hold. Keys that do not occur are never released.

    Attributes:
        scale: of the discrete Laplace noise on each count.
        sensitivity: how far counts of neighbours may be apart in L1.
        new_rows: how many rows may stand under keys that the neighbour does not hold.
        threshold: the least noisy count that is released.
        delta: the chance allowed.
    """

    scale: Fraction
    sensitivity: Fraction
    new_rows: int
    threshold: int
    delta: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise UsageError("keys are released at a delta above 0 and below 1; give one")
        if new_key_chance(self.scale, self.threshold, self.new_rows) > self.delta:
            raise UsageError(
                f"threshold {self.threshold} is too low for delta {float(self.delta):g}; raise it"
            )

    @classmethod
    def costing(cls, epsilon: Fraction, delta: Fraction, unit: Unit) -> KeyRelease:
        """The mechanism that costs exactly (ε, δ), with the lowest threshold that allows it."""
        scale = _drawable(unit.count_l1 / _positive(epsilon))
        threshold = _least_threshold(scale, _positive(delta), unit.new_rows)
        return cls(scale, unit.count_l1, unit.new_rows, threshold, delta)

    @property
    def event(self) -> KeyReleaseEvent:
        """The noise drawn, and where it was cut off."""
        return KeyReleaseEvent(self.scale, self.sensitivity, Fraction(self.threshold), self.delta)

    def chance(self, count: int) -> float:
        """How likely a key of this count is to be released: P(Z ≥ threshold − count)."""
        least, scale = self.threshold - count, float(self.scale)
        if least < 1:
            return 1 - math.exp(-(1 - least) / scale) / (1 + math.exp(-1 / scale))
        return math.exp(-least / scale) / (1 + math.exp(-1 / scale))

    def release(self, exact: KeyCounts, noise: Noise) -> ReleasedKeys:
        """The keys that passed, with their noisy counts."""
        keys = sorted(key for key, count in exact.counts.items() if count > 0)
        draws = noise.laplace(self.scale, len(keys)).tolist()
        noisy = {key: exact.counts[key] + z for key, z in zip(keys, draws, strict=True)}
        return ReleasedKeys({key: n for key, n in noisy.items() if n >= self.threshold})

    def covers(self, difference: KeyCounts) -> bool:
        """Whether the L1 norm is within the sensitivity."""
        return sum(map(abs, difference.counts.values())) <= self.sensitivity


def new_key_chance(scale: Fraction, threshold: int, rows: int) -> Fraction:
    """Not below the chance that a key is released which only these rows hold.

    The rows may share keys in any way. A key's chance grows geometrically with its count, so the
    worst way is one of the two extremes: all rows under one key, or each under its own.
    """
    together, alone = laplace_tail(scale, threshold - rows), laplace_tail(scale, threshold - 1)
    return max(together, rows * alone)


def _least_threshold(scale: Fraction, delta: Fraction, rows: int) -> int:
    """The lowest threshold at which new keys are as unlikely as δ asks, by halving."""
    low, high = rows, 2 * rows
    while new_key_chance(scale, high, rows) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = new_key_chance(scale, middle, rows) <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high


@dataclass(frozen=True)
class ExactAnswer:
    """Hands the answer out as it is: no privacy, for studies on public data."""

    @property
    def event(self) -> ExactEvent:
        """The end of all privacy."""
        return ExactEvent()

    @property
    def variance(self) -> float:
        """None of it is noise."""
        return 0.0

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """The answer itself."""
        del noise
        return exact

    def covers(self, difference: Integers) -> bool:
        """Nothing is promised, so anything is kept."""
        del difference
        return True


@dataclass(frozen=True)
class ExactChoice(ExactAnswer):
    """Chooses the highest score, the first of equals: no privacy, for studies on public data."""

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """The index of the highest score."""
        del noise
        return np.array(exact.argmax(), np.int64)


Additive = DiscreteLaplace | DiscreteGaussian | ExactAnswer
Choice = PermuteAndFlip | Exponential | ExactChoice


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


def choice(budget: Budget, *, sensitivity: Fraction) -> Choice:
    """The better selection for a measure: permute-and-flip for ε, the exponential one for ρ.

    Under ρ the exponential mechanism affords ε = √(8ρ), permute-and-flip only √(2ρ).
    """
    match budget.measure:
        case Measure.PURE:
            return PermuteAndFlip.costing(budget.amount, sensitivity=sensitivity)
        case Measure.ZCDP:
            return Exponential.costing(_root_below(8 * budget.amount), sensitivity=sensitivity)
        case Measure.UNLIMITED:
            return ExactChoice()
        case Measure.APPROXIMATE:
            raise UsageError("mechanisms are paid for in epsilon or rho; convert the budget")


def _positive(amount: Fraction) -> Fraction:
    if amount <= 0:
        raise UsageError("a mechanism needs a budget above zero; raise epsilon")
    return amount


def _drawable(scale: Fraction) -> Fraction:
    """The scale, when noise of it cannot reach the end of 64 bits while anybody lives."""
    if scale > _LARGEST_SCALE:
        raise UsageError(
            f"noise of scale {float(scale):.3g} would drown any table; raise epsilon or delta"
        )
    return scale


def _root_below(square: Fraction) -> Fraction:
    """A fraction of denominator 2⁸⁰ whose square is not above the value."""
    return Fraction(math.isqrt(math.floor(_positive(square) * 2**160)), 2**80)


def _wins(accept: Probabilities, index: int) -> float:
    """p · ∫₀¹ Π_{j≠i} (1 − t·pⱼ) dt by Gauss–Legendre, exact for the polynomial's degree."""
    points, weights = np.polynomial.legendre.leggauss(accept.size // 2 + 1)
    t = (points + 1) / 2
    others = np.delete(accept, index)
    products = np.prod(1 - np.outer(t, others), axis=1)
    return float(accept[index] * (weights / 2 * products).sum())
