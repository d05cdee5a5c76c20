"""Hierarchies: coarser copies of attributes with many values, made from public facts alone.

Neighbours in the public order, in which values are declared, are grouped g by g, and groups again,
until at most θ = g² are left; a declared taxonomy takes the place of that order. A missing cell
stays apart on every level. Source: NIST section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from understudy.facts.column import CategoricalColumn, LearnedColumn

Groups = npt.NDArray[np.uint16]

# g, how many neighbours are grouped unless `groups_of` says otherwise. Attributes of up to g²
# values can be measured as they are.
NEIGHBOURS = 8


@dataclass(frozen=True, eq=False)
class Level:
    """A coarser copy of an attribute.

    Attributes:
        of: the attribute.
        groups: for every code of the attribute, the number of its group; none is empty.
    """

    of: str
    groups: Groups

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many codes each group has."""
        return np.bincount(self.groups)

    @cached_property
    def members(self) -> npt.NDArray[np.int64]:
        """The codes of each group, a line each; lines of smaller groups repeat their last code."""
        order = np.argsort(self.groups, kind="stable")
        starts = np.cumsum(self.sizes) - self.sizes
        places = np.minimum(np.arange(self.sizes.max()), self.sizes[:, None] - 1)
        return np.asarray(order[starts[:, None] + places])


def levels_of(name: str, column: LearnedColumn) -> dict[str, Level]:
    """The coarser copies of a column's attribute, by name, finest first."""
    if isinstance(column, CategoricalColumn) and column.taxonomy is not None:
        cuts = _by_taxonomy(column)
    else:
        cuts = _by_order(column.levels, column.groups_of or NEIGHBOURS)
    levels = (Level(name, _with_missing(groups, column)) for groups in cuts)
    return {f"{name} / {level.size}": level for level in levels}


def _by_order(values: int, neighbours: int) -> Iterator[Groups]:
    groups = np.arange(values, dtype=np.uint16)
    while groups[-1] >= neighbours**2:
        groups = groups // np.uint16(neighbours)
        yield groups


def _by_taxonomy(column: CategoricalColumn) -> Iterator[Groups]:
    """From the finest cut through the tree to the coarsest, as far as they differ."""
    paths = [column.paths[text] for text in column.texts]
    found = column.levels
    for depth in range(max(map(len, paths)), 0, -1):
        cuts = [path[:depth] for path in paths]
        numbers = {cut: number for number, cut in enumerate(dict.fromkeys(cuts))}
        if 1 < len(numbers) < found:
            found = len(numbers)
            yield np.array([numbers[cut] for cut in cuts], np.uint16)


def _with_missing(groups: Groups, column: LearnedColumn) -> Groups:
    if column.missing_code is None:
        return groups
    return np.append(groups, groups.max() + np.uint16(1)).astype(np.uint16)
