"""Released counts made into possible ones: not negative, agreeing, adding up to what they should.

Source: NIST section 3.2 and Qardaji, Yang, Li 2014, with the closure under intersection that the
printed algorithm leaves out. Two tables share, of an attribute that both hold, the coarser of its
two copies: a table that knows a finer one knows it as well, by sums over its groups, so that its
own levels agree by construction. One-way tables are settled first, from all releases. Then larger
tables lose their negative cells by projections in turn; what is left of them is replaced by a
mixture with products of one-way tables, and raked.
Proofs: docs/proofs/consistency.md, docs/proofs/simplex.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from understudy.facts.axes import NOTHING_COARSER, Axes, Reduction
from understudy.facts.domain import Attributes, Domain
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats

# Projections in turn stop when no table's negative cells hold more than this part of the rows, or
# after so many rounds; what is negative then is emptied, and tables are raked until they agree.
_NEARLY = 1e-4
AGREED = 1e-10
# The least and the most rounds, and the cells that all of them may touch.
_PROJECTIONS = (4, 20, 2 * 10**7)
_RAKINGS = (4, 500, 2 * 10**6)


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of a table: real-valued counts, and the variance of the noise in them."""

    attributes: Attributes
    counts: Floats
    variance: float

    def project(self, attributes: Attributes, /, domain: Domain = NOTHING_COARSER) -> Estimate:
        """The estimate of fewer attributes, or of coarser copies, with its mean variance."""
        summed = Axes(self.attributes).project(self.counts, attributes, domain)
        variance = self.variance * self.counts.size / max(summed.size, 1)
        return Estimate(attributes, summed, variance)


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
    above = counts.ravel().astype(float)
    excess = (above.sum() - total) / above.size
    # Michelot 1986: what is not above the excess is empty, and the excess of the rest is larger.
    while not (kept := above > excess).all() and kept.any():
        above = above[kept]
        excess = (above.sum() - total) / above.size
    return np.asarray(np.maximum(counts - excess, 0.0))


def made_consistent(
    marginals: Sequence[NoisyMarginal],
    total: float,
    domain: Domain | None = None,
    *,
    agreed: float = AGREED,
) -> list[Estimate]:
    """Tables that are not negative, have the total, and agree on all they share.

    One estimate for each different set of attributes, in the order of their first release. The
    one-way tables that all agree on come from all releases together, and stay.

    Args:
        marginals: what was released.
        total: what every table is to add up to.
        domain: knows the coarser copies of attributes, where tables have any.
        agreed: by which part of all rows cells may still differ.
    """
    domain = domain or Domain({})
    tables = _merged(marginals, domain)
    if total <= 0:
        return [replace(t, counts=np.zeros(t.counts.shape)) for t in tables]
    shared = _closed_under_meets([frozenset(t.attributes) for t in tables], domain)
    views = [_views(tables, names, domain) for names in shared]
    counts = [table.counts for table in tables]
    _agree(counts, views, [None] * len(shared), total)
    if _negative(counts) > 0:
        one_way = _one_way(tables, counts, total, domain)
        targets = [one_way[names[0]] if len(names) == 1 else None for names in shared]
        counts = _projected(counts, views, targets, total)
        pairs = zip(tables, counts, strict=True)
        counts = [_mixed(table.attributes, found, one_way, total) for table, found in pairs]
        _raked(counts, views, targets, agreed * total)
    return [replace(t, counts=c) for t, c in zip(tables, counts, strict=True)]


def _projected(
    counts: list[Floats],
    views: Sequence[Sequence[_View]],
    targets: Sequence[Floats | None],
    total: float,
) -> list[Floats]:
    """Tables that agree and are hardly negative: projections in turn, the last for agreement."""
    _agree(counts, views, targets, total)
    for _ in range(_rounds(counts, _PROJECTIONS)):
        if _negative(counts) <= _NEARLY * total:
            break
        counts = [onto_simplex(table, total) for table in counts]
        _agree(counts, views, targets, total)
    return counts


