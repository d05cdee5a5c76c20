"""Declared constraints that rows break, in both tables.

Methods of this package keep every constraint. Real rows may break one, which shows that it is not
true of them; so may rows that other tools made.

Privacy: exact counts of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.constraints import Constraint
from understudy.facts.constraints.constraint import Box
from understudy.system.arrays import Array


@dataclass(frozen=True)
class Violation:
    """How many rows of either table break one constraint.

    Attributes:
        text: the constraint as it was declared. `words`: the same for people.
        real, synthetic: rows that break it. `of`: the rows that were looked at on either side.
    """

    text: str
    words: str
    real: int
    synthetic: int
    of: tuple[int, int]

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of real and synthetic rows that break it."""
        return self.real / max(self.of[0], 1), self.synthetic / max(self.of[1], 1)

    def document(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        return {
            "constraint": self.text,
            "real": self.real,
            "synthetic": self.synthetic,
            "shares": dict(zip(("real", "synthetic"), self.shares, strict=True)),
        }


def violations(comparison: Comparison) -> tuple[Violation, ...]:
    """Count the rows of both tables that break each declared constraint."""
    sheets = (comparison.real, comparison.synthetic)
    found = []
    for constraint in comparison.schema.constraints:
        real, synthetic = (int(_broken(sheet, constraint).sum()) for sheet in sheets)
        rows = (comparison.real.rows, comparison.synthetic.rows)
        words = constraint.words
        found.append(Violation(constraint.text, words, real=real, synthetic=synthetic, of=rows))
    return tuple(found)


def _broken(sheet: EvaluationTable, constraint: Constraint) -> Array:
    """Where all of the premise holds, and not all of what follows."""
    premise = _holds(sheet, constraint.premise, constraint)
    if constraint.conclusion is None:
        return premise
    return premise & ~_holds(sheet, constraint.conclusion, constraint)


def _holds(sheet: EvaluationTable, box: Box, constraint: Constraint) -> Array:
    held: Array = np.ones(sheet.rows, bool)
    for name, codes in box.items():
        allowed = np.array([bool(codes >> code & 1) for code in range(constraint.sizes[name])])
        held &= allowed[sheet.table.codes[name]]
    return held
