"""How columns hang together: Cramér's V of all pairs, Pearson's and Spearman's correlation.

All three are computed from contingency tables of codes, so that their cost does not grow with rows;
numbers and dates lie at the middle of their bin. Rows in which either cell is missing do not count
for correlations.

Source: V is corrected for bias as by Bergsma (2013): φ̃² = max(0, φ² − (r − 1)(c − 1)/(n − 1)) over
min(r̃, c̃) − 1 with r̃ = r − (r − 1)²/(n − 1), for r and c values that occur.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.marginals import Joint, joints
from understudy.evaluation.metric import Goal, Metric, Result, finite, without
from understudy.evaluation.sheets import centres
from understudy.facts.column import BooleanColumn, CategoricalColumn, LearnedColumn
from understudy.facts.domain import Attributes
from understudy.rows.counting import Counts
from understudy.system.arrays import Floats

Coefficient = Callable[[Joint], list[float]]

_USELESS = "the value for independent columns, which is the mean strength of the real rows itself"
_SHOWN = 10

DIFFERENCES: Mapping[str, Metric] = {
    name: Metric(
        name=f"difference of {title}",
        about=f"{about}: the mean absolute difference between real and synthetic rows, over all "
        "pairs.",
        goal=Goal.LESS,
        low=0.0,
        high=high,
        perfect=0.0,
        useless=_USELESS,
    )
    for name, title, about, high in (
        ("cramers_v", "Cramér's V", "Strength of dependence of any kind, bias corrected", 1.0),
        ("pearson", "Pearson's correlation", "Linear dependence of ordered columns", 2.0),
        ("spearman", "Spearman's correlation", "Monotone dependence of ordered columns", 2.0),
    )
}


@dataclass(frozen=True, kw_only=True)
class Association:
    """One measure for all pairs of columns, in both tables.

    Attributes:
        real, synthetic: symmetric, with 1 on the diagonal; None where a column does not vary.
        difference: the mean absolute difference over pairs that have a number in both tables.
        worst: the pairs that differ most, with their numbers in both tables.
    """

    columns: Attributes
    real: tuple[tuple[float | None, ...], ...]
    synthetic: tuple[tuple[float | None, ...], ...]
    difference: Result
    worst: tuple[tuple[Attributes, float, float], ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the matrices for JSON."""
        return {
            "columns": list(self.columns),
            "real": [list(line) for line in self.real],
            "synthetic": [list(line) for line in self.synthetic],
            "difference": self.difference.document(),
            "worst": [
                {"columns": list(pair), "real": real, "synthetic": synthetic}
                for pair, real, synthetic in self.worst
            ],
        }


def associations(comparison: Comparison) -> dict[str, Association]:
    """Cramér's V of all columns, and both correlations of those with an order."""
    learned = comparison.schema.learned
    columns = tuple(learned)
    lines = {name: _line(column) for name, column in learned.items() if is_ordered(column)}
    measures: dict[str, tuple[Attributes, Coefficient]] = {
        "cramers_v": (columns, lambda joint: [cramers_v(joint, c) for c in joint.counts]),
        "pearson": (tuple(lines), lambda joint: _correlations(correlation, lines, joint)),
        "spearman": (tuple(lines), lambda joint: _correlations(rank_correlation, lines, joint)),
    }
    found: dict[str, dict[Attributes, list[float]]] = {name: {} for name in measures}
    for joint in joints(comparison.tables, list(itertools.combinations(columns, 2))):
        for name, (names, measure) in measures.items():
            if set(joint.attributes) <= set(names):
                found[name][joint.attributes] = measure(joint)
    return {
        name: _association(comparison, name, names, found[name])
        for name, (names, _) in measures.items()
    }


def is_ordered(column: LearnedColumn) -> bool:
    """Whether the values of a column have an order: numbers, dates, and what declares it."""
    if isinstance(column, CategoricalColumn):
        return column.ordered
    return not isinstance(column, BooleanColumn)


