"""From an attacker's evidence to a lower bound on ε.

If a method is (ε, δ)-private, P[T] ≤ e^ε·P′[T] + δ for every event T and either order of the two
tables. Half of the runs choose T, a threshold on the evidence; the other half, which had no part in
the choice, count how often it happens. Exact (Clopper–Pearson) intervals for the two chances, at
half of the error allowed each, give ε ≥ ln((P[T] − δ) / P′[T]).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.system.arrays import Probabilities

LogLikelihoodRatios = npt.NDArray[np.float64]

# A curve has at most so many points, and a choice of thresholds so many candidates.
_POINTS = 64
_CANDIDATES = 512


@dataclass(frozen=True)
class Curve:
    """The two errors of every threshold: calling the absent present, and the present absent."""

    false_positive: tuple[float, ...]
    false_negative: tuple[float, ...]

    def at(self, false_positive: float) -> float:
        """The second error beside a first one; between two thresholds the attacker tosses."""
        last = max(i for i, x in enumerate(self.false_positive) if x <= false_positive)
        return float(
            np.interp(false_positive, self.false_positive[last:], self.false_negative[last:])
        )


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """The lower bound on ε that a number of runs have shown.

    Attributes:
        epsilon: the lower bound; 0 when nothing was shown.
        threshold: the evidence from which on the attacker calls the person present, or up to
            which absent.
        calls: which of the two.
        likely: the chance of that call where it is right, at least.
        unlikely: the chance of it where it is wrong, at most.
        curve: the errors of all thresholds, by the runs that were counted.
    """

    epsilon: float
    threshold: float
    calls: str
    likely: float
    unlikely: float
    curve: Curve


def lower_bound(
    present: LogLikelihoodRatios, absent: LogLikelihoodRatios, *, delta: float, confidence: float
) -> LowerBound:
    """The lower bound on ε that holds with this confidence.

    Args:
        present: evidence for the person's presence, run by run on the table that has the person.
        absent: the same on the other table.
        delta: the δ of the claim.
        confidence: the chance, at least, that the bound is not due to luck.
    """
    _check(confidence, min(present.size, absent.size))
    chosen, counted = (present[::2], absent[::2]), (present[1::2], absent[1::2])
    sides = {"present": _Side(*chosen), "absent": _Side(-chosen[1], -chosen[0])}
    best = {name: side.best(delta, confidence) for name, side in sides.items()}
    calls = max(best, key=lambda name: best[name][1])
    threshold = best[calls][0]
    side = _Side(*counted) if calls == "present" else _Side(-counted[1], -counted[0])
    likely, unlikely = side.intervals(np.array([threshold]), confidence)
    epsilon = float(epsilon_of(likely, unlikely, delta)[0])
    signed = threshold if calls == "present" else -threshold
    return LowerBound(
        epsilon=epsilon,
        threshold=signed,
        calls=calls,
        likely=float(likely[0]),
        unlikely=float(unlikely[0]),
        curve=curve_of(*counted),
    )


def largest_provable(runs: int, *, delta: float, confidence: float) -> float:
    """The lower bound that an attacker who is always right would reach with this many runs."""
    _check(confidence, runs // 2)
    counted = np.array([runs // 2 // 2])
    likely, unlikely = (
        at_least(counted, counted, confidence),
        at_most(0 * counted, counted, confidence),
    )
    return float(epsilon_of(likely, unlikely, delta)[0])


def curve_of(present: LogLikelihoodRatios, absent: LogLikelihoodRatios) -> Curve:
    """The trade-off between the two errors, from calling nobody present to calling everybody."""
    every = _thinned(np.unique(np.concatenate([present, absent])), _POINTS)[::-1]
    thresholds = np.concatenate([[np.inf], every])
    # Infinite evidence is reached by no threshold but the first, which asks for more.
    positive = [0.0, *(float((absent >= t).mean()) for t in thresholds[1:])]
    negative = [1.0, *(float((present < t).mean()) for t in thresholds[1:])]
    return Curve(tuple(positive), tuple(negative))


def least_false_negative(false_positive: float, *, epsilon: float, delta: float) -> float:
    """The smallest second error that an (ε, δ)-private method leaves beside the first.

    Source: Kairouz, Oh, Viswanath 2015, Theorem 2.1.
    """
    first = 1 - delta - math.exp(epsilon) * false_positive
    second = math.exp(-epsilon) * (1 - delta - false_positive)
    return max(0.0, first, second)


@dataclass(frozen=True)
class _Side:
    """Evidence where a call is right, and where it is wrong; the call is made from a threshold."""

    right: LogLikelihoodRatios
    wrong: LogLikelihoodRatios

    def best(self, delta: float, confidence: float) -> tuple[float, float]:
        """The threshold of the largest bound, and that bound."""
        candidates = _thinned(np.unique(self.right), _CANDIDATES)
        bounds = epsilon_of(*self.intervals(candidates, confidence), delta)
        place = int(bounds.argmax())
        return float(candidates[place]), float(bounds[place])

    def intervals(
        self, thresholds: LogLikelihoodRatios, confidence: float
    ) -> tuple[Probabilities, Probabilities]:
        """The chances of the call: at least where it is right, at most where it is wrong."""
        right, wrong = (
            values.size - np.searchsorted(np.sort(values), thresholds, side="left")
            for values in (self.right, self.wrong)
        )
        sizes = (np.full_like(right, values.size) for values in (self.right, self.wrong))
        first, second = sizes
        return at_least(right, first, confidence), at_most(wrong, second, confidence)


def epsilon_of(likely: Probabilities, unlikely: Probabilities, delta: float) -> Probabilities:
    """The bound of an event of these chances: ln((P[T] − δ) / P′[T]), or 0."""
    excess = np.maximum(likely - delta, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(np.log(excess) - np.log(unlikely), 0.0))


def at_least(
    successes: npt.NDArray[np.int64], trials: npt.NDArray[np.int64], confidence: float
) -> Probabilities:
    """Clopper–Pearson from below, at half of the error allowed."""
    from scipy.special import betaincinv

    inside = betaincinv(np.maximum(successes, 1), trials - successes + 1, (1 - confidence) / 2)
    return np.where(successes == 0, 0.0, inside)


def at_most(
    successes: npt.NDArray[np.int64], trials: npt.NDArray[np.int64], confidence: float
) -> Probabilities:
    """Clopper–Pearson from above, at half of the error allowed."""
    from scipy.special import betaincinv

    failures = np.maximum(trials - successes, 1)
    inside = 1 - betaincinv(failures, successes + 1, (1 - confidence) / 2)
    return np.where(successes == trials, 1.0, inside)


def _thinned(values: LogLikelihoodRatios, most: int) -> LogLikelihoodRatios:
    """Pick a limited number of sorted values, evenly along them, the first and last included."""
    if values.size <= most:
        return values
    places = np.unique(np.linspace(0, values.size - 1, most).round().astype(int))
    return np.asarray(values[places])


def _check(confidence: float, runs: int) -> None:
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}; give a chance such as 0.99")
    if runs < 2:
        raise UsageError(f"{2 * runs} runs are too few; four are the least, thousands show more")
