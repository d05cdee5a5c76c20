"""A forecast distance: what to expect, and the ranges into which real tables fall.

A rehearsal knows the noise and not the data. How far real tables were from their forecasts is known
from public ones (`python -m benchmarks plan`), and that experience makes the ranges.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WAYS = ("1-way", "2-way", "3-way")
# Keeps the logarithm of a distance that came out as nothing.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Experience:
    """How distances of public tables were off their forecasts, as natural logarithms.

    Attributes:
        shift: the mean of measured over rehearsed.
        scatter: the standard deviation around it, beyond that of rehearsals among themselves.
    """

    shift: float
    scatter: float


Experiences = tuple[Experience, Experience, Experience]

# Public tables are few, so that less scatter than this is not believed.
LEAST_SCATTER = 0.1
# Of 1-, 2- and 3-way distances. The record of the benchmark says the same, and a test compares.
EXPERIENCE: dict[str, Experiences] = {
    "adaptive": (Experience(-0.07, 0.18), Experience(0.02, 0.15), Experience(0.03, 0.1)),
    "nist": (Experience(0.07, 0.35), Experience(0.26, 0.23), Experience(0.2, 0.1)),
    "privbayes": (Experience(0.05, 0.11), Experience(0.36, 0.56), Experience(0.33, 0.49)),
    "independent": (Experience(0.02, 0.1), Experience(0.59, 1.02), Experience(0.49, 0.89)),
}


def experience_of(method: str) -> Experiences:
    """The experience with a method, or, without any, the widest that there is."""
    known = EXPERIENCE.get(method)
    if known is not None:
        return known
    first, second, third = (
        Experience(0.0, max(e.scatter + abs(e.shift) for e in way))
        for way in zip(*EXPERIENCE.values(), strict=True)
    )
    return first, second, third


# Of a normal law: four of five draws are within the first, nineteen of twenty within the second.
_FOUR_OF_FIVE, _NINETEEN_OF_TWENTY = 1.2816, 1.96


@dataclass(frozen=True)
class Band:
    """A forecast of a distance.

    Attributes:
        rehearsed: the geometric mean over rehearsals.
        apart: the standard deviation of rehearsals among themselves, as natural logarithms.
        experience: how far public tables were off.
    """

    rehearsed: float
    apart: float
    experience: Experience

    @classmethod
    def of(cls, distances: Sequence[float | None], experience: Experience) -> Band | None:
        """The band of what was rehearsed; None where nothing could be."""
        found = [math.log(max(each, _NOTHING)) for each in distances if each is not None]
        if not found:
            return None
        return cls(math.exp(statistics.fmean(found)), statistics.pstdev(found), experience)

    @property
    def expected(self) -> float:
        """Return the expected distance, after experience."""
        return self._at(0)

    @property
    def likely(self) -> tuple[float, float]:
        """Between these, four of five tables should lie."""
        return self._at(-_FOUR_OF_FIVE), self._at(_FOUR_OF_FIVE)

    @property
    def nearly_sure(self) -> tuple[float, float]:
        """Between these, nineteen of twenty tables should lie."""
        return self._at(-_NINETEEN_OF_TWENTY), self._at(_NINETEEN_OF_TWENTY)

    def _at(self, steps: float) -> float:
        """Some standard deviations from the expected distance; a distance is at most 1."""
        spread = math.hypot(self.experience.scatter, self.apart)
        return min(self.rehearsed * math.exp(self.experience.shift + steps * spread), 1.0)

    def document(self) -> dict[str, float]:
        """Make a JSON object of the band."""
        (low, high), (lowest, highest) = self.likely, self.nearly_sure
        return {
            "expected": self.expected,
            "low": low,
            "high": high,
            "lowest": lowest,
            "highest": highest,
        }
