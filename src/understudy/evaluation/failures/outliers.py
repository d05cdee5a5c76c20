"""Outliers: extreme numbers and isolated rows, and whether synthetic rows have or repeat them.

A number is extreme beyond three interquartile ranges from the quartiles of the real column (Tukey's
outer fence). A real row is isolated if it is among the five in a hundred that are farthest from all
other real rows. Rows that the fit has learned by heart show in synthetic rows that lie nearer to
isolated rows than other real rows do, or equal them: other real rows show what chance does.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.disclosure.leaks import leaked
from understudy.evaluation.disclosure.membership import distances
from understudy.evaluation.prediction.overlap import names
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema
from understudy.system.arrays import Floats, Indices

FENCE = 3.0
"""How many interquartile ranges beyond the quartiles a number is extreme."""
ISOLATED = 0.05
"""The share of real rows that are called isolated: those farthest from all others."""
# Isolated rows are looked for among so many; they are compared with so many others at most.
_ASKED, _OTHERS = 1_000, 20_000
_FEWEST = 200


@dataclass(frozen=True)
class ExtremeNumbers:
    """One column of numbers or dates, and the shares of rows beyond its fences.

    Attributes:
        low, high: the fences, which the real rows set.
        real, synthetic: the shares of rows with a number beyond them.
    """

    column: str
    low: float
    high: float
    real: float
    synthetic: float

    def document(self) -> dict[str, Any]:
        """Return the column for JSON."""
        return {
            "column": self.column,
            "low": self.low,
            "high": self.high,
            "real": self.real,
            "synthetic": self.synthetic,
        }


@dataclass(frozen=True)
class RepeatedRows:
    """The number of isolated real rows that a table repeats.

    Attributes:
        nearer: the share with a row of the table nearer than any other real row is.
        equal: the share with an equal row in the table.
    """

    nearer: float
    equal: float

    def document(self) -> dict[str, float]:
        """Return the shares for JSON."""
        return {"nearer": self.nearer, "equal": self.equal}


@dataclass(frozen=True, kw_only=True)
class Outliers:
    """Extreme numbers of both tables, and isolated real rows that tables repeat.

    Attributes:
        extremes: columns with an extreme number in either table.
        extreme_rows: the shares of real and synthetic rows with at least one.
        isolated: how many isolated real rows were looked at.
        strange: the share of synthetic rows that are farther from all real rows than
            `ISOLATED` of other real rows are.
        synthetic: isolated rows that the synthetic rows repeat. `chance`: that as many other real
            rows repeat. `leaky`: that half of the real rows, copied, repeat: a leak on purpose.
        reason: why rows were not looked at, where they were not.
    """

    extremes: tuple[ExtremeNumbers, ...] = ()
    extreme_rows: tuple[float, float] = (0.0, 0.0)
    isolated: int = 0
    strange: float | None = None
    synthetic: RepeatedRows | None = None
    chance: RepeatedRows | None = None
    leaky: RepeatedRows | None = None
    reason: str | None = None

    @property
    def repeated(self) -> dict[str, RepeatedRows]:
        """The rows that each table repeats, by its name; empty where rows were not looked at."""
        found = {"synthetic": self.synthetic, "chance": self.chance, "leaky": self.leaky}
        return {name: each for name, each in found.items() if each is not None}

    def document(self) -> dict[str, Any]:
        """Return the outliers for JSON."""
        return {
            "extremes": [each.document() for each in self.extremes],
            "extreme_rows": dict(zip(("real", "synthetic"), self.extreme_rows, strict=True)),
            "isolated": self.isolated,
            "strange": self.strange,
            "repeated": {name: each.document() for name, each in self.repeated.items()},
            "reason": self.reason,
        }


def outliers(comparison: Comparison) -> Outliers:
    """Look for extreme numbers in both tables, and for isolated real rows in the synthetic one."""
    real, synthetic = comparison.real, comparison.synthetic
    if not real.rows or not synthetic.rows:
        return Outliers(reason="there are no rows to look at")
    extremes, beyond = _extremes(real, synthetic)
    if min(real.rows, synthetic.rows) < _FEWEST:
        reason = f"isolated rows are looked for from {_FEWEST} rows on either side"
        return Outliers(extremes=extremes, extreme_rows=beyond, reason=reason)
    parts = _Parts.of(comparison)
    made = at_most(synthetic, parts.other.rows, comparison.seed)
    return Outliers(
        extremes=extremes,
        extreme_rows=beyond,
        isolated=parts.isolated.rows,
        strange=parts.strange(made, comparison.seed),
        synthetic=parts.repeated(made),
        chance=parts.repeated(parts.other),
        leaky=parts.repeated(leaked(real, comparison.seed)),
    )


def _extremes(
    real: EvaluationTable, synthetic: EvaluationTable
) -> tuple[tuple[ExtremeNumbers, ...], tuple[float, float]]:
    """Every column with extreme numbers, and the shares of rows with at least one of them."""
    found = []
    rows = [np.zeros(sheet.rows, bool) for sheet in (real, synthetic)]
    for name, values in real.numbers.items():
        fences = _fences(values)
        if fences is None:
            continue
        for held, sheet in zip(rows, (real, synthetic), strict=True):
            held |= _beyond(sheet.numbers[name], fences)
        shares = [float(_beyond(s.numbers[name], fences).mean()) for s in (real, synthetic)]
        if any(shares):
            found.append(ExtremeNumbers(name, *fences, real=shares[0], synthetic=shares[1]))
    found.sort(key=lambda each: -abs(each.real - each.synthetic))
    return tuple(found), (float(rows[0].mean()), float(rows[1].mean()))


def _fences(values: Floats) -> tuple[float, float] | None:
    """Tukey's outer fences; None for a column whose middle half is one value."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.quantile(known, (0.25, 0.75))
    if low == high:
        return None
    return float(low - FENCE * (high - low)), float(high + FENCE * (high - low))


