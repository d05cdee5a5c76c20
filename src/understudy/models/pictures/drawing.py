"""A drawing of a network: where each box, line and arrow goes, in pixels, before any format.

Parts that no edge joins are drawn apart and set side by side; attributes without any edge are in
a block below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.models.network import Network
from understudy.models.pictures.layers import (
    Layers,
    Point,
    Segment,
    comfortable_width,
    components,
    layered,
)
from understudy.models.pictures.lettering import shortened, text_width
from understudy.models.pictures.places import Coordinates, placed

FONT_SIZE = 13.0
BOX_HEIGHT = 28.0
_PADDING, _WIDEST_LABEL = 12.0, 176.0
_BETWEEN_BOXES, _TRUNK_ROOM = 16.0, 12.0
_LEAST_GAP, _MOST_GAP, _GAP_PER_STEP = 40.0, 120.0, 0.11
# Lines into a box end so far apart, closer where they are many.
_PORT, _PORTS = 10.0, 8.0
_BETWEEN_PARTS = 44.0

EdgeScores = Mapping[tuple[str, str], float]
Spot = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class NodeBox:
    """An attribute: its whole name, the label that fits, and the box's middle, top and width."""

    name: str
    label: str
    x: float
    top: float
    width: float

    def moved(self, x: float, y: float) -> NodeBox:
        """Return the box, moved by an offset."""
        return replace(self, x=self.x + x, top=self.top + y)


@dataclass(frozen=True, kw_only=True)
class Connector:
    """The part of an edge that no stronger edge of the same parent draws already.

    Attributes:
        parent: where the edge begins.
        child: where it ends.
        title: both ends and the score, in words.
        score: how strong it is.
        curves: from spot to spot, downwards; where one ends above the next, the line is upright.
    """

    parent: str
    child: str
    title: str
    score: float
    curves: tuple[tuple[Spot, Spot], ...]

    def moved(self, x: float, y: float) -> Connector:
        """Return the line, moved by an offset."""
        curves = tuple(((a + x, b + y), (c + x, d + y)) for (a, b), (c, d) in self.curves)
        return replace(self, curves=curves)


@dataclass(frozen=True)
class Drawing:
    """Boxes and lines on a sheet of some size."""

    boxes: tuple[NodeBox, ...]
    lines: tuple[Connector, ...]
    width: float
    height: float

    def moved(self, x: float, y: float) -> Drawing:
        """The drawing elsewhere on a sheet that it still begins."""
        boxes = tuple(box.moved(x, y) for box in self.boxes)
        lines = tuple(line.moved(x, y) for line in self.lines)
        return Drawing(boxes, lines, self.width + x, self.height + y)


def drawn(network: Network, scores: EdgeScores) -> Drawing:
    """The network on a sheet, strong lines last so that they lie on top."""
    parts = list(components(network))
    joined = [_part(part, scores) for part in parts if part.edges]
    alone = [part.order[0] for part in parts if not part.edges]
    sheet = _side_by_side(joined)
    if alone:
        sheet = _stacked([sheet, _block(alone, sheet.width)] if joined else [_block(alone, 0)])
    return replace(sheet, lines=tuple(sorted(sheet.lines, key=lambda line: line.score)))


def _part(network: Network, scores: EdgeScores) -> Drawing:
    """One part of a network, its rows below each other."""
    layers = layered(network, widest=comfortable_width(len(network.families)))
    labels = {name: shortened(name, FONT_SIZE, _WIDEST_LABEL) for name in network.order}
    widths = {
        family.child: max(_box_width(labels[family.child]), _PORTS * len(family.parents))
        for family in network
    }
    own = {(name, level): widths[name] for name, level in layers.levels.items()}
    room = {
        point: own[point] + _BETWEEN_BOXES if point in own else _TRUNK_ROOM
        for row in layers.rows
        for point in row
    }
    strongest = _strongest(layers, scores)
    across = placed(layers, room, {s: score for s, (_, score) in strongest.items()})
    tops = _tops(layers, across)
    boxes = tuple(
        NodeBox(
            name=name,
            label=labels[name],
            x=across[name, level],
            top=tops[level],
            width=widths[name],
        )
        for name, level in layers.levels.items()
    )
    lines = _lines(layers, scores, strongest, _ways(layers, across, tops, widths))
    width = max(across[point] + room[point] / 2 for point in across)
    return Drawing(boxes, tuple(lines), width, tops[-1] + BOX_HEIGHT)


def _box_width(label: str) -> float:
    return math.ceil(text_width(label, FONT_SIZE)) + 2 * _PADDING


