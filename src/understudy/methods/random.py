"""Random rows: any declared value, each as likely as the next. The floor of every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy.facts.domain import Domain
from understudy.methods.abilities import Abilities
from understudy.methods.base import Synthesizer
from understudy.methods.estimation.learned import Learned
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.network import Family
from understudy.privacy.curator import Curator
from understudy.privacy.spending.pricing import GaussianRounds, Pricing


@dataclass(kw_only=True, eq=False, repr=False)
class Random(Synthesizer):
    """Learns nothing but the number of rows, unless it is declared.

    Args:
        schema: the values that each column may hold.
        epsilon: spent on the number of rows, when that is private and not declared.
        delta: as for every synthesizer.
        neighbours: as for every synthesizer.
        rows: a declared number of rows, which makes the method free of charge.
    """

    method: ClassVar[str] = "random"
    summary: ClassVar[str] = "the number of rows at most; every declared value is equally likely"
    abilities: ClassVar[Abilities] = Abilities(options=("rows",))

    rows: int | None = None

    @property
    def is_free(self) -> bool:
        """With a declared number of rows there is nothing left to ask."""
        return self.rows is not None

    @property
    def pricing(self) -> Pricing:
        """The Gaussian curve: one number is asked for at the most."""
        return GaussianRounds()

    def learn(self, curator: Curator) -> Learned:
        """Uniform conditionals, and the number of rows: declared, public, or paid for."""
        rows = curator.public_rows if self.rows is None else self.rows
        if rows is None:
            [count] = curator.measure([()], curator.budget)
            rows = max(count.total, 0)
        return Learned(BayesNet(curator.domain, uniform(curator.domain)), rows)


def uniform(domain: Domain) -> tuple[Conditional, ...]:
    """Every attribute on its own, every code equally likely."""
    return tuple(
        Conditional(Family(attribute), np.full(size, 1 / size))
        for attribute, size in domain.sizes.items()
    )
