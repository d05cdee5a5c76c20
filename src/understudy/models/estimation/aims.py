"""Aims: what released tables say together about every set of attributes that they share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.constraints.constraint import Nogood
from understudy.facts.constraints.masks import forbidden_cells
from understudy.facts.domain import Attributes, Domain
from understudy.models.estimation.consistency import Estimate
from understudy.models.weighted.raking import Aim
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats

# Exact tables outweigh all others.
_LEAST_VARIANCE = 1e-6
# Counts of one attribute that are so many standard deviations from what noise alone would show
# are not equal ones.
_CLEAR = 2.0


def aims_of(
    marginals: Sequence[NoisyMarginal], domain: Domain, nogoods: Collection[Nogood] = ()
) -> list[Aim]:
    """An aim for every set of attributes that some table holds, smaller sets first.

    Tables that hold the same set are averaged by the inverse of their variances there. A large
    table thus says about its attributes in pairs what it knows best, and by itself the rest.

    Args:
        marginals: what was released.
        domain: the attributes.
        nogoods: what constraints forbid; such cells hold noise alone and are emptied.

    Privacy: post-processing of what was released.
    """
    return [_aim(e.attributes, e.counts, e.variance, nogoods) for e in averaged(marginals, domain)]


def averaged(tables: Sequence[NoisyMarginal | Estimate], domain: Domain) -> list[Estimate]:
    """Average what tables say about every set of attributes that one holds, smaller sets first.

    It is linear in the counts, so that it has the same effect on their noise.

    Args:
        tables: counts, and the variance of their noise.
        domain: the attributes.
    """
    sums: dict[Attributes, tuple[Floats, float]] = {}
    for table in tables:
        for names, counts, variance in _seen(table, domain):
            weighed, precision = sums.get(names, (np.zeros(counts.shape), 0.0))
            sums[names] = weighed + counts / variance, precision + 1 / variance
    found = sorted(sums.items(), key=lambda item: (len(item[0]), item[0]))
    return [Estimate(names, weighed / p, 1 / p) for names, (weighed, p) in found]


def _seen(
    marginal: NoisyMarginal | Estimate, domain: Domain
) -> Iterator[tuple[Attributes, Floats, float]]:
    """A table through every set of its attributes, with the variance of a cell there."""
    order = tuple(sorted(marginal.attributes, key=domain.base))
    counts = Axes(marginal.attributes).project(marginal.counts.astype(float), order)
    variance = max(marginal.variance, _LEAST_VARIANCE)
    for size in range(1, len(order) + 1):
        for names in itertools.combinations(order, size):
            # A coarser copy alone is seen better in the table of its attribute.
            if size == 1 and len(order) > 1 and names[0] in domain.coarser:
                continue
            seen = Axes(order).project(counts, names)
            yield names, seen, variance * (counts.size / max(seen.size, 1))


def _aim(names: Attributes, counts: Floats, variance: float, nogoods: Collection[Nogood]) -> Aim:
    if len(names) == 1:
        counts = towards_even(counts, variance)
    if nogoods:
        counts = np.where(forbidden_cells(nogoods, names, counts.shape), 0.0, counts)
    return Aim.of(names, counts, variance)


def towards_even(counts: Floats, variance: float) -> Floats:
    """Shrink counts of one attribute to equal ones, where they may well be nothing but noise.

    Counts that are further from equal ones than noise would be, by two standard deviations, stay
    as they are. The rest is shrunk by the part of it that is expected of noise (James, Stein 1961).
    """
    even = np.full(counts.shape, counts.mean())
    beyond = float(((counts - even) ** 2).sum())
    free = counts.size - 1
    if beyond > variance * (free + _CLEAR * math.sqrt(2 * free)):
        return counts
    kept = max(0.0, 1 - variance * free / beyond) if beyond > 0 else 0.0
    return np.asarray(even + kept * (counts - even))