def _raked(
    counts: list[Floats],
    views: Sequence[Sequence[_View]],
    targets: Sequence[Floats | None],
    nearly: float,
) -> None:
    """Scale tables that are not negative, in place, until they agree to within some rows."""
    for _ in range(_rounds(counts, _RAKINGS)):
        if _rake(counts, views, targets) <= nearly:
            break


def _rounds(counts: Sequence[Floats], bounds: tuple[int, int, int]) -> int:
    """As many rounds over all cells as take little time, between bounds."""
    least, most, cells = bounds
    return min(max(cells // sum(table.size for table in counts), least), most)


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
    """All that two or more tables share, less before more: what they must agree on.

    Every attribute by itself, at each level that a table has, is among it.
    """
    tables = list(dict.fromkeys(sets))
    closed = {
        frozenset[str](),
        *(frozenset([name]) for table in tables for name in table),
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


def _agree(
    counts: list[Floats],
    shared: Sequence[Sequence[_View]],
    targets: Sequence[Floats | None],
    total: float,
) -> None:
    """Make tables, in place, agree on every shared view and have the total.

    Coarser views come first: what is set right later leaves them alone. A view without a target
    meets at the mean of what the tables say.
    """
    nothing, *others = shared
    for view in nothing:
        counts[view.table] += view.spread(total - view.of(counts[view.table]))
    for views, target in zip(others, targets[1:], strict=True):
        seen = [view.of(counts[view.table]) for view in views]
        goal = _mean_of(seen, views) if target is None else target
        for view, found in zip(views, seen, strict=True):
            counts[view.table] += view.spread(goal.reshape(found.shape) - found)


def _mean_of(seen: Sequence[Floats], views: Sequence[_View]) -> Floats:
    """Average what tables show through a view, by inverse variance."""
    weights = [view.precision for view in views]
    return np.average([found.ravel() for found in seen], axis=0, weights=weights)


def _one_way(
    tables: Sequence[Estimate], counts: Sequence[Floats], total: float, domain: Domain
) -> dict[str, Floats]:
    """The table of every attribute by itself, at each level there is: not negative, with the total.

    The finest level decides; coarser ones are its sums.
    """
    names = {name for table in tables for name in table.attributes}
    found: dict[str, Floats] = {}
    for name in sorted(names, key=lambda name: -_fineness(name, domain)):
        finer = next((held for held in found if domain.refines(held, name)), None)
        if finer is None:
            at = next(i for i, table in enumerate(tables) if name in table.attributes)
            alone = Axes(tables[at].attributes).project(counts[at], (name,), domain)
            found[name] = onto_simplex(alone, total)
        else:
            found[name] = Axes((finer,)).project(found[finer], (name,), domain)
    return found


def _negative(counts: Sequence[Floats]) -> float:
    """The most that the negative cells of a table add up to."""
    return max(float(-np.minimum(table, 0.0).sum()) for table in counts)


def _mixed(
    attributes: Attributes, counts: Floats, one_way: Mapping[str, Floats], total: float
) -> Floats:
    """A table with its negative cells emptied, mixed with the product of its one-way tables.

    The part of the mixture is what was negative: it gives mass to every line that may need some.
    """
    negative = float(-np.minimum(counts, 0.0).sum())
    if negative == 0:
        return counts
    shares = (one_way[name] / total for name in attributes)
    product = reduce(np.multiply.outer, shares, np.ones(()))
    part = min(negative / total, 1.0)
    kept = np.maximum(counts, 0.0)
    return np.asarray((1 - part) * kept * (total / kept.sum()) + part * total * product)


def _rake(
    counts: list[Floats], shared: Sequence[Sequence[_View]], targets: Sequence[Floats | None]
) -> float:
    """Scale tables, in place, towards each other through every shared view, one-way tables last.

    Returns the largest difference, in rows, of a cell of a view that was found.
    """
    worst = 0.0
    for views, target in zip(reversed(shared[1:]), reversed(targets[1:]), strict=True):
        seen = [view.of(counts[view.table]) for view in views]
        goal = _mean_of(seen, views) if target is None else target
        for view, found in zip(views, seen, strict=True):
            wanted = goal.reshape(found.shape)
            worst = max(worst, float(np.abs(wanted - found).max()))
            ratio = np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
            counts[view.table] *= view.reduction.spread(ratio)
    return worst
