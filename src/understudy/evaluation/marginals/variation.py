"""Total variation, divergence and cross entropy of all 1-, 2- and 3-way marginals.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from understudy.counting import Scores
from understudy.domain import Attributes
from understudy.evaluate.comparison import Comparison
from understudy.evaluate.fidelity import workload
from understudy.evaluate.marginals import joints
from understudy.evaluate.metric import Goal, Metric, Result, mean_of
from understudy.evaluate.subsample import Cells, Equivalent, equivalent

WAYS = (1, 2, 3)
_SHOWN = 10

_ABOUT = (
    "Half the summed difference of cell shares, the mean over all marginals of so many columns: "
    "the share of rows that would have to change."
)
_LOST = (
    "Bits a row that are lost by taking the synthetic marginal for the real one, the mean over "
    "marginals. One row is added to every cell of the synthetic marginal, none to the real one."
)
_NEEDED = (
    "Bits that a real row's cells need under the synthetic marginal, smoothed in the same way: "
    "the real marginal's entropy and the divergence together."
)


def variation_metric(ways: int) -> Metric:
    """The distance of marginals of so many columns."""
    name = f"{ways}-way total variation"
    useless = "what independent columns come to; 1 where no cell is shared"
    return Metric(name, _ABOUT, Goal.LESS, 0.0, 1.0, 0.0, useless)


def divergence_metric(ways: int) -> Metric:
    """The bits lost on marginals of so many columns."""
    name = f"{ways}-way Kullback–Leibler divergence"
    useless = "what independent columns come to"
    return Metric(name, _LOST, Goal.LESS, 0.0, None, 0.0, useless)


def cross_entropy_metric(ways: int, entropy: float) -> Metric:
    """The bits needed on marginals of so many columns, at least the real rows' own entropy."""
    name = f"{ways}-way cross entropy"
    useless = "what independent columns come to"
    return Metric(name, _NEEDED, Goal.LESS, entropy, None, entropy, useless)


@dataclass(frozen=True)
class Distance:
    """The distance of one marginal, of a resample's and of independent columns'."""

    columns: Attributes
    distance: float
    floor: float | None
    ceiling: float | None

    def document(self) -> dict[str, Any]:
        """The distance for JSON."""
        return {
            "columns": list(self.columns),
            "distance": self.distance,
            "floor": self.floor,
            "ceiling": self.ceiling,
        }


@dataclass(frozen=True)
class Variation:
    """All marginals of so many columns.

    Attributes:
        mean: of the distances, with that of a resample and of independent columns.
        largest: the largest distance, with the largest of a resample and of independent columns.
        sets: how many marginals were compared, of `of` that there are.
        worst: those farthest apart.
        equivalent: the resample that is as near as the synthetic rows.
        divergence: mean bits lost. `cross_entropy`: mean bits needed.
    """

    ways: int
    mean: Result
    largest: Result
    sets: int
    of: int
    worst: tuple[Distance, ...]
    equivalent: Equivalent
    divergence: Result
    cross_entropy: Result

    def document(self) -> dict[str, Any]:
        """The distances for JSON: floor is a resample's, ceiling that of independent columns."""
        return {
            "mean": self.mean.value,
            "max": self.largest.value,
            "floor": self.mean.resampled,
            "ceiling": self.mean.independent,
            "max_floor": self.largest.resampled,
            "max_ceiling": self.largest.independent,
            "reason": self.mean.reason,
            "sets": self.sets,
            "of": self.of,
            "worst": [distance.document() for distance in self.worst],
            "equivalent": self.equivalent.document(),
            "metric": self.mean.metric.document(),
        }

    def entropy_document(self) -> dict[str, Any]:
        """Divergence and cross entropy for JSON."""
        return {
            "divergence": self.divergence.document(),
            "cross_entropy": self.cross_entropy.document(),
        }


def variation(comparison: Comparison, ways: int) -> Variation:
    """How far apart the marginals of so many columns are; a fixed choice where there are many."""
    domain = comparison.real.table.domain
    sets = workload(domain, ways)
    if not sets:
        return _nothing(ways)
    found = [
        (joint.variation(), joint.divergence(), joint.entropy(), joint.counts[0])
        for joint in joints(comparison.tables, sets)
    ]
    distances = np.array([distance for distance, _, _, _ in found])
    lost = np.array([bits for _, bits, _, _ in found]).mean(axis=0)
    entropy = float(np.mean([own for _, _, own, _ in found]))
    metric = variation_metric(ways)
    mean = comparison.result(metric, distances.mean(axis=0))
    cells = Cells.of([counts for _, _, _, counts in found], comparison.real.rows)
    return Variation(
        ways,
        mean,
        comparison.result(metric, distances.max(axis=0)),
        len(sets),
        comb(len(domain), ways),
        _worst(comparison, sets, distances),
        equivalent(cells, mean.value or 0.0),
        comparison.result(divergence_metric(ways), lost),
        comparison.result(cross_entropy_metric(ways, entropy), lost + entropy),
    )


def _worst(
    comparison: Comparison, sets: Sequence[Attributes], distances: Scores
) -> tuple[Distance, ...]:
    """The marginals farthest apart, the farthest first."""
    order = np.argsort(-distances[:, 0], kind="stable")[:_SHOWN]
    draws = comparison.draws
    return tuple(
        Distance(
            sets[place],
            float(distances[place, 0]),
            mean_of(distances[place, 1 : 1 + draws].tolist()),
            mean_of(distances[place, 1 + draws :].tolist()),
        )
        for place in order
    )


def _nothing(ways: int) -> Variation:
    reason = f"the schema has fewer than {ways} columns"
    none = Result(variation_metric(ways), None, reason=reason)
    lost = Result(divergence_metric(ways), None, reason=reason)
    needed = Result(cross_entropy_metric(ways, 0.0), None, reason=reason)
    return Variation(ways, none, none, 0, 0, (), Equivalent(None, None, reason), lost, needed)
