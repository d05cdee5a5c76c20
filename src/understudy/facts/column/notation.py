"""Numbers as people write them: signs of currencies, percent, thousands, brackets for minus."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

_PLACE = "#"
# Signs that are written before the number; all other units follow it, after a blank.
_BEFORE = "$£¥"
_SIGNS = {"-": "-", "\N{MINUS SIGN}": "-", "+": ""}
# As many digits as a double and 64 bits hold without a doubt.
_SURE_DIGITS = 15


class Notation(Protocol):
    """How a column's values are written as texts; each text is read by itself."""

    def plain(self, text: str) -> str:
        """Return the text in the usual notation; ValueError where it is not in this one."""


@dataclass(frozen=True, kw_only=True)
class NumberNotation:
    """How the numbers of a column are written; each text is read by itself.

    Attributes:
        before: what is written before the digits.
        after: what is written after them.
        decimal: the sign before the decimals.
        thousands: the sign between groups of three digits; none where it is empty.
        accounting: whether negative numbers are in brackets.
        decimals: how many decimals are written; as many as are needed where it is None.
        digits: how many digits whole numbers have at least, with zeros before them.

    Example:
        >>> NumberNotation.of_unit("$", decimals=2).written(-257.36)
        '-$257.36'
        >>> NumberNotation.of_unit("$").plain("-$257.36")
        '-257.36'
    """

    before: str = ""
    after: str = ""
    decimal: str = "."
    thousands: str = ""
    accounting: bool = False
    decimals: int | None = None
    digits: int = 0

    @classmethod
    def of_unit(
        cls,
        unit: str | None,
        *,
        decimal: str = ".",
        thousands: str = "",
        accounting: bool = False,
        decimals: int | None = None,
        digits: int = 0,
    ) -> NumberNotation:
        """Return the notation of a unit: `$`, `kg`, or `# €` with the number's place marked."""
        template = unit or _PLACE
        if _PLACE not in template:
            template = f"{template}#" if template in _BEFORE else f"# {template}"
        before, _, after = template.partition(_PLACE)
        return cls(
            before=before,
            after=after,
            decimal=decimal,
            thousands=thousands,
            accounting=accounting,
            decimals=decimals,
            digits=digits,
        )

    @property
    def usual(self) -> str:
        """The pattern of texts written as declared: without brackets, and with no other blanks."""
        grouped = rf"[0-9]{{1,3}}(?:{re.escape(self.thousands)}[0-9]{{3}}){{0,4}}"
        digits = rf"[0-9]{{1,{_SURE_DIGITS}}}"
        whole = rf"(?:{grouped}|{digits})" if self.thousands else digits
        before, after = (f"(?:{re.escape(u)})?" if u else "" for u in (self.before, self.after))
        return rf"^-?{before}{whole}(?:{re.escape(self.decimal)}{digits})?{after}$"

    def plain(self, text: str) -> str:
        """Return the text that Python reads as the number; other texts stay unreadable."""
        bare, negative = self._out_of_brackets(text.strip())
        sign, bare = _sign(bare)
        bare = self._without_unit(bare)
        second, bare = _sign(bare)
        if (negative and (sign or second)) or (sign and second) or bare[:1] in _SIGNS:
            raise ValueError
        return ("-" if negative else sign + second) + self._plain_digits(bare)

    def _out_of_brackets(self, text: str) -> tuple[str, bool]:
        if self.accounting and text.startswith("(") and text.endswith(")"):
            return text[1:-1].strip(), True
        return text, False

    def _without_unit(self, text: str) -> str:
        before, after = self.before.strip(), self.after.strip()
        return text.removeprefix(before).removesuffix(after).strip()

    def _plain_digits(self, text: str) -> str:
        whole, sign, decimals = text.partition(self.decimal)
        if self.thousands and self.thousands in whole:
            whole = _ungrouped(whole, self.thousands)
        if "." in whole or "." in decimals:
            raise ValueError
        return f"{whole}.{decimals}" if sign else whole

    def written(self, value: float) -> str:
        """Return a number as the column writes it."""
        whole, _, decimals = self._spelled(abs(value)).partition(".")
        if self.thousands:
            whole = _grouped(whole, self.thousands)
        text = whole + (self.decimal + decimals if decimals else "")
        text = f"{self.before}{text}{self.after}"
        if not value < 0:
            return text
        return f"({text})" if self.accounting else f"-{text}"

    def _spelled(self, size: float) -> str:
        if isinstance(size, int):
            return str(size).zfill(self.digits)
        rounded = "" if self.decimals is None else f"{size:.{self.decimals}f}"
        # A number that is not one of the written ones keeps all its digits, without an exponent.
        return rounded if rounded and float(rounded) == size else f"{Decimal(repr(size)):f}"


def _sign(text: str) -> tuple[str, str]:
    """Return the sign that a text begins with, and the rest of it."""
    if text[:1] in _SIGNS and text:
        return _SIGNS[text[0]], text[1:].strip()
    return "", text


def _ungrouped(whole: str, sign: str) -> str:
    """Return digits without the signs between thousands, which must be where they belong."""
    first, *groups = whole.split(sign)
    if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
        raise ValueError
    return first + "".join(groups)


def _grouped(whole: str, sign: str) -> str:
    return f"{int(whole):,}".replace(",", sign) if len(whole) > 3 else whole
