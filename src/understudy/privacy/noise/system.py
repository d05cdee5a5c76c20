"""Randomness that protects people is drawn here: exactly, and from the operating system.

`Noise` is a protocol so that tests can hand in a seeded twin; the twin says that it is not
private, and whatever is made with it carries that word.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from understudy.privacy.noise import choices
from understudy.privacy.noise.draws import draw, draw_below
from understudy.privacy.noise.laws import Law
from understudy.system.arrays import Integers


class Noise(Protocol):
    """Exact draws from the distributions that mechanisms are made of."""

    @property
    def private(self) -> bool:
        """Whether nobody can predict the draws."""

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Discrete Laplace: P(z) ∝ exp(−|z| / scale)."""

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """Discrete Gaussian: P(z) ∝ exp(−z² / 2σ²)."""

    def permute_and_flip(self, scores: Integers, scale: Fraction) -> int:
        """The first index accepted, in random order, with chance exp((sᵢ − max) / scale)."""

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """An index drawn with P(i) ∝ exp(sᵢ / scale)."""

    def uniform(self, below: int, size: int) -> Integers:
        """Whole numbers from 0, all alike, below a number of at most 2⁶²."""


class SystemNoise:
    """Exact draws over the operating system's randomness, which nothing here keeps or repeats.

    Integers are drawn and choices are made at their scale as it stands, a fraction.
    """

    private = True

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Draw discrete Laplace noise."""
        return draw(Law.laplace(scale), size)

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """Draw discrete Gaussian noise."""
        return draw(Law.gaussian(sigma_squared), size)

    def permute_and_flip(self, scores: Integers, scale: Fraction) -> int:
        """Choose by permute-and-flip."""
        return choices.permute_and_flip(scores, scale)

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """Choose by the exponential mechanism."""
        return choices.exponential(scores, scale)

    def uniform(self, below: int, size: int) -> Integers:
        """Draw whole numbers below a bound, all equally likely."""
        return draw_below(below, size)
