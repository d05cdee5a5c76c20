"""Attacks with a control: success on real rows beside success on rows that no fit has seen.

Source: Giomi, Boenisch, Wehmeyer, Tasnádi 2023 (Anonymeter), arXiv:2211.10459, section 5: the risk
is (r − c)/(1 − c) of the success rates r on real rows and c on control rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class ControlledAttack:
    """The success of guesses on real rows, and on rows that no fit has seen.

    Attributes:
        caption: what must be shown beside the numbers.
        guesses: that were made about either.
        real, control: the share of them that succeeded.
        error: the standard error of the difference.
        reason: why there is nothing, where there is nothing.

    Privacy: exact functions of real rows.
    """

    caption: ClassVar[str] = ""
    guesses: int = 0
    real: float | None = None
    control: float | None = None
    error: float | None = None
    reason: str | None = None

    @property
    def risk(self) -> float | None:
        """The part beyond chance, from 0 to 1: (real − control)/(1 − control)."""
        if self.real is None or self.control is None or self.control >= 1:
            return None
        return max(self.real - self.control, 0.0) / (1 - self.control)

    def document(self) -> dict[str, Any]:
        """Return the attack for JSON, with the caption that must be shown beside it."""
        return {
            "guesses": self.guesses,
            "real": self.real,
            "control": self.control,
            "error": self.error,
            "risk": self.risk,
            "reason": self.reason,
            "caption": self.caption,
        }


NO_CONTROL = "no held-out rows were given; chance is measured on them"
NO_ROWS = "there are no rows to attack"
