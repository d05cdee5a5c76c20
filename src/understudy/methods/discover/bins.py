"""Range and bins from noisy counts: all of it is post-processing, and costs nothing.

Counts of cells, parts and leaves are made to agree, the range is drawn in to where rows stand out,
bins are cut at quantiles, and public cells are added beyond. Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.facts.column import WHOLE_RANGE, BinnedColumn, Ordinate
from understudy.facts.column.steps import Steps
from understudy.methods.discover.cells import STRAY_BESIDE, Tree, grown, sure
from understudy.methods.discover.shares import CountNoise
from understudy.methods.discover.tails import Declared, PartedCell, Piece, Tails, tails_of
from understudy.system.arrays import Floats, Integers

# Rows in a bin, in standard deviations of a count's noise.
_ROWS_PER_BIN = 8
_MOST_BINS = 32
_LEAST_VARIANCE = 1e-9


def agreeing(
    levels: Sequence[Integers], variances: Sequence[float], parents: Sequence[Integers]
) -> list[Floats]:
    """Estimates that add up from level to level: the least weighted squares of all counts.

    Source: Hay et al. 2010, section 4.1, with a variance for every level: upwards each node is
    averaged with the sum of its children by inverse variance, downwards what is left over is
    spread among children by their variances.
    """
    estimates = [levels[-1].astype(np.float64)]
    # Next to no noise must not divide by nothing.
    variances = [max(variance, _LEAST_VARIANCE) for variance in variances]
    spread = [np.full(levels[-1].size, variances[-1])]
    sums: list[tuple[Floats, Floats]] = []
    for level, variance, parent in zip(
        reversed(levels[:-1]), reversed(variances[:-1]), reversed(parents), strict=True
    ):
        total, doubt = (_sums(parent, values[0], level.size) for values in (estimates, spread))
        sums.insert(0, (total, doubt))
        estimates.insert(0, total + (level - total) * doubt / (doubt + variance))
        spread.insert(0, doubt * variance / (doubt + variance))
    for i, parent in enumerate(parents):
        total, doubt = sums[i]
        estimates[i + 1] += ((estimates[i] - total) / doubt)[parent] * spread[i + 1]
    return estimates


def _sums(parent: Integers, values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(parent, values, size), np.float64)


@dataclass(frozen=True)
class LearnedRange:
    """The range that was learned for a column.

    Attributes:
        edges: left edges of bins.
        high: the largest value.
        middle: about where half of the rows lie below.
        found: false where all was noise, and the range is the public one.
    """

    edges: tuple[Ordinate, ...]
    high: Ordinate
    middle: Ordinate
    found: bool

    def document(self, column: BinnedColumn) -> dict[str, Any]:
        """The range as it stands in a schema; whole numbers kept apart need no edges."""
        low, high = column.value_at(self.edges[0]), column.value_at(self.high)
        values = self.high - self.edges[0] + 1
        if column.whole and len(self.edges) == values and values <= WHOLE_RANGE:
            return {"min": low, "max": high}
        return {"edges": [column.value_at(edge) for edge in self.edges], "max": high}


@dataclass(frozen=True)
class Estimates:
    """Estimates from two counts of a column: of its tree, and of the cells beyond it.

    Attributes:
        tree: what was counted.
        levels: estimates of its cells, of parts where they have parts, and of leaves.
        outer: estimates of the other cells, those below and then those above.
        noise: what was added to parts and leaves.
        variance: of the estimate of a cell beyond the tree.
        inside: of the first count of a cell of the tree.
    """

    tree: Tree
    levels: Sequence[Floats]
    outer: Floats
    noise: CountNoise
    variance: float
    inside: float

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """Join some leaves: by parts in a cell that they are a part of, else by their cells."""
        edges, parts = self.tree.leaves
        cells = self.tree.parts[1][parts]
        found = []
        for cell in np.unique(cells[start:stop]).tolist():
            own = start + np.flatnonzero(cells[start:stop] == cell)
            if own.size == np.count_nonzero(cells == cell):
                count = float(self.levels[-1][own].sum())
                found.append(Piece(edges[int(own[0])], count, self._known(cell).variance))
            else:
                found += self._parts(own, cell)
        return found

    def _known(self, cell: int) -> PartedCell:
        """A cell of the tree: its own count and the sum of its parts are joined."""
        parts = int(np.count_nonzero(self.tree.parts[1] == cell))
        summed = parts * self.noise.variance
        joined = self.inside * summed / max(self.inside + summed, _LEAST_VARIANCE)
        return PartedCell(cell, parts, joined)

    def _parts(self, leaves: Integers, cell: int) -> list[Piece]:
        """The parts that some leaves of a cell make up."""
        edges, parts = self.tree.leaves
        known, found = self._known(cell), []
        for part in np.unique(parts[leaves]).tolist():
            own = leaves[parts[leaves] == part]
            count = float(self.levels[-1][own].sum())
            found.append(Piece(edges[int(own[0])], count, self.noise.variance, known))
        return found

    @property
    def below(self) -> list[Piece]:
        """Return the cells below the tree."""
        first = self.tree.first
        return self._outer(self.tree.cells.edges[:first], self.outer[:first])

    @property
    def above(self) -> list[Piece]:
        """Return the cells above the tree."""
        first, last = self.tree.first, self.tree.last
        return self._outer(self.tree.cells.edges[last + 1 :], self.outer[first:])

    def _outer(self, edges: Sequence[Ordinate], counts: Floats) -> list[Piece]:
        return [Piece(e, c, self.variance) for e, c in zip(edges, counts.tolist(), strict=True)]


def cut(estimates: Estimates, most: int | None, declared: Declared) -> LearnedRange:
    """Range and bins from estimates of a tree's parts and leaves, and of the cells beyond.

    Args:
        estimates: what the counts say.
        most: the most bins, where the skeleton says so.
        declared: which bounds the skeleton declares.
    """
    tree, leaves = estimates.tree, estimates.levels[-1]
    edges, found = tree.leaves[0], tree.core is not None
    start, stop = _drawn_in(tree, estimates.levels[1], estimates.noise)
    tails = _tails(estimates, start, stop, declared)
    counts, high = _increments(leaves[start:stop]), _last_value(tree, stop)
    if tree.cells.whole and most is None and found and high - edges[start] < WHOLE_RANGE:
        chosen: Sequence[Ordinate] = range(int(edges[start]), int(high) + 1)
    else:
        least = _ROWS_PER_BIN * estimates.noise.variance**0.5
        inner = max(1, most - tails.size) if most else _most_bins(float(counts.sum()))
        chosen = [edges[start + i] for i in _starts(counts, least, inner)]
        chosen = chosen if most else _split_at_cells(tree, chosen, high)
    middle = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    last = high if tails.end is None else _last_before(tree, tails.end)
    bins = (*tails.below, *chosen, *tails.above)
    return LearnedRange(bins, last, edges[start + middle], found)


def _split_at_cells(tree: Tree, edges: list[Ordinate], high: Ordinate) -> list[Ordinate]:
    """The edges, and those of cells inside the outermost bins on their way from zero.

    The outermost bin may reach over many cells with few rows, which are not spread evenly in it.
    """
    second = edges[1] if len(edges) > 1 else high
    cells = tree.cells.edges
    lower = [edge for edge in cells if edges[0] < edge < min(second, 0)]
    upper = [edge for edge in cells if max(edges[-1], 0) < edge < high]
    return sorted({*edges, *lower, *upper})


def _tails(estimates: Estimates, start: int, stop: int, declared: Declared) -> Tails:
    """The bins beyond the leaves of a range; none where all cells are in it."""
    tree = estimates.tree
    below = [*estimates.below, *estimates.pieces(0, start)]
    above = [*estimates.pieces(stop, len(tree.leaves[0])), *estimates.above]
    edges, end = tree.leaves[0], tree.cells.end(len(tree.cells.edges) - 1)
    inside = (edges[start], edges[stop - 1])
    doubling = tree.cells.doubling
    return tails_of(below, above, inside=inside, end=end, declared=declared, doubling=doubling)


def _drawn_in(tree: Tree, parts: Floats, noise: CountNoise) -> tuple[int, int]:
    """The leaves from the first part that stands out to the last, all where no cell does.

    In the outermost cells that surely hold rows, the outermost parts that surely do; then parts
    beside them that are likely to.
    """
    part_of = tree.leaves[1] if tree.has_two_levels else np.arange(parts.size)
    if tree.core is None:
        return 0, part_of.size
    outer = [_within(parts, tree.parts[1], cell - tree.first, noise) for cell in tree.core]
    first, last = grown(parts, noise, outer[0][0], outer[1][1])
    return int(np.searchsorted(part_of, first)), int(np.searchsorted(part_of, last, "right"))


def _within(counts: Floats, parent_of: Integers, parent: int, noise: CountNoise) -> tuple[int, int]:
    """The first and the last child of a node that surely hold rows; all of them if none does."""
    (own,) = np.nonzero(parent_of == parent)
    start, stop = sure(counts[own], noise, STRAY_BESIDE) or (0, own.size - 1)
    return int(own[start]), int(own[stop])


def _last_value(tree: Tree, stop: int) -> Ordinate:
    """The largest value of the leaves before `stop`."""
    edges = tree.leaves[0]
    return _last_before(tree, edges[stop] if stop < len(edges) else tree.end)


def _last_before(tree: Tree, end: Ordinate) -> Ordinate:
    """The largest value of an interval that ends here."""
    return min(end - 1, tree.cells.high) if tree.cells.whole else end


def _most_bins(rows: float) -> int:
    """Rice's rule, 2·∛n, and 32 at most."""
    return max(1, min(_MOST_BINS, math.ceil(2 * float(np.cbrt(rows)))))


