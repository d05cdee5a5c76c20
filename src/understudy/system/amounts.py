"""Amounts as numbers and texts that never promise too much: what is spent is rounded up.

An amount is a fraction. Written in few digits it becomes another number, and a promise must not
become smaller on the way: ε, δ and ρ that were spent or are promised are rounded up, and what is
left of a limit is rounded down. A floating-point number means the decimal that it is written as,
here as everywhere in this package, so that 0.3 is three tenths.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

_DIGITS = 6


def at_most(amount: Fraction) -> float:
    """The smallest floating-point number whose decimal is not below the amount.

    Example:
        >>> at_most(Fraction(3, 10)), at_most(Fraction(1, 3))
        (0.3, 0.33333333333333337)
    """
    near = float(amount)
    return near if _decimal(near) >= amount else math.nextafter(near, math.inf)


def at_least(amount: Fraction) -> float:
    """The largest floating-point number whose decimal is not above the amount."""
    near = float(amount)
    return near if _decimal(near) <= amount else math.nextafter(near, -math.inf)


def at_most_text(amount: Fraction | float, *, digits: int = _DIGITS) -> str:
    """Return the smallest decimal of n digits that is not below the amount.

    Example:
        >>> at_most_text(Fraction("1.0000049")), at_most_text(Fraction(1, 10**6))
        ('1.00001', '1e-06')
    """
    exact = _exact(amount)
    return (
        _text(exact, digits, math.ceil) if exact >= 0 else f"-{_text(-exact, digits, math.floor)}"
    )


def at_least_text(amount: Fraction | float, *, digits: int = _DIGITS) -> str:
    """Return the largest decimal of n digits that is not above the amount.

    Example:
        >>> at_least_text(Fraction("0.9999999"))
        '0.999999'
    """
    exact = _exact(amount)
    return (
        _text(exact, digits, math.floor) if exact >= 0 else f"-{_text(-exact, digits, math.ceil)}"
    )


def _exact(amount: Fraction | float) -> Fraction:
    return amount if isinstance(amount, Fraction) else _decimal(float(amount))


def _decimal(number: float) -> Fraction:
    """The number that a floating-point number is written as."""
    return Fraction(repr(number))


def _text(amount: Fraction, digits: int, rounded: Callable[[Fraction], int]) -> str:
    if amount == 0:
        return "0"
    power = _power(amount)
    count = rounded(amount / Fraction(10) ** (power + 1 - digits))
    if count == 10**digits:
        count, power = count // 10, power + 1
    return _written(str(count).rstrip("0"), power, digits)


def _power(amount: Fraction) -> int:
    """The largest power of ten that is not above the amount."""
    power = len(str(amount.numerator)) - len(str(amount.denominator))
    return power if Fraction(10) ** power <= amount else power - 1


def _written(figures: str, power: int, digits: int) -> str:
    """Figures before and after a point, or with an exponent, as `format(x, "g")` chooses."""
    if not -5 < power < digits:
        point = f".{figures[1:]}" if figures[1:] else ""
        return f"{figures[0]}{point}e{power:+03d}"
    if power < 0:
        return "0." + "0" * (-power - 1) + figures
    whole, rest = figures[: power + 1].ljust(power + 1, "0"), figures[power + 1 :]
    return f"{whole}.{rest}" if rest else whole
