"""Conversions between ρ and (ε, δ), each rounded to the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

# Not below what rounding takes from a logarithm of the normal law, in proportion.
_ROUNDING = 2.0**-44


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The δ at which ρ-zCDP implies (ε, δ)-DP: minimum over orders, every order being valid."""
    if rho <= 0:
        return 0.0
    low, high = 1 + 2.0**-40, (epsilon + 1) / (2 * rho) + 2
    for _ in range(200):
        order = (low + high) / 2
        slope = (2 * order - 1) * rho - epsilon + math.log1p(-1 / order)
        low, high = (order, high) if slope < 0 else (low, order)
    log_delta = (high - 1) * (high * rho - epsilon) + high * math.log1p(-1 / high)
    return math.exp(min(log_delta - math.log(high - 1), 0.0))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """The smallest ε for which ρ-zCDP implies (ε, δ)-DP, rounded up."""
    if rho <= 0:
        return 0.0
    highest = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return bisect(lambda epsilon: zcdp_delta(rho, epsilon) <= delta, 0.0, highest)[1]


@lru_cache
def largest_rho(epsilon: float, delta: float) -> Fraction:
    """The largest ρ-zCDP that implies (ε, δ)-DP, rounded down."""
    high = 1.0
    while zcdp_delta(high, epsilon) <= delta:
        high *= 2
    return short_fraction_below(bisect(lambda rho: zcdp_delta(rho, epsilon) > delta, 0.0, high)[0])


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """As `largest_rho`, for exact amounts, which are rounded down to floating-point numbers."""
    return largest_rho(float_below(epsilon), float_below(delta))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The δ of *continuous* Gaussian noise of total cost ρ, rounded up.

    With integer noise this is a forecast; `gaussian_curve` has what may be claimed.
    Source: Balle, Wang 2018, Theorem 8: Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), with μ² = 2ρ.
    """
    from scipy.special import log_ndtr

    if rho <= 0:
        return 0.0
    distance = math.sqrt(2 * rho)
    first = float(log_ndtr(distance / 2 - epsilon / distance))
    beyond = float(log_ndtr(-distance / 2 - epsilon / distance))
    # Logarithms are right to some units of their last places, of which they may lose many here.
    rounding = _ROUNDING * (1 + epsilon - first - beyond)
    share = min(-math.expm1(epsilon + beyond - first) + rounding, 1.0)
    return min(share * math.exp(first + rounding), 1.0)


def gaussian_rho(epsilon: float, delta: float) -> float:
    """The ρ that continuous Gaussian noise may spend within (ε, δ): half of NIST's f(ε, δ)."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2
    return bisect(lambda rho: gaussian_delta(rho, epsilon) > delta, 0.0, high)[0]


def bisect(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbouring floats around the point where a monotone condition turns true."""
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if above(middle) else (middle, high)
    return low, high


def float_below(value: Fraction) -> float:
    """The largest floating-point number not above the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def short_fraction_below(value: float) -> Fraction:
    """A short fraction not above the value, within one part in 2^30."""
    if value <= 0:
        return Fraction(0)
    scale = 30 - math.frexp(value)[1]
    return Fraction(math.floor(Fraction(value) * Fraction(2) ** scale)) / Fraction(2) ** scale
