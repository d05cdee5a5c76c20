"""For tests and studies: predictable noise. Whatever is made with it says NOT PRIVATE."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import numpy as np

from understudy.methods.base import Synthesizer
from understudy.privacy.curator import Instruments
from understudy.privacy.noise import choices
from understudy.privacy.noise.draws import draw
from understudy.privacy.noise.laws import Law
from understudy.system.arrays import Integers

S = TypeVar("S", bound=Synthesizer)


class SeededNoise:
    """The same draws as those of `SystemNoise`, of bits from a seed that anyone may know."""

    private = False

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """Discrete Laplace noise."""
        return draw(Law.laplace(scale), size, self._generator.bytes)

    def gaussian(self, sigma_squared: Fraction, size: int) -> Integers:
        """Discrete Gaussian noise."""
        return draw(Law.gaussian(sigma_squared), size, self._generator.bytes)

    def permute_and_flip(self, scores: Integers, scale: Fraction) -> int:
        """Choose a candidate by permute-and-flip."""
        return choices.permute_and_flip(scores, scale, self._generator.bytes)

    def exponential(self, scores: Integers, scale: Fraction) -> int:
        """Choose a candidate by the exponential mechanism."""
        return choices.exponential(scores, scale, self._generator.bytes)

    def uniform(self, below: int, size: int) -> Integers:
        """Draw from the generator itself."""
        return self._generator.integers(0, below, size)


def seeded(synthesizer: S, seed: int) -> S:
    """A copy of a synthesizer whose fit is repeatable and NOT PRIVATE."""
    return synthesizer.with_instruments(Instruments(noise=SeededNoise(seed)))
