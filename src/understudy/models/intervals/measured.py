"""The best linear estimate of a small table from all released tables, and its error.

Every table that holds some attributes says something about them; what they say is averaged by
inverse variance. Sets are settled from small to large: the total first, then single attributes,
then pairs, each corrected evenly to agree with all smaller ones, as in PriView (Qardaji, Yang, Li
2014). Nothing is clipped, so that estimates are linear in the released counts and unbiased, and
the same steps applied to redrawn noise have exactly the error of the estimate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.intervals.redrawing import RedrawnTable
from understudy.system.arrays import Floats

# Draws of noise, fewer where a table has many cells.
_MOST_DRAWS, _LEAST_DRAWS, _MOST_NUMBERS = 2_000, 200, 2**22
_SEED = 20
# Exact tables outweigh all others.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """Unclipped counts of some attributes, and the same with the noise drawn again.

    Attributes:
        names: the attributes, or coarser copies of them.
        counts: the estimate.
        errors: draws of its error; their first axis is the number of the draw.
    """

    names: Attributes
    counts: Floats
    errors: Floats


def measured_table(
    tables: Sequence[RedrawnTable], names: Attributes, domain: Domain
) -> MeasuredTable | None:
    """Estimate the table of some names; None where no released table holds all of them.

    Args:
        tables: what was released.
        names: attributes, or coarser copies of them, each of another attribute.
        domain: knows the sizes.
    """
    if not any(Axes(t.released.attributes).holds(names, domain) for t in tables):
        return None
    cells = max(domain.cells(names), 1)
    draws = int(np.clip(_MOST_NUMBERS // cells, _LEAST_DRAWS, _MOST_DRAWS))
    generator = np.random.default_rng(_SEED)
    seen = [_seen(table, names, domain, draws=draws, generator=generator) for table in tables]
    found: dict[Attributes, Floats] = {}
    for subset in _subsets(names):
        found[subset] = _settled(subset, seen, found)
    whole = found[names]
    return MeasuredTable(names, whole[0], whole[1:])


@dataclass(frozen=True, eq=False)
class _View:
    """A released table through those of the names that it holds.

    Attributes:
        names: those that it holds.
        counts: its counts first, then draws of its noise.
        variance: of an average cell.
    """

    names: Attributes
    counts: Floats
    variance: float

    def through(self, names: Attributes) -> Floats:
        """Sum down to fewer names."""
        return _summed(self.counts, self.names, names)

    def variance_of(self, cells: int) -> float:
        """The variance of a cell among this number of cells."""
        return float(self.variance * (self.counts[0].size / max(cells, 1)))


def _seen(
    table: RedrawnTable,
    names: Attributes,
    domain: Domain,
    *,
    draws: int,
    generator: np.random.Generator,
) -> _View:
    axes, held = Axes(table.released.attributes), table.held(names, domain)
    counts = axes.project(table.released.counts.astype(float), held, domain)
    sizes = axes.project(np.ones(table.released.counts.shape), held, domain)
    noise = table.noise(sizes, draws, generator)
    variance = max(table.released.variance, _LEAST_VARIANCE) * float(sizes.mean())
    return _View(held, np.concatenate([counts[None], noise]), variance)


def _subsets(names: Attributes) -> Iterator[Attributes]:
    for size in range(len(names) + 1):
        yield from itertools.combinations(names, size)


def _settled(names: Attributes, seen: Sequence[_View], found: dict[Attributes, Floats]) -> Floats:
    """The mean of what tables say about some names, corrected to agree with all smaller sets."""
    sums, precision = np.zeros(()), 0.0
    for view in seen:
        if set(names) <= set(view.names):
            through = view.through(names)
            weight = 1 / view.variance_of(through[0].size)
            sums, precision = sums + weight * through, precision + weight
    counts = np.asarray(sums / precision)
    for fewer in _subsets(names):
        if len(fewer) < len(names):
            counts = counts + _correction(found[fewer], counts, names, fewer)
    return counts


def _correction(wanted: Floats, counts: Floats, names: Attributes, fewer: Attributes) -> Floats:
    """Return what every cell lacks where sums over the other names are to be as wanted."""
    sums = counts.sum(axis=_gone(names, fewer), keepdims=True)
    return np.asarray((wanted.reshape(sums.shape) - sums) * (sums[0].size / counts[0].size))


def _summed(counts: Floats, names: Attributes, fewer: Attributes) -> Floats:
    return np.asarray(counts.sum(axis=_gone(names, fewer)))


def _gone(names: Attributes, fewer: Attributes) -> tuple[int, ...]:
    """The axes that are summed away; the first is the number of a draw."""
    return tuple(1 + i for i, name in enumerate(names) if name not in fewer)
