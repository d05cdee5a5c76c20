"""How wide a text may become, whatever font shows it, and how a long one is cut.

Fonts differ, and a picture does not know which one will show it. Widths here are upper bounds: the
larger of DejaVu Sans and Verdana, the widest of the usual ones, rounded up.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"

# Widths in parts of the font size.
_BY_WIDTH = {
    0.29: "il'",
    0.36: "j ",
    0.41: "ft.,!",
    0.44: "rI",
    0.47: 'J-:;()[]/\\|"',
    0.56: "scz?L",
    0.65: "abdeghknopquvxy0123456789_EFPTY{}*$`",
    0.71: "ABCKRSVXZ",
    0.80: "DGHNOQU&",
    0.84: "w#+=<>~^−",
    0.88: "M",
    0.99: "mW",
    1.02: "@…",
    1.09: "%",
}
_WIDTHS = {character: width for width, every in _BY_WIDTH.items() for character in every}
_WIDEST_LETTER, _WIDEST_SMALL_LETTER, _WIDEST = 1.15, 0.97, 1.4
# Beyond these alphabets fonts have glyphs of any width.
_LAST_USUAL_LETTER = "\u04ff"


def text_width(text: str, size: float) -> float:
    """Not less than the width of a line in any of the usual fonts."""
    return size * sum(_width(character) for character in unicodedata.normalize("NFD", text))


def is_bounded(text: str) -> bool:
    """Whether fonts are known to keep to `text_width`; others are to be squeezed into it."""
    return all(c <= _LAST_USUAL_LETTER or c in _WIDTHS or _is_full(c) for c in text)


def shortened(text: str, size: float, most: float) -> str:
    """A text that fits, its middle left out where it is too long; both ends tell names apart."""
    text = " ".join(text.split())
    if text_width(text, size) <= most:
        return text
    for kept in range(len(text) - 1, 1, -1):
        tail = kept * 2 // 5
        cut = f"{text[: kept - tail].rstrip()}{ELLIPSIS}{text[len(text) - tail :].lstrip()}"
        if text_width(cut, size) <= most:
            return cut
    return ELLIPSIS


def _width(character: str) -> float:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.combining(character):
        return 0.0
    if _is_full(character):
        return 1.0
    if character.isalpha() and character <= _LAST_USUAL_LETTER:
        return _WIDEST_SMALL_LETTER if character.islower() else _WIDEST_LETTER
    return _WIDEST


def _is_full(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF" and character.isalpha()
