"""Contingency tables that were released, on the public side of the door.

A `NoisyMarginal` was released by a mechanism that has been paid for. It shares no base class with
the exact `Marginal` behind the Curator, so that passing one for the other is a type error.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes
from understudy.system.arrays import Numbers


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """Released counts over some attributes, perhaps negative, of known variance.

    They are whole, or multiples of a step where the noise was drawn on a finer grid.
    """

    attributes: Attributes
    counts: Numbers
    variance: float

    @property
    def total(self) -> int:
        """The noisy number of rows that the table counts, as a whole number."""
        return round(float(self.counts.sum()))

    @property
    def total_variance(self) -> float:
        """The variance of the total: every cell carries noise, the empty ones too."""
        return self.variance * self.counts.size

    def project(self, attributes: Attributes, /) -> NoisyMarginal:
        """The same release summed down to fewer attributes, in the order asked for."""
        summed = Axes(self.attributes).project(self.counts, attributes)
        variance = self.variance * (self.counts.size // max(summed.size, 1))
        return NoisyMarginal(attributes, summed, variance)
