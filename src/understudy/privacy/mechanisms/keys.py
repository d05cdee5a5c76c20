"""Release of keys that enough rows share, such as the values of a column."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from understudy.errors import UsageError
from understudy.facts.unit import Unit
from understudy.privacy.accounting.events import GaussianKeyReleaseEvent, KeyReleaseEvent
from understudy.privacy.mechanisms.mechanism import drawable, positive
from understudy.privacy.noise.laws import gaussian_tail, laplace_tail
from understudy.privacy.noise.system import Noise
from understudy.rows.counting import KeyCounts, ReleasedKeys


@dataclass(frozen=True, kw_only=True)
class KeyRelease:
    """Releases keys whose noisy count reaches a threshold. Proof: docs/proofs/key_release.md.

    Privacy: ε = sensitivity / scale, and δ is not below the chance that any key is released which
    the neighbouring table does not hold. Keys that do not occur are never released.

    Attributes:
        scale: of the discrete Laplace noise on each count.
        sensitivity: how far counts of neighbours may be apart in L1.
        new_rows: how many rows may have keys that the neighbour does not hold.
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
        scale = drawable(unit.count_l1 / positive(epsilon))
        rows = unit.new_rows
        threshold = _least_threshold(
            lambda height: new_key_chance(scale, height, rows), positive(delta), rows
        )
        return cls(
            scale=scale,
            sensitivity=unit.count_l1,
            new_rows=unit.new_rows,
            threshold=threshold,
            delta=delta,
        )

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


@dataclass(frozen=True, kw_only=True)
class GaussianKeyRelease:
    """Releases keys whose count with Gaussian noise reaches a threshold.

    Proof: docs/proofs/key_release.md.

    Privacy: outside an event of chance δ it costs ρ = sensitivity² / 2σ². Over many columns ρ and
    δ add up, so that the noise grows with the root of their number.

    Attributes:
        sigma_squared: of the discrete Gaussian noise on each count.
        sensitivity_squared: how far counts of neighbours may be apart in L2, squared.
        new_rows: how many rows may have keys that the neighbour does not hold.
        threshold: the least noisy count that is released.
        delta: the chance allowed.
    """

    sigma_squared: Fraction
    sensitivity_squared: Fraction
    new_rows: int
    threshold: int
    delta: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise UsageError("keys are released at a delta above 0 and below 1; give one")
        chance = gaussian_new_key_chance(self.sigma_squared, self.threshold, self.new_rows)
        if chance > self.delta:
            raise UsageError(
                f"threshold {self.threshold} is too low for delta {float(self.delta):g}; raise it"
            )

    @classmethod
    def costing(cls, rho: Fraction, delta: Fraction, unit: Unit) -> GaussianKeyRelease:
        """The mechanism that costs exactly ρ and δ, with the lowest threshold that allows it."""
        sigma_squared = unit.count_l2_squared / (2 * positive(rho))
        drawable(Fraction(math.isqrt(math.ceil(sigma_squared))))
        rows = unit.new_rows
        threshold = _least_threshold(
            lambda height: gaussian_new_key_chance(sigma_squared, height, rows),
            positive(delta),
            rows,
        )
        return cls(
            sigma_squared=sigma_squared,
            sensitivity_squared=unit.count_l2_squared,
            new_rows=rows,
            threshold=threshold,
            delta=delta,
        )

    @property
    def event(self) -> GaussianKeyReleaseEvent:
        """The noise drawn, and where it was cut off."""
        return GaussianKeyReleaseEvent(
            self.sigma_squared, self.sensitivity_squared, Fraction(self.threshold), self.delta
        )

    def chance(self, count: int) -> float:
        """How likely a key of this count is to be released: P(Z ≥ threshold − count)."""
        deviation = math.sqrt(self.sigma_squared)
        reach = math.ceil(40 * deviation) + 1
        weights = [math.exp(-((z / deviation) ** 2) / 2) for z in range(-reach, reach + 1)]
        least = max(self.threshold - count + reach, 0)
        return math.fsum(weights[least:]) / math.fsum(weights)

    def release(self, exact: KeyCounts, noise: Noise) -> ReleasedKeys:
        """The keys that passed, with their noisy counts."""
        keys = sorted(key for key, count in exact.counts.items() if count > 0)
        draws = noise.gaussian(self.sigma_squared, len(keys)).tolist()
        noisy = {key: exact.counts[key] + z for key, z in zip(keys, draws, strict=True)}
        return ReleasedKeys({key: n for key, n in noisy.items() if n >= self.threshold})

    def covers(self, difference: KeyCounts) -> bool:
        """Whether the L2 norm is within the sensitivity."""
        return sum(moved**2 for moved in difference.counts.values()) <= self.sensitivity_squared


def new_key_chance(scale: Fraction, threshold: int, rows: int) -> Fraction:
    """Not below the chance that a key is released which only these rows hold, by Laplace noise."""
    return _worst_sharing(partial(laplace_tail, scale), threshold, rows)


def gaussian_new_key_chance(sigma_squared: Fraction, threshold: int, rows: int) -> Fraction:
    """Not below the chance that a key is released which only these rows hold, by Gaussian noise."""
    return _worst_sharing(partial(gaussian_tail, sigma_squared), threshold, rows)


def _worst_sharing(tail: Callable[[int], Fraction], threshold: int, rows: int) -> Fraction:
    """Not below the chance that any of the keys is released which only these rows hold.

    The rows may share keys in any way. A key's chance is convex in its count below the threshold,
    so the worst way is one of the two extremes: all rows under one key, or each under its own.
    """
    return max(tail(threshold - rows), rows * tail(threshold - 1))


def _least_threshold(chance: Callable[[int], Fraction], delta: Fraction, rows: int) -> int:
    """The lowest threshold at which new keys are as unlikely as δ asks, by halving."""
    low, high = rows, 2 * rows
    while chance(high) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = chance(middle) <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high
