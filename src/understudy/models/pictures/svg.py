"""A drawing as SVG: one document that needs nothing else, for light and dark pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from understudy.errors import UsageError
from understudy.models.pictures.drawing import (
    BOX_HEIGHT,
    FONT_SIZE,
    Connector,
    Drawing,
    NodeBox,
)
from understudy.models.pictures.elements import (
    Stroke,
    escaped,
    quoted,
    rectangle,
    text_line,
)
from understudy.models.pictures.lettering import shortened, text_width
from understudy.models.pictures.style import SCOPE, THEMES, style

_FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_MARGIN, _CAPTION_HEIGHT, _LEGEND_GAP = 28.0, 34.0, 38.0
_ROUND, _RING, _ARROW = 7.0, 3.0, 7.0
# From the middle of a box down to the line that letters stand on, in parts of their size.
_HALF_LETTER = 0.35
_SMALL, _SAMPLE, _SPACE = 11.0, 26.0, 8.0
_BETWEEN_NOTES = 22.0


@dataclass(frozen=True)
class Marks:
    """The notes of a picture beside the network.

    Attributes:
        protected: attributes to mark as sensitive.
        target: the attribute that is to be predicted.
        caption: a line above the network.
        measure: what scores are.
    """

    protected: Collection[str] = ()
    target: str | None = None
    caption: str = ""
    measure: str = "score"

    def of(self, name: str) -> list[str]:
        """Return the marks of one attribute."""
        found = {"protected": name in self.protected, "target": name == self.target}
        return [mark for mark, is_marked in found.items() if is_marked]


def svg_of(drawing: Drawing, marks: Marks, *, theme: str = "auto") -> str:
    """The document; "auto" follows the reader's own choice of light or dark."""
    if theme not in THEMES:
        raise UsageError(f"theme {theme!r} is unknown; use one of {', '.join(THEMES)}")
    legend = _Legend.of(drawing, marks)
    inner = max(drawing.width, legend.width)
    top = _MARGIN + (_CAPTION_HEIGHT if marks.caption else 0.0)
    sheet = drawing.moved(_MARGIN + (inner - drawing.width) / 2, top)
    below = sheet.height + (_LEGEND_GAP if legend.notes else 0.0)
    return "\n".join(
        [
            _head(inner + 2 * _MARGIN, below + _MARGIN, theme),
            *_caption(marks.caption, inner),
            *(_edge(line, legend.strongest) for line in sheet.lines),
            *(_node(box, marks.of(box.name)) for box in sheet.boxes),
            *legend.drawn(_MARGIN, below),
            "</svg>",
            "",
        ]
    )


def _head(width: float, height: float, theme: str) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{SCOPE} {theme}" {size} '
        f'role="img" font-family="{_FONTS}" font-size="{FONT_SIZE:g}">\n'
        f"<style>\n{style(theme)}</style>\n"
        f'<rect class="page" width="100%" height="100%"/>'
    )


def _caption(caption: str, width: float) -> list[str]:
    if not caption:
        return []
    text = shortened(caption, FONT_SIZE, width)
    whole = f"<title>{escaped(caption)}</title>"
    line = text_line(text, x=_MARGIN, y=_MARGIN + FONT_SIZE, size=FONT_SIZE, kind="caption")
    return [f"<g>{whole}{line}</g>"]


def _node(box: NodeBox, marks: list[str]) -> str:
    left, title = box.x - box.width / 2, ", ".join([box.name, *marks])
    ring = rectangle(
        "ring",
        left=left + _RING,
        top=box.top + _RING,
        width=box.width - 2 * _RING,
        height=BOX_HEIGHT - 2 * _RING,
        rounded=_ROUND - _RING,
    )
    baseline = box.top + BOX_HEIGHT / 2 + FONT_SIZE * _HALF_LETTER
    parts = [
        f"<title>{escaped(title)}</title>",
        rectangle(
            "box", left=left, top=box.top, width=box.width, height=BOX_HEIGHT, rounded=_ROUND
        ),
        *([ring] if "target" in marks else []),
        text_line(box.label, x=box.x, y=baseline, size=FONT_SIZE, kind="label"),
    ]
    kinds = " ".join(["node", *marks])
    return f'<g class="{kinds}" data-attribute={quoted(box.name)}>{"".join(parts)}</g>'


