"""Bins beyond the range that a column's first counts show: public cells, which double in width.

Rows too few to show in one cell may show in several together. So the cells beyond a range are
joined to it as far as their counts, added up from the range outwards, stand out of their noise.
The last of them is open: it takes what lies beyond. A declared bound is the outermost edge in any
case.
Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from understudy.facts.column import Ordinate

# The chance that empty cells lengthen a range, and that they carry it across zero.
_STRAY_TAIL, _STRAY_SIGN = 1 / 50, 1 / 1000
# What each cell has to add to its tail, in deviations of its noise: an empty one does by 1 in 10.
_EACH = 1.28


@dataclass(frozen=True)
class Piece:
    """A public cell or what is left of one: its left edge, an estimate of its rows, its noise."""

    edge: Ordinate
    count: float
    variance: float


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
) -> Tails:
    """Choose the bins beyond a range.

    Args:
        below: the pieces below it, upwards.
        above: the pieces above it, upwards.
        inside: the left edges of the range's first and last leaf.
        end: where the last piece above ends.
        declared: which bounds are declared, and stay the outermost edges.
    """
    # Seen from the range, pieces below come in reverse, and end where they begin.
    lower = _bins(below[::-1], inside[0], whole=declared.low)
    upper = _bins(above, inside[1], whole=declared.high)
    edges = [piece.edge for piece in above]
    ends = [*edges[1:], end] if above else []
    return Tails(
        below=tuple(below[::-1][stop - 1].edge for _, stop in lower)[::-1],
        above=tuple(edges[start] for start, _ in upper),
        end=ends[upper[-1][1] - 1] if upper else None,
    )


def _bins(outwards: Sequence[Piece], inside: Ordinate, *, whole: bool) -> list[tuple[int, int]]:
    """Which pieces are a bin, from the first to before the last: one each, as far as rows reach.

    Up to a declared bound the others are joined to bins of one, two, four and so on of them.
    """
    shown = _reach(outwards, inside)
    bins = [(place, place + 1) for place in range(shown)]
    start, width = shown, 1
    while whole and start < len(outwards):
        stop = min(start + width, len(outwards))
        bins.append((start, stop))
        start, width = stop, 2 * width
    return bins


def _reach(outwards: Sequence[Piece], inside: Ordinate) -> int:
    """How many pieces rows reach: where the sum of counts, less some noise of each, is largest.

    It must stand out of the noise of the sum, and further still where it crosses zero.
    """
    best = gain = count = variance = 0.0
    reach = 0
    for place, piece in enumerate(outwards):
        count, variance = count + piece.count, variance + piece.variance
        gain += piece.count - _EACH * math.sqrt(piece.variance)
        stray = _STRAY_SIGN if _zero_between(inside, piece.edge) else _STRAY_TAIL
        stands_out = count > NormalDist().inv_cdf(1 - stray) * math.sqrt(variance)
        if gain > best and stands_out:
            best, reach = gain, place + 1
    return reach


def _zero_between(here: Ordinate, there: Ordinate) -> bool:
    """Whether two edges are on two sides of zero."""
    return (here < 0) != (there < 0)
