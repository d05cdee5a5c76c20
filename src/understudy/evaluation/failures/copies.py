"""Synthetic rows that equal a real row in every cell, beside what chance makes.

Rows of a table may be equal by chance. How often a real row has a twin among the other real rows
shows how often: rows drawn afresh from the same population have one as often.

Privacy: exact counts of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from understudy.evaluation.prediction.overlap import overlap
from understudy.evaluation.sheets import EvaluationTable


@dataclass(frozen=True)
class Copies:
    """How many synthetic rows equal a real one.

    Attributes:
        copied: synthetic rows that do. `rows`: all synthetic rows that were looked at.
        by_chance: how many would, if they were drawn afresh.
        is_more: whether that is more than chance makes, by four standard deviations.
    """

    copied: int
    rows: int
    by_chance: float
    is_more: bool

    @property
    def beyond_chance(self) -> float:
        """The share of synthetic rows that are copies, less that of chance; 0 within chance."""
        return max(self.copied - self.by_chance, 0.0) / self.rows if self.is_more else 0.0

    def document(self) -> dict[str, Any]:
        """Return the copies for JSON."""
        return {
            "copied": self.copied,
            "rows": self.rows,
            "by_chance": self.by_chance,
            "is_more": self.is_more,
        }


def copies(real: EvaluationTable, synthetic: EvaluationTable) -> Copies:
    """Count synthetic rows that are in the real table too."""
    found = overlap(real, synthetic)
    return Copies(found.shared, found.rows, found.by_chance, found.is_more)