def _strongest(layers: Layers, scores: EdgeScores) -> dict[Segment, tuple[tuple[str, str], float]]:
    """The strongest edge through each segment, and its score: it is drawn there, once."""
    found: dict[Segment, tuple[tuple[str, str], float]] = {}
    for edge in layers.network.edges:
        for piece in layers.pieces(*edge):
            if piece not in found or found[piece][1] < scores[edge]:
                found[piece] = (edge, scores[edge])
    return found


def _tops(layers: Layers, across: Coordinates) -> list[float]:
    """The top of every row: the further lines go sideways, the more room they get."""
    steps = [0.0] * len(layers.rows)
    for upper, lower in layers.segments:
        steps[lower[1]] = max(steps[lower[1]], abs(across[upper] - across[lower]))
    tops = [0.0]
    for step in steps[1:]:
        gap = min(_LEAST_GAP + _GAP_PER_STEP * step, _MOST_GAP)
        tops.append(tops[-1] + BOX_HEIGHT + gap)
    return tops


def _ways(
    layers: Layers, across: Coordinates, tops: Sequence[float], widths: Mapping[str, float]
) -> dict[Segment, tuple[Spot, Spot]]:
    """Where each segment begins and ends; those into a box end side by side on its upper edge."""
    into: dict[Point, list[Point]] = {}
    for upper, lower in layers.segments:
        into.setdefault(lower, []).append(upper)
    ways = {}
    for lower, uppers in into.items():
        middle = (len(uppers) - 1) / 2
        step = min(_PORT, (widths[lower[0]] - _PADDING) / len(uppers))
        for number, upper in enumerate(sorted(uppers, key=across.__getitem__)):
            start = (across[upper], tops[upper[1]] + BOX_HEIGHT)
            end = (across[lower] + (number - middle) * step, tops[lower[1]])
            ways[upper, lower] = (start, end)
    return ways


def _lines(
    layers: Layers,
    scores: EdgeScores,
    strongest: Mapping[Segment, tuple[tuple[str, str], float]],
    ways: Mapping[Segment, tuple[Spot, Spot]],
) -> Iterable[Connector]:
    for family in layers.network:
        child = family.child
        for parent in family.parents:
            edge, score = (parent, child), scores[parent, child]
            title = f"{family.end_label(parent)} → {family.end_label(child)}: {score:.3f}"
            own = [piece for piece in layers.pieces(*edge) if strongest[piece][0] == edge]
            yield Connector(
                parent=parent,
                child=child,
                title=title,
                score=score,
                curves=tuple(ways[piece] for piece in own),
            )


def _block(names: Sequence[str], width: float) -> Drawing:
    """Attributes without edges, in columns, as wide as the drawing above them."""
    labels = [shortened(name, FONT_SIZE, _WIDEST_LABEL) for name in names]
    cell = max(_box_width(label) for label in labels) + _BETWEEN_BOXES
    columns = min(len(names), max(int(width // cell), comfortable_width(len(names))))
    step = BOX_HEIGHT + _BETWEEN_BOXES
    boxes = tuple(
        NodeBox(
            name=name,
            label=label,
            x=(i % columns + 0.5) * cell,
            top=i // columns * step,
            width=cell - _BETWEEN_BOXES,
        )
        for i, (name, label) in enumerate(zip(names, labels, strict=True))
    )
    return Drawing(boxes, (), columns * cell, -(-len(names) // columns) * step - _BETWEEN_BOXES)


def _side_by_side(parts: Sequence[Drawing]) -> Drawing:
    """Parts in shelves about as wide as all of them are high."""
    area = sum(part.width * part.height for part in parts)
    most = max([1.6 * math.sqrt(area), *(part.width for part in parts)], default=0.0)
    shelves: list[list[Drawing]] = [[]]
    for part in parts:
        taken = sum(other.width + _BETWEEN_PARTS for other in shelves[-1])
        if shelves[-1] and taken + part.width > most:
            shelves.append([])
        shelves[-1].append(part)
    return _stacked([_shelf(shelf) for shelf in shelves])


def _shelf(parts: Sequence[Drawing]) -> Drawing:
    """Parts beside each other."""
    placed_parts, x = [], 0.0
    for part in parts:
        placed_parts.append(part.moved(x, 0.0))
        x += part.width + _BETWEEN_PARTS
    return _together(placed_parts)


def _stacked(parts: Sequence[Drawing]) -> Drawing:
    """Parts below each other, each in the middle."""
    width = max((part.width for part in parts), default=0.0)
    placed_parts, y = [], 0.0
    for part in parts:
        placed_parts.append(part.moved((width - part.width) / 2, y))
        y += part.height + _BETWEEN_PARTS
    return _together(placed_parts)


def _together(parts: Sequence[Drawing]) -> Drawing:
    return Drawing(
        tuple(box for part in parts for box in part.boxes),
        tuple(line for part in parts for line in part.lines),
        max((part.width for part in parts), default=0.0),
        max((part.height for part in parts), default=0.0),
    )
