"""How many users were seen, from states of equal size: bits of sampled users, hashed bits, FM.

Source: TUC-1 section 5.2 asks for distinct sampling (Gibbons 2001) and for the sketch of Flajolet
and Martin 1985 in place of bits of sampled users. Distinct sampling keeps the names of users who
were seen, so that its state distinguishes with certainty a user who was seen from others. What
can be made private of it is to keep a randomised bit for every user whose hash is small, and that
is sampling. In the sketch of Flajolet and Martin a user sets one bit of one bucket, chosen by a
hash: each bit is randomised as a user's is, at the same ε.

Estimates are made from the state alone, without the noise of an answer, which all would have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.stream.response import WHOLE, optimal_bernoulli
from understudy.system.arrays import Floats

_LEVELS = 24


def _chances(epsilon: float) -> tuple[float, float]:
    """The chance of a 1 for places that nobody set, and for the others."""
    response = optimal_bernoulli(Fraction(epsilon).limit_denominator(1000))
    return response.initial[1] / WHOLE, response.updated[1] / WHOLE


def _seen(held: npt.NDArray[np.bool_], epsilon: float, generator: np.random.Generator) -> Floats:
    """Bits as the state holds them."""
    low, high = _chances(epsilon)
    return (generator.random(held.shape) < np.where(held, high, low)).astype(float)


def sampled(
    users: int, seen: int, bits: int, epsilon: float, generator: np.random.Generator
) -> float:
    """Estimate the users seen by a bit for each of some users, who are drawn from all."""
    low, high = _chances(epsilon)
    entries = min(bits, users)
    inside = generator.hypergeometric(seen, users - seen, entries)
    found = _seen(np.arange(entries) < inside, epsilon, generator)
    return float(users * (found.mean() - low) / (high - low))


def hashed(
    users: int, seen: int, bits: int, epsilon: float, generator: np.random.Generator
) -> float:
    """A bit for each place that users are hashed to; full places are allowed for."""
    del users
    low, high = _chances(epsilon)
    held = np.bincount(generator.integers(0, bits, seen), minlength=bits) > 0
    share = (_seen(held, epsilon, generator).mean() - low) / (high - low)
    return float(-bits * math.log(max(1 - share, 1 / bits)))


def flajolet_martin(
    users: int, seen: int, bits: int, epsilon: float, generator: np.random.Generator
) -> float:
    """Buckets of 24 bits, of which a user sets one, the next half as likely; by likelihood."""
    low, high = _chances(epsilon)
    buckets = max(bits // _LEVELS, 1)
    levels = np.minimum(generator.geometric(0.5, seen) - 1, _LEVELS - 1)
    held = np.zeros((_LEVELS, buckets), bool)
    held[levels, generator.integers(0, buckets, seen)] = True
    found = _seen(held, epsilon, generator).sum(axis=1)
    grid = np.exp(np.linspace(0, math.log(max(4 * users, 8)), 600))
    parts = 0.5 ** (np.arange(_LEVELS) + 1)
    parts[-1] *= 2
    empty = np.exp(-grid[:, None] * parts / buckets)
    chance = low * empty + high * (1 - empty)
    likelihood = (found * np.log(chance) + (buckets - found) * np.log(1 - chance)).sum(axis=1)
    return float(grid[likelihood.argmax()])


STATES: Mapping[str, Callable[[int, int, int, float, np.random.Generator], float]] = {
    "bits of sampled users": sampled,
    "bits of hashed users": hashed,
    "Flajolet and Martin": flajolet_martin,
}
