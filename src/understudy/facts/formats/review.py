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
from understudy.facts.schema import read_document

MARK = "unreviewed"

_HEADER = re.compile(r"\s*(\[[^\[].*\])\s*(#.*)?")
_MARK_LINE = re.compile(rf"\s*{MARK}\s*=\s*true\s*(#.*)?")


def marked(document: object) -> dict[str, Mapping[str, Any]]:
    """The columns that bear a mark, with what stands in them beside it."""
    columns = document.get("columns") if isinstance(document, Mapping) else None
    bodies = columns if isinstance(columns, Mapping) else {}
    return {
        name: {key: value for key, value in body.items() if key != MARK}
        for name, body in bodies.items()
        if isinstance(body, Mapping) and body.get(MARK) is True
    }


def without_marks(path: Path, names: Collection[str]) -> str:
    """The text of a schema file after the marks of some columns were removed."""
    document = read_document(path)
    columns = {**document["columns"], **{n: marked(document)[n] for n in names}}
    expected = {**document, "columns": columns}
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
        is_mark = _MARK_LINE.fullmatch(line.rstrip("\r\n")) and table[:1] == ["columns"]
        if not (is_mark and len(table) == 2 and table[1] in names):
            yield line


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
