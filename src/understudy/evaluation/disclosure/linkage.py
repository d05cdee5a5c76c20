"""Linkage by nearest neighbours: are two records of one person joined through the stand-in?

An attacker has two registers without a common key: one holds some columns of everybody, the other
the rest. For a record of the first the nearest synthetic rows by its columns are found, and
likewise for a record of the second. Two records are linked if they have a synthetic row in common.
The attack succeeds if it links both records of one real row. Held-out rows, which no fit has seen,
are linked by the dependence between columns alone; the risk is what is beyond that.

Source: Giomi, Boenisch, Wehmeyer, Tasnádi 2023 (Anonymeter), arXiv:2211.10459, section 4.2.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy.evaluation.disclosure.controlled import NO_CONTROL, NO_ROWS, ControlledAttack
from understudy.evaluation.disclosure.membership import lines_of
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats, Indices

GUESSES = 500
NEIGHBOURS = 10
_MOST_ROWS = 10_000
# Rows at the same distance are chosen among at random; real differences are larger than this.
_TIE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Linkage(ControlledAttack):
    """How often two records of one row are linked."""

    caption: ClassVar[str] = (
        "A guess succeeds if the columns that attackers know and all other columns of one person "
        f"lead to a common row among their {NEIGHBOURS} nearest synthetic rows. Success on "
        "held-out rows is due to columns that depend on each other; only what is beyond it is due "
        "to people being in the table. An attack that finds nothing does not show that there is "
        "nothing to find."
    )


def linkage(
    schema: Schema,
    *,
    known: Sequence[str],
    real: EvaluationTable,
    control: EvaluationTable | None,
    synthetic: EvaluationTable,
    seed: int = 0,
) -> Linkage:
    """Link the known columns of rows to all their others, for real and for held-out rows.

    Args:
        known: the columns of the first register; the second has all others.

    Privacy: exact functions of real rows.
    """
    others = [name for name in schema.learned if name not in known]
    if not others or not known:
        return Linkage(reason="attackers know all columns; there is nothing to link")
    if control is None:
        return Linkage(reason=NO_CONTROL)
    rows = min(real.rows, control.rows, GUESSES)
    if not rows or not synthetic.rows:
        return Linkage(reason=NO_ROWS)
    attack = _Linking(schema, (tuple(known), tuple(others)), at_most(synthetic, _MOST_ROWS, seed))
    generator = np.random.default_rng([seed, 61])
    ours, theirs = (attack.linked(at_most(s, rows, seed), generator) for s in (real, control))
    spread = ours.var() + theirs.var()
    return Linkage(
        guesses=rows,
        real=float(ours.mean()),
        control=float(theirs.mean()),
        error=math.sqrt(float(spread) / rows),
    )


@dataclass(frozen=True, repr=False, eq=False)
class _Linking:
    """Finds the synthetic rows that are nearest by either part of the columns."""

    schema: Schema
    parts: tuple[tuple[str, ...], tuple[str, ...]]
    synthetic: EvaluationTable

    def linked(self, sheet: EvaluationTable, generator: np.random.Generator) -> Floats:
        """For each row 1 if both of its records have a synthetic row in common, else 0."""
        first, second = (self._nearest(sheet, names, generator) for names in self.parts)
        common = (first[:, :, None] == second[:, None, :]).any(axis=(1, 2))
        return np.asarray(common, np.float64)

    def _nearest(
        self, sheet: EvaluationTable, names: Sequence[str], generator: np.random.Generator
    ) -> Indices:
        asked, held = (lines_of(s, self.schema, names) for s in (sheet, self.synthetic))
        apart = generator.random((sheet.rows, self.synthetic.rows)) * _TIE
        for own, line in zip(asked, held, strict=True):
            apart += np.minimum(np.abs(own[:, None] - line), 1.0)
        count = min(NEIGHBOURS, self.synthetic.rows)
        return np.argpartition(apart, count - 1, axis=1)[:, :count]
