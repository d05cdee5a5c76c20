"""The meaning of a promise: how often a guess whether a row or person is there can be right.

Someone who could only toss a coin before sees a release and says which of two neighbouring tables
it was made from. The bounds here say how often they can be right.
Proof: docs/proofs/right_guesses.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from understudy.privacy.accounting.conversions import gaussian_delta
from understudy.privacy.accounting.gaussian_curve import is_within

# More than the errors of the few operations below, in proportion.
_ROUNDED_UP = 1 + 2.0**-40
# The ε at which the Gaussian curve is read: this many for each factor of two.
_READINGS, _SMALLEST, _LARGEST = 8, 2.0**-24, 2.0**6


def right_guesses(epsilon: float, delta: float = 0.0) -> float:
    """How often someone who tossed a coin before can be right at most, rounded up.

    (e^ε + δ)/(1 + e^ε): the largest area under the trade-off curve of (ε, δ)-DP.

    Example:
        >>> round(right_guesses(1.0), 4)
        0.7311
    """
    chance = (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
    return min(chance * _ROUNDED_UP, 1.0)


def right_gaussian_guesses(rho: float, *, epsilon: float = 0.0, delta: float = 0.0) -> float:
    """The chance for Gaussian rounds on fine grids of ρ in all, after something (ε, δ)-DP.

    For each ε of the Gaussian curve the δ that is proved with it is looked up, and the least of all
    bounds is taken. For ε → 0 it is Φ(√(ρ/2)), but for what grids add.

    Args:
        rho: the sum of Δ²/2σ² that was fixed before the first round.
        epsilon: the cost of pure questions and of a learned schema, which comes on top.
        delta: the same.

    Example:
        >>> round(right_gaussian_guesses(0.02801), 3)
        0.547
    """
    if rho <= 0:
        return right_guesses(epsilon, delta)
    pairs = [(e, _proved_delta(rho, e)) for e in _epsilons()]
    known = [right_guesses(e + epsilon, d + delta) for e, d in pairs if d is not None]
    return min(known, default=1.0)


def _epsilons() -> Iterator[float]:
    epsilon = _SMALLEST
    while epsilon <= _LARGEST:
        yield epsilon
        epsilon *= 2 ** (1 / _READINGS)


def _proved_delta(rho: float, epsilon: float) -> float | None:
    """A δ for which the Gaussian curve proves (ε, δ)-DP, as small as is found; None without one."""
    delta = min(gaussian_delta(rho, epsilon) * 1.001 + 1e-15, 1.0)
    for _ in range(40):
        if is_within(rho, epsilon, delta):
            return delta
        delta *= 1.001
    return None


def in_100(chance: float) -> int:
    """How many times in 100, rounded up.

    Example:
        >>> in_100(right_guesses(1.0))
        74
    """
    return min(math.ceil(100 * chance), 100)
