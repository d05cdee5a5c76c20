"""Tables summed down to fewer attributes, or to coarser copies of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.domain import Domain
from understudy.hierarchy import Groups

Array = npt.NDArray[Any]


def project(counts: Array, held: Sequence[str], wanted: Sequence[str], domain: Domain) -> Array:
    """A table over some names, seen through others: fewer, coarser, in another order.

    Args:
        counts: a table, an axis for each name held.
        held: attributes, or coarser copies of them.
        wanted: attributes of the same table, each as coarse as it is held or coarser.
        domain: knows which copy is whose.
    """
    bases = [domain.base(name) for name in held]
    places = [bases.index(domain.base(name)) for name in wanted]
    gone = tuple(axis for axis in range(len(bases)) if axis not in places)
    left = sorted(places)
    seen: Array = counts.sum(axis=gone).transpose([left.index(place) for place in places])
    for axis, (place, name) in enumerate(zip(places, wanted, strict=True)):
        if held[place] != name:
            seen = sum_groups(seen, axis, domain.grouping(held[place], name))
    return seen


def sum_groups(counts: Array, axis: int, groups: Groups) -> Array:
    """A table whose cells along one axis are added up group by group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    ordered = counts if (np.diff(order) == 1).all() else counts.take(order, axis=axis)
    return np.add.reduceat(ordered, starts, axis=axis)
