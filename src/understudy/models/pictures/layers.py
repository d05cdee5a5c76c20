"""Layers of a network: every attribute in a row below its parents, with few crossings.

A point of the drawing is an attribute and a row. In its own row it is the attribute's box; further
down it is the trunk through which the attribute reaches children that are lower. Edges of one
parent share its trunk, so that a wide network has few lines.

Source: Sugiyama, Tagawa and Toda 1981, Methods for Visual Understanding of Hierarchical System
Structures (rows, barycentres); Gansner, Koutsofios, North and Vo 1993, A Technique for Drawing
Directed Graphs (transposition).
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, pairwise
from random import Random

from understudy.models.network import Network

Point = tuple[str, int]
Segment = tuple[Point, Point]
Rank = list[Point]

# More starts and sweeps find few better orders; large networks get fewer, to be drawn in time.
_STARTS, _SWEEPS, _MOST_POINTS = 6, 12, 3000


@dataclass(frozen=True)
class Layers:
    """Points in rows, each from left to right.

    Attributes:
        levels: the row of every attribute's box.
        rows: the points of every row in order.
        network: whose edges are drawn.
    """

    levels: Mapping[str, int]
    rows: tuple[tuple[Point, ...], ...]
    network: Network

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The pieces of all edges, each once: from a point to one of the next row."""
        pieces = (piece for p, c in self.network.edges for piece in self.pieces(p, c))
        return tuple(dict.fromkeys(pieces))

    def pieces(self, parent: str, child: str) -> list[Segment]:
        """The way of an edge: down the parent's trunk, then to the child."""
        below = self.levels[child]
        trunk = [(parent, level) for level in range(self.levels[parent], below)]
        return list(pairwise([*trunk, (child, below)]))


