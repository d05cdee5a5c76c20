"""Gaussian noise on sums over sampled rows: what private training of a network is made of.

Each row contributes an integer vector of bounded norm, computed from that row and released numbers
alone. A batch takes every row by its own coin, and the batch's sum gets discrete Gaussian noise.
Everything that leaves is integers, so floating point has no part in the noise.
Proof: docs/proofs/dpgan.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.composed_losses import (
    loss_epsilon,
    sampled_guess,
    sampled_interval,
)
from understudy.privacy.accounting.composition import Bound, tightest
from understudy.privacy.accounting.events import Event, ExactEvent, SampledGaussianEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Integers

# The largest norm of a contribution: fine against the cells of a gradient, small against 32 bits.
UNIT = 2**20
# Of floating point in the same row beside other rows: a thousandth of a contribution.
_WOBBLE = Fraction(UNIT, 2**10)
# Noise is this wide against the integers, so that it differs little from continuous noise.
_SIGMA_BITS = 36
# Logarithms of the least and largest noise that is looked at, against its sensitivity.
_LEAST, _LARGEST = math.log(2.0**-7), math.log(2.0**19)
_CLOSE_ENOUGH = 5e-4
# Claims are rounded up to a millionth, which must stay small against them.
_LEAST_EPSILON, _STEP = Fraction(1, 10**5), Fraction(1, 10**6)
_TRIALS = 20


class Contributions(Protocol):
    """Every row adds an integer vector of norm `UNIT` at most to a sum. Private."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    def total(self, rows: Integers) -> Integers:
        """The sum of the contributions of some rows."""

    def __sub__(self, other: Contributions) -> Integers:
        """How far the sums over all rows are apart."""


