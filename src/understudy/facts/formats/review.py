"""Marks on columns whose values nobody has vouched for, and their removal.

A mark goes when a person says: I know these values without looking at the rows. Comments and
order of the file stay as they are.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy.errors import SchemaError
from understudy.facts.column import text_of
from understudy.facts.documents import read_document

MARK = "unreviewed"
# The name by which the table of the file's format is confirmed.
FORMAT_TABLE = "[format]"

_HEADER = re.compile(r"\s*(\[[^\[].*\])\s*(#.*)?")
_MARK_LINE = re.compile(rf"\s*{MARK}\s*=\s*true\s*(#.*)?")


def marked(document: object) -> dict[str, Mapping[str, Any]]:
    """The columns that have a mark, each with its other keys."""
    columns = document.get("columns") if isinstance(document, Mapping) else None
    bodies = dict(columns) if isinstance(columns, Mapping) else {}
    if isinstance(document, Mapping) and isinstance(document.get("format"), Mapping):
        bodies.setdefault(FORMAT_TABLE, document["format"])
    return {
        name: {key: value for key, value in body.items() if key != MARK}
        for name, body in bodies.items()
        if isinstance(body, Mapping) and body.get(MARK) is True
    }


def without_marks(path: Path, names: Collection[str]) -> str:
    """The text of a schema file after the marks of some columns were removed."""
    document = read_document(path)
    found = marked(document)
    kept = {n: found[n] if n in names else body for n, body in document["columns"].items()}
    expected = {**document, "columns": kept}
    if FORMAT_TABLE in names and FORMAT_TABLE not in kept:
        expected["format"] = found[FORMAT_TABLE]
    if path.suffix.lower() == ".json":
        return json.dumps(expected, default=text_of, ensure_ascii=False, indent=1) + "\n"
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    text = "".join(_kept(lines, names))
    # Lines within a text of several lines may look like marks, and tables stand in one line.
    if repr(_parsed(text)) != repr(expected):
        raise SchemaError([f"schema {path}: its marks are not on lines of their own; delete them"])
    return text


def _kept(lines: list[str], names: Collection[str]) -> Iterator[str]:
    table: list[str] = []
    for line in lines:
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        if header:
            table = _path(header[1])
        is_mark = _MARK_LINE.fullmatch(line.rstrip("\r\n"))
        if not (is_mark and _confirmed(table, names)):
            yield line


def _confirmed(table: list[str], names: Collection[str]) -> bool:
    """Whether a table is one of those whose marks go."""
    if table == ["format"]:
        return FORMAT_TABLE in names
    return len(table) == 2 and table[0] == "columns" and table[1] in names


def _path(header: str) -> list[str]:
    """The keys of a table's header, such as columns and "marital status"."""
    found: list[str] = []
    table = _parsed(header)
    while isinstance(table, dict) and table:
        [(key, table)] = table.items()
        found.append(key)
    return found


def _parsed(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
