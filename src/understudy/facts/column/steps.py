"""The values that a column writes: whole steps of a unit, such as tenths or quarters of an hour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

# A double tells whole numbers apart up to this one; beyond it steps would collide.
_MOST_PARTS = 2**53
# Powers of ten that a double holds exactly.
_MOST_DIGITS = 22
# A bin is divided into this number of values at least, where nobody declares decimals.
_PARTS_OF_A_BIN = 100


@dataclass(frozen=True)
class Steps:
    """Evenly spaced values: (origin + k × stride) / scale for every whole k.

    Attributes:
        origin: the numerator of one of the values.
        stride: how far numerators are apart.
        scale: the denominator, 1 or a power of ten.

    Example:
        >>> Steps.of_decimals(1).value(703)
        70.3
    """

    origin: int = 0
    stride: int = 1
    scale: int = 1

    @classmethod
    def of_decimals(cls, digits: int) -> Steps:
        """Return the numbers with this many decimals."""
        return cls(scale=10**digits)

    @classmethod
    def of_reals(cls, step: float, start: float) -> Steps:
        """The numbers that lie whole steps from a start, both as they are written."""
        digits = max(_decimals(step), _decimals(start))
        scale = 10**digits
        return cls(int(Decimal(repr(start)) * scale), int(Decimal(repr(step)) * scale), scale)

    def first_from(self, place: float) -> int:
        """Return the number of the first value at a place or above it."""
        number = math.ceil((Fraction(place) * self.scale - self.origin) / self.stride)
        # 0.05 as a double lies a little above 5/100, and is this value all the same.
        return number - 1 if self.value(number - 1) >= place else number

    def last_to(self, place: float) -> int:
        """Return the number of the last value at a place or below it."""
        number = math.floor((Fraction(place) * self.scale - self.origin) / self.stride)
        return number + 1 if self.value(number + 1) <= place else number

    def value(self, number: int) -> float:
        """Return a value by its number; the double that is nearest to it."""
        parts = self.origin + number * self.stride
        return parts if self.scale == 1 else parts / self.scale

    def tells_apart(self, low: float, high: float) -> bool:
        """Whether doubles between two bounds hold every value as it is written."""
        most = max(abs(Fraction(low)), abs(Fraction(high))) * self.scale
        return most < _MOST_PARTS and self.scale <= 10**_MOST_DIGITS


def _decimals(value: float) -> int:
    """How many decimals a number is written with."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    return max(0, -int(exponent))


def default_decimals(narrowest: float, low: float, high: float) -> int | None:
    """The decimals for bins of a public width: a hundredth of the narrowest; None where too many.

    Args:
        narrowest: the width of the narrowest bin.
        low: the lower bound of the column.
        high: the upper bound of the column.
    """
    if narrowest <= 0:
        return None
    digits = max(0, math.ceil(math.log10(_PARTS_OF_A_BIN) - math.log10(narrowest)))
    fits = digits <= _MOST_DIGITS and Steps.of_decimals(digits).tells_apart(low, high)
    return digits if fits else None
