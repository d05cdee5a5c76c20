"""Drawing towards conditions: rows of a network, weighed by the factors of tables too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.errors import CapacityError
from understudy.models.bayes_net import BayesNet
from understudy.models.inference import Evidence
from understudy.models.sampling.weighting import Proposal, WeightedRows
from understudy.models.weighted.factors import LARGEST_LOGARITHM
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, log_weights


def log_mean_weight(pool: Pool, aims: Sequence[Aim]) -> float:
    """The logarithm of the mean, over the rows of a pool, of the product of their factors."""
    logarithms = log_weights(pool, aims)
    largest = float(logarithms.max(initial=0.0))
    return largest + math.log(float(np.exp(logarithms - largest).mean()))


@dataclass(frozen=True, eq=False)
class Reweighted(Proposal):
    """A network to draw from, whose rows are weighed by the factors of tables too.

    Attributes:
        aims: the tables whose factors are multiplied.
        logarithm: of a number that every weight is multiplied by.
    """

    aims: tuple[Aim, ...]
    logarithm: float

    @classmethod
    def of(
        cls, base: BayesNet, aims: tuple[Aim, ...], evidence: Evidence, *, log_mean: float
    ) -> Reweighted:
        """Take the network under the evidence where that is exact, else drawn towards it."""
        try:
            if not base.is_constrained:
                under, chance = base.conditioned(evidence)
                return cls(under, (), aims, math.log(chance) - log_mean)
        except CapacityError:
            pass
        drawn = Proposal.towards(base, evidence)
        return cls(drawn.drawn, drawn.factors, aims, -log_mean)

    def draw(self, rows: int, generator: np.random.Generator) -> WeightedRows:
        """Independent rows with their weights."""
        found = super().draw(rows, generator)
        logarithms = log_weights(Pool.of(self.drawn.domain, found.codes, 1.0), self.aims)
        weights = np.exp(np.minimum(logarithms + self.logarithm, LARGEST_LOGARITHM / 2))
        return replace(found, weights=found.weights * weights)
