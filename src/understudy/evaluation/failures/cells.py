"""Single cells of cross tables of two columns: which are worst, and how small a count is usable.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.distributions import ColumnShares
from understudy.evaluation.marginals.marginals import Joint, joints
from understudy.facts.domain import Attributes
from understudy.facts.workload import workload
from understudy.system.arrays import Floats

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
"""Counts of real rows from which on cells are looked at together."""
CLOSE = 0.25
"""A count is usable where it is this near to the real one, in proportion."""
MOST_OF = 0.8
"""So large a part of the cells of a size must be."""
_FEWEST_CELLS = 5
# A group is large if it has this share of rows, and these rows; lost if less than half is left.
_GROUP_SHARE, _GROUP_ROWS, _LEFT = 0.01, 100, 0.5
_SHOWN = 10


@dataclass(frozen=True)
class CellGap:
    """One cell of a cross table: real rows, and synthetic ones for as many rows in all."""

    columns: Attributes
    values: tuple[str, ...]
    real: float
    synthetic: float

    @property
    def words(self) -> str:
        """Name the group by its columns and values."""
        return " and ".join(f"{c} = {v}" for c, v in zip(self.columns, self.values, strict=True))

    def document(self) -> dict[str, Any]:
        """Return the cell for JSON."""
        return {
            "columns": list(self.columns),
            "values": list(self.values),
            "real": self.real,
            "synthetic": self.synthetic,
        }


@dataclass(frozen=True, kw_only=True)
class CellErrors:
    """The cells of all cross tables of two columns that were compared.

    Attributes:
        usable_from: the least number of rows from which on four of five counts are within a
            quarter of the real one; None where no size is.
        sizes: for cells of at least these rows and fewer than the next: how many there are, and
            the relative error that four of five of them keep.
        worst: the cells with the largest difference of rows.
        lost: groups of at least 1 % of rows of which less than half is left.
        groups: how many such groups there are, lost or not.
        lost_groups: how many of them are lost.
    """

    usable_from: int | None
    sizes: tuple[tuple[int, int, float], ...]
    worst: tuple[CellGap, ...]
    lost: tuple[CellGap, ...]
    groups: int
    lost_groups: int

    def document(self) -> dict[str, Any]:
        """Return the cells for JSON."""
        return {
            "usable_from": self.usable_from,
            "sizes": [
                {"from": size, "cells": cells, "error": error} for size, cells, error in self.sizes
            ],
            "worst": [cell.document() for cell in self.worst],
            "lost": [cell.document() for cell in self.lost],
            "groups": self.groups,
            "lost_groups": self.lost_groups,
        }


NO_CELLS = CellErrors(usable_from=None, sizes=(), worst=(), lost=(), groups=0, lost_groups=0)


def cell_errors(comparison: Comparison, columns: Sequence[ColumnShares]) -> CellErrors:
    """Look at every cell of the cross tables of two columns."""
    real, synthetic = comparison.real, comparison.synthetic
    sets = workload(real.table.domain, 2)
    if not sets or not real.rows or not synthetic.rows:
        return NO_CELLS
    labels = {found.column: found.labels for found in columns}
    pairs = [_Pair.of(joint) for joint in joints([real.table, synthetic.table], sets)]
    counts = np.concatenate([pair.real for pair in pairs])
    misses = np.concatenate([np.abs(pair.made - pair.real) for pair in pairs])
    sizes = _by_size(counts, misses)
    large = max(_GROUP_ROWS, _GROUP_SHARE * real.rows)
    lost = [cell for pair in pairs for cell in pair.lost(large, labels)]
    return CellErrors(
        usable_from=_usable(sizes),
        sizes=sizes,
        worst=_worst(pairs, labels),
        lost=tuple(sorted(lost, key=lambda c: c.synthetic - c.real)[:_SHOWN]),
        groups=int((counts >= large).sum()),
        lost_groups=len(lost),
    )


@dataclass(frozen=True, repr=False, eq=False)
class _Pair:
    """The cells of one cross table, synthetic ones scaled to the number of real rows."""

    joint: Joint
    real: Floats
    made: Floats

    @classmethod
    def of(cls, joint: Joint) -> _Pair:
        rows = joint.rows.astype(np.float64)
        made = joint.counts[1] * (rows[0] / rows[1])
        return cls(joint, joint.counts[0].astype(np.float64), made)

    def lost(self, large: float, labels: Mapping[str, Sequence[str]]) -> list[CellGap]:
        places = np.flatnonzero((self.real >= large) & (self.made < _LEFT * self.real))
        return [self.cell(int(place), labels) for place in places]

    def cell(self, place: int, labels: Mapping[str, Sequence[str]]) -> CellGap:
        names = self.joint.attributes
        codes = [int(codes[place]) for codes in self.joint.codes()]
        values = tuple(labels[name][code] for name, code in zip(names, codes, strict=True))
        return CellGap(names, values, float(self.real[place]), float(self.made[place]))


def _by_size(counts: Floats, misses: Floats) -> tuple[tuple[int, int, float], ...]:
    """The relative error that most cells of a size keep; sizes of hardly any cell are left out."""
    found = []
    for size, end in zip(SIZES, (*SIZES[1:], np.inf), strict=True):
        inside = (counts >= size) & (counts < end)
        if inside.sum() >= _FEWEST_CELLS:
            errors = misses[inside] / counts[inside]
            found.append((size, int(inside.sum()), float(np.quantile(errors, MOST_OF))))
    return tuple(found)


def _usable(sizes: Sequence[tuple[int, int, float]]) -> int | None:
    usable = None
    for size, _, error in reversed(sizes):
        if error > CLOSE:
            break
        usable = size
    return usable


def _worst(pairs: Sequence[_Pair], labels: Mapping[str, Sequence[str]]) -> tuple[CellGap, ...]:
    """The cells with the largest difference, one of each cross table."""
    gaps = []
    for pair in pairs:
        if pair.real.size:
            place = int(np.argmax(np.abs(pair.made - pair.real)))
            gaps.append(pair.cell(place, labels))
    return tuple(sorted(gaps, key=lambda c: -abs(c.real - c.synthetic))[:_SHOWN])
