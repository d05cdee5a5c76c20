"""CSV on the Web: the W3C's JSON metadata for tables, as much of it as a schema can hold.

Source: Metadata Vocabulary for Tabular Data, W3C Recommendation of 17 December 2015. Datatypes,
null markers and `required` are inherited from the group and the table. Nothing is fetched: the file
has to contain the table's schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.formats.draft import (
    Draft,
    DraftColumn,
    chosen,
    drafted,
    unreviewed,
)
from understudy.facts.formats.values import bound, first

NAME = "CSVW metadata"

_CONTEXT = "http://www.w3.org/ns/csvw"
_INHERITED = ("datatype", "null", "required", "separator")
_WHOLE = (
    *("integer", "long", "int", "short", "byte", "gYear"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
)
_KINDS = {
    **dict.fromkeys(_WHOLE, "integer"),
    **dict.fromkeys(("number", "decimal", "double", "float"), "float"),
    **dict.fromkeys(("datetime", "dateTime", "dateTimeStamp"), "datetime"),
    "date": "date",
    "boolean": "boolean",
}
# What the name of a datatype says of its values: not taken from any row.
_BY_NAME = {
    "unsignedLong": {"min": 0},
    "unsignedInt": {"min": 0},
    "unsignedShort": {"min": 0},
    "unsignedByte": {"min": 0},
    "nonNegativeInteger": {"min": 0},
    "positiveInteger": {"min": 1},
    "nonPositiveInteger": {"max": 0},
    "negativeInteger": {"max": -1},
}
_STEPS: Mapping[str, Any] = {"integer": 1, "date": timedelta(days=1)}
_TRUE = ("true", "t", "yes", "y", "1")
_FALSE = ("false", "f", "no", "n", "0")
_ISO = re.compile(r"(yyyy-MM-dd|yyyyMMdd)([T ]HH:mm(:ss(\.S+)?)?( ?[Xx]{1,3})?)?")
# An enumeration is written as a regular expression of plain words: "male|female".
_WORDS = re.compile(r"[^\\^$.|?*+()\[\]{}]+(\|[^\\^$.|?*+()\[\]{}]+)*")


def matches(document: Mapping[str, Any]) -> bool:
    """Whether a document names the vocabulary, or has a table's schema or a list of tables."""
    return (
        _CONTEXT in str(document.get("@context", ""))
        or "tableSchema" in document
        or isinstance(document.get("tables"), list)
    )


def draft(document: Mapping[str, Any], table: str | None) -> Draft:
    """One table of the metadata, its columns named as in the header of the file."""
    described = _table(document, table)
    schema = described.get("tableSchema", document.get("tableSchema"))
    if not isinstance(schema, Mapping):
        raise SchemaError(["tableSchema is not in the file; put it there, links are not followed"])
    columns = schema.get("columns")
    bodies = [
        (_title(body, number), _with_inherited(body, schema, described, document))
        for number, body in enumerate(columns if isinstance(columns, list) else [], 1)
        if not (isinstance(body, Mapping) and body.get("virtual") is True)
    ]
    key = _single(schema.get("primaryKey"))
    return drafted(bodies, lambda name, body: _column(body, is_key=_is_key(key, name, body)))


