"""Cells of loosely typed files as texts, each spelled by itself.

Workbooks and SQLite have a type for each cell and not for each column. A column is read as texts,
spelled as the codec spells typed values, so that no row's reading depends on another row.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import pyarrow as pa

from understudy.facts.column import text_of

# Bytes are nobody's spelling of a value.
_UNREADABLE = "\0"


def spelled(values: Sequence[object]) -> pa.Array:
    """The cells of a column as an array of texts, null where there is nothing.

    Example:
        >>> spelled([1, 2.5, None, True]).to_pylist()
        ['1', '2.5', None, 'true']
    """
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {str}:
        try:
            return pa.array(values, pa.string())
        except UnicodeEncodeError:
            # A text holds half a character.
            pass
    return pa.array([spelling(value) for value in values], pa.string())


def spelling(value: object) -> str | None:
    """One cell as a text; None for nothing and for NaN."""
    match value:
        case None:
            return None
        case str():
            return value if value.isprintable() else value.encode(errors="replace").decode()
        case float() if value != value:
            return None
        case datetime() if value.timetz().isoformat() == "00:00:00":
            return value.date().isoformat()
        case date():
            return value.isoformat()
        case bytes():
            return _UNREADABLE
        case _:
            return text_of(value)
