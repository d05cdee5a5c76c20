"""Draw true tables that released ones leave possible, at no cost.

A true count c was released as y = c + noise of variance v. Before its table is seen, c may stray
from what smaller tables say by κ times Poisson variance, as far as the released table itself shows
(empirical Bayes). Given y, and a model whose count is m, the true count is then near
s·y + (1 − s)·m with variance s·v, where s = κm / (κm + v). κ is about what smaller tables say, and
not about the model: a model that was fitted to the same tables is always near to them, and whoever
shrinks draws to it by that counts every table twice.

A draw takes one draw of the noise of all released tables, through the same averages as the counts,
so that what several sets of attributes share varies together (Gaussian sampling by perturbation:
Papandreou, Yuille 2010). It is then emptied where it is negative, and raked from small sets to
large ones, so that all tables of a draw are possible and agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.estimation.aims import averaged
from understudy.models.estimation.consistency import Estimate
from understudy.models.intervals.redrawing import RedrawnTable
from understudy.models.weighted.pool import Pool
from understudy.system.arrays import Floats

# No table strays less than this from smaller ones, in units of Poisson variance.
_LEAST_SPREAD = 0.5
_SWEEPS = 10

CountsByNames = Mapping[Attributes, Floats]


@dataclass(frozen=True, eq=False)
class CellPosterior:
    """The law of the true counts of one table, given all released ones.

    Attributes:
        table: the mean, and the variance of the noise before anything is shrunk.
        kept: the part of a cell's noise variance that is left open: s above.
    """

    table: Estimate
    kept: Floats

    @classmethod
    def of(cls, released: Estimate, model: Floats, smaller: Floats) -> CellPosterior:
        """Combine what was released with a model.

        Args:
            released: counts that agree with those of smaller sets.
            model: the counts of the model.
            smaller: the counts that tables of fewer attributes imply.
        """
        beyond = float(((released.counts - smaller) ** 2).sum())
        expected = released.variance * smaller.size
        rows = max(float(model.sum()), 1.0)
        strays = max((beyond - expected) / rows, _LEAST_SPREAD) * np.maximum(model, 0.0)
        kept = strays / (strays + released.variance)
        mean = kept * released.counts + (1 - kept) * model
        return cls(Estimate(released.attributes, mean, released.variance), kept)

    def moved(self, noise: Floats) -> Estimate:
        """Return the mean, moved by as much of a draw of the noise as is left open."""
        mean = self.table
        counts = mean.counts + np.sqrt(self.kept) * noise
        return Estimate(mean.attributes, counts, mean.variance)


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """The law of all true tables given the released ones.

    Attributes:
        tables: what was released, with the law of its noise.
        domain: the attributes.
        total: the number of rows.
        cells: the law of every set of attributes that a table holds, smaller sets first.
    """

    tables: tuple[RedrawnTable, ...]
    domain: Domain
    total: float
    cells: tuple[CellPosterior, ...]

    @classmethod
    def of(cls, tables: Sequence[RedrawnTable], model: Pool) -> TablePosterior:
        """Find the law from released tables and rows of the model that was made of them.

        Privacy: post-processing of what was released.
        """
        domain, total = model.domain, model.total
        released = averaged([table.released for table in tables], domain)
        found: dict[Attributes, Floats] = {}
        cells = []
        for each in _agreeing(released, domain, total):
            smaller = _implied(each, found, domain, total)
            cell = CellPosterior.of(each, model.project(each.attributes), smaller)
            found[each.attributes] = np.maximum(cell.table.counts, 0.0)
            cells.append(cell)
        return cls(tuple(tables), domain, total, tuple(cells))

    def draw(self, generator: np.random.Generator) -> list[Estimate]:
        """Draw possible true tables: not negative, of the same total, agreeing with each other."""
        noise = averaged([table.error(generator) for table in self.tables], self.domain)
        agreeing = _agreeing(noise, self.domain, 0.0)
        moved = (cell.moved(e.counts) for cell, e in zip(self.cells, agreeing, strict=True))
        return _possible([*moved], self.domain, self.total)


def _agreeing(tables: Sequence[Estimate], domain: Domain, total: float) -> list[Estimate]:
    """Correct every table evenly to agree with all smaller ones (Qardaji, Yang, Li 2014)."""

    def corrected(counts: Floats, found: CountsByNames, names: Attributes) -> Floats:
        counts = counts + (total - counts.sum()) / max(counts.size, 1)
        for size in range(1, len(names)):
            for gone, wanted in _within(names, size, found, domain):
                sums = counts.sum(axis=gone, keepdims=True)
                lacking = (wanted.reshape(sums.shape) - sums) * (sums.size / counts.size)
                counts = counts + lacking
        return np.asarray(counts)

    return _settled(tables, corrected)


def _possible(tables: Sequence[Estimate], domain: Domain, total: float) -> list[Estimate]:
    """Empty negative cells, and rake every table to those of one attribute less."""

    def possible(counts: Floats, found: CountsByNames, names: Attributes) -> Floats:
        kept = np.maximum(counts, 0.0)
        kept = kept * (total / max(float(kept.sum()), 1e-300))
        return _raked(kept, _within(names, len(names) - 1, found, domain), _SWEEPS)

    return _settled(tables, possible)


def _settled(
    tables: Sequence[Estimate], settle: Callable[[Floats, CountsByNames, Attributes], Floats]
) -> list[Estimate]:
    """Settle tables one after the other, each by those that were settled before."""
    found: dict[Attributes, Floats] = {}
    for table in tables:
        found[table.attributes] = settle(table.counts, found, table.attributes)
    return [Estimate(t.attributes, found[t.attributes], t.variance) for t in tables]


def _implied(table: Estimate, found: CountsByNames, domain: Domain, total: float) -> Floats:
    """Return what smaller tables imply: equal counts, products, or no largest interaction."""
    even = np.full(table.counts.shape, total / max(table.counts.size, 1))
    names = table.attributes
    return _raked(even, _within(names, len(names) - 1, found, domain), _SWEEPS)


def _raked(
    counts: Floats, margins: Iterator[tuple[tuple[int, ...], Floats]], sweeps: int
) -> Floats:
    """Scale counts in turn until their sums are as wanted (Deming, Stephan 1940)."""
    wanted = [*margins]
    for _ in range(sweeps if wanted else 0):
        for gone, sums in wanted:
            seen = counts.sum(axis=gone, keepdims=True)
            goal = sums.reshape(seen.shape)
            counts = counts * np.divide(goal, seen, out=np.zeros_like(seen), where=seen > 0)
    return counts


def _within(
    names: Attributes, size: int, found: CountsByNames, domain: Domain
) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Smaller tables of some of the names: the axes that they do not have, and their counts."""
    if not size:
        return
    for fewer in itertools.combinations(names, size):
        gone = tuple(axis for axis, name in enumerate(names) if name not in fewer)
        fine = tuple(map(domain.base, fewer))
        if fewer in found:
            yield gone, found[fewer]
        elif size == 1 and fine in found:
            # A coarser copy alone is seen in the table of its attribute.
            yield gone, Axes(fine).project(found[fine], fewer, domain)
