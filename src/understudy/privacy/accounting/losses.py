"""Privacy losses of single events on a grid, and a bound on ε for many together.

Chances of losses are convolved by Fourier transforms, whose errors are about 10⁻¹⁵ of everything,
and a small δ is less than that. So chances are first tilted by exp(θ·loss): then the losses that
decide δ are the likely ones, errors shrink with δ, and a bound on them is added.
Proof: docs/proofs/privacy_loss_distribution.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from understudy.system.arrays import Floats, Integers

# Parts of a chance that windows and single events may leave out, at a cost: exp(−this).
_MISSED = 18.0
_NEGLIGIBLE = 60.0
# Errors of a transform against its length: units of 2⁻⁵³ for each binary digit.
_UNITS = 32
_UNIT = 2.0**-53
# What a chance of a single loss, and its share of all exponents, may be off by.
_ROUNDING = 2.0**-38
# Longer transforms take gigabytes; with larger errors the products of errors would count too.
_LONGEST = 2**24
_LARGEST_ERROR = 2.0**-10


@dataclass(frozen=True, eq=False)
class Losses:
    """The privacy loss of one event on a grid, or one that is worse.

    Attributes:
        steps: losses that are possible, in steps of the grid; one may occur twice.
        chances: of each.
        infinite: the chance of a loss without bound.
    """

    steps: Integers
    chances: Floats
    infinite: float

    @classmethod
    def on_grid(cls, losses: Floats, chances: Floats, infinite: float, interval: float) -> Losses:
        """Each loss split between the points around it, so that both tables keep their chances.

        A loss is raised by more than the rounding errors of its own computation.
        """
        scaled = losses / interval
        scaled += np.abs(scaled) * 2.0**-48
        below = np.floor(scaled)
        upper = chances * (np.expm1((below - scaled) * interval) / math.expm1(-interval))
        points = below.astype(np.int64)
        return cls._of(np.r_[points, points + 1], np.r_[chances - upper, upper], infinite)

    @classmethod
    def _of(cls, steps: Integers, chances: Floats, infinite: float) -> Losses:
        """Merge equal losses where that makes the list shorter."""
        least, most = int(steps.min()), int(steps.max())
        if most - least < steps.size:
            chances = np.asarray(np.bincount(steps - least, chances), np.float64)
            steps = np.arange(least, most + 1)
        kept = chances > 0
        return cls(steps[kept], chances[kept], infinite)


def gaussian_losses(sigma_squared: Fraction, interval: float, delta: float) -> Losses:
    """Losses of discrete Gaussian noise on one cell that moves by one: (1 − 2z) / 2σ² at z.

    Beyond T there is a chance of at most exp(−T²/2σ²) on either side, by the proof.
    """
    square = float(sigma_squared)
    reach = math.ceil(math.sqrt(2 * square * (_NEGLIGIBLE - math.log(delta)))) + 1
    noise = np.arange(-reach, reach + 1, dtype=np.float64)
    weights = np.exp(-(noise**2) / (2 * square))
    losses = (1 - 2 * noise) / (2 * square)
    beyond = math.exp(-(reach**2) / (2 * square))
    chances = weights / weights.sum()
    chances[-1] += beyond
    return Losses.on_grid(losses, chances, beyond, interval)


def stated_losses(epsilon: Fraction, delta: Fraction, interval: float) -> Losses:
    """Losses of randomised response with an (ε, δ), which is the worst case of that (ε, δ)."""
    loss = math.nextafter(float(epsilon), math.inf)
    likely = 1 / (1 + math.exp(-loss))
    chances = np.array([1 - likely, likely]) * (1 - float(delta))
    infinite = math.nextafter(float(delta), 1) if delta else 0.0
    return Losses.on_grid(np.array([-loss, loss]), chances, infinite, interval)


def losses_of(distribution: Any) -> tuple[Losses, Losses]:
    """Both directions of a distribution of dp-accounting's that is on a grid already."""
    found = []
    for function in (distribution._pmf_remove, distribution._pmf_add):
        dense = function.to_dense_pmf()
        chances = np.asarray(dense._probs, np.float64)
        steps = np.arange(chances.size) + int(dense._lower_loss)
        found.append(Losses._of(steps, chances, float(dense._infinity_mass)))
    return found[0], found[1]


