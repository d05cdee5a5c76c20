"""Pictures as PNG, made of the SVG document by resvg."""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType

from understudy.errors import UsageError
from understudy.system.extras import require

_SCALE = 2.0
_MOST_PIXELS, _LONGEST_SIDE = 16e6, 16_000
# Which of these a machine has is not known before one of them leaves ink.
_FAMILIES = (
    *("Arial", "Helvetica", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Open Sans"),
    *("Roboto", "Ubuntu", "Cantarell", "FreeSans", "Verdana", "Segoe UI", "Inter", "Lato"),
)
_PAGE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
_LETTER = '<text x="1" y="8" font-family="sans-serif" font-size="9">M</text>'


def png_of(svg: str, *, scale: float = _SCALE) -> bytes:
    """The picture in pixels, twice as many to each side by default, unless that is too large."""
    resvg = require("resvg_py", extra="pictures")
    family, zoom = _family(resvg), min(scale, _largest_scale(svg))
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=zoom, sans_serif_family=family))


@cache
def _family(resvg: ModuleType) -> str:
    """A font that is there: without one, texts would be passed over in silence."""
    empty = resvg.svg_to_bytes(svg_string=_PAGE.format(""))
    letter = _PAGE.format(_LETTER)
    for family in _FAMILIES:
        if resvg.svg_to_bytes(svg_string=letter, sans_serif_family=family) != empty:
            return family
    raise UsageError(
        f"no known font is installed, such as {_FAMILIES[3]}, and the picture would have no "
        "names; install one, or write an .svg file"
    )


def _largest_scale(svg: str) -> float:
    """The scale at which the picture is as large as may be."""
    found = re.search(r'<svg [^>]*width="(\d+)" height="(\d+)"', svg)
    width, height = (float(found[1]), float(found[2])) if found else (1.0, 1.0)
    sides = _LONGEST_SIDE / max(width, height)
    return float(min(sides, (_MOST_PIXELS / (width * height)) ** 0.5))
