"""How large a sample must be, and how far off an answer may be: TUC-1 §4.2.2 and §4.2.3.

With probability at least 1 − β an answer is within α of the density. Three things go wrong: the
sample is not the universe, entries are random, and the answer has noise of its own. α is shared
among them by δ₁ and δ₂, and the shares that give the least bound are searched for; any shares
give a bound that holds. The answer's noise is that which is drawn, on the sum of the entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.stream.response import Response

# Up to here everybody has an entry unless a sample is asked for.
WHOLE_UP_TO = 10**8
ALPHA = BETA = 0.05
_LARGEST_SAMPLE = 2**60
# The search for the best shares: points a side, and how often it is repeated closer in.
_POINTS, _ZOOMS = 41, 5


@dataclass(frozen=True)
class Sizing:
    """An estimator as far as its accuracy goes.

    Attributes:
        response: what stands for users.
        answer_epsilon: what one answer costs.
    """

    response: Response
    answer_epsilon: Fraction

    @cached_property
    def noise(self) -> DiscreteLaplace:
        """The noise on the sum of the entries."""
        sensitivity = Fraction(self.response.sensitivity)
        return DiscreteLaplace.costing(self.answer_epsilon, sensitivity=sensitivity)

    @property
    def noise_variance(self) -> float:
        """Return the variance of the noise on the sum."""
        return self.noise.variance

    @property
    def noise_tail(self) -> tuple[float, float]:
        """Factor and rate of a bound on the noise: P(|Z| ≥ t) ≤ factor·e^(−rate·t)."""
        rate = float(1 / self.noise.scale)
        return 2 / (1 + math.exp(-rate)), rate

    def variance(self, sample: int, density: float, universe: int | None = None) -> float:
        """The exact variance of a density; about the whole universe's where its size is given."""
        spread = sample * self.response.gap
        entries = self.response.variance(density) * sample / spread**2
        answer = self.noise_variance / spread**2
        return entries + answer + sampling_variance(sample, density, universe)

    def miss_chance(self, alpha: float, sample: int, *, whole: bool = False) -> float:
        """A bound on the chance that an answer is off by α or more, with the best shares."""
        low, high = np.zeros(2), np.ones(2)
        best = 1.0
        for _ in range(_ZOOMS):
            first, second = (np.linspace(low[i], high[i], _POINTS) for i in (0, 1))
            bounds = self._bound(alpha, sample, first[:, None], second[None, :], whole=whole)
            at = np.array(np.unravel_index(bounds.argmin(), bounds.shape))
            best = min(best, float(bounds.min()))
            centre, step = np.array([first[at[0]], second[at[1]]]), (high - low) / (_POINTS - 1)
            low, high = np.maximum(centre - step, 0), np.minimum(centre + step, 1)
        return best

    def _bound(
        self,
        alpha: float,
        sample: int,
        first: npt.NDArray[np.float64],
        second: npt.NDArray[np.float64],
        *,
        whole: bool,
    ) -> npt.NDArray[np.float64]:
        """p₁ + p₂ + p₃: Hoeffding's bound for the sample and the entries, the noise's own tail."""
        first = np.ones_like(first) if whole else first
        reach = self.response.gap / self.response.sensitivity * alpha * first
        sampling = 0.0 if whole else 2 * np.exp(-2 * sample * (alpha * (1 - first)) ** 2)
        entries = 2 * np.exp(-2 * sample * (reach * (1 - second)) ** 2)
        factor, rate = self.noise_tail
        answer = factor * np.exp(-rate * sample * self.response.sensitivity * reach * second)
        return np.asarray(sampling + entries + answer)

    def narrow_miss_chance(self, alpha: float, sample: int, *, whole: bool = False) -> float:
        """A bound like `miss_chance`, by Bernstein's inequality for the entries.

        TUC-1 Lemmas 4.3 to 4.6 and Theorem 4.9 bound Laplace entries by their sub-exponential
        tails. Entries here are cut off, hence bounded, and Bernstein's inequality says the same of
        them: what counts is their variance and not the width of their range. For bits it does
        not improve on Hoeffding's, and the smaller of both is returned.
        """
        shares = np.linspace(0, 1, 4 * _POINTS)
        first = np.ones(1) if whole else shares
        bounds = self._narrow_bound(alpha, sample, first[:, None], shares[None, :], whole=whole)
        return min(float(bounds.min()), Sizing.miss_chance(self, alpha, sample, whole=whole))

    def _narrow_bound(
        self,
        alpha: float,
        sample: int,
        first: npt.NDArray[np.float64],
        second: npt.NDArray[np.float64],
        *,
        whole: bool,
    ) -> npt.NDArray[np.float64]:
        """The same three parts; entries off by x on average have exp(−mx²/(2v + 2x/3)), twice."""
        levels = self.response.sensitivity
        variance = max(self.response.variance(0.0), self.response.variance(1.0)) / levels**2
        reach = self.response.gap / levels * alpha * first
        sampling = 0.0 if whole else 2 * np.exp(-2 * sample * (alpha * (1 - first)) ** 2)
        off = reach * (1 - second)
        entries = 2 * np.exp(-sample * off**2 / (2 * variance + 2 * off / 3))
        factor, rate = self.noise_tail
        answer = factor * np.exp(-rate * sample * levels * reach * second)
        return np.asarray(sampling + entries + answer)

    def sample_size(self, alpha: float = ALPHA, beta: float = BETA, *, whole: bool = False) -> int:
        """m*: the least sample whose answers are within α with probability at least 1 − β."""
        _check_chances(alpha, beta)
        high = 1
        while self.miss_chance(alpha, high, whole=whole) > beta:
            high *= 2
            if high > _LARGEST_SAMPLE:
                raise UsageError(
                    f"no sample below 2⁶⁰ is within {alpha:g}; raise epsilon, alpha or beta"
                )
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.miss_chance(alpha, middle, whole=whole) <= beta
            low, high = (low, middle) if enough else (middle, high)
        return high

    def relative_sample(
        self, part: float, least: float, beta: float = BETA, *, whole: bool = False
    ) -> int:
        """The least sample whose answers are off by at most a part of the density itself.

        Where few users appear an additive error says little. This holds for every density from
        `least` on: an error of part · least is at most that part of any larger density.

        Args:
            part: the relative error, such as 0.1.
            least: the smallest density that it is to hold for.
            beta: the chance of a larger error.
            whole: whether everybody has an entry.
        """
        _check_chances(part, beta)
        if not 0 < least <= 1:
            raise UsageError(f"least is {least:g}; a density is above 0 and at most 1; change it")
        return self.sample_size(part * least, beta, whole=whole)

    def accuracy(self, sample: int, beta: float = BETA, *, whole: bool = False) -> float:
        """The least α within which answers of this sample are with probability at least 1 − β."""
        _check_chances(ALPHA, beta)
        low, high = 0.0, 1.0
        while self.miss_chance(high, sample, whole=whole) > beta:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            enough = self.miss_chance(middle, sample, whole=whole) <= beta
            low, high = (low, middle) if enough else (middle, high)
        return high


@dataclass(frozen=True)
class NarrowSizing(Sizing):
    """Sample sizes by the smaller of two bounds: smaller where entries are of Laplace."""

    def miss_chance(self, alpha: float, sample: int, *, whole: bool = False) -> float:
        """A bound on the chance that an answer is off by α or more: the smaller of both."""
        return self.narrow_miss_chance(alpha, sample, whole=whole)


def default_sample(sizing: Sizing, universe: int) -> int:
    """Everybody up to 10⁸ users, else m* for α = β = 0.05."""
    return universe if universe <= WHOLE_UP_TO else min(universe, sizing.sample_size())


def sampling_variance(sample: int, density: float, universe: int | None) -> float:
    """Return the variance that a sample without replacement adds: d(1 − d)/m · (U − m)/(U − 1)."""
    if universe is None or sample >= universe:
        return 0.0
    return density * (1 - density) / sample * (universe - sample) / (universe - 1)


def _check_chances(alpha: float, beta: float) -> None:
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0 < value < 1:
            raise UsageError(f"{name} is {value:g}; it must be between 0 and 1; change it")
