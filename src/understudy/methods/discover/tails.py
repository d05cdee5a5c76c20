"""Bins beyond the range that a column's first counts show: public cells, which double in width.

Rows too few to show in one cell may show in several together. So cells beyond a range are joined to
it where their counts, added up from the range outwards, stand out of their noise. The last of them
is open: it takes what lies beyond, and values are drawn from the half of it that is next to the
range. A declared bound is the outermost edge in any case.
Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import NormalDist

from understudy.facts.column import Ordinate

# The chance that empty parts lengthen a range within a cell that holds rows, and that empty cells
# carry it across zero.
_STRAY_PART, _STRAY_SIGN = 1 / 30, 1 / 1000
# The chance that an empty cell beside the range lengthens it away from zero, and towards zero; and
# the part of that which each further cell has, as long as none of them stands out.
_STRAY_OUTWARDS, _STRAY_INWARDS = (1 / 100, 1 / 4), (1 / 8, 3 / 4)
# The same away from zero once a cell does: the column has a tail.
_STRAY_TAIL = 1 / 40


@dataclass(frozen=True)
class Piece:
    """A public cell, or a part of one that was counted in parts.

    Attributes:
        edge: its left edge.
        count: an estimate of its rows.
        variance: of the noise of that.
        cell: what is known of the cell that it is a part of; None for a cell.
    """

    edge: Ordinate
    count: float
    variance: float
    cell: PartedCell | None = None

    @property
    def is_part(self) -> bool:
        """Whether it is a part; the cell that it belongs to is likely to hold rows."""
        return self.cell is not None


@dataclass(frozen=True)
class PartedCell:
    """A cell that was counted in parts.

    Attributes:
        number: its place among the cells.
        parts: how many parts it has.
        variance: of the estimate of all of it.
    """

    number: int
    parts: int
    variance: float


def variance_of(pieces: Sequence[Piece]) -> float:
    """The variance of the sum of adjoining pieces, whose estimates agree with those of cells.

    The estimates of m parts with variance v add up to one of their cell with variance c. The sum of
    j of them has variance v·j·(m − j)/m + c·(j/m)².
    """
    found = sum(piece.variance for piece in pieces if piece.cell is None)
    for cell, group in groupby((p for p in pieces if p.cell is not None), key=lambda p: p.cell):
        own = list(group)
        j, m = len(own), cell.parts if cell else 1
        found += own[0].variance * j * (m - j) / m + (cell.variance if cell else 0) * (j / m) ** 2
    return found


@dataclass(frozen=True)
class Declared:
    """Whether the skeleton declares the lower and the upper bound of a column."""

    low: bool = False
    high: bool = False


@dataclass(frozen=True)
class Tails:
    """Left edges of the bins below and above a range, and where the last one ends.

    Attributes:
        below: edges of the bins below.
        above: edges of the bins above.
        end: where the last bin above ends; None where there is none.
    """

    below: tuple[Ordinate, ...]
    above: tuple[Ordinate, ...]
    end: Ordinate | None

    @property
    def size(self) -> int:
        """How many bins there are on both sides."""
        return len(self.below) + len(self.above)


def tails_of(
    below: Sequence[Piece],
    above: Sequence[Piece],
    *,
    inside: tuple[Ordinate, Ordinate],
    end: Ordinate,
    declared: Declared,
    doubling: bool = True,
) -> Tails:
    """Choose the bins beyond a range.

    Args:
        below: the pieces below it, upwards.
        above: the pieces above it, upwards.
        inside: the left edges of the range's first and last leaf.
        end: where the last piece above ends.
        declared: which bounds are declared, and stay the outermost edges.
        doubling: whether cells double in width away from zero.
    """
    # Seen from the range, pieces below come in reverse, and end where they begin.
    downwards = below[::-1]
    lower = _bins(downwards, inside[0], inwards=doubling and inside[0] >= 0, whole=declared.low)
    upper = _bins(above, inside[1], inwards=doubling and inside[1] < 0, whole=declared.high)
    edges = [piece.edge for piece in above]
    found = Tails(
        below=tuple(downwards[stop - 1].edge for _, stop in lower)[::-1],
        above=tuple(edges[start] for start, _ in upper),
        end=[*edges[1:], end][upper[-1][1] - 1] if upper else None,
    )
    low = not declared.low and _ends_with_cell(downwards, lower)
    high = not declared.high and _ends_with_cell(above, upper)
    return _halved(found, inside[0], low=low, high=high)


def _ends_with_cell(outwards: Sequence[Piece], bins: Sequence[tuple[int, int]]) -> bool:
    """Whether the outermost bin is a whole cell, of which no parts were counted."""
    return bool(bins) and not outwards[bins[-1][1] - 1].is_part


def _halved(tails: Tails, first: Ordinate, *, low: bool, high: bool) -> Tails:
    """The tails with the inner half of each outermost bin that is open, and a whole cell."""
    below, end = tails.below, tails.end
    if low:
        inner = below[1] if len(below) > 1 else first
        below = (inner - _half(inner - below[0]), *below[1:])
    if high and end is not None:
        end = tails.above[-1] + _half(end - tails.above[-1])
    return replace(tails, below=below, end=end)


def _half(width: Ordinate) -> Ordinate:
    """Half of a width; of a whole one the larger half."""
    return (width + 1) // 2 if isinstance(width, int) else width / 2


def _bins(
    outwards: Sequence[Piece], inside: Ordinate, *, inwards: bool, whole: bool
) -> list[tuple[int, int]]:
    """Which pieces are a bin, from the first to before the last, as far as rows reach.

    Cells are a bin each; parts are joined as far as they have to be to stand out. Up to a declared
    bound the others are joined to bins of one, two, four and so on of them.
    """
    bins = [own for run in _runs(outwards, inside, inwards) for own in _split(outwards, *run)]
    start, width = bins[-1][1] if bins else 0, 1
    while whole and start < len(outwards):
        stop = min(start + width, len(outwards))
        bins.append((start, stop))
        start, width = stop, 2 * width
    return bins


def _runs(outwards: Sequence[Piece], inside: Ordinate, inwards: bool) -> list[tuple[int, int]]:
    """Adjoining runs of pieces, each as long as it has to be to stand out of its own noise.

    Args:
        outwards: the pieces, from the range on.
        inside: the left edge of the leaf that they begin beside.
        inwards: whether they lead towards zero, where cells become narrow.
    """
    runs, start = [], 0
    cell, further = _STRAY_INWARDS if inwards else _STRAY_OUTWARDS
    for place, piece in enumerate(outwards):
        stray = _STRAY_PART if piece.is_part else cell
        if _zero_between(inside, piece.edge):
            # Beyond zero cells lead outwards, too.
            stray, further = min(stray, cell, _STRAY_SIGN), _STRAY_OUTWARDS[1]
        cell = cell if piece.is_part else max(stray * further, sys.float_info.epsilon)
        # Few rows far out would be hidden by the noise of empty parts between.
        run = [each for each in outwards[start : place + 1] if each.is_part == piece.is_part]
        if _stands_out(run, stray):
            runs.append((start, place + 1))
            start = place + 1
            cell = cell if piece.is_part else max(cell, _STRAY_TAIL)
    return runs


def _stands_out(run: Sequence[Piece], stray: float) -> bool:
    """Whether empty pieces would have such a sum by this chance at most."""
    height = NormalDist().inv_cdf(1 - stray) * math.sqrt(variance_of(run))
    return sum(piece.count for piece in run) > height


def _split(outwards: Sequence[Piece], start: int, stop: int) -> list[tuple[int, int]]:
    """The bins of a run: its parts together, and each of its cells."""
    cells = next((i for i in range(start, stop) if not outwards[i].is_part), stop)
    parts = [(start, cells)] if cells > start else []
    return parts + [(place, place + 1) for place in range(cells, stop)]


def _zero_between(here: Ordinate, there: Ordinate) -> bool:
    """Whether two edges are on two sides of zero."""
    return (here < 0) != (there < 0)