def _bin_count(rows: float, least: float, most: int) -> int:
    """As many bins as have enough rows each: one in any case."""
    return max(1, min(most, int(rows / max(least, 1.0))))


def _starts(counts: Floats, least: float, most: int) -> list[int]:
    """Where bins of about equal counts start; a leaf that would fill one is a bin of its own.

    Args:
        counts: of leaves, not negative.
        least: the rows that a bin should have.
        most: how many bins there may be.
    """
    bins = _bin_count(float(counts.sum()), least, most)
    heavy = counts >= max(counts.sum() / bins, least)
    light = float(counts[~heavy].sum())
    step = light / _bin_count(light, least, max(bins - int(heavy.sum()), 1))
    starts, filled = {0}, 0.0
    for i, count in enumerate(counts.tolist()):
        if heavy[i]:
            starts |= {i, i + 1}
            filled = 0.0
        elif filled > 0 and filled + count / 2 >= step:
            starts.add(i)
            filled = count
        else:
            filled += count
    return _merged(counts, sorted(starts - {counts.size}), most)


def _merged(counts: Floats, starts: list[int], most: int) -> list[int]:
    """As many starts as allowed: those two bins join that have the fewest rows together."""
    while len(starts) > most:
        filled = np.add.reduceat(counts, starts)
        del starts[int(np.argmin(filled[:-1] + filled[1:])) + 1]
    return starts


