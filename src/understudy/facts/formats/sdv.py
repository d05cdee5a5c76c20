"""Metadata of the Synthetic Data Vault: `fields` with types, or `columns` with sdtypes.

The oldest files have `fields`, each with `type` and `subtype`; later ones `columns`, each with an
`sdtype`, and METADATA_SPEC_VERSION. Several tables are under `tables`; since SDV 2 a single one is
too, and `range_min`, `range_max` and `range_values` have what was found in the rows. No version
says which values are possible: bounds and categories of a file were taken from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.formats.draft import (
    Draft,
    DraftColumn,
    chosen,
    drafted,
    unreviewed,
)
from understudy.facts.formats.values import bound, first, listed

NAME = "SDV metadata"

_KEYS = ("primary_key", "alternate_keys", "sequence_key")
# Directives of strftime that tell the time of day.
_CLOCK = re.compile(r"%[-#]?[HIMSfpXcTRrs]")
_ISO = re.compile(r"%Y-%m-%d([T ]%H:%M(:%S(\.%f)?)?)?(%z|Z)?|%Y%m%d")
# Letters and digits before a character class or the end: what all generated names begin with.
_LITERAL_START = re.compile(r"\^?([A-Za-z0-9_-]+)(?=\[|\\d|$)")


def matches(document: Mapping[str, Any]) -> bool:
    """Whether a document has the marks of any version."""
    if "METADATA_SPEC_VERSION" in document or isinstance(document.get("tables"), Mapping):
        return True
    return isinstance(document.get("fields"), Mapping) or any(
        isinstance(body, Mapping) and "sdtype" in body for body in _bodies(document).values()
    )


def draft(document: Mapping[str, Any], table: str | None) -> Draft:
    """One table of the metadata: keys become ids, and what is personal is made afresh."""
    metadata = _table(document, table)
    keys = {*_own_keys(metadata), *_foreign_keys(document, metadata)}
    bodies = [*_bodies(metadata).items()]
    return drafted(bodies, lambda name, body: _column(body, is_key=name in keys))


def _table(document: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        if table is not None:
            raise UsageError("the file describes one table; leave --table out")
        return document
    metadata = chosen(tables, table)
    if not isinstance(metadata, Mapping):
        raise SchemaError(["the table is not described by a table of keys; correct the file"])
    return metadata


def _bodies(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    bodies = first(metadata, "columns", "fields")
    return bodies if isinstance(bodies, Mapping) else {}


def _own_keys(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Columns that name a row by themselves; those of a composite key do not."""
    for where in _KEYS:
        key = metadata.get(where)
        if isinstance(key, str):
            yield key
        elif isinstance(key, list) and (len(key) == 1 or where == "alternate_keys"):
            yield from (name for name in key if isinstance(name, str))


def _foreign_keys(document: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[str]:
    """Columns that name a row of another table."""
    tables, relationships = document.get("tables"), document.get("relationships")
    if not isinstance(tables, Mapping) or not isinstance(relationships, list):
        return
    for relationship in relationships:
        body = relationship if isinstance(relationship, Mapping) else {}
        child, key = body.get("child_table_name"), body.get("child_foreign_key")
        if isinstance(child, str) and tables.get(child) is metadata and isinstance(key, str):
            yield key


def _column(body: Mapping[str, Any], *, is_key: bool) -> DraftColumn:
    sort = first(body, "sdtype", "type")
    if not isinstance(sort, str):
        raise SchemaError(["it has no sdtype or type; add one, such as numerical"])
    if is_key or sort in ("id", "text"):
        return DraftColumn("id", _prefix(body))
    if body.get("pii") is True:
        return DraftColumn("id", remark="personal: made afresh, never learned")
    match sort:
        case "boolean":
            return DraftColumn("boolean")
        case "categorical":
            return _categorical(body)
        case "numerical":
            return _numerical(body)
        case "datetime":
            return _datetime(body)
        case "unknown":
            return DraftColumn(remark="of unknown type: choose a kind")
        case _:
            return _concept(body)


def _concept(body: Mapping[str, Any]) -> DraftColumn:
    """An e-mail address, a city, a name: personal unless the file says otherwise."""
    if body.get("pii") is False:
        return _categorical(body)
    return DraftColumn("id", remark="personal unless said otherwise: made afresh, never learned")


def _prefix(body: Mapping[str, Any]) -> dict[str, Any]:
    expression = first(body, "regex_format", "regex")
    found = _LITERAL_START.match(expression) if isinstance(expression, str) else None
    return {"prefix": found[1]} if found else {}


def _categorical(body: Mapping[str, Any]) -> DraftColumn:
    given = first(body, "order", "values", "categories", "enum", "range_values")
    ordered = {"ordered": True} if first(body, "order", "order_by") is not None else {}
    values = unreviewed({"values": listed(given)}) if given else {}
    return DraftColumn("categorical", {**values, **ordered})


def _numerical(body: Mapping[str, Any]) -> DraftColumn:
    declared = first(body, "computer_representation", "subtype")
    name = declared.lower() if isinstance(declared, str) else ""
    if name.startswith(("int", "uint")):
        return DraftColumn("integer", _bounds(body, "integer"))
    remark = "" if name.startswith("float") else "make it an integer if all numbers are whole"
    return DraftColumn("float", _bounds(body, "float"), remark)


def _datetime(body: Mapping[str, Any]) -> DraftColumn:
    pattern = first(body, "datetime_format", "format")
    if not isinstance(pattern, str):
        return DraftColumn("datetime", _bounds(body, "datetime"))
    kind = "datetime" if _CLOCK.search(pattern) else "date"
    keys = _bounds(body, kind, pattern)
    if _ISO.fullmatch(pattern):
        return DraftColumn(kind, keys)
    return DraftColumn(kind, keys | {"note": f"was written as {pattern}; write it as ISO 8601"})


def _bounds(body: Mapping[str, Any], kind: str, pattern: str | None = None) -> dict[str, Any]:
    found = {
        "min": first(body, "min", "min_value", "minimum", "range_min"),
        "max": first(body, "max", "max_value", "maximum", "range_max"),
    }
    return unreviewed(
        {k: bound(kind, v, pattern=pattern) for k, v in found.items() if v is not None}
    )