@dataclass(frozen=True)
class Series:
    """Many independent losses: which, and how often each, on one grid."""

    parts: Sequence[tuple[Losses, int]]
    interval: float

    def epsilon(self, delta: float) -> float:
        """An ε at which the series is (ε, δ)-DP; infinite when none is found."""
        left = delta - sum(times * part.infinite for part, times in self.parts)
        if left <= 0:
            return math.inf
        tilt = self._best_tilt(math.log(left))
        try:
            tilted = Tilted.of(self, tilt, left)
        except _OutOfReach:
            return math.inf
        return _least(lambda epsilon: tilted.delta(epsilon) <= left, *tilted.ends)

    def cumulant(self, tilt: float) -> float:
        """K(θ) = Σ ln E exp(θ·loss) over all losses that are finite."""
        return sum(times * self._logarithm(part, tilt) for part, times in self.parts)

    def variance(self, tilt: float) -> float:
        """Return the variance of the sum, tilted."""
        total = 0.0
        for part, times in self.parts:
            chances, losses = self.tilted(part, tilt), part.steps * self.interval
            total += times * float(chances @ (losses - chances @ losses) ** 2)
        return total

    def tilted(self, part: Losses, tilt: float) -> Floats:
        """Chances in proportion to chance · exp(θ·loss); they add up to one."""
        exponents = tilt * self.interval * part.steps
        weights = part.chances * np.exp(exponents - exponents.max())
        return np.asarray(weights / weights.sum())

    def _logarithm(self, part: Losses, tilt: float) -> float:
        exponents = tilt * self.interval * part.steps
        most = float(exponents.max())
        return most + math.log(float(part.chances @ np.exp(exponents - most)))

    def _best_tilt(self, log_delta: float) -> float:
        """About the θ whose Chernoff bound on ε is least; any θ above 0 is valid."""
        from scipy.optimize import minimize_scalar

        def bound(log_tilt: float) -> float:
            tilt = math.exp(log_tilt)
            # The largest value of exp(−θy)·(1 − exp(−y)) is θ^θ / (1 + θ)^(1 + θ).
            share = tilt * log_tilt - (1 + tilt) * math.log1p(tilt)
            return (self.cumulant(tilt) + share - log_delta) / tilt

        found = minimize_scalar(
            bound, bounds=(-7.0, 20.0), method="bounded", options={"xatol": 0.02}
        )
        return math.exp(float(found.x))


class _OutOfReach(Exception):
    """The transform would take too much memory, or its errors would be too large to bound."""


@dataclass(frozen=True, eq=False)
class Tilted:
    """The sum of a series, tilted, over a window that misses next to nothing of it.

    Attributes:
        losses: of the window, rising.
        chances: tilted ones, not below the true ones but for `error`.
        factors: what an untilted chance is to the tilted one, exp(K(θ) − θ·loss).
        error: not below the Euclidean norm of all errors of the chances.
        missed: not below the untilted chance of losses above the window.
        rounding: not below what all of it is off by in proportion.
    """

    losses: Floats
    chances: Floats
    factors: Floats
    error: float
    missed: float
    rounding: float

    @classmethod
    def of(cls, series: Series, tilt: float, left: float) -> Tilted:
        """The window, its chances by fast transforms, and bounds on their errors.

        Args:
            series: what is added up.
            tilt: θ, above 0; the nearer ε is to the mean of the tilted sum, the tighter.
            left: the δ that finite losses may have.
        """
        low = _lowest(series, tilt)
        high, missed = _highest(series, tilt, left)
        # Twice as long as it need be, so that what goes round an end falls where it does not count.
        bits = (2 * max(high - low, 0) + 1).bit_length()
        if 1 << bits > _LONGEST:
            raise _OutOfReach
        parts = [(series.tilted(part, tilt), part.steps, times) for part, times in series.parts]
        chances = np.roll(_convolved(parts, 1 << bits), -(low % (1 << bits)))
        losses = np.arange(low, low + (1 << bits)).astype(np.float64) * series.interval
        cumulant, exponents = series.cumulant(tilt), tilt * losses
        return cls(
            losses=losses,
            chances=np.maximum(chances, 0.0),
            # More than exp(500) is more than any δ.
            factors=np.exp(np.minimum(cumulant - exponents, 500.0)),
            error=_error(parts, bits),
            missed=missed(float(losses[-1])),
            rounding=_rounding(parts, max(abs(cumulant), float(np.abs(exponents).max()))),
        )

    @property
    def ends(self) -> tuple[float, float]:
        """Between which ε `delta` is a bound: not below the window, and not below zero."""
        return max(float(self.losses[0]), 0.0), float(self.losses[-1])

    def delta(self, epsilon: float) -> float:
        """Not below Σ chance · (1 − exp(ε − loss)) over losses above an ε within the window."""
        first = int(np.searchsorted(self.losses, epsilon, side="right"))
        shares = -np.expm1(epsilon - self.losses[first:]) * self.factors[first:]
        found = float(shares @ self.chances[first:]) + self.error * float(np.linalg.norm(shares))
        return found * (1 + self.rounding) + self.missed


