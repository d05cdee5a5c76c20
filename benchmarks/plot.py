"""Curves over logarithmic axes as a small SVG picture, one panel for each curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

_WIDTH, _HEIGHT, _MARGIN, _COLUMNS = 300, 220, 46, 2


@dataclass(frozen=True)
class Curve:
    """Seconds over what grew, and the exponent of the power law nearest to them."""

    title: str
    axis: str
    over: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope of the least-squares line through the logarithms."""
        x, y = [math.log(v) for v in self.over], [math.log(v) for v in self.seconds]
        middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
        along = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
        return along / sum((a - middle_x) ** 2 for a in x)

    @property
    def last_exponent(self) -> float:
        """The slope between the last two points, where fixed costs weigh least."""
        (a, b), (c, d) = zip(self.over[-2:], self.seconds[-2:], strict=True)
        return math.log(d / b) / math.log(c / a)


def picture(curves: Sequence[Curve]) -> str:
    """All panels in one SVG document."""
    rows = -(-len(curves) // _COLUMNS)
    width, height = _COLUMNS * _WIDTH, rows * _HEIGHT
    panels = [
        f'<g transform="translate({i % _COLUMNS * _WIDTH},{i // _COLUMNS * _HEIGHT})">'
        f"{_panel(curve)}</g>"
        for i, curve in enumerate(curves)
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>'
    )
    return "\n".join([head, *panels, "</svg>", ""])


def _panel(curve: Curve) -> str:
    across = _Axis.around(curve.over, _MARGIN, _WIDTH - 16)
    up = _Axis.around(curve.seconds, _HEIGHT - _MARGIN, 30)
    points = [(across(x), up(y)) for x, y in zip(curve.over, curve.seconds, strict=True)]
    title = f"{curve.title}: exponent {curve.exponent:.2f}, last {curve.last_exponent:.2f}"
    return "".join(
        [
            _text(_WIDTH / 2, 18, title),
            _text(_WIDTH / 2, _HEIGHT - 8, curve.axis),
            *(_line(across(x), 30, across(x), _HEIGHT - _MARGIN, "#ddd") for x in across.ticks),
            *(_line(_MARGIN, up(y), _WIDTH - 16, up(y), "#ddd") for y in up.ticks),
            *(_text(across(x), _HEIGHT - _MARGIN + 14, f"{x:g}") for x in across.ticks),
            *(_text(_MARGIN - 20, up(y) + 3, f"{y:g} s") for y in up.ticks),
            *(_line(*a, *b, "#246") for a, b in pairwise(points)),
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#246"/>' for x, y in points),
        ]
    )


@dataclass(frozen=True)
class _Axis:
    """Whole powers of ten around some values, from one edge to the other."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], start: float, end: float) -> _Axis:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self.low, self.high + 1)]

    def __call__(self, value: float) -> float:
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
