"""Texts of a column's cells, counted before they are released: the door alone may look at them."""

from __future__ import annotations

from collections import Counter

from understudy.rows.counting import CountSource, HasKeys, KeyCounts


def keys_of(source: CountSource, *, column: str) -> KeyCounts:
    """Count the texts of a column; private."""
    assert isinstance(source, HasKeys)
    return source.keys(column)


def groups_of(
    source: CountSource, *, column: str, length: int, known: tuple[str, ...]
) -> KeyCounts:
    """The texts of a column that are neither known nor in a known group, by their beginnings."""
    texts = {key for key in known if not key.endswith("*")}
    beginnings = tuple(key[:-1] for key in known if key.endswith("*"))
    found: Counter[str] = Counter()
    for text, times in keys_of(source, column=column).counts.items():
        grouped = text in texts or (beginnings and text.startswith(beginnings))
        if not grouped and len(text) >= length:
            found[f"{text[:length]}*"] += times
    return KeyCounts(found)
