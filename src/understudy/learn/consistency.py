"""Released counts made into possible ones: not negative, agreeing, adding up to what they should.

Source: NIST section 3.2 and Qardaji, Yang, Li 2014, with the closure under intersection that the
printed algorithm leaves out. Non-negativity is restored by projections in turn and a last small
mixture, which keep all agreements. Proofs: docs/proofs/consistency.md, docs/proofs/simplex.md.
"""

from __future__ import annotations

import itertools
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

    def shifted(self, attributes: Sequence[str], difference: Weights) -> Estimate:
        """The estimate after spreading a difference evenly over the cells that project there."""
        order = sorted(attributes, key=self.attributes.index)
        aligned = difference.transpose([list(attributes).index(a) for a in order])
        kept = [
            n if a in attributes else 1
            for a, n in zip(self.attributes, self.counts.shape, strict=True)
        ]
        share = difference.size / self.counts.size
        return replace(self, counts=self.counts + aligned.reshape(kept) * share)


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
    tables = _agreeing(tables, shared, total)
    cells = sum(table.counts.size for table in tables)
    for _ in range(min(max(_WORK // cells, _ROUNDS[0]), _ROUNDS[1])):
        if _worst(tables) < _NEARLY:
            break
        positive = [replace(t, counts=onto_simplex(t.counts, total)) for t in tables]
        tables = _agreeing(positive, shared, total)
    return _mixed_with_uniform(tables)


def _merged(marginals: Sequence[NoisyMarginal]) -> list[Estimate]:
    """One estimate for each set of attributes: several releases weighed by inverse variance."""
    tables: dict[frozenset[str], Estimate] = {}
    for marginal in marginals:
        new = Estimate(marginal.attributes, marginal.counts.astype(float), marginal.variance)
        key = frozenset(marginal.attributes)
        tables[key] = _mean(tables[key], new) if key in tables else new
    return list(tables.values())


def _mean(first: Estimate, second: Estimate) -> Estimate:
    other = second.project(first.attributes)
    if first.variance == 0 or second.variance == 0:
        return first if first.variance == 0 else replace(first, counts=other, variance=0.0)
    weights = (1 / first.variance, 1 / second.variance)
    counts = (first.counts * weights[0] + other * weights[1]) / sum(weights)
    return replace(first, counts=counts, variance=1 / sum(weights))


def _closed_under_intersection(sets: Iterable[frozenset[str]]) -> list[Attributes]:
    """All intersections of two or more sets, smallest first: what tables must agree on."""
    tables = list(dict.fromkeys(sets))
    closed = {frozenset[str](), *(a & b for a, b in itertools.combinations(tables, 2))}
    while more := {a & b for a, b in itertools.combinations(closed, 2)} - closed:
        closed |= more
    return sorted((tuple(sorted(s)) for s in closed), key=lambda s: (len(s), s))


def _agreeing(
    tables: Sequence[Estimate], shared: Sequence[Attributes], total: float
) -> list[Estimate]:
    """Tables that agree on every shared set and have the total.

    Smaller sets first: what is set right later leaves the smaller projections alone.
    """
    agreed = list(tables)
    for attributes in shared:
        holders = [i for i, t in enumerate(agreed) if set(attributes) <= set(t.attributes)]
        views = [agreed[i].project(attributes) for i in holders]
        if attributes:
            target = np.average(
                views, axis=0, weights=[_precision(agreed[i], views[0]) for i in holders]
            )
        else:
            target = np.array(total)
        for i, view in zip(holders, views, strict=True):
            agreed[i] = agreed[i].shifted(attributes, target - view)
    return agreed


def _precision(table: Estimate, view: Weights) -> float:
    """The inverse variance of a projected cell; exact tables outweigh all others."""
    return view.size / (max(table.variance, 1e-12) * table.counts.size)


def _worst(tables: Sequence[Estimate]) -> float:
    """The most negative cell, as a part of its table's average one."""
    return max(float(-t.counts.min() * t.counts.size / t.counts.sum()) for t in tables)


def _mixed_with_uniform(tables: Sequence[Estimate]) -> list[Estimate]:
    """The least mixture with uniform tables, which all agree, that leaves no negative cell."""
    worst = max(_worst(tables), 0.0)
    share = worst / (1 + worst)
    return [
        replace(t, counts=np.maximum(t.counts * (1 - share) + share * t.counts.mean(), 0.0))
        for t in tables
    ]
