"""Total variation, divergence and cross entropy of all 1-, 2- and 3-way marginals.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison, not_better
from understudy.evaluation.marginals.marginals import joints
from understudy.evaluation.marginals.subsample import CountFrequencies, Equivalent, equivalent
from understudy.evaluation.metric import Goal, Metric, Result, mean_of
from understudy.facts.domain import Attributes
from understudy.facts.workload import workload
from understudy.rows.counting import Scores

WAYS = (1, 2, 3)
_SHOWN = 10

_ABOUT = (
    "Half the summed difference of cell shares, the mean over all marginals of this "
    "number of columns: "
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
    """Return the metric of the distance of marginals of k columns."""
    name = f"{ways}-way total variation"
    useless = "the value for independent columns; 1 where no cell is shared"
    return Metric(
        name=name, about=_ABOUT, goal=Goal.LESS, low=0.0, high=1.0, perfect=0.0, useless=useless
    )


def divergence_metric(ways: int) -> Metric:
    """Return the metric of the bits lost on marginals of k columns."""
    name = f"{ways}-way Kullback–Leibler divergence"
    useless = "the value for independent columns"
    return Metric(
        name=name, about=_LOST, goal=Goal.LESS, low=0.0, high=None, perfect=0.0, useless=useless
    )


def cross_entropy_metric(ways: int, entropy: float) -> Metric:
    """The bits needed on marginals of `ways` columns, at least the real rows' own entropy."""
    name = f"{ways}-way cross entropy"
    useless = "the value for independent columns"
    return Metric(
        name=name,
        about=_NEEDED,
        goal=Goal.LESS,
        low=entropy,
        high=None,
        perfect=entropy,
        useless=useless,
    )


@dataclass(frozen=True)
class Distance:
    """The distance of one marginal, of a resample's and of independent columns'."""

    columns: Attributes
    distance: float
    floor: float | None
    ceiling: float | None

    def document(self) -> dict[str, Any]:
        """Return the distance for JSON."""
        return {
            "columns": list(self.columns),
            "distance": self.distance,
            "floor": self.floor,
            "ceiling": self.ceiling,
        }


@dataclass(frozen=True, kw_only=True)
class Variation:
    """The distances of all marginals of a given number of columns.

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
    """Measure how far apart the marginals of k columns are; a fixed choice where there are many."""
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
    cells = CountFrequencies.of([counts for _, _, _, counts in found], comparison.real.rows)
    return Variation(
        ways=ways,
        mean=mean,
        largest=comparison.result(metric, distances.max(axis=0)),
        sets=len(sets),
        of=comb(len(domain), ways),
        worst=_worst(comparison, sets, distances),
        equivalent=equivalent(cells, mean.value or 0.0),
        divergence=comparison.result(divergence_metric(ways), lost),
        cross_entropy=comparison.result(cross_entropy_metric(ways, entropy), lost + entropy),
    )


def _worst(
    comparison: Comparison, sets: Sequence[Attributes], distances: Scores
) -> tuple[Distance, ...]:
    """The marginals farthest apart, the farthest first."""
    order = np.argsort(-distances[:, 0], kind="stable")[:_SHOWN]
    draws = comparison.draws
    floors = [mean_of(distances[place, 1 : 1 + draws].tolist()) for place in order]
    ceilings = [mean_of(distances[place, 1 + draws :].tolist()) for place in order]
    return tuple(
        Distance(
            sets[place], float(distances[place, 0]), floor, not_better(ceiling, floor, Goal.LESS)
        )
        for place, floor, ceiling in zip(order, floors, ceilings, strict=True)
    )


def _nothing(ways: int) -> Variation:
    reason = f"the schema has fewer than {ways} columns"
    none = Result(metric=variation_metric(ways), value=None, reason=reason)
    lost = Result(metric=divergence_metric(ways), value=None, reason=reason)
    needed = Result(metric=cross_entropy_metric(ways, 0.0), value=None, reason=reason)
    return Variation(
        ways=ways,
        mean=none,
        largest=none,
        sets=0,
        of=0,
        worst=(),
        equivalent=Equivalent(None, None, reason),
        divergence=lost,
        cross_entropy=needed,
    )
