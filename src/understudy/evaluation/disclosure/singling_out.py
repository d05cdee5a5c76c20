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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Array

GUESSES = 500
COLUMNS = 3
_MOST_ROWS = 10_000
_TRIES = 20

CAPTION = (
    "A guess succeeds if exactly one row meets a predicate that only one synthetic row meets. "
    "Success on held-out rows is chance; only what is beyond it is due to people being in the "
    "table. An attack that finds nothing does not show that there is nothing to find."
)


@dataclass(frozen=True, kw_only=True)
class SinglingOut:
    """The success of predicates on real rows, and on rows that no fit has seen.

    Attributes:
        guesses: predicates that were tried.
        real, control: the share of them that one row alone meets, of as many rows on both sides.
        error: the standard error of the difference.
        reason: why there is nothing, where there is nothing.
    """

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
            "caption": CAPTION,
        }


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
        return SinglingOut(reason="no held-out rows were given; chance is measured on them")
    rows = min(real.rows, control.rows, _MOST_ROWS)
    if not rows or not synthetic.rows:
        return SinglingOut(reason="there are no rows to attack")
    ours, others = (at_most(sheet, rows, seed) for sheet in (real, control))
    attack = _Predicates.of(schema, at_most(synthetic, _MOST_ROWS, seed), seed)
    found = [(attack.meets(ours, p) == 1, attack.meets(others, p) == 1) for p in attack.drawn()]
    if not found:
        return SinglingOut(reason="no synthetic row differs from all others in a few columns")
    success = np.array(found, float)
    difference = success[:, 0] - success[:, 1]
    return SinglingOut(
        guesses=len(found),
        real=float(success[:, 0].mean()),
        control=float(success[:, 1].mean()),
        error=float(difference.std() / math.sqrt(len(found))),
    )


_Predicate = list[tuple[str, str, int]]


@dataclass(frozen=True, repr=False, eq=False)
class _Predicates:
    """Draws predicates from synthetic rows, and counts the rows that meet them."""

    schema: Schema
    synthetic: EvaluationTable
    middles: dict[str, float]
    generator: np.random.Generator

    @classmethod
    def of(cls, schema: Schema, synthetic: EvaluationTable, seed: int) -> _Predicates:
        codes = synthetic.table.codes
        middles = {
            name: float(np.median(codes[name]))
            for name, column in schema.learned.items()
            if is_ordered(column)
        }
        return cls(schema, synthetic, middles, np.random.default_rng([seed, 31]))

    def drawn(self) -> Iterator[_Predicate]:
        """Predicates that one synthetic row alone meets; fewer where there are hardly any."""
        found = 0
        for _ in range(_TRIES * GUESSES):
            predicate = self._draw()
            if self.meets(self.synthetic, predicate) == 1:
                found += 1
                yield predicate
            if found == GUESSES:
                return

    def _draw(self) -> _Predicate:
        names = list(self.schema.learned)
        chosen = self.generator.permutation(len(names))[:COLUMNS]
        row = int(self.generator.integers(self.synthetic.rows))
        return [self._condition(names[place], row) for place in chosen]

    def _condition(self, name: str, row: int) -> tuple[str, str, int]:
        code = int(self.synthetic.table.codes[name][row])
        if name not in self.middles:
            return name, "=", code
        return name, "≥" if code >= self.middles[name] else "≤", code

    def meets(self, sheet: EvaluationTable, predicate: _Predicate) -> int:
        """How many rows meet a predicate."""
        held: Array = np.ones(sheet.rows, bool)
        for name, relation, code in predicate:
            codes = sheet.table.codes[name]
            held &= {"=": codes == code, "≥": codes >= code, "≤": codes <= code}[relation]
        return int(held.sum())
