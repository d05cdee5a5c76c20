"""Release of keys that enough rows share, such as the values of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from understudy.errors import UsageError
from understudy.facts.unit import Unit
from understudy.privacy.accounting.events import KeyReleaseEvent
from understudy.privacy.mechanisms.mechanism import drawable, positive
from understudy.privacy.noise.laws import laplace_tail
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
        threshold = _least_threshold(scale, positive(delta), unit.new_rows)
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
