"""Released counts made into possible ones: not negative, agreeing, adding up to what they should.

Source: NIST section 3.2 and Qardaji, Yang, Li 2014, with the closure under intersection that the
printed algorithm leaves out. Two tables share, of an attribute that both hold, the coarser of its
two copies: a table that knows a finer one knows it as well, by sums over its groups, so that its
own levels agree by construction. Non-negativity is restored by projections in turn and a last small
mixture, which keep all agreements. Proofs: docs/proofs/consistency.md, docs/proofs/simplex.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from understudy.facts.axes import Axes, Reduction
from understudy.facts.domain import Attributes, Domain
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats

# Projections in turn stop when the largest negative cell is this part of an average one, or after
# so many rounds; the mixture at the end removes the rest.
_NEARLY = 1e-6
_ROUNDS = (8, 200)
_WORK = 10**8


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of a table: real-valued counts, and the variance of the noise in them."""

    attributes: Attributes
    counts: Floats
    variance: float


def best_total(marginals: Sequence[NoisyMarginal]) -> float:
    """The number of rows, from every table's total weighted by its inverse variance."""
    variances = np.array([marginal.total_variance for marginal in marginals])
    totals = np.array([float(marginal.total) for marginal in marginals])
    if (variances == 0).any():
        return float(totals[variances == 0].mean())
    return float(np.average(totals, weights=1 / variances))


def onto_simplex(counts: npt.NDArray[np.int64] | Floats, total: float) -> Floats:
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


