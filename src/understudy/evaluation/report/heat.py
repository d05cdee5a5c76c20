"""Matrices of associations as heat maps, in nine steps of colour."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.evaluation.report.shapes import (
    LETTERS,
    WIDTH,
    gutter,
    plain,
    row_label,
    sheet,
    words,
)

HeatGrid = Sequence[Sequence[float | None]]

STEPS = 9
_LABELS, _TOP = 104.0, 8.0
_LARGEST_CELL, _LEGEND = 24.0, 46.0
_LEAST_PITCH = LETTERS + 1.5


@dataclass(frozen=True)
class Colours:
    """How numbers become steps of colour.

    Attributes:
        reach: the number at the end of the scale.
        diverging: whether the scale begins at −reach, with a neutral middle, or at 0.
    """

    reach: float
    diverging: bool = False

    def kind(self, value: float | None) -> str:
        """The style of a cell; one without a number has its own."""
        if value is None:
            return "heat-none"
        part = value / self.reach
        part = (part + 1) / 2 if self.diverging else part
        step = min(int(min(max(part, 0.0), 1.0) * STEPS), STEPS - 1)
        return f"{self.name}-{step}"

    @property
    def name(self) -> str:
        """Name the styles of the scale."""
        return "turn" if self.diverging else "heat"

    @property
    def ends(self) -> tuple[str, str, str]:
        """The numbers at both ends and in the middle."""
        high = plain(self.reach)
        return (f"−{high}", "0", high) if self.diverging else ("0", plain(self.reach / 2), high)


def heat_map(names: Sequence[str], matrix: HeatGrid, colours: Colours, *, about: str) -> Markup:
    """A square of cells; rows carry names with numbers, columns the same numbers."""
    labels = [f"{name} {number}" for number, name in enumerate(names, 1)]
    left = gutter(labels, most=_LABELS)
    cell = min((WIDTH - left - 2) / len(names), _LARGEST_CELL)
    every = math.ceil(_LEAST_PITCH / cell)
    bottom = _TOP + cell * len(names)
    shown = range(0, len(names), every)
    down = [row_label(labels[i], left, _TOP + cell * (i + 0.5)) for i in shown]
    across = _across(len(names), left, cell, bottom)
    middle = left + cell * len(names) / 2
    title = words("number of the column", middle, bottom + 26, anchor="middle", kind="title")
    return sheet(
        bottom + 30 + _LEGEND,
        about,
        [
            *_cells(matrix, left, cell, colours),
            f'<g class="axis y">{"".join(down)}</g>',
            f'<g class="axis x">{"".join(across)}{title}</g>',
            *_legend(left, bottom + 40, colours),
        ],
    )


def _across(count: int, left: float, cell: float, bottom: float) -> list[str]:
    wide = LETTERS * (0.8 * len(str(count)) + 0.4)
    every = math.ceil(wide / cell)
    return [
        words(str(i + 1), left + cell * (i + 0.5), bottom + 12, anchor="middle")
        for i in range(0, count, every)
    ]


def _cells(matrix: HeatGrid, left: float, cell: float, colours: Colours) -> Iterator[str]:
    """One path for every step of colour, neighbours of one step joined."""
    ways: dict[str, list[str]] = {}
    for row, line in enumerate(matrix):
        kinds = [colours.kind(value) for value in line]
        start = 0
        for place in range(1, len(kinds) + 1):
            if place == len(kinds) or kinds[place] != kinds[start]:
                x, y, wide = left + cell * start, _TOP + cell * row, cell * (place - start)
                way = f"M{x:.2f},{y:.2f}h{wide:.2f}v{cell:.2f}h-{wide:.2f}z"
                ways.setdefault(kinds[start], []).append(way)
                start = place
    for kind, parts in sorted(ways.items()):
        yield f'<path class="{kind}" d="{"".join(parts)}"/>'


def _legend(left: float, top: float, colours: Colours) -> list[str]:
    """The steps of colour, and the numbers at both ends and in the middle."""
    wide = (WIDTH - left - 40) / STEPS
    parts = [
        f'<rect class="{colours.name}-{step}" x="{left + wide * step:.2f}" y="{top:.1f}" '
        f'width="{wide:.2f}" height="10"/>'
        for step in range(STEPS)
    ]
    for part, text in zip((0.0, 0.5, 1.0), colours.ends, strict=True):
        x = left + wide * STEPS * part
        parts.append(words(text, x, top + 22, anchor="middle"))
    return parts
