"""Texts from elsewhere, fit to be shown: no character of them may move, hide or colour others.

A name in a model, a value in a schema or a reason from a holder may hold characters that a terminal
obeys (control characters), that turn the order of letters around (bidirectional controls), or that
nobody sees (zero-width ones). They are shown as Python would write them: `\\x1b`, `\\u202e`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# Controls but tabs and line breaks, which stand in headers that spreadsheets wrote; soft hyphens,
# bidirectional and zero-width characters but the joiners that some scripts need; separators of
# lines, halves of characters, tags.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """The text in one line, with everything escaped that is not seen as itself.

    Example:
        >>> printable("a\\x1b[31mb")
        'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def printable_lines(text: str) -> str:
    """As `printable`, but line breaks before and after the text stay."""
    core = text.strip("\n")
    before, _, after = text.partition(core) if core else (text, "", "")
    return f"{before}{printable(core)}{after}"


def printable_json(document: Mapping[str, Any], *, indent: int | None = None) -> str:
    """A document as JSON that means the same and shows every character as itself or by number."""
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    return "\n".join(line if line.isprintable() else _numbered(line) for line in text.split("\n"))


def unseen_in(name: str) -> str | None:
    """A character that a name may not have, if there is one, by its escape."""
    found = _UNSEEN.search(name)
    return None if found is None else _escape(found[0])


def replaced(text: str) -> str:
    """A text for a page or a picture, a sign in place of every character that nobody sees."""
    return _UNSEEN.sub("\ufffd", text)


def _numbered(line: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
