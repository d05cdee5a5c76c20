"""Mechanisms that choose one index among scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.events import ExponentialEvent, PermuteAndFlipEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.mechanisms.additive import ExactAnswer
from understudy.privacy.mechanisms.mechanism import drawable, positive
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Integers, Probabilities


@dataclass(frozen=True)
class _ByScores:
    """Both selections share this: ε = 2 · sensitivity / scale, scores are compared in L∞."""

    scale: Fraction
    sensitivity: Fraction

    @classmethod
    def costing(cls, epsilon: Fraction, *, sensitivity: Fraction) -> Self:
        """The mechanism that costs exactly ε."""
        return cls(drawable(2 * sensitivity / positive(epsilon)), sensitivity)

    def covers(self, difference: Integers) -> bool:
        """Whether every score is within the sensitivity."""
        return int(np.abs(difference).max(initial=0)) <= self.sensitivity

    def _weights(self, scores: Integers) -> Probabilities:
        return np.asarray(np.exp((scores - scores.max()) / float(self.scale)))


@dataclass(frozen=True)
class PermuteAndFlip(_ByScores):
    """Chooses an index of a high score. Proof: docs/proofs/permute_and_flip.md.

    Privacy: ε = 2 · sensitivity / scale for scores within `sensitivity` of each other in L∞.
    """

    @property
    def event(self) -> PermuteAndFlipEvent:
        """The event that this choice is accounted as."""
        return PermuteAndFlipEvent(self.scale, self.sensitivity)

    def probabilities(self, scores: Integers) -> Probabilities:
        """The chance of every index: P(i) = pᵢ · ∫₀¹ Π_{j≠i} (1 − t·pⱼ) dt.

        Here pᵢ = exp((sᵢ − max)/scale), and t is the moment at which i has its turn: it wins
        when it is accepted and nobody before it was.
        """
        accept = self._weights(scores)
        return np.array([_wins(accept, i) for i in range(accept.size)])

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Return the chosen index."""
        return np.array(noise.permute_and_flip(exact, self.scale), np.int64)


@dataclass(frozen=True)
class Exponential(_ByScores):
    """Chooses an index by the exponential mechanism. Proof: docs/proofs/exponential.md.

    Privacy: ε = 2 · sensitivity / scale for scores within `sensitivity` of each other in L∞.
    """

    @property
    def event(self) -> ExponentialEvent:
        """The event that this choice is accounted as."""
        return ExponentialEvent(self.scale, self.sensitivity)

    def probabilities(self, scores: Integers) -> Probabilities:
        """The chance of every index: P(i) ∝ exp(sᵢ / scale)."""
        weights = self._weights(scores)
        return np.asarray(weights / weights.sum())

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Return the chosen index."""
        return np.array(noise.exponential(exact, self.scale), np.int64)


@dataclass(frozen=True)
class ExactChoice(ExactAnswer):
    """Chooses the highest score, the first of equals: no privacy, for studies on public data."""

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Return the index of the highest score."""
        del noise
        return np.array(exact.argmax(), np.int64)


Selection = PermuteAndFlip | Exponential | ExactChoice


def choice(budget: Budget, *, sensitivity: Fraction) -> Selection:
    """The better selection for a measure: permute-and-flip for ε, the exponential one for ρ.

    Under ρ the exponential mechanism affords ε = √(8ρ), permute-and-flip only √(2ρ).
    """
    match budget.measure:
        case Measure.PURE:
            return PermuteAndFlip.costing(budget.amount, sensitivity=sensitivity)
        case Measure.ZCDP:
            return Exponential.costing(_root_below(8 * budget.amount), sensitivity=sensitivity)
        case Measure.GAUSSIAN:
            raise UsageError(
                "a choice is outside the Gaussian curve; count the run in zCDP, or choose by "
                "noisy scores"
            )
        case Measure.UNLIMITED:
            return ExactChoice()
        case Measure.APPROXIMATE:
            raise UsageError("mechanisms are paid for in epsilon or rho; convert the budget")


def exponential_choice(budget: Budget, *, sensitivity: Fraction) -> Selection:
    """The exponential mechanism in every measure, as the papers print it.

    For pure ε permute-and-flip is never worse; this one is for comparisons with the papers.
    """
    if budget.measure is Measure.PURE:
        return Exponential.costing(budget.amount, sensitivity=sensitivity)
    return choice(budget, sensitivity=sensitivity)


def _root_below(square: Fraction) -> Fraction:
    """A fraction of denominator 2⁸⁰ whose square is not above the value."""
    return Fraction(math.isqrt(math.floor(positive(square) * 2**160)), 2**80)


def _wins(accept: Probabilities, index: int) -> float:
    """p · ∫₀¹ Π_{j≠i} (1 − t·pⱼ) dt by Gauss–Legendre, exact for the polynomial's degree."""
    points, weights = np.polynomial.legendre.leggauss(accept.size // 2 + 1)
    t = (points + 1) / 2
    others = np.delete(accept, index)
    products = np.prod(1 - np.outer(t, others), axis=1)
    return float(accept[index] * (weights / 2 * products).sum())
