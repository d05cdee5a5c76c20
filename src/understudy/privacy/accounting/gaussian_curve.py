"""The Gaussian curve: what a run of Gaussian rounds on fine grids costs, however it adapts.

The rounds of a run are chosen one after the other, and so are their tables and scales, while the
sum of Δ²/σ² stays within a number that was fixed beforehand. Continuous noise then costs what one
Gaussian round of that sum does. Noise on a fine grid costs a little more: `excess`.
Proof: docs/proofs/gaussian_curve.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from understudy.privacy.accounting.conversions import (
    bisect,
    float_below,
    gaussian_delta,
    short_fraction_below,
)
from understudy.privacy.accounting.events import FINENESS

# The part of δ that is for what grids differ from continuous noise in.
_KEPT_BACK = 2.0**-10
# The proof needs the coarseness of a run to stay within this.
_COARSEST = 4 * _KEPT_BACK
# More than the errors of a few operations, in proportion.
_ROUNDED_UP = 1 + 2.0**-40


def excess(coarseness: float, epsilon: float, delta: float) -> float:
    """How much ε noise on grids may cost beyond continuous noise; infinite where not proved.

    The coarseness w is not below Σ moved/(finer·σ)². The excess is w/8 + η, where
    η·(6/w − 1) = ε + 3/4 + ln(2/κδ), when a part κ of δ is kept back.
    """
    if coarseness > _COARSEST:
        return math.inf
    if coarseness <= 0:
        return 0.0
    tail = epsilon + 0.75 + math.log(2 / (_KEPT_BACK * delta))
    return (coarseness / 8 + tail / (6 / coarseness - 1)) * _ROUNDED_UP


def is_within(rho: float, epsilon: float, delta: float, *, fineness: int = FINENESS) -> bool:
    """Whether Gaussian rounds that cost ρ in all are proved to be (ε, δ)-DP.

    Args:
        rho: the sum of Δ²/2σ².
        epsilon: what is to be kept within.
        delta: the same.
        fineness: how many squared steps of its grid each Δ² has at least, per moved cell.
    """
    continuous = epsilon - excess(2 * rho / fineness, epsilon, delta)
    return continuous >= 0 and gaussian_delta(rho, continuous) <= delta * (1 - _KEPT_BACK)


def curve_epsilon(rho: float, delta: float, *, fineness: int = FINENESS) -> float:
    """The smallest ε for which Gaussian rounds of ρ in all are (ε, δ)-DP, rounded up.

    Infinite where nothing is proved for so coarse a grid.
    """
    if rho <= 0:
        return 0.0
    if 2 * rho / fineness > _COARSEST:
        return math.inf
    high = 1.0
    while not is_within(rho, high, delta, fineness=fineness):
        high *= 2
    return bisect(lambda e: is_within(rho, e, delta, fineness=fineness), 0.0, high)[1]


def curve_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ that Gaussian rounds may cost within (ε, δ), rounded down."""
    if delta <= 0:
        return Fraction(0)
    return _curve_rho(float_below(epsilon), float_below(delta))


@lru_cache
def _curve_rho(epsilon: float, delta: float) -> Fraction:
    most = _COARSEST * FINENESS / 2
    found = bisect(lambda rho: not is_within(rho, epsilon, delta), 0.0, 2 * most)[0]
    return short_fraction_below(found)
