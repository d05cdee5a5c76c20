"""Places of boxes and trunks: lines as straight as the order of the rows allows.

The sum of all sideways steps, each with its weight, is made as small as it can be under the
distances that boxes need. This is a linear program; its solutions at corners have most lines
exactly upright.

Source: the objective is that of Gansner, Koutsofios, North and Vo 1993, section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from understudy.models.pictures.layers import Layers, Point, Segment

Coordinates = Mapping[Point, float]

# Long lines should be straight first of all, boxes follow, and parents stand amid their children.
_TRUNK, _JOIN, _CENTRE, _TIGHT = 8.0, 2.0, 0.5, 0.01


def placed(
    layers: Layers, room: Mapping[Point, float], strength: Mapping[Segment, float]
) -> Coordinates:
    """The middle of every point, from left to right; the leftmost edge is at 0.

    Args:
        layers: the points in their order.
        room: the width that every point needs, with the distance to its neighbours.
        strength: how much each segment weighs, 0 to 1.
    """
    program = _Program([point for row in layers.rows for point in row])
    for row in layers.rows:
        for left, right in pairwise(row):
            program.keep_apart(left, right, (room[left] + room[right]) / 2)
        program.draw_together(row[0], row[-1], _TIGHT)
    for upper, lower in layers.segments:
        weight = _TRUNK if upper[0] == lower[0] else _JOIN * (0.5 + strength[upper, lower])
        program.near(upper, {lower: 1.0}, weight)
    for point, ends in _forks(layers).items():
        program.near(point, {end: 1 / len(ends) for end in ends}, _CENTRE)
    found = program.solved()
    start = min(found[point] - room[point] / 2 for point in found)
    return {point: place - start for point, place in found.items()}


def _forks(layers: Layers) -> dict[Point, list[Point]]:
    """Points with several lines to the row below or from the row above."""
    joined: dict[Point, list[Point]] = {}
    joined_above: dict[Point, list[Point]] = {}
    for upper, lower in layers.segments:
        joined.setdefault(upper, []).append(lower)
        joined_above.setdefault(lower, []).append(upper)
    every = {**{p: e for p, e in joined_above.items() if p not in joined}, **joined}
    return {point: ends for point, ends in every.items() if len(ends) > 1}


@dataclass
class _Program:
    """A linear program over places, in rows of a sparse matrix."""

    points: list[Point]
    costs: list[float] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.column = {point: number for number, point in enumerate(self.points)}
        self.costs = [0.0] * len(self.points)

    def keep_apart(self, left: Point, right: Point, distance: float) -> None:
        """The right point at least so far from the left one."""
        self._at_most({self.column[left]: 1.0, self.column[right]: -1.0}, -distance)

    def draw_together(self, left: Point, right: Point, weight: float) -> None:
        """A cost for the distance from left to right."""
        self.costs[self.column[right]] += weight
        self.costs[self.column[left]] -= weight

    def near(self, point: Point, others: Mapping[Point, float], weight: float) -> None:
        """A cost for the distance, to either side, from a point to a mean of others."""
        away = len(self.costs)
        self.costs.append(weight)
        for sign in (1.0, -1.0):
            means = {self.column[other]: -sign * share for other, share in others.items()}
            self._at_most({self.column[point]: sign, **means, away: -1.0}, 0.0)

    def _at_most(self, row: Mapping[int, float], bound: float) -> None:
        number = len(self.bounds)
        self.entries += [(number, column, value) for column, value in row.items()]
        self.bounds.append(bound)

    def solved(self) -> dict[Point, float]:
        """Return a place for every point."""
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        if not self.bounds:
            return dict.fromkeys(self.points, 0.0)
        rows, columns, values = (np.array(part) for part in zip(*self.entries, strict=True))
        shape = (len(self.bounds), len(self.costs))
        matrix = coo_array((values, (rows, columns)), shape).tocsr()
        found: Any = linprog(self.costs, A_ub=matrix, b_ub=self.bounds, method="highs")
        return dict(zip(self.points, found.x.tolist(), strict=False))
