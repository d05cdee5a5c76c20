"""Names that every reader of BIF takes, one for each of ours, and the originals beside them.

A BIF word is a letter or underscore, then letters, digits and underscores. Other names are mapped
to words that differ even when case is ignored, as some readers do, and the original is kept in a
property: JSON in ASCII, without any sign that a reader may take for its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

ORIGINAL, LABELS = "original", "labels"

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {
    *("network", "variable", "probability", "property"),
    *("type", "discrete", "table", "default"),
}
# Some readers look for these anywhere, and take the digits behind them for numbers.
_SOUGHT = re.compile("table|default", re.IGNORECASE)
_UNSAFE = re.compile(r"[^A-Za-z0-9 _.,:+\[\]\"\\<>%#!?*'&@~^$-]")
_ESCAPED = re.compile(r"\\.")
_QUOTE = "\\u0022"


def words_for(names: Sequence[str]) -> list[str]:
    """A word for every name, the name itself where it is one, all of them different."""
    kept = {name.lower() for name in names if _is_safe(name)}
    taken: set[str] = set()
    words = []
    for name in names:
        word = name if _is_safe(name) and name.lower() not in taken else _free(name, kept | taken)
        taken.add(word.lower())
        words.append(word)
    return words


def _is_safe(name: str) -> bool:
    found = _WORD.fullmatch(name) is not None and _SOUGHT.search(name) is None
    return found and name.lower() not in _KEYWORDS


def _free(name: str, taken: Iterable[str]) -> str:
    """A word like the name that nobody has yet."""
    word = _SOUGHT.sub(lambda found: f"{found[0][:-1]}_{found[0][-1]}", name)
    word = re.sub(r"[^A-Za-z0-9_]+", "_", word)
    word = word if _WORD.fullmatch(word) and word.lower() not in _KEYWORDS else f"_{word}"
    free, number = word, 1
    while free.lower() in taken:
        number += 1
        free = f"{word}_{number}"
    return free


def written(value: object) -> str:
    """A name, or a list of labels, as a property's value."""
    text = json.dumps(value, ensure_ascii=True)
    plain = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    # Two backslashes are one that was written down, and no sign before what follows them.
    return _ESCAPED.sub(lambda found: _QUOTE if found[0] == '\\"' else found[0], plain)


def read(text: str) -> object:
    """Read what `written` wrote; ValueError where it is nothing of the kind."""
    return json.loads(text)
