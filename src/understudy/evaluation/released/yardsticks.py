"""Yardsticks for released distances, made only from the synthetic rows.

Floor and ceiling of an evaluation are made of real rows and stay private. If the synthetic rows are
a fair likeness, a resample of them is about as far from them as one of the real rows would be, and
so are independent columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.variation import WAYS, variation
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.schema import Schema

Yardstick = tuple[float | None, float | None]


def yardsticks(schema: Schema, synthetic: EvaluationTable, *, seed: int) -> Mapping[int, Yardstick]:
    """Find the mean distance of a resample and of independent columns, by columns in a marginal.

    Privacy: post-processing of the synthetic rows; costs nothing.
    """
    both = Comparison.of(schema, synthetic, synthetic, seed=seed)
    means = {ways: variation(both, ways).mean for ways in WAYS}
    return {ways: (mean.resampled, mean.independent) for ways, mean in means.items()}
