"""The laws that noise follows, as integers between proven bounds.

Chances of these laws are irrational. Here they are enclosed: an integer that is not above the
chance times 2^bits and less than two units below it, for as many bits as a draw asks for. All
arithmetic is on integers. Proof: docs/proofs/exact_draws.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from understudy.errors import UsageError

# Enclosures are two units wide: certain below the integer, and certain from this far above it.
DOUBT = 2
# Extra bits that hold the rounding errors of a sum; enough for 2²⁰ blocks.
_GUARD = 64
# Extra bits that hold the rounding errors of one exponential.
_MARGIN = 32
# How far a double's tail of a Gaussian may be off, in parts of itself, and the least one it shows.
_ROUNDING = Fraction(1, 10**9)
_NEXT_TO_NOTHING = Fraction(1, 10**250)


@dataclass(frozen=True)
class Law:
    """P(z) ∝ exp(−linear·|z| − quadratic·z²) over all integers z."""

    linear: Fraction
    quadratic: Fraction

    @classmethod
    def laplace(cls, scale: Fraction) -> Law:
        """Discrete Laplace: P(z) ∝ exp(−|z| / scale)."""
        return cls(1 / _positive(scale), Fraction(0))

    @classmethod
    def gaussian(cls, sigma_squared: Fraction) -> Law:
        """Discrete Gaussian: P(z) ∝ exp(−z² / 2σ²)."""
        return cls(Fraction(0), 1 / (2 * _positive(sigma_squared)))

    def exponent(self, magnitude: int) -> Fraction:
        """Return the x of exp(−x) at |z|."""
        return self.linear * magnitude + self.quadratic * magnitude**2


@dataclass(frozen=True)
class Blocks:
    """The magnitudes |z| in blocks of 2^shift; a block weighs as its first magnitude does.

    When a block is a single magnitude, zero weighs half: both signs lead to it.
    """

    law: Law
    shift: int

    @classmethod
    def of(cls, law: Law) -> Blocks:
        """Blocks so narrow that chances inside one differ little, and so wide that few matter.

        For Laplace noise the scale is 4 to 8 blocks, for Gaussian noise σ is 8 to 16, or as many
        as there are when blocks are single magnitudes.
        """
        quarters = math.floor(1 / (4 * law.linear)) if law.linear else 0
        eighths = math.isqrt(math.floor(1 / (128 * law.quadratic))) if law.quadratic else 0
        return cls(law, max(quarters, eighths, 1).bit_length() - 1)

    @property
    def width(self) -> int:
        """How many magnitudes a block has."""
        return 1 << self.shift

    def fall(self, block: int, inside: int) -> Fraction:
        """How much the exponent grows from a block's first magnitude to one inside."""
        first = block << self.shift
        return self.law.exponent(first + inside) - self.law.exponent(first)

    def ends(self, bits: int) -> list[int]:
        """Where blocks end on a line of length 2^bits: eᵦ ≤ P(block ≤ b)·2^bits < eᵦ + 2.

        Blocks that are left out weigh less than one unit together.
        """
        sums = list(accumulate(self._weights(bits + _GUARD)))
        at_most = sums[-1] + (1 << (_GUARD - 2))
        return [(sum_ << bits) // at_most for sum_ in sums]

    def _weights(self, bits: int) -> list[int]:
        """Weights of blocks times 2^bits, rounded down, while they matter.

        Source: exp(−a(m+1) − b(m+1)²) = exp(−am − bm²) · exp(−a − b(2m + 1)).
        """
        ratio, bend = falling(self._ratio, bits), falling(self._bend, bits)
        one = 1 << bits
        # One over this bounds a geometric series of the ratio; ratios only fall.
        least = ((one - ratio - DOUBT) << (_GUARD - 4)) >> bits
        weights, weight = [], one
        while weight > least:
            weights.append(weight)
            weight, ratio = (weight * ratio) >> bits, (ratio * bend) >> bits
        if self.shift == 0:
            weights[0] = one >> 1
        return weights

    @cached_property
    def _ratio(self) -> Fraction:
        return self.law.exponent(self.width)

    @cached_property
    def _bend(self) -> Fraction:
        return 2 * self.law.quadratic * self.width**2


def laplace_tail(scale: Fraction, least: int) -> Fraction:
    """Not below P(Z ≥ least) of discrete Laplace noise, and above it by 2⁻⁶⁰ of itself at most.

    Source: P(Z ≥ m) = q^m / (1 + q) for m ≥ 1, with q = exp(−1/scale). Below 1 it is just 1.
    """
    if least < 1:
        return Fraction(1)
    exponent = Fraction(least) / _positive(scale)
    bits = math.ceil(exponent * Fraction(3, 2)) + _GUARD
    over = falling(exponent, bits) + DOUBT
    return Fraction(over, (1 << bits) + falling(1 / scale, bits))


def gaussian_tail(sigma_squared: Fraction, least: int) -> Fraction:
    """Not below P(Z ≥ least) of discrete Gaussian noise. Below 1 it is just 1.

    Source: Σ exp(−z²/2σ²) over all integers is at least √(2πσ²), and over z ≥ m at most the
    integral from m − 1 on; so P(Z ≥ m) ≤ P(N(0, σ²) ≥ m − 1) (Canonne, Kamath, Steinke 2020).
    """
    if least < 1:
        return Fraction(1)
    place = math.sqrt(float(Fraction(least - 1) ** 2 / (2 * _positive(sigma_squared))))
    # The margin is a thousand times the rounding of a root, a quotient and `erfc` together.
    chance = Fraction(math.erfc(place)) / 2 * (1 + _ROUNDING)
    return max(chance, _NEXT_TO_NOTHING)


def _positive(amount: Fraction) -> Fraction:
    if amount <= 0:
        raise UsageError(f"noise of scale {float(amount):.3g}: it must be above zero; raise it")
    return amount


def falling(exponent: Fraction, bits: int) -> int:
    """An integer e with e ≤ exp(−exponent)·2^bits < e + 2; exactly 2^bits at zero.

    Source: Taylor's series at an argument halved below one half, then squared back.
    """
    if exponent == 0:
        return 1 << bits
    if exponent >= bits:
        return 0
    numerator, denominator = exponent.numerator, exponent.denominator
    halvings = max(0, numerator.bit_length() - denominator.bit_length() + 2)
    extra = halvings + _MARGIN
    places = bits + extra
    value = _series((numerator << places) // (denominator << halvings), places)
    for _ in range(halvings):
        value = (value * value) >> places
    return max(0, value - (1 << (extra - 1))) >> extra


def _series(argument: int, places: int) -> int:
    """Σ (−x)^k / k! in fixed point, until terms vanish."""
    total = term = 1 << places
    order = 0
    while term:
        order += 1
        term = (term * argument) // (order << places)
        total += -term if order % 2 else term
    return total
