"""The parts of charts: scales, axes, and the few shapes that they are drawn with.

A chart is 340 units wide and shown at about that many pixels, so that letters keep their size on a
phone. Colours are classes; the page's style gives them for light, dark and paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.models.pictures.elements import escaped, quoted
from understudy.models.pictures.lettering import is_bounded, shortened, text_width

WIDTH = 340.0
LETTERS = 10.0
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_GAP = 8.0


@dataclass(frozen=True)
class Scale:
    """From numbers to places on the page."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a number lies; what is beyond an end lies on it."""
        part = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(part, 0.0), 1.0)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """About `most` round numbers that reach from below `low` to above `high`."""
    step = _round_step((high - low) / most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _round_step(wanted: float) -> float:
    if not wanted > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return power * next(step for step in _STEPS if step * power >= wanted * (1 - 1e-9))


def sheet(height: float, about: str, parts: Iterable[str]) -> Markup:
    """A whole chart; `about` is read to those who do not see it."""
    size = f'width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}"'
    head = f'<svg class="chart" {size} role="img" aria-label={quoted(about)}>'
    return Markup(f"{head}{''.join(parts)}</svg>")


def box(kind: str, *, left: float, top: float, width: float, height: float, title: str = "") -> str:
    """A filled rectangle, perhaps with words for a pointer that rests on it."""
    where = f'x="{left:.1f}" y="{top:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}"'
    if not title:
        return f'<rect class="{kind}" {where}/>'
    return f'<rect class="{kind}" {where}><title>{escaped(title)}</title></rect>'


def stroke(kind: str, *spots: tuple[float, float]) -> str:
    """Return a line through some spots."""
    way = "L".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    return f'<path class="{kind}" d="M{way}"/>'


def words(
    text: str, x: float, y: float, *, anchor: str = "start", kind: str = "tick", whole: str = ""
) -> str:
    """A line of text; a pointer that rests on a shortened one is shown `whole`."""
    # Letters of which no font is known to keep their width are squeezed into it.
    wide = f' textLength="{text_width(text, LETTERS):.1f}" lengthAdjust="spacingAndGlyphs"'
    squeeze = "" if is_bounded(text) else wide
    title = f"<title>{escaped(whole)}</title>" if whole else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}{squeeze}>{escaped(text)}{title}</text>'


def gutter(labels: Sequence[str], *, most: float) -> float:
    """The room that labels to the left of a chart need, up to some width."""
    return min(max((text_width(label, LETTERS) for label in labels), default=0.0) + _GAP, most)


def row_label(label: str, right: float, middle: float) -> str:
    """A label that ends at the axis; a long one loses its middle and keeps it in a title."""
    text = shortened(label, LETTERS, right - _GAP / 2)
    whole = label if text != label else ""
    x, y = right - _GAP / 2, middle + 0.35 * LETTERS
    return words(text, x, y, anchor="end", whole=whole)


def axis_below(
    scale: Scale, marks: Sequence[float], *, top: float, bottom: float, title: str
) -> str:
    """Numbers below a chart, lines up through it, and what the numbers are."""
    parts = [stroke("grid", (scale.at(mark), top), (scale.at(mark), bottom)) for mark in marks]
    for mark in marks:
        x = scale.at(mark)
        half = text_width(plain(mark), LETTERS) / 2
        inside = min(max(x, half), WIDTH - half)
        parts.append(words(plain(mark), inside, bottom + 13, anchor="middle"))
    middle = (scale.start + scale.end) / 2
    middle = min(middle, WIDTH - text_width(title, LETTERS) / 2)
    parts.append(words(title, middle, bottom + 28, anchor="middle", kind="title"))
    return f'<g class="axis x">{"".join(parts)}</g>'


def axis_left(
    scale: Scale, marks: Sequence[float], *, left: float, right: float, title: str
) -> str:
    """Numbers to the left of a chart, lines across it, and what the numbers are, on top."""
    parts = [stroke("grid", (left, scale.at(mark)), (right, scale.at(mark))) for mark in marks]
    parts += [words(plain(m), left - 5, scale.at(m) + 3.5, anchor="end") for m in marks]
    parts.append(words(title, 0, LETTERS, kind="title"))
    return f'<g class="axis y">{"".join(parts)}</g>'


def plain(value: float) -> str:
    """Return a round number without needless digits."""
    return f"{value:.10g}".replace("-", "−")
