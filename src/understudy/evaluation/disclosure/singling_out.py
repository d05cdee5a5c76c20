"""Singling out: predicates taken from synthetic rows that exactly one real row meets.

A predicate names some columns of a synthetic row that no other synthetic row shares: equality of a
listed value, at least or at most a number. It singles a real row out if exactly one real row meets
it. The same is counted on held-out rows, which no fit has seen: what is singled out there was not
learned from a person. The risk is what is beyond that.

Source: Giomi, Boenisch, Wehmeyer, Tasnádi 2023 (Anonymeter), arXiv:2211.10459, sections 4.1 and 5:
multivariate predicates, and the risk (r − c)/(1 − c) of success rates on real and control rows.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy.evaluation.disclosure.controlled import NO_CONTROL, NO_ROWS, ControlledAttack
from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats, Indices
from understudy.system.jit import kernel

GUESSES = 500
COLUMNS = 3
_MOST_ROWS = 10_000
# Predicates are drawn so many at a time, and so many times at most.
_BATCH, _BATCHES = 5_000, 60

CAPTION = (
    "A guess succeeds if exactly one row meets a predicate that only one synthetic row meets. "
    "Success on held-out rows is chance; only what is beyond it is due to people being in the "
    "table. An attack that finds nothing does not show that there is nothing to find."
)


@dataclass(frozen=True, kw_only=True)
class SinglingOut(ControlledAttack):
    """The success of predicates that one row alone meets, of as many rows on both sides."""

    caption: ClassVar[str] = CAPTION


def singling_out(
    schema: Schema,
    *,
    real: EvaluationTable,
    control: EvaluationTable | None,
    synthetic: EvaluationTable,
    seed: int = 0,
) -> SinglingOut:
    """Try predicates of synthetic rows on real and on held-out rows, as many of each.

    Privacy: exact functions of real rows.
    """
    if control is None:
        return SinglingOut(reason=NO_CONTROL)
    rows = min(real.rows, control.rows, _MOST_ROWS)
    if not rows or not synthetic.rows:
        return SinglingOut(reason=NO_ROWS)
    ours, others = (at_most(sheet, rows, seed) for sheet in (real, control))
    attack = _Attacker.of(schema, at_most(synthetic, _MOST_ROWS, seed), seed)
    predicates = attack.predicates()
    if not predicates.size:
        return SinglingOut(reason="no synthetic row differs from all others in a few columns")
    single, chance = (meeting(_lines(s, schema), predicates) == 1 for s in (ours, others))
    difference = single.astype(np.float64) - chance
    return SinglingOut(
        guesses=len(predicates),
        real=float(single.mean()),
        control=float(chance.mean()),
        error=float(difference.std() / math.sqrt(len(predicates))),
    )


@dataclass(frozen=True, repr=False, eq=False)
class _Attacker:
    """Draws predicates from synthetic rows, and keeps those that one of them alone meets.

    Attributes:
        lines: the codes of each synthetic row.
        middles: the median code of columns with an order; NaN for others.
        last: the last code of each column.
    """

    lines: Indices
    middles: Floats
    last: Indices
    generator: np.random.Generator

    @classmethod
    def of(cls, schema: Schema, synthetic: EvaluationTable, seed: int) -> _Attacker:
        lines = _lines(synthetic, schema)
        columns = schema.learned.values()
        middles = [
            float(np.median(codes)) if is_ordered(column) else math.nan
            for codes, column in zip(lines.T, columns, strict=True)
        ]
        last = np.array([column.size - 1 for column in columns], np.int64)
        return cls(lines, np.array(middles), last, np.random.default_rng([seed, 31]))

    def predicates(self) -> Indices:
        """Different predicates that one synthetic row alone meets; fewer where they are rare."""
        known: dict[bytes, Indices] = {}
        for _ in range(_BATCHES):
            drawn = self._draw()
            for predicate in drawn[meeting(self.lines, drawn) == 1]:
                known.setdefault(predicate.tobytes(), predicate)
            if len(known) >= GUESSES:
                break
        found = list(known.values())[:GUESSES]
        parts = min(COLUMNS, self.lines.shape[1])
        return np.array(found, np.int64).reshape(len(found), parts, 3)

    def _draw(self) -> Indices:
        """Many predicates: columns of a row in their order, each from a lowest to a highest code.

        A listed value is met by itself, a number by all that are at least as far from the middle.
        """
        rows, wide = self.lines.shape
        places = self.generator.random((_BATCH, wide)).argsort(axis=1)[:, :COLUMNS]
        places = np.sort(places, axis=1)
        codes = self.lines[self.generator.integers(0, rows, _BATCH)[:, None], places]
        middles = self.middles[places]
        low = np.where(codes < middles, 0, codes)
        high = np.where(codes >= middles, self.last[places], codes)
        return np.stack([places, low, high], axis=2)


def _lines(sheet: EvaluationTable, schema: Schema) -> Indices:
    """The codes of every row, a line for each."""
    codes = [sheet.table.codes[name].astype(np.int64) for name in schema.learned]
    return np.ascontiguousarray(np.column_stack(codes))


@kernel
def meeting(lines: Indices, predicates: Indices) -> Indices:
    """How many rows meet each predicate: 0, 1, or 2 for more."""
    found = np.zeros(len(predicates), np.int64)
    for number in range(len(predicates)):
        for row in range(len(lines)):
            meets = True
            for part in range(predicates.shape[1]):
                code = lines[row, predicates[number, part, 0]]
                if code < predicates[number, part, 1] or code > predicates[number, part, 2]:
                    meets = False
                    break
            if meets:
                found[number] += 1
                if found[number] == 2:
                    break
    return found
