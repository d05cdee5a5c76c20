"""Charts as SVG: panels with axes, bands around their lines and legends, heat maps, one caption.

A document by itself, without references or scripts. Colours can be told apart by those who do not
see all of them, and every line has marks of its own besides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from understudy.models.pictures.elements import label
from understudy.models.pictures.heat import HeatMap, heat_height, heat_map
from understudy.models.pictures.lettering import text_width

_WIDTH, _HEIGHT, _MARGIN, _RIGHT, _TOP, _BOTTOM = 360, 250, 56, 16, 30, 44
_SIZE, _LEADING, _SAMPLE = 10, 15, 22
_FEW_TICKS = 6
_GRID = "#dddddd"
# Okabe and Ito's palette, without its yellow.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_DASHES = ("", "6 3", "2 2", "8 3 2 3", "10 4", "1 3", "4 4")


@dataclass(frozen=True)
class Line:
    """Points that belong together, and a band around them where both its sides are given."""

    name: str
    across: Sequence[float]
    up: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()

    @property
    def heights(self) -> list[float]:
        """All that must find room on the axis upwards."""
        return [*self.up, *self.low, *self.high]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        across, up: what the axes mean.
        log_across, log_up: whether an axis is logarithmic; its values are above 0 then.
        between: the ends of the axis upwards; what the lines need unless given.
    """

    title: str
    across: str
    up: str
    lines: Sequence[Line]
    log_across: bool = False
    log_up: bool = False
    between: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Where values lie between two edges, and which of them are marked."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float, *, log: bool) -> Axis:
        """From a round number below the least to one above the largest."""
        ticks = _powers(values) if log else _steps(min(values), max(values))
        return cls(low=ticks[0], high=ticks[-1], start=start, end=end, log=log, ticks=ticks)

    def marked_at(self, values: Sequence[float]) -> Axis:
        """The same axis, but where the values are few, marked at them and ending with them."""
        different = tuple(sorted(set(values)))
        if not 1 < len(different) <= _FEW_TICKS:
            return self
        return Axis(
            low=different[0],
            high=different[-1],
            start=self.start,
            end=self.end,
            log=self.log,
            ticks=different,
        )

    def __call__(self, value: float) -> float:
        """Where a value lies."""
        low, high, here = (self._place(v) for v in (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)

    def _place(self, value: float) -> float:
        return math.log10(value) if self.log else value


def chart_sheet(panels: Sequence[Panel | HeatMap], *, caption: str = "", columns: int = 2) -> str:
    """All panels in one SVG document, a caption below them."""
    columns = min(columns, max(len(panels), 1))
    height_of = max((_height(panel) for panel in panels), default=_HEIGHT)
    rows = -(-len(panels) // columns)
    words = _wrapped(caption, columns * _WIDTH - 2 * _RIGHT)
    width, height = columns * _WIDTH, rows * height_of + len(words) * _LEADING + _RIGHT
    drawn = [
        f'<g transform="translate({i % columns * _WIDTH},{i // columns * height_of})">'
        f"{heat_map(panel, _WIDTH) if isinstance(panel, HeatMap) else _panel(panel)}</g>"
        for i, panel in enumerate(panels)
    ]
    below = [
        label(_RIGHT, rows * height_of + (i + 1) * _LEADING, line, anchor="start")
        for i, line in enumerate(words)
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="{_SIZE}">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>'
    )
    return "\n".join([head, *drawn, *below, "</svg>", ""])


def _height(panel: Panel | HeatMap) -> int:
    if isinstance(panel, HeatMap):
        return math.ceil(heat_height(panel, _WIDTH))
    return _HEIGHT + _legend_height(panel)


def _panel(panel: Panel) -> str:
    over = [x for line in panel.lines for x in line.across]
    heights = list(panel.between or [y for line in panel.lines for y in line.heights])
    across = Axis.around(over, _MARGIN, _WIDTH - _RIGHT, log=panel.log_across).marked_at(over)
    up = Axis.around(heights, _HEIGHT - _BOTTOM, _TOP, log=panel.log_up)
    drawn = [_drawn(line, across, up, place) for place, line in enumerate(panel.lines)]
    return "".join([_frame(panel, across, up), *drawn, _legend(panel)])


def _frame(panel: Panel, across: Axis, up: Axis) -> str:
    low, high = up(up.low), up(up.high)
    middle = (low + high) / 2
    return "".join(
        [
            *(_rule(across(x), high, across(x), low) for x in across.ticks),
            *(_rule(across.start, up(y), across.end, up(y)) for y in up.ticks),
            *(label(across(x), low + 14, _number(x)) for x in across.ticks),
            *(label(_MARGIN - 5, up(y) + 3, _number(y), anchor="end") for y in up.ticks),
            label(_WIDTH / 2, 18, panel.title, weight="bold"),
            label((across.start + across.end) / 2, low + 30, panel.across),
            f'<g transform="translate(11,{middle:.1f}) rotate(-90)">{label(0, 0, panel.up)}</g>',
        ]
    )


def _drawn(line: Line, across: Axis, up: Axis, place: int) -> str:
    colour = _COLOURS[place % len(_COLOURS)]
    points = [(across(x), up(y)) for x, y in zip(line.across, line.up, strict=True)]
    stroke = f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="{_dash(place)}"'
    return "".join(
        [
            _band(line, across, up, colour),
            *(
                f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" {stroke}/>'
                for (a, b), (c, d) in pairwise(points)
            ),
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points),
        ]
    )


def _band(line: Line, across: Axis, up: Axis, colour: str) -> str:
    if not line.low or not line.high:
        return ""
    there = zip(line.across, line.high, strict=True)
    back = zip(reversed(line.across), reversed(line.low), strict=True)
    corners = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in (*there, *back))
    return f'<polygon points="{corners}" fill="{colour}" fill-opacity="0.15"/>'


def _legend(panel: Panel) -> str:
    """A sample of every line beside its name; a lone line without a name needs none."""
    parts = []
    for place, line in enumerate(panel.lines if _legend_height(panel) else ()):
        y = _HEIGHT + place * _LEADING
        colour = _COLOURS[place % len(_COLOURS)]
        parts.append(
            f'<line x1="{_MARGIN}" y1="{y - 3}" x2="{_MARGIN + _SAMPLE}" y2="{y - 3}" '
            f'stroke="{colour}" stroke-width="1.5" stroke-dasharray="{_dash(place)}"/>'
            + label(_MARGIN + _SAMPLE + 6, y, line.name, anchor="start")
        )
    return "".join(parts)


def _legend_height(panel: Panel) -> int:
    named = any(line.name for line in panel.lines)
    return len(panel.lines) * _LEADING if named else 0


def _dash(place: int) -> str:
    """The next dash when colours begin again, so that no two lines look alike."""
    return _DASHES[(place + place // len(_COLOURS)) % len(_DASHES)]


def _powers(values: Sequence[float]) -> tuple[float, ...]:
    """Whole powers of ten around some values above 0."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return tuple(10.0**power for power in range(low, max(high, low + 1) + 1))


def _steps(low: float, high: float) -> tuple[float, ...]:
    """About five round numbers around an interval."""
    span = (high - low) or abs(high) or 1.0
    rough = span / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(n * step, 12) for n in range(first, max(last, first + 1) + 1))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def _wrapped(text: str, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, _SIZE) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{_GRID}"/>'
