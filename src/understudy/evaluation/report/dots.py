"""Numbers beside each other on one line: dots, and the band between two references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from understudy.evaluation.report.shapes import (
    WIDTH,
    Scale,
    axis_below,
    gutter,
    row_label,
    sheet,
    stroke,
    ticks,
)

_LABELS = 160.0
_ROW, _TOP, _RIGHT = 26.0, 6.0, 12.0
_RADIUS = 5.0


@dataclass(frozen=True)
class DotLine:
    """One line of a chart.

    Attributes:
        dots: numbers by the style of their dot, those without a number left out.
        band: from one reference to another.
    """

    label: str
    dots: Mapping[str, float | None]
    band: tuple[float, float] | None = None
    spans: tuple[float, float] | None = None


@dataclass(frozen=True)
class DotChart:
    """Lines over one axis.

    Attributes:
        axis: what the numbers are. `about`: the chart in words.
        reference: a number that a broken line is drawn at.
        low, high: the least that the axis reaches from and to; it grows where numbers need it.
    """

    lines: Sequence[DotLine]
    axis: str
    about: str
    reference: float | None = None
    low: float = 0.0
    high: float = 0.0
    numbers: list[float] = field(init=False)

    def __post_init__(self) -> None:
        numbers = [value for line in self.lines for value in _numbers(line)]
        object.__setattr__(self, "numbers", numbers)

    def picture(self) -> Markup:
        """Return the chart."""
        reference = [] if self.reference is None else [self.reference]
        known = [*self.numbers, *reference, self.low, self.high]
        marks = ticks(min(known), max(known) if max(known) > min(known) else 1.0)
        left = gutter([line.label for line in self.lines], most=_LABELS)
        scale = Scale(marks[0], marks[-1], left + _RADIUS, WIDTH - _RIGHT)
        bottom = _TOP + _ROW * len(self.lines)
        parts = [axis_below(scale, marks, top=_TOP, bottom=bottom, title=self.axis)]
        if self.reference is not None:
            x = scale.at(self.reference)
            parts.append(stroke("reference", (x, _TOP), (x, bottom)))
        for place, line in enumerate(self.lines):
            parts += _drawn(line, scale, _TOP + _ROW * (place + 0.5))
        labels = "".join(
            row_label(line.label, left, _TOP + _ROW * (place + 0.5))
            for place, line in enumerate(self.lines)
        )
        return sheet(bottom + 34, self.about, [*parts, f'<g class="axis y">{labels}</g>'])


def _numbers(line: DotLine) -> list[float]:
    dots = [value for value in line.dots.values() if value is not None]
    return [*dots, *(line.band or ()), *(line.spans or ())]


def _drawn(line: DotLine, scale: Scale, middle: float) -> list[str]:
    parts = [stroke("rail", (scale.start, middle), (scale.end, middle))]
    if line.band is not None:
        low, high = (scale.at(end) for end in line.band)
        parts.append(
            f'<rect class="band" x="{low:.1f}" y="{middle - 5:.1f}" '
            f'width="{max(high - low, 1):.1f}" height="10"/>'
        )
    known = {kind: value for kind, value in line.dots.items() if value is not None}
    if line.spans is not None:
        low, high = (scale.at(end) for end in line.spans)
        parts.append(stroke("interval", (low, middle), (high, middle)))
    elif len(known) == 2 and line.band is None:
        parts.append(stroke("between", *((scale.at(value), middle) for value in known.values())))
    return [*parts, *(_dot(kind, scale.at(value), middle) for kind, value in known.items())]


def _dot(kind: str, x: float, y: float) -> str:
    """References are upright lines; real rows a ring, synthetic ones a disc."""
    if kind in ("floor", "ceiling"):
        return stroke(kind, (x, y - 8), (x, y + 8))
    radius = _RADIUS - 1 if kind == "real-dot" else _RADIUS
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'