@dataclass(frozen=True)
class SampledGaussian:
    """Releases a noisy sum over rows that were each taken by a coin. Proof: docs/proofs/dpgan.md.

    Privacy: as continuous Gaussian noise under Poisson sampling, for one row added or removed, with
    an excess that `accounting.integer_excess` computes.

    Attributes:
        sigma_squared: of the noise on every cell, in the finer grid.
        finer: how many steps of that grid a unit of the contributions has.
        rate: the chance with which a row is taken.
        cells: the length of a contribution.
    """

    sigma_squared: Fraction
    finer: int
    rate: Fraction
    cells: int

    @classmethod
    def of_ratio(cls, ratio: Fraction, *, rate: Fraction, cells: int) -> SampledGaussian:
        """The mechanism whose noise is `ratio` times its sensitivity; 0 adds no noise."""
        if ratio == 0:
            return cls(Fraction(0), 1, rate, cells)
        finer = max(1, math.floor(Fraction(2**_SIGMA_BITS, UNIT) / ratio))
        return cls((ratio * _sensitivity(finer)) ** 2, finer, rate, cells)

    @property
    def event(self) -> Event:
        """The noise drawn and the coins tossed."""
        if self.sigma_squared == 0:
            return ExactEvent()
        return SampledGaussianEvent(
            self.sigma_squared, _sensitivity(self.finer) ** 2, self.rate, Fraction(self.cells)
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in units of the largest contribution."""
        return math.sqrt(self.sigma_squared) / (UNIT * self.finer)

    def release(self, exact: Contributions, noise: Noise) -> Integers:
        """The noisy sum of a fresh batch."""
        coins = noise.uniform(self.rate.denominator, exact.rows)
        total = exact.total(np.flatnonzero(coins < self.rate.numerator)) * self.finer
        if self.sigma_squared == 0:
            return total
        return np.asarray(total + noise.gaussian(self.sigma_squared, self.cells))

    def in_units(self, released: Integers) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """A release in units of the largest contribution."""
        return released / float(UNIT * self.finer)

    def covers(self, difference: Contributions | Integers) -> bool:
        """Whether sums over all rows, which are what differs, are within the sensitivity in L2."""
        assert isinstance(difference, np.ndarray)
        square = sum(int(cell) ** 2 for cell in difference if cell) * self.finer**2
        return self.sigma_squared == 0 or square <= _sensitivity(self.finer) ** 2


@dataclass(frozen=True)
class LineGaussian:
    """Releases every row's own vector with noise on it. Proof: docs/proofs/noise_gan.md.

    The exact answer has a line of integers for every row, each of norm `UNIT` at most.

    Privacy: Gaussian noise at a sensitivity of two contributions, for one replaced row.

    Attributes:
        sigma_squared: of the noise on every cell, in the finer grid.
        finer: how many steps of that grid a unit of the lines has.
        cells: of all lines together.
    """

    sigma_squared: Fraction
    finer: int
    cells: int

    @classmethod
    def of_ratio(cls, ratio: Fraction, *, cells: int) -> LineGaussian:
        """The mechanism whose noise is `ratio` times its sensitivity; 0 adds no noise."""
        if ratio == 0:
            return cls(Fraction(0), 1, cells)
        finer = max(1, math.floor(Fraction(2**_SIGMA_BITS, UNIT) / ratio))
        return cls((ratio * 2 * UNIT * finer) ** 2, finer, cells)

    @property
    def event(self) -> Event:
        """The event that this noise is accounted as."""
        if self.sigma_squared == 0:
            return ExactEvent()
        square = Fraction(2 * UNIT * self.finer) ** 2
        return SampledGaussianEvent(self.sigma_squared, square, Fraction(1), Fraction(self.cells))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in units of the largest line."""
        return math.sqrt(self.sigma_squared) / (UNIT * self.finer)

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """All lines, each cell with noise of its own."""
        if self.sigma_squared == 0:
            return exact * self.finer
        drawn = noise.gaussian(self.sigma_squared, exact.size).reshape(exact.shape)
        return np.asarray(exact * self.finer + drawn)

    def in_units(self, released: Integers) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """A release in units of the largest line."""
        return released / float(UNIT * self.finer)

    def covers(self, difference: Integers) -> bool:
        """Whether at most one line differs, and by two contributions at most."""
        changed = np.flatnonzero((difference != 0).any(axis=1))
        square = sum(int(cell) ** 2 for cell in difference[changed].ravel())
        return self.sigma_squared == 0 or (changed.size <= 1 and square <= (2 * UNIT) ** 2)


@dataclass(frozen=True)
class Schedule:
    """A public plan of training: a number of steps, each on a batch taken at this rate."""

    steps: int
    rate: Fraction
    cells: int

    def mechanism(self, ratio: Fraction) -> SampledGaussian:
        """The mechanism by which every step releases its sum."""
        return SampledGaussian.of_ratio(ratio, rate=self.rate, cells=self.cells)

    def bound(self, ratio: Fraction, delta: Fraction, *, steps: int | None = None) -> Bound:
        """Give the ε of the first steps, or of all of them."""
        event = self.mechanism(ratio).event
        times = self.steps if steps is None else steps
        return tightest([event] * times, delta=delta, announced=True)


def ratio_for(schedule: Schedule, budget: Budget) -> Fraction:
    """The least noise, against its sensitivity, at which a schedule stays within (ε, δ).

    Raises:
        UsageError: when ε is below what the schedule costs with the most noise there is.
    """
    if budget.measure is Measure.UNLIMITED:
        return Fraction(0)
    if budget.measure is not Measure.APPROXIMATE:
        raise UsageError("private training needs a delta above 0; give one, as 1e-6")
    return _ratio(schedule, budget.amount, budget.delta)


# Audits, tests and resumed runs ask for the same again.
@lru_cache(maxsize=256)
def _ratio(schedule: Schedule, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Near the least ratio by secants of ln ε over ln ratio, then up until the bound holds."""
    if epsilon < _LEAST_EPSILON:
        raise _too_little(schedule, epsilon)
    aim, times = math.log(float(epsilon)), schedule.steps

    def guessed(logarithm: float) -> float:
        event = schedule.mechanism(_short(math.exp(logarithm))).event
        return math.log(max(sampled_guess({event: times}, float(delta)), 1e-300)) - aim

    def computed(logarithm: float) -> float:
        event = schedule.mechanism(_short(math.exp(logarithm))).event
        interval = sampled_interval({event: times}, float(delta))
        found = loss_epsilon({event: times}, delta=float(delta), interval=interval)
        return math.log(min(max(found or 0.0, 1e-300), 1e300)) - aim

    ratio = math.exp(_root(computed, start=_root(guessed, start=0.0)))
    for _ in range(_TRIALS):
        found = schedule.bound(_short(ratio), delta).epsilon
        # A little below, since a bound is rounded up and the same noise may be put on other sums.
        if found is not None and found <= epsilon - _STEP:
            return _short(ratio)
        ratio *= 1 + _CLOSE_ENOUGH
    raise _too_little(schedule, epsilon)


def _too_little(schedule: Schedule, epsilon: Fraction) -> UsageError:
    return UsageError(
        f"epsilon {float(epsilon):g} is below what {schedule.steps:,} steps cost with the most "
        "noise that can be drawn; raise epsilon or delta, or train for fewer steps"
    )


def _root(function: Callable[[float], float], *, start: float) -> float:
    """Where a falling function of a logarithm crosses zero, or an end of the range."""
    place, value, slope = start, function(start), -1.0
    for _ in range(_TRIALS):
        step = min(max(-value / slope, -1.0), 1.0)
        before, place = place, min(max(place + step, _LEAST), _LARGEST)
        if abs(place - before) < _CLOSE_ENOUGH:
            break
        last, value = value, function(place)
        slope = min((value - last) / (place - before), -0.2)
    return place


def _short(ratio: float) -> Fraction:
    """A short fraction, not below the number and near to it."""
    return Fraction(math.ceil(ratio * 2**24), 2**24)


def _sensitivity(finer: int) -> Fraction:
    return (UNIT + _WOBBLE) * finer
