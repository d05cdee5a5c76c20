"""From entries to a density: sums with noise, and what they say about the users.

An entry of value s stands for (μ₁ − s)/(μ₁ − μ₀) of an absent user: its mean is 1 for a user who
has not visited and 0 for one who has. Over several epochs the product of these is 1 on average
exactly when the user was seen in none of them. Entries of past epochs were seen and are public, so
users fall into public groups by them, and the answer is one noisy sum for each group. A user moves
one of these sums by one entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from understudy.privacy.noise.system import Noise
from understudy.stream.design import Design
from understudy.stream.response import Response
from understudy.stream.sizing import sampling_variance
from understudy.stream.state import State
from understudy.system.arrays import Floats, Integers

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Union:
    """The part of the users that were seen in any epoch, with its standard error."""

    density: float
    standard_error: float

    @classmethod
    def of(cls, design: Design, density: float, variance: float) -> Union:
        """The density with the variance given a sample, and what the sample itself adds."""
        universe = None if design.universe.collides else design.universe.size
        sampling = sampling_variance(design.sample, possible(density), universe)
        return cls(density, math.sqrt(variance + sampling))

    def users_behind(self, places: int) -> tuple[float, float]:
        """How many users hash to the places taken, and the standard error of that.

        n users take 1 − (1 − 1/m)ⁿ of m places on average. The logarithm that inverts it bends,
        which would put noisy answers too high by half its bend times the variance; this is taken
        off. The error has the density's own part, and that of who met whom.

        Source: Whang, Vander-Zanden, Taylor, A linear-time probabilistic counting algorithm, 1990.
        """
        if self.density <= 0 or places == 1:
            return self.density * places, self.standard_error * places
        free = 1 - min(self.density, 1 - 1 / places)
        rate, relative = -math.log1p(-1 / places), self.standard_error / free
        users = (-math.log(free) - min(relative**2, 1.0) / 2) / rate
        load = max(users, 0.0) / places
        chance_meetings = places * (math.exp(load) - load - 1)
        return users, math.sqrt((relative / rate) ** 2 + chance_meetings)


def released_union(state: State, noise: Noise) -> Union:
    """The answer: noise on every group's sum, then arithmetic."""
    sums, sizes = _groups(state)
    drawn = noise.laplace(state.design.sizing.noise.scale, sums.size)
    return union_of(state.design, sums + drawn, sizes)


def union_of(design: Design, sums: Integers, sizes: Integers) -> Union:
    """Estimate the union from released sums; group k had k ones in past epochs."""
    response, past = design.response, sums.size - 1
    top, gap = response.mean + response.gap, response.gap
    weights = product_weights(response, past)
    density = 1 - float((weights * (sizes * top - sums) / gap).sum()) / design.sample
    if past == 0:
        variance = design.sizing.variance(design.sample, possible(density))
    else:
        absent, present = product_weights(response, 1)
        squares = absent**2 * (sizes - sums) + present**2 * sums
        answer = float(((weights / gap) ** 2).sum()) / design.sample**2
        entries = entries_variance(design, density, float((weights**2 * squares).sum()))
        variance = entries + answer * design.sizing.noise.variance
    return Union.of(design, density, variance)


def product_weights(response: Response, bits: int) -> Floats:
    """Return the weight of a user with k ones among these bits, for every k."""
    top, gap = response.mean + response.gap, response.gap
    absent, present = top / gap, (top - 1) / gap
    return np.array([present**k * absent ** (bits - k) for k in range(bits + 1)])


def entries_variance(design: Design, density: float, squares: float) -> float:
    """(M − (1 − d))/m: what the entries add to an average of products, M their mean square."""
    return max(squares / design.sample - (1 - possible(density)), 0.0) / design.sample


def _groups(state: State) -> tuple[Integers, Integers]:
    """Sums of the live entries, and numbers of users, by how many ones they had before."""
    *past, live = state.epochs
    sample = state.design.sample
    if not past:
        return np.array([live.total]), np.array([sample])
    groups = len(past) + 1
    sums, sizes = np.zeros((2, groups), np.int64)
    for start in range(0, sample, _CHUNK):
        end = min(start + _CHUNK, sample)
        ones = np.zeros(end - start, np.int64)
        for entries in past:
            ones += entries.levels(start, end)
        sizes += np.bincount(ones, minlength=groups)
        sums += np.bincount(ones[live.levels(start, end) == 1], minlength=groups)
    return sums, sizes


def possible(density: float) -> float:
    """The nearest density that can be."""
    return min(max(density, 0.0), 1.0)
