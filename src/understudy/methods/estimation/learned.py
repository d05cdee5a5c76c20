"""The result of learning, for central and federated methods alike."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.models.distribution import Distribution
from understudy.privacy.noisy_marginal import NoisyMarginal


@dataclass(frozen=True)
class Learned:
    """The result of a method, from which a model is made.

    Attributes:
        distribution: the law of rows that was learned.
        rows: how many rows to make by default.
        tables: the noisy tables that it was learned from; they are released, so keeping them costs
            nothing, and another distribution can be fitted to them later.
    """

    distribution: Distribution
    rows: int
    tables: tuple[NoisyMarginal, ...] = ()
