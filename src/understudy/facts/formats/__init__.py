"""Drafts of schemas out of other tools' files, recognised by their contents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from understudy.errors import SchemaError, UsageError
from understudy.facts.documents import read_json
from understudy.facts.formats import csvw, ddi, frictionless, redcap, sdv, sizes
from understudy.facts.formats.draft import Draft, DraftColumn
from understudy.facts.formats.review import marked, without_marks

__all__ = ["Draft", "DraftColumn", "draft_of", "marked", "read_draft", "without_marks"]


class _Format(Protocol):
    """A module that reads one format."""

    NAME: str

    def matches(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is of this format."""

    def draft(self, document: Mapping[str, Any], table: str | None) -> Draft:
        """The draft of one of its tables."""


_FORMATS: tuple[_Format, ...] = (sizes, csvw, frictionless, sdv)


class _TextFormat(Protocol):
    """A module that reads one format that is not JSON."""

    NAME: str

    def matches(self, text: str) -> bool:
        """Whether a text is of this format."""

    def draft(self, text: str) -> Draft:
        """Return the draft of its table."""


_TEXTS: dict[str, _TextFormat] = {".csv": redcap, ".xml": ddi}


def read_draft(path: str | Path, *, table: str | None = None) -> Draft:
    """A draft of a schema from a file of another tool, or a code book.

    Args:
        path: SDV metadata, a domain file, CSVW metadata or a Frictionless Table Schema in JSON, a
            REDCap dictionary in CSV, or a DDI codebook in XML.
        table: which one, where the file describes several.
    """
    path = Path(path)
    try:
        if path.suffix.lower() in _TEXTS:
            return _text_draft(path, table)
        return draft_of(read_json(path), table=table)
    except SchemaError as error:
        raise SchemaError([f"{path}: {problem}" for problem in error.problems]) from None


def _text_draft(path: Path, table: str | None) -> Draft:
    reader = _TEXTS[path.suffix.lower()]
    if table is not None:
        raise UsageError("the file describes one table; leave --table out")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SchemaError([f"cannot be read: {reason}; check the path"]) from None
    if not reader.matches(text):
        raise SchemaError([f"is not {reader.NAME}, which a {path.suffix} file must be here"])
    return reader.draft(text)


def draft_of(document: object, *, table: str | None = None) -> Draft:
    """Draft a schema from the contents of such a file.

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
