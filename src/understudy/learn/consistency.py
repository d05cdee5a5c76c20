"""Released counts made into possible ones: not negative, agreeing, adding up to what they should.

Source: NIST section 3.2 and Qardaji, Yang, Li 2014, with the closure under intersection that the
printed algorithm leaves out. Non-negativity is restored by projections in turn and a last small
mixture, which keep all agreements. Proofs: docs/proofs/consistency.md, docs/proofs/simplex.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from understudy.domain import Attributes
from understudy.marginal import NoisyMarginal

Weights = npt.NDArray[np.float64]

# Projections in turn stop when the largest negative cell is this part of an average one, or after
# so many rounds; the mixture at the end removes the rest.
_NEARLY = 1e-6
_ROUNDS = (8, 200)
_WORK = 10**8


@dataclass(frozen=True, eq=False)
class Estimate:
    """What is believed of a table: real-valued counts, and the variance of the noise in them."""

    attributes: Attributes
    counts: Weights
    variance: float

    def project(self, attributes: Sequence[str]) -> Weights:
        """The counts summed down to fewer attributes, in the order asked for."""
        gone = tuple(i for i, a in enumerate(self.attributes) if a not in attributes)
        left = [a for a in self.attributes if a in attributes]
        summed: Weights = self.counts.sum(axis=gone)
        return summed.transpose([left.index(a) for a in attributes])


def best_total(marginals: Sequence[NoisyMarginal]) -> float:
    """The number of rows, from every table's total weighted by its inverse variance."""
    variances = np.array([marginal.total_variance for marginal in marginals])
    totals = np.array([float(marginal.total) for marginal in marginals])
    if (variances == 0).any():
        return float(totals[variances == 0].mean())
    return float(np.average(totals, weights=1 / variances))


def onto_simplex(counts: npt.NDArray[np.int64] | Weights, total: float) -> Weights:
    """The nearest non-negative table, in Euclidean distance, with the given total.

    With noise of equal variance on every cell this is the most likely table under Gaussian noise.
    Subtracting one constant and clipping does it (Duchi, Shalev-Shwartz, Singer, Chandra 2008);
    unlike clipping and rescaling it does not inflate the many cells that are nearly empty.

    Example:
        >>> onto_simplex(np.array([6, 5, -2]), 10).tolist()
        [5.5, 4.5, 0.0]
    """
    if total <= 0:
        return np.zeros(counts.shape)
    descending = np.sort(counts.ravel().astype(float))[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, descending.size + 1)
    last = max(int(np.count_nonzero(descending > excess)) - 1, 0)
    return np.asarray(np.maximum(counts - excess[last], 0.0))


def made_consistent(marginals: Sequence[NoisyMarginal], total: float) -> list[Estimate]:
    """Tables that are not negative, have the total, and agree on all they share.

    One estimate for each different set of attributes, in the order of their first release.
    """
    tables = _merged(marginals)
    if total <= 0:
        return [replace(t, counts=np.zeros(t.counts.shape)) for t in tables]
    shared = _closed_under_intersection(frozenset(t.attributes) for t in tables)
    views = [_views(tables, attributes) for attributes in shared]
    counts = [table.counts for table in tables]
    _agree(counts, views, total)
    cells = sum(table.size for table in counts)
    for _ in range(min(max(_WORK // cells, _ROUNDS[0]), _ROUNDS[1])):
        if _worst(counts) < _NEARLY:
            break
        counts = [onto_simplex(table, total) for table in counts]
        _agree(counts, views, total)
    positive = _mixed_with_uniform(counts)
    return [replace(t, counts=c) for t, c in zip(tables, positive, strict=True)]


def _merged(marginals: Sequence[NoisyMarginal]) -> list[Estimate]:
    """One estimate for each set of attributes, its axes sorted by name.

    Several releases of the same table are weighed by their inverse variance.
    """
    tables: dict[Attributes, Estimate] = {}
    for marginal in marginals:
        order = tuple(sorted(marginal.attributes))
        new = Estimate(order, marginal.project(order).counts.astype(float), marginal.variance)
        tables[order] = _mean(tables[order], new) if order in tables else new
    return list(tables.values())


def _mean(first: Estimate, second: Estimate) -> Estimate:
    if first.variance == 0 or second.variance == 0:
        return first if first.variance == 0 else second
    weights = (1 / first.variance, 1 / second.variance)
    counts = (first.counts * weights[0] + second.counts * weights[1]) / sum(weights)
    return replace(first, counts=counts, variance=1 / sum(weights))


def _closed_under_intersection(sets: Iterable[frozenset[str]]) -> list[Attributes]:
    """All intersections of two or more sets, smallest first: what tables must agree on."""
    tables = list(dict.fromkeys(sets))
    closed = {frozenset[str](), *(a & b for a, b in itertools.combinations(tables, 2))}
    while more := {a & b for a, b in itertools.combinations(closed, 2)} - closed:
        closed |= more
    return sorted((tuple(sorted(s)) for s in closed), key=lambda s: (len(s), s))


@dataclass(frozen=True)
class _View:
    """How one table is seen through a set of attributes that it shares with others.

    Attributes:
        table: which table.
        gone: the axes that are summed away.
        shape: the view's shape among the table's axes, ones where axes are gone.
        share: the part of a difference that each cell takes.
        precision: the inverse variance of a cell of the view.
    """

    table: int
    gone: tuple[int, ...]
    shape: tuple[int, ...]
    share: float
    precision: float


def _views(tables: Sequence[Estimate], attributes: Attributes) -> list[_View]:
    """Every table that holds these attributes, as seen through them."""
    holders = [i for i, t in enumerate(tables) if set(attributes) <= set(t.attributes)]
    return [_view(i, tables[i], attributes) for i in holders]


def _view(number: int, table: Estimate, attributes: Attributes) -> _View:
    gone = tuple(i for i, a in enumerate(table.attributes) if a not in attributes)
    shape = tuple(1 if i in gone else n for i, n in enumerate(table.counts.shape))
    share = math.prod(shape) / table.counts.size
    # Exact tables outweigh all others.
    return _View(number, gone, shape, share, share / max(table.variance, 1e-12))


def _agree(counts: list[Weights], shared: Sequence[Sequence[_View]], total: float) -> None:
    """Make tables, in place, agree on every shared set and have the total.

    Smaller sets come first: what is set right later leaves the smaller projections alone.
    """
    for views in shared:
        seen = [counts[view.table].sum(axis=view.gone) for view in views]
        weights = [view.precision for view in views]
        target = np.average(seen, axis=0, weights=weights) if seen[0].ndim else np.array(total)
        for view, projected in zip(views, seen, strict=True):
            counts[view.table] += ((target - projected) * view.share).reshape(view.shape)


def _worst(counts: Sequence[Weights]) -> float:
    """The most negative cell, as a part of its table's average one."""
    return max(float(-table.min() * table.size / table.sum()) for table in counts)


def _mixed_with_uniform(counts: Sequence[Weights]) -> list[Weights]:
    """The least mixture with uniform tables, which all agree, that leaves no negative cell."""
    worst = max(_worst(counts), 0.0)
    share = worst / (1 + worst)
    return [np.maximum(table * (1 - share) + share * table.mean(), 0.0) for table in counts]
