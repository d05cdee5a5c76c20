"""Frictionless Table Schema: a JSON list of fields with types and constraints.

Source: the Table Schema specification of Frictionless Data, version 1. A data package holds several
tables as `resources`. Nothing is fetched: a table's schema has to be in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.errors import SchemaError, UsageError
from understudy.facts.formats.draft import Draft, DraftColumn, chosen, drafted, unreviewed
from understudy.facts.formats.values import bound, listed

NAME = "Frictionless Table Schema"

_KINDS = {
    "integer": "integer",
    "year": "integer",
    "number": "float",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
    "string": "categorical",
}


def matches(document: Mapping[str, Any]) -> bool:
    """Whether a document lists fields, or resources."""
    return isinstance(document.get("fields"), list) or isinstance(document.get("resources"), list)


def draft(document: Mapping[str, Any], table: str | None) -> Draft:
    """One table of the file; its primary key becomes an id."""
    schema = _schema(document, table)
    fields = schema.get("fields")
    bodies = [(_name(body), body) for body in (fields if isinstance(fields, list) else [])]
    key = schema.get("primaryKey")
    keys = [key] if isinstance(key, str) else key if isinstance(key, list) else []
    alone = keys[0] if len(keys) == 1 else None
    missing = _markers(schema.get("missingValues", [""]))
    return drafted(bodies, lambda name, body: _column(body, missing, is_key=name == alone))


def _schema(document: Mapping[str, Any], table: str | None) -> Mapping[str, Any]:
    resources = document.get("resources")
    if not isinstance(resources, list):
        if table is not None:
            raise UsageError("the file describes one table; leave --table out")
        return document
    tables = {
        str(resource.get("name", number)): resource.get("schema")
        for number, resource in enumerate(resources, 1)
        if isinstance(resource, Mapping)
    }
    schema = chosen(tables, table)
    if not isinstance(schema, Mapping):
        raise SchemaError(["the schema is not in the file; put it there, links are not followed"])
    return schema


def _name(body: object) -> str:
    name = body.get("name") if isinstance(body, Mapping) else None
    if not isinstance(name, str):
        raise SchemaError(["a field has no name; every field needs one"])
    return name


def _column(body: Mapping[str, Any], missing: list[str], *, is_key: bool) -> DraftColumn:
    kind = _KINDS.get(str(body.get("type", "string")), "")
    note = {"note": body["description"]} if isinstance(body.get("description"), str) else {}
    if is_key:
        return DraftColumn("id", note)
    if not kind:
        return DraftColumn("", note, "of a type that has no kind here: choose one, or omit it")
    given = body.get("constraints")
    constraints: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    level = {} if constraints.get("required") is True else {"missing": missing}
    if "enum" in constraints and kind != "boolean":
        values = unreviewed({"values": listed(constraints["enum"])})
        return DraftColumn("categorical", {**values, **level, **note})
    return DraftColumn(kind, {**_bounds(kind, constraints), **level, **note})


def _bounds(kind: str, constraints: Mapping[str, Any]) -> dict[str, Any]:
    if kind in ("boolean", "categorical"):
        return {}
    names = {"min": "minimum", "max": "maximum"}
    found = {key: constraints[name] for key, name in names.items() if name in constraints}
    return unreviewed({key: bound(kind, value) for key, value in found.items()})


def _markers(markers: object) -> list[str]:
    if not isinstance(markers, list):
        raise SchemaError(["missingValues is not a list of texts; correct it"])
    texts = [m.get("value") if isinstance(m, Mapping) else m for m in markers]
    return [text for text in texts if isinstance(text, str) and text.strip()]