def _increments(estimates: Floats) -> Floats:
    """Counts that are not negative, from sums that only grow: between the two nearest such sums."""
    sums = np.cumsum(estimates)
    above, below = np.maximum.accumulate(sums), np.minimum.accumulate(sums[::-1])[::-1]
    return np.diff(np.maximum((above + below) / 2, 0.0), prepend=0.0)


def fitted(column: BinnedColumn, found: LearnedRange) -> LearnedRange:
    """The range with a declared stand-in for strays inside it, and every marker outside.

    Of the intervals between markers it keeps the one with the stand-in, else with the middle row.
    """
    middle, markers = found.middle, set(_markers(column))
    if column.outside not in ("clip", "drop", *(column.missing or ())):
        middle = column.outside_ordinate
    while middle in markers:
        middle = _step(column, middle, math.inf)
    low, high = min(found.edges[0], middle), max(found.high, middle)
    for marker in markers:
        if low <= marker < middle:
            low = _step(column, marker, math.inf)
        elif middle < marker <= high:
            high = _step(column, marker, -math.inf)
    inner = (edge for edge in found.edges if low < edge <= high)
    return LearnedRange((low, *inner), high, middle, found.found)


def on_steps(found: LearnedRange, steps: Steps, declared: Declared) -> LearnedRange | None:
    """The range with edges at values that are written; None where none is, or they are too fine.

    An edge moves up to the next value and the end down to the last, past which no value lies.
    Declared bounds stay where they are.
    """
    low, *inner = found.edges
    first = steps.first_from(low)
    last = steps.last_to(found.high)
    if first > last or not steps.tells_apart(low, found.high):
        return None
    start = low if declared.low else steps.value(first)
    end = found.high if declared.high else steps.value(last)
    moved = {steps.value(steps.first_from(edge)) for edge in inner}
    edges = sorted(edge for edge in moved if steps.value(first) < edge <= end)
    middle = min(max(found.middle, start), end)
    return LearnedRange((start, *edges), end, middle, found.found)


def around(found: LearnedRange, steps: Steps) -> LearnedRange:
    """The range from the last value at its lower edge or below to the first one above its end.

    It is for ranges that lie between two values that are written.
    """
    start = steps.value(steps.last_to(found.edges[0]))
    end = steps.value(steps.first_from(found.high))
    return LearnedRange((start,), end, start, found.found)


def _step(column: BinnedColumn, place: Ordinate, towards: float) -> Ordinate:
    """Return the next place on the line."""
    if column.whole:
        return place + (1 if towards > 0 else -1)
    return math.nextafter(place, towards)


def _markers(column: BinnedColumn) -> list[Ordinate]:
    places = []
    for marker in column.missing or ():
        try:
            places.append(column.place(marker))
        except (ValueError, OverflowError):
            continue
    return [place for place in places if not math.isnan(place)]