def _edge(line: Connector, strongest: float) -> str:
    stroke = Stroke.of(line.score, strongest)
    ends = f"data-parent={quoted(line.parent)} data-child={quoted(line.child)}"
    return (
        f'<g class="edge" {ends} data-score="{line.score:.4f}"><title>{escaped(line.title)}</title>'
        f'<path d="{_way(line)}" {stroke.attributes}/>'
        f'<path class="arrow" d="{_arrow(line, stroke)}" fill-opacity="{stroke.opacity:.2f}"/></g>'
    )


def _arrow(line: Connector, stroke: Stroke) -> str:
    x, y = line.curves[-1][1]
    wide = 2.4 + stroke.width / 2
    return f"M{x - wide:.1f},{y - _ARROW:.1f}L{x:.1f},{y:.1f}L{x + wide:.1f},{y - _ARROW:.1f}Z"


def _way(line: Connector) -> str:
    """Curves that leave and arrive upright, and so join smoothly."""
    steps = ["M{:.1f},{:.1f}".format(*line.curves[0][0])]
    last = len(line.curves) - 1
    for number, ((x, y), (to_x, to_y)) in enumerate(line.curves):
        end = to_y - (_ARROW if number == last else 0)
        middle = (y + end) / 2
        steps.append(f"V{y:.1f}C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{end:.1f}")
    return "".join(steps)


@dataclass(frozen=True)
class _Note:
    """An example of how something looks, and what it means."""

    text: str
    score: float | None = None
    mark: str = ""

    @property
    def width(self) -> float:
        sample = 0.0 if self.score is None and not self.mark else _SAMPLE + _SPACE
        return sample + text_width(self.text, _SMALL)

    def drawn(self, x: float, y: float, strongest: float) -> str:
        """The example and, behind it, the text on the line y."""
        text = text_line(
            self.text,
            x=x + self.width - text_width(self.text, _SMALL),
            y=y,
            size=_SMALL,
            kind="note",
        )
        if self.score is not None:
            stroke, middle = Stroke.of(self.score, strongest), y - _SMALL * _HALF_LETTER
            return (
                f'<g class="edge"><path d="M{x:.1f},{middle:.1f}h{_SAMPLE:g}" '
                f"{stroke.attributes}/></g>{text}"
            )
        if not self.mark:
            return text
        box = rectangle("box", left=x, top=y - _SMALL, width=_SAMPLE, height=_SMALL + 3, rounded=4)
        return f'<g class="{self.mark}">{box}</g>{text}'


@dataclass(frozen=True)
class _Legend:
    """The legend of lines and marks, below the network."""

    notes: tuple[_Note, ...]
    strongest: float

    @classmethod
    def of(cls, drawing: Drawing, marks: Marks) -> _Legend:
        strongest = max((line.score for line in drawing.lines), default=0.0)
        notes = [_Note(f"{part * strongest:.2f}", part * strongest) for part in (0.0, 0.5, 1.0)]
        notes = [*notes, _Note(marks.measure)] if drawing.lines else []
        kinds = {mark for box in drawing.boxes for mark in marks.of(box.name)}
        return cls((*notes, *(_Note(mark, mark=mark) for mark in sorted(kinds))), strongest)

    @property
    def width(self) -> float:
        return sum(note.width + _BETWEEN_NOTES for note in self.notes)

    def drawn(self, x: float, y: float) -> list[str]:
        parts = []
        for note in self.notes:
            parts.append(note.drawn(x, y, self.strongest))
            x += note.width + _BETWEEN_NOTES
        return parts
