"""Columns of whole and of real numbers."""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from understudy.facts.column.binned import BinnedBase, Ordinate
from understudy.facts.column.dtypes import REAL_TYPES, WHOLE_TYPES, most_exact, whole_bounds
from understudy.facts.column.notation import Notation, NumberNotation
from understudy.facts.column.steps import Steps, default_decimals

# More digits than a text of a number needs.
_MOST_DIGITS = 18

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


class NumberBase(BinnedBase):
    """The base of columns of whole and of real numbers: how numbers are written."""

    unit: str | None = None
    percent: bool = False
    accounting: bool = False
    decimal: str = "."
    thousands: str = ""

    @property
    def has_own_marks(self) -> bool:
        """Whether the column says itself how decimals and thousands are marked."""
        return self.decimal != "." or bool(self.thousands)

    def marked_as(self, decimal: str, thousands: str) -> Self:
        """The column with a file's marks, where it has a unit or sign and no marks of its own."""
        signed = self.unit is not None or self.percent or self.accounting
        if not signed or self.has_own_marks or (decimal, thousands) == (".", ""):
            return self
        marked = self.model_copy(update={"decimal": decimal, "thousands": thousands})
        # What was computed from the old marks is not copied.
        marked.__dict__.pop("notation", None)
        return marked

    @property
    def written_decimals(self) -> int | None:
        """How many decimals are written."""
        return None

    @property
    def written_digits(self) -> int:
        """How many digits are written at least."""
        return 0

    @cached_property
    def notation(self) -> Notation | None:
        """How numbers are written; None where Python would write them so."""
        marked = self.unit or self.percent or self.accounting or self.thousands
        if not marked and self.decimal == "." and not self.written_digits:
            return None
        return NumberNotation.of_unit(
            "#%" if self.percent else self.unit,
            decimal=self.decimal,
            thousands=self.thousands,
            accounting=self.accounting,
            decimals=self.written_decimals,
            digits=self.written_digits,
        )

    @model_validator(mode="after")
    def _check_notation(self) -> Self:
        if self.unit is not None and self.percent:
            raise ValueError('both unit and percent are given; keep one, as unit = "# %"')
        if self.unit is not None and not _is_unit(self.unit):
            raise ValueError(
                f"unit is {self.unit!r}; use a sign without digits, signs or blanks at its ends, "
                'perhaps with # where the number goes, as "# kg"'
            )
        signs = [self.decimal, *([self.thousands] if self.thousands else [])]
        if self.decimal not in (".", ",") or (self.thousands and self.thousands not in _GROUPING):
            raise ValueError(
                "decimal is . or , and thousands one of . , ' _ or a blank; correct the signs"
            )
        if len(set(signs)) < len(signs):
            raise ValueError("decimal and thousands are the same sign; correct one of them")
        return self


# What may stand between thousands: also a typographic quote, and blanks that no line ends at.
_GROUPING = (".", ",", "'", "\N{RIGHT SINGLE QUOTATION MARK}", "_", *" \u00a0\u202f")


def _is_unit(unit: str) -> bool:
    """Whether a unit can be told from the number that it goes with."""
    if unit.count("#") > 1:
        return False
    bare = unit.replace("#", "")
    return bool(bare.strip()) and not any(c.isdigit() or c in "+-().,'_" for c in bare)


class IntegerColumn(NumberBase):
    """A column of whole numbers."""

    kind: Literal["integer"] = "integer"
    step: Annotated[int, Field(ge=1, le=2**62)] | None = None
    digits: Annotated[int, Field(ge=1, le=_MOST_DIGITS)] | None = None
    min: Whole | None = None
    max: Whole
    edges: Annotated[tuple[Whole, ...] | None, Field(strict=False)] = None

    @property
    def written_digits(self) -> int:
        """How many digits are written at least: zeros come before shorter numbers."""
        return self.digits or 0

    @model_validator(mode="after")
    def _check_width(self) -> Self:
        if self.digits is not None and self.thousands:
            raise ValueError("both digits and thousands are given; keep one of them")
        if self.dtype in WHOLE_TYPES:
            least, most = whole_bounds(self.dtype)
            held = [*self.bounds, *self.marked_places] if self.has_nulls else [*self.bounds]
            if not all(least <= place <= most for place in held):
                raise ValueError(
                    f"dtype is {self.dtype}, which holds {least} to {most} and not all that the "
                    "bounds and markers allow; use a wider type"
                )
        if self.dtype in REAL_TYPES:
            most = most_exact(self.dtype)
            if any(abs(place) > most for place in (*self.bounds, *self.marked_places)):
                raise ValueError(
                    f"dtype is {self.dtype}, which tells whole numbers apart up to {most} only; "
                    "use a type of whole numbers"
                )
        return self

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


class FloatColumn(NumberBase):
    """A column of real numbers; without decimals or step, a hundredth of a bin is written."""

    kind: Literal["float"] = "float"
    decimals: Annotated[int, Field(ge=0, le=_MOST_DIGITS)] | None = None
    step: Annotated[Finite, Field(gt=0)] | None = None
    whole: ClassVar[bool] = False
    min: Finite | None = None
    max: Finite
    edges: Annotated[tuple[Finite, ...] | None, Field(strict=False)] = None

    @property
    def declared_steps(self) -> Steps | None:
        """The numbers with the declared decimals, or whole steps from the lower bound."""
        if self.decimals is not None:
            return Steps.of_decimals(self.decimals)
        if self.step is not None:
            return Steps.of_reals(self.step, float(self.bounds[0]))
        return None

    @cached_property
    def steps(self) -> Steps | None:
        """The numbers that are written, by declaration or by the public width of the bins."""
        if self.declared_steps is not None:
            return self.declared_steps
        digits = self.written_decimals
        return None if digits is None else Steps.of_decimals(digits)

    @property
    def written_decimals(self) -> int | None:
        """How many decimals are written."""
        if self.declared_steps is not None:
            return len(str(self.declared_steps.scale)) - 1
        low, high = (float(bound) for bound in self.bounds)
        edges = [*self.left_edges, high]
        # The last bin may be a single number.
        widths = [right - left for left, right in pairwise(edges) if right > left]
        return default_decimals(min(widths), low, high) if widths else None

    @model_validator(mode="after")
    def _check_decimals(self) -> Self:
        if self.decimals is not None and self.step is not None:
            raise ValueError("both decimals and step are given; keep one of them")
        if self.dtype == "decimal" and self.decimals is None:
            raise ValueError("dtype is decimal, which needs decimals; add decimals = 2")
        most = {"decimal": 1e15, "float32": 3e38, "Float32": 3e38}.get(self.dtype or "", math.inf)
        if any(abs(place) > most for place in (*self.bounds, *self.marked_places)):
            raise ValueError(
                f"dtype is {self.dtype}, which does not hold all that the bounds and markers "
                "allow; use float64"
            )
        return self

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
