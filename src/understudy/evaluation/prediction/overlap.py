"""Whether held-out rows were really held out.

Rows of a table may be equal by chance, so equality alone proves nothing. Real rows with a twin
among the other real rows show how often chance makes twins; held-out rows that were drawn by
themselves have one about as often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.sheets import EvaluationTable
from understudy.system.arrays import Words

# Standard deviations beyond which twins are more than chance makes.
_BEYOND = 4.0
# Of a chance never seen in n rows, 3/n is the upper end of a 95 % interval.
_UNSEEN = 3
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Overlap:
    """How many held-out rows are in the real table too.

    Attributes:
        shared: held-out rows that equal a real one. `rows`: held-out rows in all.
        by_chance: how many would, if they were drawn by themselves.
        is_more: whether that is more than chance makes.
    """

    shared: int
    rows: int
    by_chance: float
    is_more: bool

    @property
    def warning(self) -> str | None:
        """Return a warning for the reader, if there is one."""
        if not self.is_more:
            return None
        return (
            f"{self.shared:,} of {self.rows:,} held-out rows are in the real table too, where "
            f"chance makes about {self.by_chance:,.0f}: scores on them are too optimistic for "
            "every model; hold "
            "out rows that the fit has not seen"
        )

    def document(self) -> dict[str, Any]:
        """Return the overlap for JSON."""
        return {
            "shared": self.shared,
            "rows": self.rows,
            "by_chance": self.by_chance,
            "is_more": self.is_more,
        }


def overlap(real: EvaluationTable, held_out: EvaluationTable) -> Overlap:
    """Held-out rows that equal real ones, beside what chance makes.

    Privacy: exact counts of real rows.
    """
    if not real.rows or not held_out.rows:
        return Overlap(0, held_out.rows, 0.0, is_more=False)
    ours, theirs = names(real), names(held_out)
    known, times = np.unique(ours, return_counts=True)
    shared = int(np.isin(theirs, known).sum())
    twins = int(times[times > 1].sum())
    chance = twins / real.rows
    most = min(1.0, (twins + _UNSEEN) / real.rows) * held_out.rows
    spread = math.sqrt(most * max(0.0, 1 - most / held_out.rows))
    same = ours.size == theirs.size and bool((np.sort(ours) == np.sort(theirs)).all())
    more = same or shared > most + _BEYOND * spread
    return Overlap(shared, held_out.rows, chance * held_out.rows, is_more=more)


def names(sheet: EvaluationTable) -> Words:
    """A number for each row, the same for equal rows and, all but certainly, for no others."""
    mixed = np.zeros(sheet.rows, np.uint64)
    for name, codes in sheet.table.codes.items():
        mixed = _mixed(mixed, codes.astype(np.uint64))
        if name in sheet.numbers:
            # Adding 0 makes of minus nought plain nought.
            values = np.nan_to_num(sheet.numbers[name], nan=0.0) + 0.0
            mixed = _mixed(mixed, values.view(np.uint64))
    return mixed


def _mixed(state: Words, more: Words) -> Words:
    """Multiplication spreads what is added over all bits (Steele et al. 2014, SplitMix)."""
    state = (state ^ more) * _MIX + _MIX
    state ^= state >> np.uint64(32)
    return state * np.uint64(0xBF58476D1CE4E5B9) ^ (state >> np.uint64(29))
