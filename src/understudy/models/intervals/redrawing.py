"""The noise of released tables, drawn again: how it was made is public.

Privacy: post-processing of released tables. These draws protect nobody, so that they may be seeded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.estimation.consistency import Estimate
from understudy.privacy.accounting.events import LaplaceEvent
from understudy.privacy.mechanisms.released import noise_of, table_question
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.privacy.statements.statement import Statement
from understudy.system.arrays import Floats


@dataclass(frozen=True, eq=False)
class RedrawnTable:
    """A released table, and the law of the noise in it.

    Attributes:
        released: the table.
        laplace: whether its noise is Laplace noise; Gaussian otherwise.
    """

    released: NoisyMarginal
    laplace: bool

    def noise(self, sizes: Floats, draws: int, generator: np.random.Generator) -> Floats:
        """Draw the noise of sums of cells.

        Args:
            sizes: how many cells each sum is of.
            draws: how often.
            generator: what the draws are made from.

        Returns:
            An axis for the draws, then those of `sizes`.
        """
        shape, variance = (draws, *sizes.shape), self.released.variance
        if not self.laplace:
            return np.asarray(generator.standard_normal(shape) * np.sqrt(variance * sizes))
        # The sum of k Laplace draws is the difference of two Gamma draws of shape k.
        scale = math.sqrt(variance / 2)
        each = (generator.gamma(sizes, scale, shape) for _ in range(2))
        return np.asarray(next(each) - next(each))

    def error(self, generator: np.random.Generator) -> Estimate:
        """Draw the noise of every cell once more, without the counts."""
        noise = self.noise(np.ones(self.released.counts.shape), 1, generator)[0]
        return Estimate(self.released.attributes, noise, self.released.variance)

    def held(self, names: Attributes, domain: Domain) -> Attributes:
        """Those of some names that the table holds."""
        axes = Axes(self.released.attributes)
        return tuple(name for name in names if axes.holds((name,), domain))


def redrawn_tables(
    tables: Sequence[NoisyMarginal], statement: Statement
) -> tuple[RedrawnTable, ...]:
    """The tables of a model, each with the law that its statement says the noise has."""
    drawn = {
        (charge.question, round(noise or 0.0, 6))
        for charge, _ in statement.grouped
        if isinstance(charge.event, LaplaceEvent)
        for noise in [noise_of(charge.event)]
    }
    return tuple(
        RedrawnTable(
            table, (table_question(table.attributes), round(table.variance**0.5, 6)) in drawn
        )
        for table in tables
    )
