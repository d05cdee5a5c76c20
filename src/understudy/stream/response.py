"""Randomised responses: the entry of a user who was seen, and of one who was not.

An entry of the state is one of a few levels. It is drawn from one law at the start and from
another whenever its user is seen. Both laws are whole numbers of 2⁶⁴ths, so what is claimed is
what is drawn. A pair of laws that says more about a user than its ε cannot be constructed.
Proof: docs/proofs/pan_private.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from understudy.errors import UsageError
from understudy.privacy.noise.laws import DOUBT, falling

WHOLE = 1 << 64
MOST_LEVELS = 256

# Places for comparing a ratio of chances with e^ε; more than enough for chances of 64 places.
_PLACES = 192
# Laws computed in floating point aim a little below ε, so that rounding them stays within it.
_AIM = 1 - 2.0**-20
# The Laplace law is cut off this many scales away from its means.
_REACH = 8.0


@dataclass(frozen=True)
class Response:
    """Two laws over the same levels, neither of which is ever e^ε times the other.

    Attributes:
        name: of the estimator.
        epsilon: what an entry may reveal about its user.
        initial: chances of the levels before the user is seen, in 2⁶⁴ths.
        updated: chances after.

    Example:
        >>> Response("a coin", Fraction(1), (WHOLE // 2, WHOLE // 2), (WHOLE // 2, WHOLE // 2)).gap
        0.0
    """

    name: str
    epsilon: Fraction
    initial: tuple[int, ...]
    updated: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise UsageError(f"epsilon is {float(self.epsilon):g}; it must be above zero; raise it")
        if not all(_is_law(law, self.levels) for law in (self.initial, self.updated)):
            raise UsageError(
                f"{self.name}: each of the 2 to {MOST_LEVELS} levels needs a chance above zero, "
                "and all of them add up to one; lower epsilon"
            )
        if not _within(self.initial, self.updated, self.epsilon):
            raise UsageError(
                f"{self.name}: a level is more than e^{float(self.epsilon):g} times likelier for "
                "one kind of user than for the other; bring the two laws closer together"
            )

    @property
    def levels(self) -> int:
        """How many levels an entry has."""
        return len(self.initial)

    @property
    def sensitivity(self) -> int:
        """How far one entry moves the sum of all entries."""
        return self.levels - 1

    @cached_property
    def gap(self) -> float:
        """Return how much higher an entry is on average once its user was seen."""
        return float(_mean(self.updated) - _mean(self.initial))

    @cached_property
    def mean(self) -> float:
        """The average of an entry whose user was not seen."""
        return float(_mean(self.initial))

    def variance(self, density: float) -> float:
        """The average variance of an entry when this part of the users was seen."""
        initial, updated = self._variances
        return (1 - density) * initial + density * updated

    @cached_property
    def _variances(self) -> tuple[float, float]:
        return _variance(self.initial), _variance(self.updated)

    @property
    def loss(self) -> float:
        """The ε that an entry really takes, which rounding keeps at or below the one claimed."""
        ratios = (u / i for i, u in zip(self.initial, self.updated, strict=True))
        return max(abs(math.log(ratio)) for ratio in ratios)


def optimal_bernoulli(epsilon: Fraction) -> Response:
    """A bit that is e^ε times likelier to be right than wrong (TUC-1, Algorithm 4.2, c = ½)."""
    # 1/(1 + e^−ε), rounded down: towards one half.
    over = falling(epsilon, _PLACES) + DOUBT
    right = (WHOLE << _PLACES) // ((1 << _PLACES) + over)
    return _bit("optimal Bernoulli", epsilon, WHOLE - right, right)


def centred_bernoulli(epsilon: Fraction, centre: Fraction) -> Response:
    """A bit of chances centre·(1 ∓ tanh(ε/2)), as TUC-1 §4.3.2 allows for centres up to 4/5.

    The ratio at 0 is (1 − c − x)/(1 − c + x), so a centre above ½ cannot be constructed.
    """
    spread = centre * Fraction(math.tanh(float(epsilon) / 2) * _AIM)
    low, high = (math.floor((centre + side * spread) * WHOLE) for side in (-1, 1))
    return _bit("Bernoulli", epsilon, low, high)


def dwork(epsilon: Fraction) -> Response:
    """A fair bit, later one of chance ½ + ε/4 (Dwork et al. 2010; TUC-1, Algorithm 4.1)."""
    return _bit("Dwork", epsilon, WHOLE // 2, WHOLE // 2 + math.floor(epsilon / 4 * WHOLE))


def quantised_laplace(epsilon: Fraction, levels: int = 2) -> Response:
    """Laplace draws about two means, put into levels of equal width (TUC-1 §4.4.3).

    Two levels give a bit of chances ½e^(−ε/2) and 1 − ½e^(−ε/2).
    """
    if levels == 2:
        low = falling(epsilon / 2, 63) + DOUBT
        return _bit("quantised Laplace", epsilon, low, WHOLE - low)
    return _symmetric("quantised Laplace", epsilon, levels, _laplace_ends(epsilon, levels))


def laplace(epsilon: Fraction) -> Response:
    """Laplace draws cut off at a public interval, in 256 levels (TUC-1, Algorithm 4.3)."""
    return _symmetric("Laplace", epsilon, MOST_LEVELS, _laplace_ends(epsilon, MOST_LEVELS))


def truncated_gaussian(epsilon: Fraction) -> Response:
    """Gaussian draws about 0 and 1, kept to [0, 1], in 256 levels (TUC-1 §4.4.4).

    The ratio of the densities is exp((2x − 1)/2σ²), so that σ² = 1/2ε spends ε at the ends.
    """
    sigma = math.sqrt(1 / (2 * float(epsilon) * _AIM))

    def below(x: float) -> float:
        return math.erf(x / (sigma * math.sqrt(2))) / math.erf(1 / (sigma * math.sqrt(2)))

    ends = [below(level / MOST_LEVELS) for level in range(1, MOST_LEVELS)]
    return _symmetric("truncated Gaussian", epsilon, MOST_LEVELS, ends)


ESTIMATORS: dict[str, Callable[[Fraction], Response]] = {
    "bernoulli": optimal_bernoulli,
    "dwork": dwork,
    "quantised": quantised_laplace,
    "laplace": laplace,
    "gaussian": truncated_gaussian,
}


def response_of(estimator: str, epsilon: Fraction, levels: int = 2) -> Response:
    """The response of an estimator by name; only the quantised one has a choice of levels."""
    if estimator not in ESTIMATORS:
        known = ", ".join(ESTIMATORS)
        raise UsageError(f"estimator {estimator!r} is not known; choose one of {known}")
    if estimator == "quantised":
        return quantised_laplace(epsilon, levels)
    if levels != 2:
        raise UsageError(f"levels is {levels}, which only the estimator quantised can choose")
    return ESTIMATORS[estimator](epsilon)


def _bit(name: str, epsilon: Fraction, initial: int, updated: int) -> Response:
    return Response(name, epsilon, (WHOLE - initial, initial), (WHOLE - updated, updated))


def _laplace_ends(epsilon: Fraction, levels: int) -> list[float]:
    """P(draw below each inner boundary) for the law about −ε/2, in units of its scale."""
    if not 2 <= levels <= MOST_LEVELS:
        raise UsageError(f"levels is {levels}; it must be from 2 to {MOST_LEVELS}")
    mean = -float(epsilon) * _AIM / 2
    width = 2 * (_REACH - mean) / levels
    return [_laplace_below((j - levels / 2) * width - mean) for j in range(1, levels)]


def _laplace_below(x: float) -> float:
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def _symmetric(name: str, epsilon: Fraction, levels: int, ends: Sequence[float]) -> Response:
    """Levels cut at the ends of the initial law; the updated law is its mirror image."""
    cuts = [0, *(int(Fraction(end) * WHOLE) for end in ends), WHOLE]
    initial = tuple(high - low for low, high in pairwise(cuts))
    return Response(name, epsilon, initial, initial[::-1])


def _is_law(law: Sequence[int], levels: int) -> bool:
    return 2 <= len(law) == levels <= MOST_LEVELS and min(law) > 0 and sum(law) == WHOLE


def _within(initial: Sequence[int], updated: Sequence[int], epsilon: Fraction) -> bool:
    """Whether no chance is more than e^ε times the other, decided in whole numbers."""
    over = falling(epsilon, _PLACES) + DOUBT
    pairs = zip(initial, updated, strict=True)
    return all(min(pair) << _PLACES >= max(pair) * over for pair in pairs)


def _mean(law: Sequence[int]) -> Fraction:
    return Fraction(sum(level * chance for level, chance in enumerate(law)), WHOLE)


def _variance(law: Sequence[int]) -> float:
    square = Fraction(sum(level**2 * chance for level, chance in enumerate(law)), WHOLE)
    return float(square - _mean(law) ** 2)
