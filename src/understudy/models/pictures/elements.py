"""Elements of SVG pictures: texts, boxes and strokes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from understudy.models.pictures.lettering import is_bounded, text_width
from understudy.system.printable import replaced

_SQUEEZED = ' textLength="{:.1f}" lengthAdjust="spacingAndGlyphs"'
# XML has no way to write these, escaped or not.
_IMPOSSIBLE = re.compile("[^\\t\\n\\r\\u0020-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_INK = "#1d2733"
_THIN, _THICK, _FAINT, _CLEAR = 0.9, 4.0, 0.35, 0.95


@dataclass(frozen=True)
class Stroke:
    """How a line of some score looks."""

    width: float
    opacity: float

    @classmethod
    def of(cls, score: float, strongest: float) -> Stroke:
        """The stroke of a score in a picture whose strongest line has another."""
        part = score / strongest if strongest > 0 else 0.0
        return cls(_THIN + (_THICK - _THIN) * part, _FAINT + (_CLEAR - _FAINT) * part**0.75)

    @property
    def attributes(self) -> str:
        """Style a path: the opacity of a group would cost a renderer a page for each line."""
        return f'stroke-width="{self.width:.2f}" stroke-opacity="{self.opacity:.2f}"'


def rectangle(
    kind: str, *, left: float, top: float, width: float, height: float, rounded: float
) -> str:
    """Return a box with round corners."""
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{rounded:g}"/>'
    )


def text_line(text: str, *, x: float, y: float, size: float, kind: str) -> str:
    """A line of text; one of which fonts are not known is squeezed into its width."""
    width = text_width(text, size)
    squeeze = "" if is_bounded(text) else _SQUEEZED.format(width)
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" font-size="{size:g}"{squeeze}>'
        f"{escaped(text)}</text>"
    )


def label(x: float, y: float, text: str, *, anchor: str = "middle", weight: str = "normal") -> str:
    """A text of a chart, which has no styles to name."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{_INK}">{escaped(text)}</text>'
    )


def escaped(text: str) -> str:
    """Return a text between tags."""
    return escape(_IMPOSSIBLE.sub("\ufffd", replaced(text)))


def quoted(text: str) -> str:
    """A text as an attribute's value, in quotes."""
    return quoteattr(_IMPOSSIBLE.sub("\ufffd", replaced(text)))
