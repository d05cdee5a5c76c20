"""Days and moments as people write them: a format such as `%d.%m.%Y`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

# The parts of a format that Python reads and Arrow writes alike, wherever the machine stands.
_PARTS = "dmYyHMSzbBj%"
_DAY = ({"d", "m"}, {"d", "b"}, {"d", "B"}, {"j"})
# Years that two digits stand for.
TWO_DIGIT_YEARS = (1969, 2068)


@dataclass(frozen=True)
class MomentNotation:
    """A format of days or moments, in the letters of `strftime`; each text is read by itself.

    Attributes:
        format: the format.
        days: whether the column holds days.

    Example:
        >>> MomentNotation("%d.%m.%Y", days=True).plain("18.04.2021")
        '2021-04-18'
    """

    format: str
    days: bool

    def plain(self, text: str) -> str:
        """Return the text as ISO 8601 writes it; ValueError where it is not in the format."""
        if not text.isascii():
            raise ValueError
        read = datetime.strptime(text.strip(), self.format)
        return read.date().isoformat() if self.days else read.isoformat()

    @property
    def parts(self) -> set[str]:
        """Return the letters of the format's parts."""
        return set(re.findall(r"%(.)", self.format, re.DOTALL))

    @property
    def resolution(self) -> int | None:
        """How many seconds apart the moments are that the format can write; None: not even days."""
        parts = self.parts
        if not parts & {"Y", "y"} or not any(day <= parts for day in _DAY):
            return None
        finest, reached = 86400, "H"
        for letter, seconds in (("H", 3600), ("M", 60), ("S", 1)):
            if letter not in parts:
                break
            finest, reached = seconds, letter
        beyond = "HMS"["HMS".index(reached) + 1 :] if "H" in parts else "HMS"
        return None if parts & set(beyond) else finest


def check_format(notation: MomentNotation, years: tuple[int, int]) -> None:
    """Refuse a format that machines read differently, or that some values are lost in.

    Args:
        notation: the format.
        years: those of the column's bounds.
    """
    shown = f"format is {notation.format!r}"
    strange = sorted(notation.parts - set(_PARTS))
    if strange or notation.format.endswith("%") != notation.format.endswith("%%"):
        raise ValueError(f"{shown}; use the parts {', '.join('%' + part for part in _PARTS)}")
    if not notation.format.isascii():
        raise ValueError(f"{shown}, with letters that are not ASCII; use others")
    if notation.resolution is None:
        raise ValueError(f"{shown}, which does not say year and day; add %Y, %m and %d")
    low, high = TWO_DIGIT_YEARS
    if "Y" not in notation.parts and not low <= years[0] <= years[1] <= high:
        raise ValueError(f"{shown}, and %y means {low} to {high}; use %Y, or bounds within")
    if notation.days and notation.resolution < 86400:
        raise ValueError(f'{shown}, with hours; use kind = "datetime", or leave them out')
