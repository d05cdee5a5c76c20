"""Which ε is needed for an error: read off the curve of a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from understudy.errors import UsageError
from understudy.methods.planning.band import WAYS


@dataclass(frozen=True)
class Need:
    """The budgets from which on an error is reached, where the curve reaches it.

    Attributes:
        way: which distance, such as 3-way.
        error: what it may be at most.
        expected: ε from which on it is expected; None where no ε that was tried is enough.
        likely: ε from which on four of five tables should have it; None likewise.
        most: the largest ε that was tried.
    """

    way: str
    error: float
    expected: float | None
    likely: float | None
    most: float

    @property
    def sentence(self) -> str:
        """Say which ε is needed."""
        wanted = f"a {self.way} distance of at most {self.error:g}"
        if self.expected is None:
            return f"Even epsilon = {self.most:g} is not expected to give {wanted}."
        said = f"To expect {wanted}, take epsilon = {self.expected:.2g} or more"
        if self.likely is None:
            return f"{said}; epsilon = {self.most:g} is not enough to have it on most tables."
        return f"{said}; to have it on four of five tables, {self.likely:.2g} or more."

    def document(self) -> dict[str, Any]:
        """Make a JSON object of the need."""
        return {
            "way": self.way,
            "error": self.error,
            "expected_epsilon": self.expected,
            "likely_epsilon": self.likely,
        }


def check_need(error: float, way: str | None) -> None:
    """Refuse what no plan could answer, before anything is rehearsed."""
    if way is not None and way not in WAYS:
        raise UsageError(f"way is {way!r}; a distance is {', '.join(WAYS)}")
    if not 0 < error <= 1:
        raise UsageError(f"error is {error:g}; a distance is above 0 and at most 1")


def smallest_epsilon(curve: Sequence[tuple[float, float]], error: float) -> float | None:
    """The ε from which on a curve stays below an error, interpolated between logarithms.

    Rehearsals have noise, so that a curve may rise a little between two points; what counts is the
    last crossing.

    Args:
        curve: pairs of ε and distance, the smallest ε first.
        error: what the distance may be at most.

    Example:
        >>> round(smallest_epsilon([(0.1, 0.4), (1.0, 0.1), (10.0, 0.025)], 0.05), 2)
        3.16
    """
    if curve[-1][1] > error:
        return None
    above = [place for place, (_, distance) in enumerate(curve) if distance > error]
    if not above:
        return curve[0][0]
    (left, high), (right, low) = curve[above[-1]], curve[above[-1] + 1]
    part = (math.log(high) - math.log(error)) / (math.log(high) - math.log(max(low, 1e-12)))
    return float(left * (right / left) ** part)
