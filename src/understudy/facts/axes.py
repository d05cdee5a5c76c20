"""Named axes: an array whose axes are attributes, or coarser copies of them, and views of it.

Exact and noisy marginals, estimates, factors and conditionals are such arrays. They have no common
base class, so that one cannot be passed for another; what they share is here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from understudy.facts.domain import Domain
from understudy.facts.hierarchy import Groups
from understudy.system.arrays import Array

Projected = TypeVar("Projected", covariant=True)

NOTHING_COARSER = Domain({})
"""The domain of arrays whose axes are attributes themselves, as fine as they are."""


class Projectable(Protocol[Projected]):
    """Whatever can be seen through a few of its attributes: a table, a model, a pool of rows.

    A conditional cannot: without the law of its parents it has no joint distribution.
    """

    def project(self, attributes: tuple[str, ...], /) -> Projected:
        """The counts or probabilities of these attributes together, an axis for each."""


def projections(
    seen: Projectable[Projected], sets: Iterable[tuple[str, ...]]
) -> dict[tuple[str, ...], Projected]:
    """Return what a table, a model or a pool of rows shows of some sets of attributes."""
    return {attributes: seen.project(attributes) for attributes in sets}


@dataclass(frozen=True, eq=False)
class Reduction:
    """How an array is summed down to fewer or coarser axes.

    Attributes:
        gone: the axes that are summed away.
        groups: the axes that are summed by groups, and the group of each of their codes.
        order: for every axis of the result, where it is found in the array.
    """

    gone: tuple[int, ...]
    groups: tuple[tuple[int, Groups], ...]
    order: tuple[int, ...]

    def in_place(self, values: Array) -> Array:
        """The sums with every axis where it was, of length one where it is gone."""
        seen: Array = values.sum(axis=self.gone, keepdims=True)
        for axis, groups in self.groups:
            seen = sum_groups(seen, axis, groups)
        return seen

    def of(self, values: Array) -> Array:
        """The sums, with an axis for each name asked for, in that order."""
        left = [axis for axis in range(values.ndim) if axis not in self.gone]
        return (
            self.in_place(values)
            .squeeze(self.gone)
            .transpose([left.index(axis) for axis in self.order])
        )

    def spread(self, sums: Array) -> Array:
        """Sums that are in place, copied to every cell that was added up by groups."""
        for axis, groups in self.groups:
            sums = sums.take(groups, axis=axis)
        return sums


class Axes(tuple[str, ...]):
    """The names of an array's axes.

    Example:
        >>> Axes(("sex", "age")).project(np.array([[1, 2], [3, 4]]), ["age"]).tolist()
        [4, 6]
    """

    __slots__ = ()

    def holds(self, names: Sequence[str], domain: Domain = NOTHING_COARSER) -> bool:
        """Whether each name, or a finer copy of its attribute, is among the axes."""
        if not domain.coarser:
            return set(names) <= set(self)
        return all(any(domain.refines(held, name) for held in self) for name in names)

    def reduction(self, names: Sequence[str], domain: Domain = NOTHING_COARSER) -> Reduction:
        """How an array with these axes is summed down to the names, which it must hold."""
        bases = [domain.base(held) for held in self]
        order = tuple(bases.index(domain.base(name)) for name in names)
        groups = (
            (axis, domain.grouping(self[axis], name))
            for axis, name in zip(order, names, strict=True)
            if self[axis] != name
        )
        gone = tuple(axis for axis in range(len(self)) if axis not in order)
        return Reduction(gone, tuple(groups), order)

    def project(
        self, values: Array, names: Sequence[str], domain: Domain = NOTHING_COARSER
    ) -> Array:
        """An array with these axes, seen through names: fewer, coarser, in another order.

        Args:
            values: the array, an axis for each of these names.
            names: attributes of the same array, each as coarse as it is held or coarser.
            domain: knows which copy belongs to which attribute.
        """
        return self.reduction(names, domain).of(values)

    def broadcast(self, values: Array, names: Sequence[str]) -> Array:
        """An array with axes in this order, of length one along those that it does not have."""
        present = [name for name in names if name in self]
        turned = values.transpose([self.index(name) for name in present])
        sizes = dict(zip(present, turned.shape, strict=True))
        return turned.reshape([sizes.get(name, 1) for name in names])


def sum_groups(counts: Array, axis: int, groups: Groups) -> Array:
    """A table whose cells along one axis are added up group by group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    ordered = counts if (np.diff(order) == 1).all() else counts.take(order, axis=axis)
    return np.add.reduceat(ordered, starts, axis=axis)
