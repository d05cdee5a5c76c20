"""The posterior of a whole record, for someone who knows all other rows and sees what is released.

Source: AAU sections 1 and 5, where a record is guessed by P(X = x | Z); Reiter, Wang, Zhang 2014.
The release is a table of counts with discrete Laplace noise, the strongest that the methods here
ask for at their ε. All of it is exact arithmetic on a released table: nothing is drawn here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.errors import UsageError
from understudy.system.arrays import Floats, Integers, Probabilities


@dataclass(frozen=True, eq=False)
class RecordPosterior:
    """The posterior of one record, given a released table and all other records.

    Attributes:
        others: exact counts of all other rows, over all cells of the domain.
        released: the noisy counts of all rows.
        epsilon: of the release, under replaced rows: noise of scale 2/ε on every cell.
        prior: what was believed of the record before, one chance for each cell.
    """

    others: Integers
    released: Integers
    epsilon: float
    prior: Probabilities

    def __post_init__(self) -> None:
        shapes = {self.others.shape, self.released.shape, self.prior.shape}
        if len(shapes) > 1 or not math.isclose(float(self.prior.sum()), 1.0):
            raise UsageError("tables and prior have the same cells, and the prior adds up to 1")

    @property
    def chances(self) -> Probabilities:
        """Return P(record | release, all other rows), one for each cell."""
        away = np.abs(self.released - self.others)
        # A record in a cell adds one there: the likelihood changes in that cell alone.
        nearer = away - np.abs(self.released - self.others - 1)
        weights = self.prior * np.exp(self.epsilon / 2 * nearer)
        return np.asarray(weights / weights.sum())

    @property
    def odds(self) -> float:
        """Return by how much the release changed the odds of any two records, at the most."""
        held = self.prior > 0
        change = self.chances[held] / self.prior[held]
        return float(change.max() / change.min())

    def expected_distance(self, codes: Sequence[Floats], truth: Sequence[float]) -> float:
        """How far a draw of the posterior is from the true record, in attributes that differ.

        Args:
            codes: for each attribute the code of every cell.
            truth: the record's own codes.
        """
        differ = sum((np.asarray(c) != t).astype(float) for c, t in zip(codes, truth, strict=True))
        return float(np.sum(self.chances * differ))
