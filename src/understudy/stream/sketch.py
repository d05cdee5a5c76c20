"""How many users are behind a sketch of Flajolet and Martin: one noisy sum for each level.

Places of a level were taken by users who hashed to it. n users leave a place of level l empty with
the chance exp(−n·q_l/B), where q_l is the share of users at that level and B the number of its
places. The noisy sums of all levels say together which n is the likeliest.

Privacy: a user has one place, which is of one level, and moves one of the sums by one entry: noise
for that on every sum costs what it costs on one. Proof: docs/proofs/pan_private.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from understudy.privacy.noise.system import Noise
from understudy.stream.design import Design
from understudy.stream.state import State
from understudy.stream.union import Union, possible
from understudy.stream.universe import LEVELS
from understudy.system.arrays import Floats, Integers, Numbers

# The search for the likeliest number: points of a grid, and how often it is repeated closer in.
_POINTS, _ZOOMS = 400, 4
_CHUNK = 1 << 20


def released_users(state: State, noise: Noise) -> tuple[Union, float, float]:
    """The part of the places that were taken, the number of users behind it, and its error."""
    sums = level_sums(state)
    released = sums + noise.laplace(state.design.sizing.noise.scale, sums.size)
    users = likeliest(state.design, released)
    return _taken(state.design, released), users, standard_error(state.design, users)


def level_sums(state: State) -> Integers:
    """The sum of the entries of each level; exact, and not to be shown."""
    size, sums = state.design.sample, np.zeros(LEVELS, np.int64)
    for start in range(0, size, _CHUNK):
        end = min(start + _CHUNK, size)
        places = np.arange(start, end) // (size // LEVELS)
        np.add.at(sums, places, state.live.levels(start, end).astype(np.int64))
    return sums


def likeliest(design: Design, sums: Numbers) -> float:
    """The number of users under which these noisy sums are the likeliest.

    Sums are taken as normal, with the variance of entries and noise at each number of users.
    """
    low, high = 0.0, math.log1p(design.sample * 2.0 ** (LEVELS - 1))
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _POINTS)
        means, variances = _expected(design, np.expm1(grid))
        fit = ((sums - means) ** 2 / variances + np.log(variances)).sum(axis=1)
        best, step = float(grid[fit.argmin()]), float(grid[1] - grid[0])
        low, high = max(best - step, 0.0), best + step
    return math.expm1(best)


def standard_error(design: Design, users: float) -> float:
    """The error of the number by the information that the means of all levels hold about it."""
    # Where nobody was seen the first user counts.
    near = max(users, 1.0)
    _, variances = _expected(design, np.array([near]))
    rates = level_shares() * LEVELS / design.sample
    slopes = design.sample / LEVELS * design.response.gap * rates * np.exp(-near * rates)
    information = float((slopes**2 / variances[0]).sum())
    return 1 / math.sqrt(information) if information else math.inf


@lru_cache(maxsize=1)
def level_shares() -> Floats:
    """The share of users at each level: halves of halves, and what is left at the last one."""
    shares: Floats = np.ldexp(1.0, -np.arange(1, LEVELS + 1))
    shares[-1] *= 2
    shares.flags.writeable = False
    return shares


def _expected(design: Design, users: Floats) -> tuple[Floats, Floats]:
    """The mean and the variance of each level's sum, a line for each number of users."""
    buckets, response = design.sample / LEVELS, design.response
    taken = -np.expm1(-users[:, None] * level_shares() / buckets)
    low, high = response.variance(0.0), response.variance(1.0)
    means = buckets * (response.mean + response.gap * taken)
    entries = low + (high - low) * taken
    meetings = response.gap**2 * taken * (1 - taken)
    return means, buckets * (entries + meetings) + design.sizing.noise.variance


def _taken(design: Design, sums: Integers) -> Union:
    """The part of all places that were taken, which is unbiased."""
    spread = design.sample * design.response.gap
    density = float(sums.sum() - design.sample * design.response.mean) / spread
    entries = design.response.variance(possible(density)) * design.sample / spread**2
    return Union(density, math.sqrt(entries + LEVELS * design.sizing.noise.variance / spread**2))
