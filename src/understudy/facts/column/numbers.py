"""Columns of whole and of real numbers."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from understudy.facts.column.binned import BinnedBase, Ordinate

# Whole numbers beyond 64 bits are taken to the last one within; the last such double is below it.
LOWEST_WHOLE, HIGHEST_WHOLE = -(2**63), 2**63 - 1
HIGHEST_WHOLE_REAL = math.nextafter(2.0**63, 0)

# Far from the ends, so that the width of a bin is a number too.
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Whole = Annotated[int, Field(ge=-(2**62), le=2**62)]


def plain(text: str) -> str:
    """The text, unless it spells a number in a way that only Python knows."""
    if "_" in text or not text.isascii():
        raise ValueError
    return text


class IntegerColumn(BinnedBase):
    """A column of whole numbers."""

    kind: Literal["integer"] = "integer"
    min: Whole | None = None
    max: Whole
    edges: Annotated[tuple[Whole, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> int:
        """Return the number unchanged."""
        return int(value)

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> int:
        """Return the number unchanged."""
        return int(ordinate)

    @classmethod
    def place(cls, text: str) -> int:
        """The number itself; others are rounded down."""
        try:
            return max(LOWEST_WHOLE, min(int(plain(text)), HIGHEST_WHOLE))
        except ValueError:
            real = float(plain(text))
            return math.floor(max(min(real, HIGHEST_WHOLE_REAL), LOWEST_WHOLE))


class FloatColumn(BinnedBase):
    """A column of real numbers."""

    kind: Literal["float"] = "float"
    whole: ClassVar[bool] = False
    min: Finite | None = None
    max: Finite
    edges: Annotated[tuple[Finite, ...] | None, Field(strict=False)] = None

    @classmethod
    def ordinate(cls, value: Any) -> float:
        """Return the number unchanged."""
        return float(value)

    @classmethod
    def value_at(cls, ordinate: Ordinate) -> float:
        """Return the number unchanged."""
        return float(ordinate)

    @classmethod
    def place(cls, text: str) -> float:
        """Return the number unchanged."""
        return float(plain(text))
