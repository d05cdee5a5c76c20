"""Shares of a budget among the questions of an inference, and the noise that each one buys.

Few questions cost least in ε and δ themselves, with Laplace noise. Many cost least in approximate
zCDP, with Gaussian noise that grows with the root of their number. Which of the two an inference
takes follows from public facts alone. Proof: docs/proofs/key_release.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar

from understudy.facts.unit import Unit
from understudy.privacy.accounting.conversions import rho_within
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from understudy.privacy.mechanisms.keys import GaussianKeyRelease, KeyRelease
from understudy.privacy.spending.pricing import (
    Adaptive,
    BasicSums,
    ConcentratedSums,
    Pricing,
)

CountNoise = DiscreteLaplace | DiscreteGaussian
KeyNoise = KeyRelease | GaussianKeyRelease

# Of a column of unknown values: the values, and what is missing or was not released.
OF_VALUES = Fraction(3, 4)
# The part of δ that pays for keys where the rest pays for the conversion of ρ.
_OF_KEYS = Fraction(1, 2)


def reached(noise: CountNoise, chance: float) -> float:
    """The height that the noise of a count exceeds with this chance at most.

    Source: P(Z > t) ≤ ½·e^(−t/b) for Laplace noise; for Gaussian noise the normal quantile.
    """
    if isinstance(noise, DiscreteLaplace):
        return float(noise.scale) * math.log(1 / (2 * chance))
    return math.sqrt(noise.sigma_squared) * NormalDist().inv_cdf(1 - chance)


@dataclass(frozen=True, kw_only=True)
class QuestionShares(ABC):
    """How much of a budget each column gets, and what noise that is.

    Attributes:
        epsilon: what all answers together may cost.
        delta: the chance allowed for a larger loss.
        unit: whom the promise protects.
        keyed: the columns of unknown values, each with its weight.
        ranged: the columns of unknown range, each with its weight.
        flagged: the booleans of which it is not known whether cells are missing, each with its
            weight.
    """

    epsilon: Fraction
    delta: Fraction
    unit: Unit
    keyed: Mapping[str, Fraction]
    ranged: Mapping[str, Fraction]
    flagged: Mapping[str, Fraction] = field(default_factory=dict)

    range_weight: ClassVar[int]
    """How many times the share of a column of values one of numbers or dates gets."""

    first_count: ClassVar[Fraction]
    """The part of a range's share that shows where rows are; the rest cuts bins there."""

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """Return the cost of the run."""

    @property
    @abstractmethod
    def pricing(self) -> Pricing:
        """How its charges are counted."""

    @abstractmethod
    def values(self, name: str, levels: int = 1) -> KeyNoise:
        """The noise of the keys of a column, and of groups of them on further levels."""

    @abstractmethod
    def _counts(self, share: Fraction, levels: int) -> CountNoise:
        """The noise of counts in which a row occurs once on each of some levels."""

    def remainder(self, name: str) -> CountNoise:
        """The noise of the counts of a column's missing cells and unreleased values."""
        return self._counts(self._part(name) * (1 - OF_VALUES), 1)

    def gaps(self, name: str) -> CountNoise:
        """The noise of the count of a boolean column's missing cells."""
        return self._counts(self._part(name), 1)

    def counts(self, name: str, part: Fraction) -> CountNoise:
        """The noise of counts over public cells that get this part of a column's share."""
        return self._counts(self._part(name) * part, 1)

    def cells(self, name: str) -> CountNoise:
        """The noise of a column's first count, over public cells."""
        return self.counts(name, self.first_count)

    def parts(self, name: str, levels: int) -> CountNoise:
        """The noise of a column's second count, over parts of cells on some levels."""
        return self._counts(self._part(name) * (1 - self.first_count), levels)

    def _part(self, name: str) -> Fraction:
        """The part of the whole that a column gets."""
        weights = {
            **self.keyed,
            **{own: self.range_weight * weight for own, weight in self.ranged.items()},
            # As much as a column of values has for its missing cells.
            **{own: (1 - OF_VALUES) * weight for own, weight in self.flagged.items()},
        }
        return weights[name] / sum(weights.values(), Fraction(0))

    @property
    def noise(self) -> float:
        """Return the noise by which two ways to share are compared: a threshold, or a deviation."""
        if self.keyed:
            return self.values(min(self.keyed, key=lambda name: self.keyed[name])).threshold
        return math.sqrt(self.cells(next(iter(self.ranged))).variance)


@dataclass(frozen=True, kw_only=True)
class LaplaceShares(QuestionShares):
    """Shares of ε and δ themselves, for Laplace noise; without keys no δ is spent."""

    range_weight: ClassVar[int] = 2
    first_count: ClassVar[Fraction] = Fraction(1, 3)

    @property
    def budget(self) -> Budget:
        """ε, and δ where keys are released."""
        return Budget.approximate(self.epsilon, self.delta if self.keyed else 0)

    @property
    def pricing(self) -> Pricing:
        """ε and δ add up."""
        return BasicSums() if self.budget.delta else Adaptive()

    def values(self, name: str, levels: int = 1) -> KeyRelease:
        """Laplace noise on the count of each key."""
        epsilon = self.epsilon * self._part(name) * OF_VALUES / levels
        return KeyRelease.costing(epsilon, self.delta / len(self.keyed) / levels, self.unit)

    def _counts(self, share: Fraction, levels: int) -> DiscreteLaplace:
        sensitivity = levels * self.unit.count_l1
        return DiscreteLaplace.costing(self.epsilon * share, sensitivity=sensitivity)


@dataclass(frozen=True, kw_only=True)
class GaussianShares(QuestionShares):
    """Shares of ρ, for Gaussian noise; half of δ is for keys, and half for the conversion."""

    range_weight: ClassVar[int] = 1
    first_count: ClassVar[Fraction] = Fraction(1, 2)

    @property
    def budget(self) -> Budget:
        """ε and δ."""
        return Budget.approximate(self.epsilon, self.delta)

    @property
    def pricing(self) -> ConcentratedSums:
        """ρ and the δ of keys add up."""
        return ConcentratedSums(self.delta * _OF_KEYS if self.keyed else Fraction(0))

    @property
    def rho(self) -> Fraction:
        """Return the ρ of the whole run."""
        return rho_within(self.epsilon, self.delta - self.pricing.of_keys)

    def values(self, name: str, levels: int = 1) -> GaussianKeyRelease:
        """Gaussian noise on the count of each key."""
        rho = self.rho * self._part(name) * OF_VALUES / levels
        delta = self.pricing.of_keys / len(self.keyed) / levels
        return GaussianKeyRelease.costing(rho, delta, self.unit)

    def _counts(self, share: Fraction, levels: int) -> DiscreteGaussian:
        moved = levels * self.unit.count_l2_squared
        return DiscreteGaussian.costing(self.rho * share, sensitivity_squared=moved)


def least_noise(
    epsilon: Fraction,
    delta: Fraction,
    *,
    unit: Unit,
    keyed: Mapping[str, Fraction],
    ranged: Mapping[str, Fraction],
    flagged: Mapping[str, Fraction] | None = None,
) -> QuestionShares:
    """The way to share a budget that needs less noise; it follows from public facts alone."""
    plain = LaplaceShares(
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        keyed=keyed,
        ranged=ranged,
        flagged=flagged or {},
    )
    if delta == 0:
        return plain
    other = GaussianShares(**{f.name: getattr(plain, f.name) for f in fields(plain)})
    return other if other.noise < plain.noise else plain
