"""Drafts of schemas out of other tools' files, recognised by their contents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from understudy.errors import SchemaError
from understudy.facts.formats import csvw, sdv, sizes
from understudy.facts.formats.draft import Draft, DraftColumn
from understudy.facts.formats.review import marked, without_marks
from understudy.facts.schema import read_json

__all__ = ["Draft", "DraftColumn", "draft_of", "marked", "read_draft", "without_marks"]


class _Format(Protocol):
    """A module that reads one format."""

    NAME: str

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is of this format."""

    def draft(self, document: Mapping[str, Any], table: str | None) -> Draft:
        """The draft of one of its tables."""


_FORMATS: tuple[_Format, ...] = (sizes, csvw, sdv)


def read_draft(path: str | Path, *, table: str | None = None) -> Draft:
    """A draft of a schema from a JSON file of another tool.

    Args:
        path: SDV metadata, a domain file or CSVW metadata.
        table: which one, where the file describes several.
    """
    path = Path(path)
    document = read_json(path)
    try:
        return draft_of(document, table=table)
    except SchemaError as error:
        raise SchemaError([f"{path}: {problem}" for problem in error.problems]) from None


def draft_of(document: object, *, table: str | None = None) -> Draft:
    """A draft of a schema from what stands in such a file.

    Example:
        >>> draft_of({"age": 85, "sex": 2}).columns["sex"].keys["max"]
        1
    """
    known = document if isinstance(document, Mapping) else {}
    for reader in _FORMATS:
        if reader.matches(known):
            return reader.draft(known, table)
    if isinstance(known.get("columns"), Mapping):
        raise SchemaError(["is a schema, or close to one; check it with `understudy schema check`"])
    names = ", ".join(reader.NAME for reader in _FORMATS)
    raise SchemaError([f"the format is unknown; understood are {names}"])
