"""Where randomness that protects people comes from: exact, and from the operating system.

`Noise` is a protocol so that tests can hand in a seeded twin; the twin says that it is not
private, and whatever is made with it carries that word.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np

from understudy.privacy.draws import Integers, draw, draw_below
from understudy.privacy.laws import Law

__all__ = ["Integers", "Noise", "SystemNoise", "at_least"]


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

    Integers are drawn at their scale as it stands, a fraction. Choices are OpenDP's: a scale that
    is no floating-point number is rounded up for them, so that the noise drawn is never less than
    the noise charged for.
    """

    private = True

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Discrete Laplace noise."""
        return draw(Law.laplace(scale), size)

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """Discrete Gaussian noise."""
        return draw(Law.gaussian(sigma_squared), size)

    def permute_and_flip(self, scores: Integers, scale: Fraction) -> int:
        """A choice by permute-and-flip, as OpenDP's noisy max under pure privacy is."""
        return int(_noisy_max("max_divergence", at_least(scale))(scores.tolist()))

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """A choice by Gumbel noise, as OpenDP's noisy max under zCDP is."""
        choose = _noisy_max("zero_concentrated_divergence", at_least(scale))
        return int(choose(scores.tolist()))

    def uniform(self, below: int, size: int) -> Integers:
        """Whole numbers below another, all alike."""
        return draw_below(below, size)


def at_least(value: Fraction) -> float:
    """The smallest floating-point number not below the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else float(np.nextafter(nearest, np.inf))


@cache
def _opendp() -> tuple[Any, Any, Any, Any]:
    """OpenDP's rooms; its `prelude` would import far more."""
    import opendp.domains
    import opendp.measurements
    import opendp.measures
    import opendp.metrics
    import opendp.mod

    opendp.mod.enable_features("contrib")
    return opendp.measurements, opendp.domains, opendp.metrics, opendp.measures


@cache
def _noisy_max(measure: str, scale: float) -> Any:
    measurements, domains, metrics, measures = _opendp()
    integers = domains.vector_domain(domains.atom_domain(T="i64"))
    divergence = getattr(measures, measure)()
    return measurements.make_noisy_max(
        integers, metrics.linf_distance(T="i64"), divergence, scale=scale
    )