def _association(
    comparison: Comparison, name: str, columns: Attributes, pairs: Mapping[Attributes, list[float]]
) -> Association:
    metric = DIFFERENCES[name]
    real, synthetic = (
        _matrix(columns, {pair: values[side] for pair, values in pairs.items()}) for side in (0, 1)
    )
    if not pairs:
        kind = "columns" if name == "cramers_v" else "columns with an order"
        none = without(metric, f"the schema has fewer than two {kind}")
        return Association(columns=columns, real=real, synthetic=synthetic, difference=none)
    numbers = np.array(list(pairs.values()))
    differences = np.abs(numbers[:, 1:] - numbers[:, :1])
    means = [_mean_of_known(line) for line in differences.T]
    result = comparison.result(metric, means)
    return Association(
        columns=columns, real=real, synthetic=synthetic, difference=result, worst=_worst(pairs)
    )


def _mean_of_known(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def _worst(
    pairs: Mapping[Attributes, list[float]],
) -> tuple[tuple[Attributes, float, float], ...]:
    known = [
        (pair, values[0], values[1])
        for pair, values in pairs.items()
        if not math.isnan(values[0] + values[1])
    ]
    return tuple(sorted(known, key=lambda found: -abs(found[1] - found[2]))[:_SHOWN])


def _matrix(
    columns: Attributes, pairs: Mapping[Attributes, float]
) -> tuple[tuple[float | None, ...], ...]:
    both = dict(pairs)
    both |= {(second, first): value for (first, second), value in pairs.items()}
    return tuple(tuple(1.0 if a == b else finite(both[a, b]) for b in columns) for a in columns)


def cramers_v(joint: Joint, counts: Counts) -> float:
    """Bias-corrected V of one table's counts; NaN where a column has one value."""
    rows = int(counts.sum())
    first, second = joint.codes()
    held = [np.bincount(codes, counts) for codes in (first, second)]
    sizes = [int((totals > 0).sum()) for totals in held]
    if rows < 2 or min(sizes) < 2:
        return math.nan
    # Σ (o − e)²/e = n·(Σ o²/(row · column) − 1), over occupied cells alone.
    seen = counts > 0
    expected = held[0][first[seen]] * held[1][second[seen]]
    squared = float((counts[seen].astype(np.float64) ** 2 / expected).sum()) - 1
    corrected = max(0.0, squared - (sizes[0] - 1) * (sizes[1] - 1) / (rows - 1))
    least = min(size - (size - 1) ** 2 / (rows - 1) for size in sizes) - 1
    return min(1.0, math.sqrt(corrected / least)) if least > 0 else math.nan


def _correlations(
    measure: Callable[[Floats, Floats, Counts], float], lines: Mapping[str, Floats], joint: Joint
) -> list[float]:
    """A correlation of every table, by where its occupied cells lie on either line."""
    first, second = (
        lines[name][codes] for name, codes in zip(joint.attributes, joint.codes(), strict=True)
    )
    return [measure(first, second, counts) for counts in joint.counts]


def _line(column: LearnedColumn) -> Floats:
    """Where every code lies: the middle of its bin, or its own number; missing nowhere."""
    if not isinstance(column, CategoricalColumn | BooleanColumn):
        return centres(column)
    places = np.arange(column.size, dtype=np.float64)
    if column.missing_code is not None:
        places[column.missing_code] = math.nan
    return places


def correlation(first: Floats, second: Floats, counts: Counts) -> float:
    """Pearson's correlation of values that occur as often as counted; NaN where one is constant."""
    known = ~np.isnan(first + second) & (counts > 0)
    weights = counts[known] / max(int(counts[known].sum()), 1)
    centred = [values[known] - (weights * values[known]).sum() for values in (first, second)]
    covariance = float((weights * centred[0] * centred[1]).sum())
    spread = math.prod(math.sqrt(float((weights * values**2).sum())) for values in centred)
    return max(-1.0, min(1.0, covariance / spread)) if spread > 0 else math.nan


def rank_correlation(first: Floats, second: Floats, counts: Counts) -> float:
    """Spearman's correlation: Pearson's of ranks, equal values having their mean rank."""
    known = ~np.isnan(first + second) & (counts > 0)
    held = counts[known]
    ranks = [_ranks(values[known], held) for values in (first, second)]
    return correlation(ranks[0], ranks[1], held)


def _ranks(values: Floats, counts: Counts) -> Floats:
    """The mean rank of each value among values that occur as often as counted."""
    different, places = np.unique(values, return_inverse=True)
    held = np.bincount(places, counts, minlength=different.size)
    return np.asarray((np.cumsum(held) - held / 2)[places])