def _lowest(series: Series, tilt: float) -> int:
    """A step below which the tilted sum lies with next to no chance.

    Source: Chernoff's bound, P(X ≤ x) ≤ exp(K(θ − s) − K(θ) + s·x), for any s above 0.
    """
    low = sum(times * int(part.steps.min()) for part, times in series.parts)
    spread = math.sqrt(series.variance(tilt)) or series.interval
    for factor in (1.0, 3.0, 6.0):
        s = factor / spread
        below = (series.cumulant(tilt) - series.cumulant(tilt - s) - _MISSED) / s
        low = max(low, math.floor(below / series.interval) - 1)
    return low


def _highest(series: Series, tilt: float, left: float) -> tuple[int, Callable[[float], float]]:
    """A step above which the sum lies with next to no chance against a δ, and a bound on that.

    Source: Chernoff's bound again, P(X > x) ≤ exp(K(t) − t·x), for any t above 0.
    """
    tried = [tilt * factor for factor in (0.6, 0.8, 1.0, 1.25, 1.6, 2.0, 3.0)]
    cumulants = [series.cumulant(t) for t in tried]
    exponents = list(zip(tried, cumulants, strict=True))
    enough = min((k + _MISSED - math.log(left)) / t for t, k in exponents)
    most = sum(times * int(part.steps.max()) for part, times in series.parts)
    high = min(most, math.ceil(enough / series.interval) + 1)
    return high, lambda x: math.exp(min(0.0, *(k - t * x for t, k in exponents)))


def _convolved(parts: Sequence[tuple[Floats, Integers, int]], length: int) -> Floats:
    """The chances of the sum, modulo the length, by transforms and their powers."""
    from scipy import fft

    product: Any = 1.0
    for chances, steps, times in parts:
        placed = np.bincount(steps % length, chances, minlength=length)
        product = product * _power(fft.rfft(placed), times)
    return np.asarray(fft.irfft(product, length))


def _power(base: Any, times: int) -> Any:
    """A power by squaring, so that each multiplication's error is known."""
    result: Any = None
    while times:
        if times & 1:
            result = base if result is None else result * base
        times >>= 1
        if times:
            base = base * base
    return result


def _error(parts: Sequence[tuple[Floats, Integers, int]], bits: int) -> float:
    """Not below the Euclidean distance of computed chances from true ones."""
    transform = _UNITS * _UNIT * bits
    length, count = 1 << bits, sum(times for _, _, times in parts)
    norms = 0.0
    for chances, steps, times in parts:
        placed = np.bincount(steps % length, chances, minlength=length)
        norms += times * float(np.linalg.norm(placed))
    grown = math.exp(min(transform * math.sqrt(length) * norms, 700.0))
    found = 2 * grown * (transform * (norms + 1) + 3 * _UNIT * (count + len(parts)))
    if found > _LARGEST_ERROR:
        raise _OutOfReach
    return found


def _rounding(parts: Sequence[tuple[Floats, Integers, int]], exponent: float) -> float:
    """Not below what chances, and the factors that untilt them, are off by in proportion."""
    return _ROUNDING * (1 + sum(times for _, _, times in parts)) + 16 * _UNIT * exponent


def _least(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Near the least ε between two that is enough, never below it; infinite when none is."""
    if enough(low):
        return low
    if high <= low or not enough(high):
        return math.inf
    while high - low > 1e-8 * max(high, 1e-3):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
