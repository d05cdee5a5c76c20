"""Domain files: a JSON object of each column's size, its values being 0 to size - 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.column import MOST_LEVELS
from understudy.facts.formats.draft import Draft, DraftColumn, drafted, unreviewed

NAME = "a domain file, {column: size}"


def matches(document: Mapping[str, Any]) -> bool:
    """Whether every key has a whole number."""
    return bool(document) and all(type(size) is int for size in document.values())


def draft(document: Mapping[str, Any], table: str | None) -> Draft:
    """Every column as whole numbers from 0, each kept apart.

    How many values a column has is often counted in the rows, so that all are unreviewed.
    """
    if table is not None:
        raise UsageError("a domain file describes one table; leave --table out")
    return drafted([(name, {"size": size}) for name, size in document.items()], _column)


def _column(name: str, body: Mapping[str, Any]) -> DraftColumn:
    size = body["size"]
    if not 1 <= size <= MOST_LEVELS:
        raise SchemaError([f"its size is not from 1 to {MOST_LEVELS}; correct or regroup it"])
    return DraftColumn("integer", unreviewed({"min": 0, "max": size - 1, "bins": size}))
