"""Rejection: rows are drawn until enough of them fit the evidence, within a bound.

Source: TUC-2 section 3.5.4. Rows are proposed by likelihood weighting and kept with the chance of
their weight over the largest there can be: the same law, with fewer rows rejected.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from understudy.errors import UsageError
from understudy.models.distribution import CodedRows
from understudy.models.sampling.ways import How, Way
from understudy.models.sampling.weighting import Proposal, WeightedRows

# Draws go on until there are this many, and so many for each row that was asked for.
_LEAST_DRAWS, _DRAWS_PER_ROW = 1 << 24, 1000
_SMALLEST_BATCH, _LARGEST_BATCH = 1 << 10, 1 << 18


class Rejection(Way):
    """Rows that fit the evidence, found one after the other.

    Args:
        proposal: what to draw rows and their weights from.
        known: the exact probability of the evidence, where it could be computed.

    Attributes:
        drawn: how many rows were proposed so far.
        kept: how many of them fitted.
    """

    how = How.REJECTION

    def __init__(self, proposal: Proposal, known: float | None = None) -> None:
        self._proposal = proposal
        self.known = known
        self._asked = 0
        self._weight = 0.0
        self.drawn = 0
        self.kept = 0

    @property
    def chance(self) -> float | None:
        """The probability of the evidence, estimated; None before anything was drawn."""
        return self._weight / self.drawn if self.drawn else None

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Draw a number of rows that fit.

        Raises:
            UsageError: when too few were found among all that may be drawn.
        """
        self._asked += rows
        found = list(self._batches(rows, generator))
        return {a: np.concatenate([codes[a] for codes in found])[:rows] for a in found[0]}

    def _batches(self, rows: int, generator: np.random.Generator) -> Iterator[CodedRows]:
        left = rows
        while True:
            batch = self._kept(self._proposal.draw(self._batch(left), generator), generator)
            yield batch
            left -= len(next(iter(batch.values())))
            if left <= 0:
                return
            self._ensure_hope(left)

    def _batch(self, rows: int) -> int:
        """The number to draw so that `rows` of them are likely to fit."""
        if rows == 0:
            return 0
        rate = (self.kept + 1) / (self.drawn + 2) if self.drawn else 1.0
        return int(min(max(1.1 * rows / rate, _SMALLEST_BATCH), _LARGEST_BATCH))

    def _kept(self, drawn: WeightedRows, generator: np.random.Generator) -> CodedRows:
        weights = drawn.weights
        fits = generator.random(weights.size) * self._proposal.largest_weight < weights
        self.drawn += weights.size
        self.kept += int(fits.sum())
        self._weight += float(weights.sum())
        return {attribute: codes[fits] for attribute, codes in drawn.codes.items()}

    def _ensure_hope(self, missing: int) -> None:
        if self.drawn >= _LEAST_DRAWS + _DRAWS_PER_ROW * self._asked:
            raise UsageError(
                f"{missing:,} rows are missing after {self.drawn:,} draws, of which {self.kept:,} "
                "fitted the conditions; loosen one of them, or ask for fewer rows"
            )
