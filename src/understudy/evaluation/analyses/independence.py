"""Tests of independence on both tables: how often they find what is there, and what is not.

Small tables are drawn from the rows of either table again and again, and two columns of each are
tested, as AAU sections 3.2 and 4.2 do it. Power is the share of rejections for pairs that depend on
each other in the real rows; type I error is that share for pairs of which the real rows show no
dependence. An analyst who tests synthetic rows needs both as the real rows have them.

The test is Pearson's χ² on at most five groups of each column's values, which the real rows decide,
and one more for missing cells, so that counts are large enough for it.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.hypothesis import Power, band
from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.metric import Goal, Metric, Result, without
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.column import LearnedColumn
from understudy.facts.workload import workload
from understudy.system.arrays import Array, Floats

MOST_PAIRS = 45
RUNS = 200
LEVEL = 0.05
# Each drawn table has a tenth of the rows, and so many at most: its own chance then outweighs that
# of the table it is drawn from.
_PART, _MOST_DRAWN, _FEWEST_DRAWN = 10, 500, 20
_MOST_ROWS = 20_000
_GROUPS = 5
# Pairs with a p-value up to the first depend on each other; from the second on nothing shows it.
_DEPENDENT, _UNSEEN = 0.001, 0.05

_USELESS = "the value for independent columns"
POWER = Metric(
    name="tests, power",
    about="How often a test of independence rejects for pairs of columns that depend on each other "
    "in the real rows; as often as with real rows is best.",
    goal=Goal.MORE,
    low=0.0,
    high=1.0,
    perfect=1.0,
    useless=_USELESS,
)
TYPE_ONE = Metric(
    name="tests, type I error",
    about="How often it rejects for pairs of which the real rows show no dependence; the level of "
    f"the test is {LEVEL}.",
    goal=Goal.LESS,
    low=0.0,
    high=1.0,
    perfect=LEVEL,
    useless="1",
)


@dataclass(frozen=True)
class PairTest:
    """One pair of columns: the p-value of all real rows, and rejections in drawn tables."""

    columns: tuple[str, str]
    chance: float
    real: Power
    synthetic: Power

    @property
    def is_dependent(self) -> bool:
        """Whether all real rows together show a dependence."""
        return self.chance <= _DEPENDENT

    @property
    def is_unseen(self) -> bool:
        """Whether all real rows together show none."""
        return self.chance > _UNSEEN

    def document(self) -> dict[str, Any]:
        """Return the pair for JSON."""
        return {
            "columns": list(self.columns),
            "p_value": self.chance,
            "dependent": self.is_dependent,
            "real": _share(self.real),
            "synthetic": _share(self.synthetic),
        }


def _share(found: Power) -> dict[str, float]:
    return {"rejected": found.power, "low": found.low, "high": found.high}


@dataclass(frozen=True, kw_only=True)
class IndependenceTests:
    """Tests of independence on tables drawn from real and from synthetic rows.

    Attributes:
        pairs: all that were tested, those that differ most first.
        rows: of each drawn table. `runs`: how many tables were drawn from either.
        power, type_one: means over pairs; `resampled` is that of tables drawn from real rows.
    """

    pairs: tuple[PairTest, ...]
    rows: int
    runs: int
    power: Result
    type_one: Result

    @property
    def dependent(self) -> int:
        """How many pairs depend on each other in the real rows."""
        return sum(pair.is_dependent for pair in self.pairs)

    @property
    def unseen(self) -> int:
        """The number of pairs in which the real rows show no dependence."""
        return sum(pair.is_unseen for pair in self.pairs)

    def document(self) -> dict[str, Any]:
        """Return the tests for JSON."""
        return {
            "level": LEVEL,
            "rows": self.rows,
            "runs": self.runs,
            "dependent": self.dependent,
            "unseen": self.unseen,
            "power": self.power.document(),
            "type_one": self.type_one.document(),
            "pairs": [pair.document() for pair in self.pairs],
        }


def independence_tests(comparison: Comparison) -> IndependenceTests:
    """Test pairs of columns on tables drawn from either side."""
    rows = min(_MOST_DRAWN, comparison.real.rows // _PART, comparison.synthetic.rows // _PART)
    pairs = [(a, b) for a, b in workload(comparison.real.table.domain, 2, most=MOST_PAIRS)]
    if rows < _FEWEST_DRAWN or not pairs:
        reason = "there are too few rows or columns to draw tables from"
        return IndependenceTests(
            pairs=(),
            rows=0,
            runs=0,
            power=without(POWER, reason),
            type_one=without(TYPE_ONE, reason),
        )
    sheets = {"real": comparison.real, "synthetic": comparison.synthetic}
    if comparison.independent:
        sheets["independent"] = comparison.independent[0]
    tables = _tables(comparison, sheets)
    by_pair = {
        side: _rejections(table, pairs, rows=rows, seed=comparison.seed)
        for side, table in tables.items()
    }
    found = [_tested(pair, tables["real"], by_pair) for pair in pairs]
    known = [pair for pair in found if np.isfinite(pair.chance)]
    known.sort(key=lambda pair: -abs(pair.real.power - pair.synthetic.power))
    loose = by_pair.get("independent", {})
    return IndependenceTests(
        pairs=tuple(known),
        rows=rows,
        runs=RUNS,
        power=_mean(POWER, [p for p in known if p.is_dependent], loose),
        type_one=_mean(TYPE_ONE, [p for p in known if p.is_unseen], loose),
    )


_Pairs = Sequence[tuple[str, str]]
_Rejections = Mapping[tuple[str, str], Power]


def _tables(
    comparison: Comparison, sheets: Mapping[str, EvaluationTable]
) -> dict[str, dict[str, Array]]:
    """Every column of every table as few groups, which the real rows decide."""
    groups = {
        name: _groups(comparison.real.table.codes[name], column)
        for name, column in comparison.schema.learned.items()
    }
    chosen = {side: at_most(sheet, _MOST_ROWS, comparison.seed) for side, sheet in sheets.items()}
    return {
        side: {name: line[sheet.table.codes[name]] for name, line in groups.items()}
        for side, sheet in chosen.items()
    }


def _groups(codes: Array, column: LearnedColumn) -> Array:
    """For each code its group: neighbours together where there is an order, else the rare ones."""
    counts = np.bincount(codes.astype(np.int64), minlength=column.size)[: column.levels]
    if is_ordered(column):
        before = np.cumsum(counts) - counts / 2
        found = (before / max(counts.sum(), 1) * _GROUPS).astype(np.int64)
    else:
        found = np.argsort(np.argsort(-counts, kind="stable"), kind="stable")
    last = [] if column.missing_code is None else [_GROUPS]
    return np.append(np.minimum(found, _GROUPS - 1), last).astype(np.int64)


def _rejections(table: Mapping[str, Array], pairs: _Pairs, *, rows: int, seed: int) -> _Rejections:
    """Test every pair on tables that are drawn with replacement, all pairs on the same ones."""
    generator = np.random.default_rng([seed, 71])
    available = len(next(iter(table.values())))
    places = generator.integers(0, available, (RUNS, rows))
    drawn = {name: values[places] for name, values in table.items()}
    return {pair: _power(p_values(*(drawn[name] for name in pair)), pair) for pair in pairs}


def p_values(first: Array, second: Array) -> Floats:
    """The p-values of Pearson's χ² for two columns of many tables, a table in each line.

    The groups of a column are numbered from 0, and few. NaN where a column has one group.
    """
    from scipy.stats import chi2

    tables, wide = first.shape[0], _GROUPS + 1
    places = np.arange(tables)[:, None] * wide**2 + first * wide + second
    counts = np.bincount(places.ravel(), minlength=tables * wide**2).reshape(tables, wide, wide)
    lines, columns = counts.sum(axis=2), counts.sum(axis=1)
    expected = lines[:, :, None] * columns[:, None, :] / first.shape[1]
    held = expected > 0
    parts = np.divide((counts - expected) ** 2, expected, out=np.zeros_like(expected), where=held)
    freedom = ((lines > 0).sum(axis=1) - 1) * ((columns > 0).sum(axis=1) - 1)
    chances = chi2.sf(parts.sum(axis=(1, 2)), np.maximum(freedom, 1))
    return np.asarray(np.where(freedom > 0, chances, np.nan))


def _power(chances: Floats, pair: tuple[str, str]) -> Power:
    rejections = int((chances <= LEVEL).sum())
    low, high = band(rejections, chances.size, confidence=0.95)
    return Power(
        test="chi-squared",
        columns=pair,
        runs=chances.size,
        rejections=rejections,
        undefined=int(np.isnan(chances).sum()),
        level=LEVEL,
        confidence=0.95,
        low=low,
        high=high,
    )


def _tested(
    pair: tuple[str, str], real: Mapping[str, Array], by_side: Mapping[str, _Rejections]
) -> PairTest:
    chance = float(p_values(real[pair[0]][None, :], real[pair[1]][None, :])[0])
    return PairTest(pair, chance, by_side["real"][pair], by_side["synthetic"][pair])


def _mean(metric: Metric, pairs: Sequence[PairTest], loose: _Rejections) -> Result:
    """The mean share of rejections over pairs."""
    if not pairs:
        return without(metric, "there are no such pairs")
    return Result(
        metric=metric,
        value=fmean(pair.synthetic.power for pair in pairs),
        resampled=fmean(pair.real.power for pair in pairs),
        independent=fmean(loose[pair.columns].power for pair in pairs) if loose else None,
    )