def made_consistent(
    marginals: Sequence[NoisyMarginal], total: float, domain: Domain | None = None
) -> list[Estimate]:
    """Tables that are not negative, have the total, and agree on all they share.

    One estimate for each different set of attributes, in the order of their first release.

    Args:
        marginals: what was released.
        total: what every table is to add up to.
        domain: knows the coarser copies of attributes, where tables have any.
    """
    domain = domain or Domain({})
    tables = _merged(marginals, domain)
    if total <= 0:
        return [replace(t, counts=np.zeros(t.counts.shape)) for t in tables]
    shared = _closed_under_meets([frozenset(t.attributes) for t in tables], domain)
    views = [_views(tables, names, domain) for names in shared]
    even = [_even(table, domain) for table in tables]
    counts = [table.counts for table in tables]
    _agree(counts, views, total)
    cells = sum(table.size for table in counts)
    for _ in range(min(max(_WORK // cells, _ROUNDS[0]), _ROUNDS[1])):
        if _worst(counts, even) < _NEARLY * total:
            break
        counts = [onto_simplex(table, total) for table in counts]
        _agree(counts, views, total)
    positive = _mixed(counts, even, total)
    return [replace(t, counts=c) for t, c in zip(tables, positive, strict=True)]


def _merged(marginals: Sequence[NoisyMarginal], domain: Domain) -> list[Estimate]:
    """One estimate for each set of attributes, its axes sorted by the attributes' names.

    Several releases of the same table are weighed by their inverse variance.
    """
    tables: dict[Attributes, Estimate] = {}
    for marginal in marginals:
        order = tuple(sorted(marginal.attributes, key=domain.base))
        new = Estimate(order, marginal.project(order).counts.astype(float), marginal.variance)
        tables[order] = _mean(tables[order], new) if order in tables else new
    return list(tables.values())


def _mean(first: Estimate, second: Estimate) -> Estimate:
    if first.variance == 0 or second.variance == 0:
        return first if first.variance == 0 else second
    weights = (1 / first.variance, 1 / second.variance)
    counts = (first.counts * weights[0] + second.counts * weights[1]) / sum(weights)
    return replace(first, counts=counts, variance=1 / sum(weights))


def _closed_under_meets(sets: Sequence[frozenset[str]], domain: Domain) -> list[Attributes]:
    """All that two or more tables share, less before more: what they must agree on."""
    tables = list(dict.fromkeys(sets))
    closed = {
        frozenset[str](),
        *(_meet(a, b, domain) for a, b in itertools.combinations(tables, 2)),
    }
    while more := {_meet(a, b, domain) for a, b in itertools.combinations(closed, 2)} - closed:
        closed |= more
    named = [tuple(sorted(names, key=domain.base)) for names in closed]
    return sorted(named, key=lambda names: (sum(_fineness(n, domain) for n in names), names))


def _meet(first: frozenset[str], second: frozenset[str], domain: Domain) -> frozenset[str]:
    """Find what two tables share: of each attribute that both hold, the coarser copy."""
    if not domain.coarser:
        return first & second
    held = {domain.base(name): name for name in second}
    pairs = ((name, held.get(domain.base(name))) for name in first)
    return frozenset(b if domain.refines(a, b) else a for a, b in pairs if b is not None)


def _fineness(name: str, domain: Domain) -> int:
    """More for every finer copy of an attribute; what is shared by more is always less."""
    levels = domain.levels(domain.base(name))
    return len(levels) - levels.index(name)


@dataclass(frozen=True)
class _View:
    """How one table is seen through names that it shares with others.

    Attributes:
        table: which table.
        reduction: how it is summed down to the names.
        share: the part of a difference that each cell takes, for every cell of the view.
        precision: the inverse variance of an average cell of the view. One number, so that means
            of what adds up alike add up alike.
    """

    table: int
    reduction: Reduction
    share: Floats
    precision: float

    def of(self, counts: Floats) -> Floats:
        """The table seen so, of length one along axes that are gone."""
        return self.reduction.in_place(counts)

    def spread(self, difference: Floats) -> Floats:
        """Spread a difference to the view evenly over the cells of the table."""
        return self.reduction.spread(difference * self.share)


def _views(tables: Sequence[Estimate], names: Attributes, domain: Domain) -> list[_View]:
    """Every table that holds these names, or finer ones, as seen through them."""
    found = (_view(i, table, names, domain) for i, table in enumerate(tables))
    return [view for view in found if view is not None]


def _view(number: int, table: Estimate, names: Attributes, domain: Domain) -> _View | None:
    axes = Axes(table.attributes)
    if not axes.holds(names, domain):
        return None
    reduction = axes.reduction(names, domain)
    share = _share(table, reduction)
    # Exact tables outweigh all others.
    precision = share.size / np.sum(1 / share) / max(table.variance, 1e-12)
    return _View(number, reduction, share, float(precision))


def _share(table: Estimate, reduction: Reduction) -> Floats:
    """The part of a difference that each cell takes, for every cell of the view."""
    if reduction.groups:
        return np.asarray(1 / reduction.in_place(np.ones(table.counts.shape)))
    cells = math.prod(table.counts.shape[axis] for axis in reduction.gone)
    return np.full([1] * table.counts.ndim, 1 / cells)


def _agree(counts: list[Floats], shared: Sequence[Sequence[_View]], total: float) -> None:
    """Make tables, in place, agree on every shared view and have the total.

    Coarser views come first: what is set right later leaves them alone.
    """
    nothing, *others = shared
    for view in nothing:
        counts[view.table] += view.spread(total - view.of(counts[view.table]))
    for views in others:
        seen = [view.of(counts[view.table]) for view in views]
        weights = [view.precision for view in views]
        mean = np.average([found.ravel() for found in seen], axis=0, weights=weights)
        for view, found in zip(views, seen, strict=True):
            counts[view.table] += view.spread(mean.reshape(found.shape) - found)


def _even(table: Estimate, domain: Domain) -> Floats:
    """The share of each cell of a table in which all codes, at their finest, are alike."""
    if not any(name in domain.coarser for name in table.attributes):
        return np.full([1] * table.counts.ndim, 1 / table.counts.size)
    sizes = [
        domain.coarser[name].sizes if name in domain.coarser else np.ones(length)
        for name, length in zip(table.attributes, table.counts.shape, strict=True)
    ]
    parts = (along / along.sum() for along in sizes)
    return np.asarray(reduce(np.multiply.outer, parts, np.ones(())))


def _worst(counts: Sequence[Floats], even: Sequence[Floats]) -> float:
    """The most negative cell, as a part of what it would hold if all were alike."""
    return max(float((-table / share).max()) for table, share in zip(counts, even, strict=True))


def _mixed(counts: Sequence[Floats], even: Sequence[Floats], total: float) -> list[Floats]:
    """The least mixture with even tables, which all agree, that leaves no negative cell."""
    worst = max(_worst(counts, even) / total, 0.0)
    part = worst / (1 + worst)
    return [
        np.maximum(table * (1 - part) + part * total * share, 0.0)
        for table, share in zip(counts, even, strict=True)
    ]
