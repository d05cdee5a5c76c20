"""The law that all released tables speak for: a network times the factors of the tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.facts.constraints import Completions
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods.estimation.refitting import fitted_tree, refitted_network
from understudy.models.bayes_net import BayesNet
from understudy.models.estimation.aims import aims_of
from understudy.models.estimation.consistency import best_total
from understudy.models.log_linear import LogLinear
from understudy.models.sampling.without_replacement import deal_codes
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, spread_out, weighed
from understudy.models.weighted.reweighting import log_mean_weight
from understudy.privacy.noisy_marginal import NoisyMarginal

# Rows of a pool; the method refuses one that would not fit into memory before it spends anything.
POOL_ROWS = 100_000
_SWEEPS, _LAST_SWEEPS, _REFITS = 20, 15, 2
# Made-up rows need no privacy and are the same for the same tables.
_SEED = 18


@dataclass(frozen=True, eq=False)
class Estimation:
    """All tables so far, and the pool of made-up rows that comes nearest to them.

    Attributes:
        domain: the attributes.
        completions: the rows that constraints allow.
        marginals: what was released.
        rows: how many rows to make.
        total: the number of rows that counts are of.
        aims: what the tables say together.
        pool: rows of a network, weighted.
    """

    domain: Domain
    completions: Completions
    marginals: tuple[NoisyMarginal, ...]
    rows: int
    total: float
    aims: tuple[Aim, ...]
    pool: Pool

    @classmethod
    def of(
        cls,
        marginals: Sequence[NoisyMarginal],
        domain: Domain,
        schema: Schema,
        *,
        rows: int | None = None,
        pool_rows: int = POOL_ROWS,
    ) -> Estimation:
        """Fit a tree to released tables, and bring a pool of its rows near to all of them.

        Args:
            marginals: what was released, one-way tables among them.
            domain: the attributes.
            schema: has the constraints.
            rows: the number of rows, where it is public.
            pool_rows: how many made-up rows are weighted.

        Privacy: post-processing of what was released.
        """
        known = best_total(marginals) if rows is None else float(rows)
        total = max(known, _lost_in_noise(marginals) if rows is None else 0.0, 1.0)
        nogoods = {nogood for constraint in schema.constraints for nogood in constraint.nogoods}
        aims = aims_of(marginals, domain, nogoods)
        completions = Completions(schema.constraints)
        tree = BayesNet(domain, fitted_tree(aims, domain, total), completions)
        pool, aims = spread_out(drawn_pool(tree, total, rows=pool_rows), aims, sweeps=_SWEEPS)
        return cls(
            domain=domain,
            completions=completions,
            marginals=tuple(marginals),
            rows=max(round(known), 0),
            total=total,
            aims=tuple(aims),
            pool=pool,
        )

    @property
    def one_way_noise(self) -> dict[str, float]:
        """The mean L1 noise of every attribute's own table, as far as it was measured."""
        mean = math.sqrt(2 / math.pi)
        single = (aim for aim in self.aims if len(aim.attributes) == 1)
        return {a.attributes[0]: mean * a.counts.size * math.sqrt(a.variance) for a in single}

    def law(self, last: Attributes = ()) -> LogLinear:
        """Refit the network to the pool, draw again, and find the factors that are left.

        Factors are found with doubt about what is accidental in a pool, so that they hold for
        fresh rows of the network too.

        Args:
            last: protected attributes, which have a part neither in factors nor in weights.
        """
        pool, aims = self.pool, [aim for aim in self.aims if not self._holds(aim, last)]
        measured = [marginal.attributes for marginal in self.marginals]
        for number in range(_REFITS):
            conditionals = refitted_network(pool, measured, last=last)
            base = BayesNet(self.domain, conditionals, self.completions)
            start = [replace(aim, logarithms=np.zeros(aim.counts.shape)) for aim in aims]
            drawn = drawn_pool(base, self.total, rows=len(self.pool), seed=_SEED + number)
            pool, aims = spread_out(drawn, start, sweeps=_LAST_SWEEPS, doubt=1.0)
        found = LogLinear(
            replace(base, completions=Completions(())), tuple(aims), self.total, last=last
        )
        return _scaled(found, rows=len(self.pool))

    def _holds(self, aim: Aim, names: Attributes) -> bool:
        return any(self.domain.base(name) in names for name in aim.attributes)


def _lost_in_noise(marginals: Sequence[NoisyMarginal]) -> float:
    """How many rows noise could hide; with fewer, noise would decide which codes there are."""
    precision = sum(1 / m.total_variance for m in marginals if m.total_variance > 0)
    return float(precision**-0.5) if precision else 0.0


def drawn_pool(law: BayesNet, total: float, *, rows: int, seed: int = _SEED) -> Pool:
    """A pool of rows of a network, with equal weights."""
    codes = deal_codes(law, rows, np.random.default_rng(seed))
    return Pool.of(law.domain, codes, total)


def _scaled(law: LogLinear, *, rows: int) -> LogLinear:
    """The law with what a row of its network weighs on average, and what it is worth."""
    pool = drawn_pool(law.base, 1.0, rows=rows, seed=_SEED + _REFITS)
    scale = log_mean_weight(pool, law.aims)
    weighted = weighed(pool, law.aims)
    return replace(law, scale=scale, effective=min(weighted.effective / len(pool), 1.0))
