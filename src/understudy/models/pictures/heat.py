"""A matrix of numbers as squares in nine steps of colour, for charts outside of a page.

The report's heat maps take their colours from the page around them; these have their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.models.pictures.elements import label
from understudy.models.pictures.lettering import shortened

# From below 0 over nothing to above it; told apart also by those who do not see all colours.
_STEPS = (
    *("#1f4e79", "#4a7dab", "#86acd0", "#c3d7e8", "#f2f2f0"),
    *("#f9d9b7", "#f0b173", "#d97f24", "#a4540a"),
)
_NONE = "#ffffff"
_LEFT, _TOP, _RIGHT, _LARGEST, _SIZE = 112.0, 30.0, 16.0, 22.0, 10
_LEGEND, _BAR = 34.0, 8.0


@dataclass(frozen=True)
class HeatMap:
    """A square of numbers from -reach to reach.

    Attributes:
        names: of the lines; columns have the same, in the same order.
        matrix: None where there is no number.
        reach: the number at the ends of the scale; what is beyond has the colour of the end.
    """

    title: str
    names: Sequence[str]
    matrix: Sequence[Sequence[float | None]]
    reach: float = 1.0

    def colour(self, value: float | None) -> str:
        """Return the colour of one square."""
        if value is None:
            return _NONE
        part = (min(max(value / self.reach, -1.0), 1.0) + 1) / 2
        return _STEPS[min(int(part * len(_STEPS)), len(_STEPS) - 1)]


def heat_height(heat: HeatMap, width: float) -> float:
    """How high the drawing is where so much width is given."""
    return _TOP + _cell(heat, width) * len(heat.names) + 22 + _LEGEND


def heat_map(heat: HeatMap, width: float) -> str:
    """Squares with names beside and numbers below them, and the scale of colours."""
    cell = _cell(heat, width)
    return "".join(
        [
            label(width / 2, 18, heat.title, weight="bold"),
            *_squares(heat, cell),
            *_names(heat, cell),
            *_scale(heat, cell),
        ]
    )


def _cell(heat: HeatMap, width: float) -> float:
    return min((width - _LEFT - _RIGHT) / max(len(heat.names), 1), _LARGEST)


def _squares(heat: HeatMap, cell: float) -> Iterator[str]:
    for row, line in enumerate(heat.matrix):
        for column, value in enumerate(line):
            yield _square(
                _LEFT + cell * column,
                _TOP + cell * row,
                width=cell,
                height=cell,
                colour=heat.colour(value),
            )


def _square(x: float, y: float, *, width: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.2f}" height="{height:.2f}" '
        f'fill="{colour}" stroke="#ffffff" stroke-width="0.5"/>'
    )


def _names(heat: HeatMap, cell: float) -> Iterator[str]:
    """Lines carry names and numbers, columns the same numbers."""
    bottom = _TOP + cell * len(heat.names)
    for place, name in enumerate(heat.names):
        middle = cell * (place + 0.5)
        text = shortened(f"{name} {place + 1}", _SIZE, _LEFT - 8)
        yield label(_LEFT - 5, _TOP + middle + 3, text, anchor="end")
        yield label(_LEFT + middle, bottom + 13, str(place + 1))


def _scale(heat: HeatMap, cell: float) -> Iterator[str]:
    """The steps of colour, and the numbers at both ends and in the middle."""
    top, wide = _TOP + cell * len(heat.names) + 22, cell * len(heat.names)
    step = wide / len(_STEPS)
    for place, colour in enumerate(_STEPS):
        yield _square(_LEFT + step * place, top, width=step, height=_BAR, colour=colour)
    for part, value in ((0.0, -heat.reach), (0.5, 0.0), (1.0, heat.reach)):
        yield label(_LEFT + wide * part, top + _BAR + 12, f"{value:g}")
