"""Rows of a network, re-weighted by tables and then chosen: how a log-linear model draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.models.bayes_net import BayesNet
from understudy.models.distribution import CodedRows
from understudy.models.inference import Evidence
from understudy.models.sampling.forward import Last, sample_codes, sample_last
from understudy.models.sampling.ways import Weighting
from understudy.models.sampling.weighting import Proposal
from understudy.models.sampling.without_replacement import deal_codes, deal_last
from understudy.models.weighted.pool import Pool, joined, rows_of
from understudy.models.weighted.raking import Aim, spread_out, weighed
from understudy.models.weighted.rounding import rounded
from understudy.system.arrays import Floats

if TYPE_CHECKING:
    from understudy.models.sampling.ways import Sampler

# Rows of the network behind each row that is drawn, and behind a few; rows drawn together.
_POOL_PER_ROW, LEAST_POOL, _TOGETHER = 4, 1 << 17, 1 << 16
_SWEEPS = 2


@dataclass(frozen=True, eq=False)
class PoolDrawing:
    """Draws rows of a network, weighs them, and chooses some.

    Attributes:
        base: the network that rows are drawn from.
        aims: the tables whose factors and counts make the weights.
        total: the number of rows that the counts are of.
        calibrated: whether weights are brought near to the counts again.
        last: attributes that have no part in weights, drawn when the rows have been chosen.
    """

    base: BayesNet
    aims: tuple[Aim, ...]
    total: float
    calibrated: bool
    last: Attributes

    @cached_property
    def weighed(self) -> Domain:
        """The attributes that have a part in weights: all but those that are drawn last."""
        domain = self.base.domain
        sizes = {name: size for name, size in domain.sizes.items() if name not in self.last}
        coarser = {name: level for name, level in domain.coarser.items() if level.of in sizes}
        return Domain(sizes, coarser)

    @cached_property
    def _pooled(self) -> BayesNet:
        """The network of the attributes that have a part in weights."""
        kept = (c for c in self.base.conditionals if c.family.child not in self.last)
        return BayesNet(self.weighed, tuple(kept))

    def draw(self, rows: int, generator: np.random.Generator, sampler: Sampler | None) -> CodedRows:
        """Draw rows in parts that fit into memory."""
        starts = range(0, max(rows, 1), _TOGETHER)
        parts = [self._part(min(_TOGETHER, rows - s), generator, sampler) for s in starts]
        return joined(parts)

    def _part(
        self, rows: int, generator: np.random.Generator, sampler: Sampler | None
    ) -> CodedRows:
        if not len(self.weighed):
            return self.completed({}, rows, generator)
        pool = self.pool(max(_POOL_PER_ROW * rows, LEAST_POOL), generator)
        most = self._most(pool, rows)
        if sampler is not sample_codes:
            chosen = rounded(pool, rows, generator, most=most)
            return self.completed(chosen, rows, generator)
        numbers = pool.chosen(rows, generator, most=most, ordered=False)
        chosen = rows_of(pool.codes, generator.permutation(numbers))
        return self.completed(chosen, rows, generator, draw=sample_last)

    def _most(self, pool: Pool, rows: int) -> Floats:
        """How often each row may be expected among n rows: as often as the law says, or once."""
        weights = pool.weights * (len(pool) / max(pool.total, 1e-300))
        return np.clip(rows * self._pooled.chances_of(pool.codes) * weights, 1.0, max(rows, 1))

    def pool(self, rows: int, generator: np.random.Generator) -> Pool:
        """Draw rows of the network, with weights at which they stand for rows of the law.

        Attributes that are drawn last are left out.
        """
        drawn = deal_codes(self.base, rows, generator)
        held = {name: drawn[name] for name in self.weighed}
        pool = Pool(self.weighed, held, np.full(rows, max(self.total, 1.0) / max(rows, 1)))
        pool = weighed(pool, self.aims)
        pool = spread_out(pool, self.aims, sweeps=_SWEEPS)[0] if self.calibrated else pool
        if rows and not 0 < pool.total < math.inf:
            raise UsageError(
                "the factors of the model leave its rows without weights; fit the model again"
            )
        return pool

    def refitting_pool(self, rows: int, seed: int) -> Pool:
        """Rows of the network, always the same ones, that weigh as the law's factors say."""
        drawn = deal_codes(self.base, rows, np.random.default_rng(seed))
        held = {name: drawn[name] for name in self.weighed}
        return weighed(Pool.of(self.weighed, held, max(self.total, 1.0)), self.aims)

    def completed(
        self,
        codes: CodedRows,
        rows: int,
        generator: np.random.Generator,
        *,
        fits: Evidence | None = None,
        draw: Callable[..., CodedRows] = deal_last,
    ) -> CodedRows:
        """Rows that were chosen, with the attributes that are drawn last."""
        if not self.last:
            return codes
        return draw(self.base, codes, Last(self.last, rows, fits or {}), generator)

    def bytes_needed(self, rows: int) -> int:
        """Estimate the memory that drawing takes, in bytes."""
        together = min(max(_POOL_PER_ROW * rows, LEAST_POOL), _POOL_PER_ROW * _TOGETHER)
        # Codes, twice while rows are exchanged, and the places of tables that are kept.
        width = len(self.base.domain)
        return together * (4 * width + 1024) + 2 * rows * width


class Completing(Weighting):
    """Rows drawn towards evidence and chosen by weights, whose last attributes are drawn then."""

    def __init__(self, proposal: Proposal, drawing: PoolDrawing, evidence: Evidence) -> None:
        super().__init__(proposal)
        self._drawing, self._fits = drawing, evidence

    def take(self, rows: int, generator: np.random.Generator) -> CodedRows:
        """Return the next rows."""
        chosen = super().take(rows, generator)
        return self._drawing.completed(chosen, rows, generator, fits=self._fits)
