"""Documents of facts: TOML and JSON files, in which every name occurs once and can be written."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from understudy.errors import SchemaError

_MOST_DEPTH = 64
# Python writes no integer of more than 4,300 digits, which TOML may spell in hexadecimal.
_MOST_BITS = 14_000


def read_document(path: Path) -> Any:
    """Read a TOML or JSON file; the suffix says which it is."""
    return read_json(path) if path.suffix.lower() == ".json" else _parsed(path, tomllib.loads)


def read_json(path: Path) -> Any:
    """Read a JSON file in which every name occurs once in its table, and every text is Unicode."""
    return _parsed(path, parsed_json)


def _parsed(path: Path, parse: Callable[[str], object]) -> object:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise SchemaError([f"schema {path}: cannot be read: {reason}; check the path"]) from None
    try:
        document = parse(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError([f"schema {path}: {error}; correct the file"]) from None
    fault = _unwritable(document)
    if fault:
        raise SchemaError([f"schema {path}: {fault}; correct the file"])
    return document


def _unwritable(document: object) -> str:
    """Why what was read could not be written again, if so: a model is saved after it is paid."""
    level = [document]
    for _ in range(_MOST_DEPTH):
        if any(isinstance(node, int) and node.bit_length() > _MOST_BITS for node in level):
            return "a number has thousands of digits"
        level = [item for node in level for item in _items(node)]
    return f"tables are nested {_MOST_DEPTH} deep" if level else ""


def _items(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def parsed_json(text: str | bytes) -> object:
    """Parse JSON text in which every name occurs once in its table, and every text is Unicode."""
    document = json.loads(text, object_pairs_hook=_without_repeats)
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise SchemaError(
            ["the schema holds a text that is not valid Unicode; spell it out"]
        ) from None
    return document


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise SchemaError([f"{name!r} occurs twice in one table of the schema; keep one"])
    return document