def _beyond(values: Floats, fences: tuple[float, float]) -> np.ndarray[Any, Any]:
    return (values < fences[0]) | (values > fences[1])


@dataclass(frozen=True, repr=False, eq=False)
class _Parts:
    """Real rows in three parts: those asked about, and two of the same size to compare with.

    Attributes:
        isolated: the rows asked about that are farthest from the first part.
        own: their distance from it.
        threshold: the distance from it that all but few rows of the second part keep.
    """

    schema: Schema
    isolated: EvaluationTable
    own: Floats
    first: EvaluationTable
    other: EvaluationTable
    threshold: float

    @classmethod
    def of(cls, comparison: Comparison) -> _Parts:
        real, schema = comparison.real, comparison.schema
        order = np.random.default_rng([comparison.seed, 51]).permutation(real.rows)
        asked = min(_ASKED, real.rows // 4)
        size = min(_OTHERS, (real.rows - asked) // 2)
        rows, first, other = (real.take(part) for part in _cut(order, asked, size))
        near = distances(rows, first, schema)
        far = np.argsort(-near, kind="stable")[: max(int(ISOLATED * asked), 1)]
        fresh = distances(at_most(other, _ASKED, comparison.seed), first, schema)
        limit = float(np.quantile(fresh, 1 - ISOLATED))
        return cls(
            schema=schema,
            isolated=rows.take(far),
            own=near[far],
            first=first,
            other=other,
            threshold=limit,
        )

    def repeated(self, table: EvaluationTable) -> RepeatedRows:
        """How many isolated rows a table repeats."""
        near = distances(self.isolated, table, self.schema)
        equal = np.isin(names(self.isolated), names(table))
        return RepeatedRows(float((near < self.own).mean()), float(equal.mean()))

    def strange(self, table: EvaluationTable, seed: int) -> float:
        """The share of a table's rows that are farther from real rows than nearly all others."""
        near = distances(at_most(table, _ASKED, seed), self.first, self.schema)
        return float((near > self.threshold).mean())


def _cut(order: Indices, asked: int, size: int) -> tuple[Indices, Indices, Indices]:
    return order[:asked], order[asked : asked + size], order[asked + size : asked + 2 * size]
