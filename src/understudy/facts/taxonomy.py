"""Trees of groups, as people declare them: tables of groups, and lists of values at their ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Branch = tuple[str, ...]

_MOST_DEPTH = 16


def paths_of(taxonomy: object) -> list[tuple[Any, Branch]]:
    """Every value of a taxonomy with the groups that hold it, the outermost first.

    Example:
        >>> paths_of({"Europe": ["France"], "Asia": {"East": ["Japan"]}})
        [('France', ('Europe',)), ('Japan', ('Asia', 'East'))]
    """
    if not isinstance(taxonomy, Mapping):
        raise ValueError(
            'taxonomy is not a table; write its groups: { Europe = ["France", ...], ... }'
        )
    return list(_walk(taxonomy, ()))


def _walk(node: object, above: Branch) -> Iterator[tuple[Any, Branch]]:
    if len(above) > _MOST_DEPTH:
        raise ValueError(f"taxonomy is deeper than {_MOST_DEPTH} groups; use fewer")
    match node:
        case Mapping():
            for name, below in node.items():
                yield from _walk(below, (*above, str(name)))
        case list() | tuple() if node and all(isinstance(v, str | int | float) for v in node):
            yield from ((value, above) for value in node)
        case _:
            raise ValueError(f"group {above[-1]!r} of taxonomy lists no values; list some")
