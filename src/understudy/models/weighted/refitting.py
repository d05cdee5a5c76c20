"""Weights of the same rows for other tables: replicates of a network times factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, raked
from understudy.models.weighted.reweighting import log_mean_weight

if TYPE_CHECKING:
    from understudy.models.estimation.consistency import Estimate
    from understudy.models.intervals.refits import PoolRefits

# How often all tables are gone through for drawn tables to be asked, and for whole replicates.
_SWEEPS_TO_ASK, _SWEEPS_TO_REFIT = 4, 10
# The spread of a table that nothing is shrunk to.
_FREE = 1e6


def refitted_aims(
    pool: Pool, aims: Sequence[Aim], tables: Sequence[Estimate]
) -> tuple[tuple[Aim, ...], float]:
    """Return factors that give the rows of a pool other tables, and their mean weight's logarithm.

    The tables are taken at their word: what is uncertain in them was drawn already, and the
    factors of the law are where the search begins, not what they are shrunk to.
    """
    _, found = raked(pool, _aims_at(aims, tables), sweeps=_SWEEPS_TO_REFIT, loose=True)
    return tuple(found), log_mean_weight(pool, found)


def pool_refits(pool: Pool, aims: Sequence[Aim], drawn: Iterable[Sequence[Estimate]]) -> PoolRefits:
    """Weigh the rows of a pool for each of some lists of tables, beginning at the law's weights."""
    from understudy.models.intervals.refits import PoolRefits

    weights = [
        raked(pool, _aims_at(aims, tables), sweeps=_SWEEPS_TO_ASK, loose=True)[0].weights
        for tables in drawn
    ]
    shares = [(each / each.sum()).astype(np.float32) for each in weights]
    return PoolRefits(pool.domain, pool.codes, np.array(shares))


def _aims_at(aims: Sequence[Aim], tables: Sequence[Estimate]) -> list[Aim]:
    """The law's tables with the counts that others say, and the factors that they have.

    Single attributes come last, so that their tables are met exactly.
    """
    found = {table.attributes: table.counts for table in tables}
    return [
        replace(aim, counts=found[aim.attributes], spread=_FREE)
        for aim in sorted(aims, key=lambda aim: -len(aim.attributes))
        if aim.attributes in found
    ]
