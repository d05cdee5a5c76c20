"""The fate of values that a schema does not list: a catch-all, or another value.

Privacy: the schema alone is looked at, which is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from understudy.facts.column.listed import ListedBase
from understudy.facts.schema import Schema

CATCH_ALL = "other"
"""Where whatever was not released goes, unless a skeleton says otherwise."""
_NAMED = 5
_WIDTH = 98


def is_catch_all(value: str) -> bool:
    """Whether a value means all that is not listed.

    Example:
        >>> is_catch_all("Other"), is_catch_all("others")
        (True, False)
    """
    return value.casefold().rstrip("_") == CATCH_ALL


def substitutes(schema: Schema) -> Mapping[str, str]:
    """The listed value that unlisted ones become, by column, where it does not mean "other"."""
    listed = {n: c for n, c in schema.learned.items() if isinstance(c, ListedBase)}
    found = {name: column.substitute for name, column in listed.items()}
    return {name: v for name, v in found.items() if v is not None and not is_catch_all(v)}


def comment_on(schema: Schema) -> str:
    """The sentence of `substitution` as a comment of a schema file; empty where there is none."""
    said = substitution(schema)
    return "".join(f"# {line}\n" for line in wrap(said, _WIDTH)) + "\n" if said else ""


def substitution(schema: Schema) -> str:
    """Say which values of a learned schema stand for unlisted ones as well; empty where none do.

    Whoever writes a schema knows its `outside`; whoever has it learned does not.
    """
    found = substitutes(schema) if schema.inference is not None else {}
    if not found:
        return ""
    named = [f"{value} of {name}" for name, value in list(found.items())[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        "values that the schema does not list become a listed one, the most frequent where it was "
        f"learned: {', '.join(named)}{more}. To change it, list more values from a code book, or "
        'write outside = "drop" for these columns'
    )
