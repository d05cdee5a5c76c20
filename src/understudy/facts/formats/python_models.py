"""Drafts from Python: Pydantic models and pandera schemas, whose libraries the user imports.

A Pydantic model is read through the JSON Schema that it writes. What neither says stays to be
filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from understudy.errors import UsageError
from understudy.facts.formats.draft import Draft, DraftColumn, drafted, unreviewed
from understudy.facts.formats.values import bound, listed

_JSON_KINDS = {"integer": "integer", "number": "float", "boolean": "boolean"}
_FORMATS = {"date": "date", "date-time": "datetime", "uuid": "id", "email": "id"}
_DTYPES = {
    "int": "integer",
    "uint": "integer",
    "float": "float",
    "bool": "boolean",
    "datetime": "datetime",
    "date": "date",
    "timestamp": "datetime",
}
_BOUNDS = {
    "greater_than_or_equal_to": ("min_value", "min"),
    "ge": ("min_value", "min"),
    "less_than_or_equal_to": ("max_value", "max"),
    "le": ("max_value", "max"),
}


def of_pydantic(model: Any) -> Draft:
    """A draft of the fields of a Pydantic model."""
    if not hasattr(model, "model_json_schema"):
        raise UsageError("the model has no model_json_schema; give a class of Pydantic 2")
    document: Mapping[str, Any] = model.model_json_schema()
    definitions = document.get("$defs", {})
    fields = document.get("properties", {})
    return drafted([*fields.items()], lambda _, body: _field(body, definitions))


def _field(body: Mapping[str, Any], definitions: Mapping[str, Any]) -> DraftColumn:
    options = [_resolved(option, definitions) for option in body.get("anyOf", [body])]
    kept = [option for option in options if option.get("type") != "null"]
    missing: dict[str, Any] = {"missing": []} if len(kept) < len(options) else {}
    note = {"note": body["description"]} if "description" in body else {}
    if len(kept) != 1:
        return DraftColumn("", note, "of several types: choose a kind")
    [own] = kept
    values = [own["const"]] if "const" in own else own.get("enum")
    if values is not None:
        given = unreviewed({"values": listed(list(values))})
        return DraftColumn("categorical", {**given, **missing, **note})
    kind = _FORMATS.get(own.get("format", "")) or _JSON_KINDS.get(own.get("type", ""))
    if kind is None and own.get("type") == "string":
        kind = "categorical"
    if kind is None:
        return DraftColumn("", note, "of a type that has no kind here: choose one, or omit it")
    return DraftColumn(kind, {**_bounds(kind, own), **({} if kind == "id" else missing), **note})


def _resolved(option: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(option.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = definitions.get(name, option)
    return found


def _bounds(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    step = 1 if kind == "integer" else 0
    found = {
        "min": body.get("minimum", _beside(body.get("exclusiveMinimum"), step)),
        "max": body.get("maximum", _beside(body.get("exclusiveMaximum"), -step)),
    }
    return unreviewed({k: bound(kind, v) for k, v in found.items() if v is not None})


def _beside(value: Any, step: int) -> Any:
    return None if value is None else value + step


def of_pandera(schema: Any) -> Draft:
    """A draft of the columns of a pandera schema or model."""
    whole = schema.to_schema() if hasattr(schema, "to_schema") else schema
    if not isinstance(getattr(whole, "columns", None), Mapping):
        raise UsageError("the schema has no columns; give a DataFrameSchema or a DataFrameModel")
    bodies = [(str(name), {"": column}) for name, column in whole.columns.items()]
    return drafted(bodies, lambda _, body: _pandera(body[""]))


def _pandera(column: Any) -> DraftColumn:
    missing: dict[str, Any] = {"missing": []} if getattr(column, "nullable", False) else {}
    checks = [
        (getattr(check, "name", None), getattr(check, "statistics", None) or {})
        for check in getattr(column, "checks", None) or ()
    ]
    for name, facts in checks:
        if name == "isin":
            given = unreviewed({"values": listed(list(facts.get("allowed_values", ())))})
            return DraftColumn("categorical", {**given, **missing})
    dtype = str(getattr(column, "dtype", "")).lower()
    kind = next((kind for start, kind in _DTYPES.items() if dtype.startswith(start)), "categorical")
    return DraftColumn(kind, {**_checked_bounds(kind, checks), **missing})


def _checked_bounds(kind: str, checks: list[tuple[Any, Mapping[str, Any]]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, facts in checks:
        if name == "in_range":
            found |= {"min": facts.get("min_value"), "max": facts.get("max_value")}
        elif name in _BOUNDS:
            given, key = _BOUNDS[name]
            found[key] = facts.get(given)
    if kind in ("categorical", "boolean"):
        return {}
    return unreviewed({k: bound(kind, v) for k, v in found.items() if v is not None})
