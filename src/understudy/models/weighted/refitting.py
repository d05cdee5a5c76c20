"""Weights of the same rows for other tables: replicates of a network times factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes
from understudy.models.weighted.pool import Pool, RowCells
from understudy.models.weighted.raking import Aim, kept_places, raked
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

    shares, kept = list[npt.NDArray[np.float32]](), _KeptPlaces(pool)
    for tables in drawn:
        towards = _aims_at(aims, tables)
        found, _ = raked(
            pool, towards, sweeps=_SWEEPS_TO_ASK, loose=True, kept=kept.places(towards)
        )
        shares.append((found.weights / found.weights.sum()).astype(np.float32))
    return PoolRefits(pool.domain, pool.codes, np.array(shares))


class _KeptPlaces:
    """The cells of a pool's rows in some tables, found once while the tables stay the same."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._names: list[Attributes] = []
        self._found: Sequence[RowCells] = ()

    def places(self, aims: Sequence[Aim]) -> Sequence[RowCells]:
        """The cells of all rows in the table of every aim."""
        names = [aim.attributes for aim in aims]
        if names != self._names:
            self._names, self._found = names, kept_places(self._pool, aims)
        return self._found


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