def _table(document: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    tables = document.get("tables")
    if not isinstance(tables, list):
        if table is not None:
            raise UsageError("the file describes one table; leave --table out")
        return document
    if not all(isinstance(described, Mapping) for described in tables):
        raise SchemaError(["a table is not described by a table of keys; correct the file"])
    by_name = {_name(described, number): described for number, described in enumerate(tables, 1)}
    return chosen(by_name, table)


def _name(described: Mapping[str, Any], number: int) -> str:
    """The name of a table's file without its folder and suffix."""
    url = described.get("url")
    return PurePosixPath(url).stem if isinstance(url, str) else f"table {number}"


def _title(body: object, number: int) -> str:
    """Return the column's header: the first title, else the name."""
    keys = body if isinstance(body, Mapping) else {}
    titles = keys.get("titles")
    if isinstance(titles, Mapping):
        titles = next(iter(titles.values()), None)
    title = _single(titles[:1] if isinstance(titles, list) else titles)
    name = title if title is not None else _single(keys.get("name"))
    return name if name is not None else f"_col.{number}"


def _single(value: object) -> str | None:
    """A text, alone or as the only one of a list."""
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    return value if isinstance(value, str) else None


def _with_inherited(body: object, *above: Mapping[str, Any]) -> object:
    """A column's keys, and where it has none those of the levels above it, the nearest first."""
    if not isinstance(body, Mapping):
        return body
    levels = [{key: level[key] for key in _INHERITED if key in level} for level in above]
    return {key: value for level in reversed([body, *levels]) for key, value in level.items()}


def _is_key(key: str | None, name: str, body: Mapping[str, Any]) -> bool:
    return key is not None and key == body.get("name", name)


def _column(body: Mapping[str, Any], *, is_key: bool) -> DraftColumn:
    if is_key:
        return DraftColumn("id", _note(body))
    if body.get("separator") is not None:
        return DraftColumn(
            "", _note(body), "cells hold lists: choose a kind for them, or leave it out"
        )
    datatype = body.get("datatype", "string")
    keys = datatype if isinstance(datatype, Mapping) else {"base": datatype}
    base = keys.get("base", "string")
    if not isinstance(base, str):
        raise SchemaError(["its datatype is not a name; use one such as integer"])
    kind = _kind(base, keys)
    values = _values(keys) if kind == "categorical" else _bounds(kind, base, keys)
    return DraftColumn(kind, {**values, **_missing(body), **_note(body, kind)})


def _kind(base: str, keys: Mapping[str, Any]) -> str:
    kind = _KINDS.get(base, "categorical")
    spelled = keys.get("format")
    if kind != "boolean" or not isinstance(spelled, str):
        return kind
    true, _, false = spelled.lower().partition("|")
    return "boolean" if true in _TRUE and false in _FALSE else "categorical"


def _values(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a format that lists them; another expression says nothing we could use."""
    expression = keys.get("format")
    if not isinstance(expression, str):
        return {}
    words = expression.removeprefix("^").removesuffix("$")
    if words.startswith("(") and words.endswith(")"):
        words = words[1:-1].removeprefix("?:")
    return unreviewed({"values": words.split("|")}) if _WORDS.fullmatch(words) else {}


def _bounds(kind: str, base: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds by the datatype's name, and those that are written down, which win."""
    if kind == "boolean":
        return {}
    step = _STEPS.get(kind)
    found = {
        "min": _bound(
            kind, keys, inclusive=("minimum", "minInclusive"), exclusive="minExclusive", step=step
        ),
        "max": _bound(
            kind,
            keys,
            inclusive=("maximum", "maxInclusive"),
            exclusive="maxExclusive",
            step=step and -step,
        ),
    }
    written = {key: value for key, value in found.items() if value is not None}
    return {**_BY_NAME.get(base, {}), **unreviewed(written)}


def _bound(
    kind: str, keys: Mapping[str, Any], *, inclusive: tuple[str, ...], exclusive: str, step: Any
) -> Any:
    """A bound that may be reached; beside an exclusive one of a line without steps it is that."""
    reached = first(keys, *inclusive)
    if reached is not None:
        return bound(kind, reached)
    missed = keys.get(exclusive)
    if missed is None:
        return None
    try:
        return bound(kind, missed) + step if step else bound(kind, missed)
    except OverflowError:
        raise SchemaError(["a bound is beyond all dates; correct it, or remove it"]) from None


def _missing(body: Mapping[str, Any]) -> dict[str, Any]:
    """Cells may be missing unless the column is required; empty ones are so without a marker."""
    if body.get("required") is True:
        return {}
    null = body.get("null", "")
    markers = null if isinstance(null, list) else [null]
    if not all(isinstance(marker, str) for marker in markers):
        raise SchemaError(["null is neither a text nor a list of texts; correct it"])
    return {"missing": [marker for marker in dict.fromkeys(markers) if marker.strip()]}


def _note(body: Mapping[str, Any], kind: str = "") -> dict[str, Any]:
    """Return the file's note on the column, and where its values are explained."""
    said = [body.get(key) for key in ("dc:description", "rdfs:comment", "propertyUrl")]
    texts = [text for text in said if isinstance(text, str) and text.strip()]
    datatype = body.get("datatype")
    pattern = datatype.get("format") if isinstance(datatype, Mapping) else None
    if kind in ("date", "datetime") and isinstance(pattern, str) and not _ISO.fullmatch(pattern):
        texts.append(f"was written as {pattern}; write it as ISO 8601")
    return {"note": "; ".join(texts)} if texts else {}