def layered(network: Network, *, widest: int) -> Layers:
    """The network in rows of at most `widest` boxes where that is possible, crossings reduced."""
    levels = _levels(network, widest)
    flat = Layers(levels, _first_rows(network, levels), network)
    neighbours = _Joined.of(flat.segments)
    more = min(_STARTS, _MOST_POINTS // sum(map(len, flat.rows)))
    starts = [flat.rows, *(_shuffled(flat.rows, seed) for seed in range(1, more))]
    best = min((_untangled(rows, neighbours) for rows in starts), key=neighbours.crossings)
    return Layers(levels, tuple(tuple(row) for row in best), network)


def _levels(network: Network, widest: int) -> dict[str, int]:
    """A row for every attribute, below its parents, with short trunks and rows not too full."""
    levels: dict[str, int] = {}
    full: dict[int, int] = {}
    for family in network:
        level = max((levels[parent] + 1 for parent in family.parents), default=0)
        while full.get(level, 0) >= widest:
            level += 1
        levels[family.child] = level
        full[level] = full.get(level, 0) + 1
    _lower(network, levels, full, widest)
    return levels


def _lower(network: Network, levels: dict[str, int], full: dict[int, int], widest: int) -> None:
    """Put attributes nearer to their children where that makes trunks shorter."""
    children = network.children
    for family in reversed(network.families):
        child, below = family.child, children[family.child]
        # Each parent's trunk may grow by as much as the attribute's own one shrinks.
        if not below or len(family.parents) > 1:
            continue
        for level in range(min(levels[c] for c in below) - 1, levels[child], -1):
            if full.get(level, 0) < widest:
                full[levels[child]] -= 1
                full[level] = full.get(level, 0) + 1
                levels[child] = level
                break


def _first_rows(network: Network, levels: Mapping[str, int]) -> tuple[tuple[Point, ...], ...]:
    """Points in the order of a walk from each attribute to its children."""
    children = network.children
    rows: list[Rank] = [[] for _ in range(max(levels.values()) + 1)]
    for name in _walk(sorted(levels, key=levels.__getitem__), children):
        last = max((levels[child] for child in children[name]), default=levels[name] + 1)
        for level in range(levels[name], last):
            rows[level].append((name, level))
    return tuple(tuple(row) for row in rows)


def _walk(names: Sequence[str], children: Mapping[str, list[str]]) -> list[str]:
    """Every attribute once, each followed by its children as far as they are new."""
    seen: dict[str, None] = {}
    waiting = [*reversed(names)]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen[name] = None
            waiting += reversed(children[name])
    return [*seen]


def _shuffled(rows: Sequence[Sequence[Point]], seed: int) -> tuple[tuple[Point, ...], ...]:
    """The rows in another order, the same for the same seed."""
    draw = Random(seed)
    return tuple(tuple(draw.sample(row, len(row))) for row in rows)


@dataclass(frozen=True)
class _Joined:
    """The points that every point is joined to, in the row above and in the row below."""

    above: Mapping[Point, list[Point]]
    below: Mapping[Point, list[Point]]

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> _Joined:
        above: dict[Point, list[Point]] = {}
        below: dict[Point, list[Point]] = {}
        for upper, lower in segments:
            below.setdefault(upper, []).append(lower)
            above.setdefault(lower, []).append(upper)
        return cls(above, below)

    def crossings(self, rows: Sequence[Sequence[Point]]) -> int:
        """How many pairs of segments cross."""
        return sum(self._between(upper, lower) for upper, lower in pairwise(rows))

    def _between(self, upper: Sequence[Point], lower: Sequence[Point]) -> int:
        place = {point: number for number, point in enumerate(lower)}
        met: list[int] = []
        crossings = 0
        for point in upper:
            ends = sorted(place[end] for end in self.below.get(point, ()))
            crossings += sum(len(met) - bisect(met, end) for end in ends)
            for end in ends:
                insort(met, end)
        return crossings


def _untangled(rows: Sequence[Sequence[Point]], neighbours: _Joined) -> list[Rank]:
    """The rows of least crossings met while sweeping down and up."""
    current = [list(row) for row in rows]
    _transpose(current, neighbours)
    best, least = [list(row) for row in current], neighbours.crossings(current)
    for sweep in range(_SWEEPS):
        _sweep(current, neighbours, downward=sweep % 2 == 0)
        _transpose(current, neighbours)
        found = neighbours.crossings(current)
        if found <= least:
            best, least = [list(row) for row in current], found
    return best


def _sweep(rows: list[Rank], neighbours: _Joined, *, downward: bool) -> None:
    """Sort every row by the mean place of its points' neighbours in the row before."""
    joined = neighbours.above if downward else neighbours.below
    numbers = range(1, len(rows)) if downward else range(len(rows) - 2, -1, -1)
    for number in numbers:
        before = rows[number - 1 if downward else number + 1]
        place = {point: index for index, point in enumerate(before)}
        rows[number] = _by_barycentre(rows[number], joined, place)


def _by_barycentre(
    row: Rank, joined: Mapping[Point, list[Point]], place: Mapping[Point, int]
) -> Rank:
    """The row sorted; points without neighbours there stay where they are."""
    means = {
        point: sum(place[other] for other in joined[point]) / len(joined[point])
        for point in row
        if point in joined
    }
    ranked = sorted(means, key=means.__getitem__)
    moving = chain.from_iterable(
        _trunks_amid([*equal], joined) for _, equal in groupby(ranked, means.__getitem__)
    )
    return [next(moving) if point in means else point for point in row]


def _trunks_amid(points: Rank, joined: Mapping[Point, list[Point]]) -> Rank:
    """Points that pull to the same place, those with boxes to both sides of trunks."""
    trunks = [point for point in points if point[0] == joined[point][0][0]]
    boxes = [point for point in points if point not in trunks]
    half = len(boxes) // 2
    return [*boxes[:half], *trunks, *boxes[half:]]


def _transpose(rows: list[Rank], neighbours: _Joined) -> None:
    """Swap neighbouring points as long as that removes crossings."""
    places = {point: index for row in rows for index, point in enumerate(row)}
    improved = True
    while improved:
        improved = False
        for row in rows:
            for index in range(len(row) - 1):
                left, right = row[index], row[index + 1]
                if _gain(left, right, neighbours, places) > 0:
                    row[index], row[index + 1] = right, left
                    places[left], places[right] = index + 1, index
                    improved = True


def _gain(left: Point, right: Point, neighbours: _Joined, places: Mapping[Point, int]) -> int:
    """How many crossings a swap of two points takes away."""
    gain = 0
    for joined in (neighbours.above, neighbours.below):
        for a in joined.get(left, ()):
            for b in joined.get(right, ()):
                difference = places[a] - places[b]
                gain += (difference > 0) - (difference < 0)
    return gain


def comfortable_width(attributes: int) -> int:
    """The number of boxes that a row may hold so that the picture is not a long strip."""
    return max(6, math.ceil(1.3 * math.sqrt(attributes)))


def components(network: Network) -> Iterator[Network]:
    """The parts of a network that no edge joins, the largest first."""
    part = {family.child: {family.child} for family in network}
    for parent, child in network.edges:
        joined = part[parent] | part[child]
        for name in joined:
            part[name] = joined
    groups = {id(names): names for names in part.values()}
    for names in sorted(groups.values(), key=len, reverse=True):
        yield Network(tuple(family for family in network if family.child in names))
