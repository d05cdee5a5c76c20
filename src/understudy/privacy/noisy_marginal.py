"""Contingency tables, on either side of the door.

`Marginal` holds exact counts and stays behind the Curator. `NoisyMarginal` was released by a
mechanism that has been paid for. They share no base class, so that passing one for the other is a
type error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.domain import Attributes

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, repr=False, eq=False)
class Marginal:
    """Exact counts over some attributes. Private: never shown, never written."""

    attributes: Attributes
    counts: Counts

    def __repr__(self) -> str:
        return f"Marginal({', '.join(self.attributes)}; counts private)"


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """Released counts over some attributes: integers, perhaps negative, of known variance."""

    attributes: Attributes
    counts: Counts
    variance: float

    @property
    def total(self) -> int:
        """The noisy number of rows."""
        return int(self.counts.sum())

    @property
    def total_variance(self) -> float:
        """The variance of the total: every cell carries noise, the empty ones too."""
        return self.variance * self.counts.size

    def project(self, attributes: Sequence[str]) -> NoisyMarginal:
        """The same release summed down to fewer attributes, in the order asked for."""
        gone = tuple(i for i, a in enumerate(self.attributes) if a not in attributes)
        left = [a for a in self.attributes if a in attributes]
        summed = self.counts.sum(axis=gone).transpose([left.index(a) for a in attributes])
        variance = self.variance * (self.counts.size // max(summed.size, 1))
        return NoisyMarginal(tuple(attributes), summed, variance)
