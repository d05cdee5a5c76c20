"""Budgets: exact amounts of privacy loss in a named measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from understudy.errors import UsageError
from understudy.system.amounts import at_least_text, at_most_text

Amount = int | float | str | Fraction

# Below this the conversions would leave what floating point can hold.
_SMALLEST_DELTA = Fraction(1, 10**100)

# Exact amounts as they are written down; Python reads no integer of more than 4,300 digits.
_WRITTEN = re.compile(r"[0-9]{1,4300}(/[0-9]{1,4300})?")
_EXPONENT = re.compile(r"[eE][+-]?([0-9_]+)")
_MOST_EXPONENT_DIGITS = 3
_LONGEST_SHOWN = 60


class Measure(StrEnum):
    """How privacy loss is measured."""

    PURE = "pure"
    """ε-differential privacy."""

    ZCDP = "zCDP"
    """ρ-zero-concentrated differential privacy."""

    GAUSSIAN = "Gaussian curve"
    """ρ of Gaussian noise on fine grids alone, for which a tighter bound is proved."""

    APPROXIMATE = "approximate"
    """(ε, δ)-differential privacy."""

    UNLIMITED = "unlimited"
    """No privacy at all: for studies."""


def exact(amount: Amount, *, what: str = "budget") -> Fraction:
    """An amount as the fraction its decimal text says: 0.1 is one tenth.

    Example:
        >>> exact(0.1)
        Fraction(1, 10)
    """
    try:
        return _in_range(Fraction(_checked(repr(amount) if isinstance(amount, float) else amount)))
    except (ValueError, ZeroDivisionError, OverflowError):
        said = repr(amount)[:_LONGEST_SHOWN]
        raise UsageError(f"{what} is {said}; give a finite number such as 1 or 0.5") from None


def exactly(text: object) -> Fraction:
    """The fraction that was written down as a text, such as 7/10; ValueError for anything else.

    Example:
        >>> exactly("7/10")
        Fraction(7, 10)
    """
    if not isinstance(text, str) or not _WRITTEN.fullmatch(text):
        raise ValueError("no fraction")
    return _in_range(Fraction(text))


def _checked(amount: int | str | Fraction) -> int | str | Fraction:
    """The amount, unless its exponent alone would take all memory to write out."""
    found = _EXPONENT.search(amount) if isinstance(amount, str) else None
    if found and len(found[1].lstrip("0")) > _MOST_EXPONENT_DIGITS:
        raise OverflowError
    return amount


def _in_range(value: Fraction) -> Fraction:
    """The value, if it has a floating-point number beside it; OverflowError otherwise."""
    float(value)
    return value


@dataclass(frozen=True)
class Budget:
    """An exact amount of privacy loss; splitting it neither loses nor invents any.

    Example:
        >>> structure, tables = Budget.pure(1).split([3, 7])
        >>> structure.amount, tables.amount
        (Fraction(3, 10), Fraction(7, 10))
    """

    measure: Measure
    amount: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not isinstance(self.measure, Measure):
            raise UsageError(
                f"{self.measure!r} is not a measure of privacy loss; use "
                "Budget.approximate(epsilon, delta)"
            )
        if self.amount < 0 or not 0 <= self.delta < 1:
            raise UsageError(
                f"budget ({float(self.amount):g}, {float(self.delta):g}) is not possible; epsilon "
                "is positive, delta below 1"
            )

    @classmethod
    def pure(cls, epsilon: Amount) -> Budget:
        """ε of pure differential privacy."""
        return cls(Measure.PURE, exact(epsilon, what="epsilon"))

    @classmethod
    def zcdp(cls, rho: Amount) -> Budget:
        """ρ of zero-concentrated differential privacy."""
        return cls(Measure.ZCDP, exact(rho, what="rho"))

    @classmethod
    def gaussian(cls, rho: Amount) -> Budget:
        """ρ that pays for Gaussian noise on fine grids alone."""
        return cls(Measure.GAUSSIAN, exact(rho, what="rho"))

    @classmethod
    def approximate(cls, epsilon: Amount, delta: Amount) -> Budget:
        """(ε, δ); with δ = 0 this is pure ε."""
        chance = exact(delta, what="delta")
        if chance == 0:
            return cls.pure(epsilon)
        if 0 < chance < _SMALLEST_DELTA:
            raise UsageError(f"delta is {delta}; use 0, or at least {float(_SMALLEST_DELTA):g}")
        return cls(Measure.APPROXIMATE, exact(epsilon, what="epsilon"), chance)

    @classmethod
    def unlimited(cls) -> Budget:
        """No limit and no noise: for studies on public data, marked as not private."""
        return cls(Measure.UNLIMITED, Fraction(0))

    def split(self, weights: Sequence[Fraction | int]) -> list[Budget]:
        """Parts in proportion to the weights, adding up to exactly the whole."""
        whole = sum(weights, Fraction(0))
        if whole <= 0 or min(weights) < 0:
            raise UsageError("a budget is split by weights that are not negative and not all zero")
        return [self * (Fraction(weight) / whole) for weight in weights]

    def __mul__(self, share: Fraction | int) -> Budget:
        return replace(self, amount=self.amount * share, delta=self.delta * share)

    def __repr__(self) -> str:
        amounts = [self.amount, *([self.delta] if self.delta else [])]
        return f"Budget({self.measure.value}: {', '.join(map(str, amounts))})"

    def __str__(self) -> str:
        return self._in_words(at_most_text)

    @property
    def as_remainder(self) -> str:
        """The budget in words where it is what is left: rounded down, not up."""
        return self._in_words(at_least_text)

    def _in_words(self, text: Callable[[Fraction], str]) -> str:
        match self.measure:
            case Measure.PURE:
                return f"epsilon = {text(self.amount)}"
            case Measure.ZCDP | Measure.GAUSSIAN:
                return f"rho = {text(self.amount)}"
            case Measure.APPROXIMATE:
                return f"epsilon = {text(self.amount)}, delta = {text(self.delta)}"
            case _:
                return "unlimited"
