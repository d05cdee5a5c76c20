"""The records that programs read, as JSON Schemas: on the site, and for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from pydantic import TypeAdapter

from benchmarks.report import ROOT
from understudy.facts.column import GeneratedColumn, LearnedColumn

SCHEMAS = ROOT / "docs" / "reference" / "schemas"
PRINTED = {
    "analyst": ("analyst",),
    "audit": ("audit",),
    "check": ("check",),
    "demo": ("demo",),
    "doctor": ("doctor",),
    "evaluate": ("evaluate", "released_summary"),
    "fit": ("fit",),
    "holder": ("holder",),
    "inspect": ("inspect",),
    "ledger show": ("ledger_show",),
    "plan": ("plan",),
    "query": ("query",),
    "sample": ("sample", "sample_head"),
    "schema check": ("schema_check", "check"),
    "schema infer": ("schema_infer",),
    "stream density": ("stream_density",),
    "stream merge": ("stream_density",),
    "stream plan": ("stream_plan",),
    "study": ("study", "study_list"),
    "synth": ("synth",),
    "verify": ("verify",),
}
"""The JSON Schemas of what each command prints with `--json`, by their names."""
_HEAD = """\
# Records as JSON Schemas

Programs that read what `understudy` writes can check it with these JSON Schemas (draft 2020-12).
Tests hold real outputs against them.
A schema refers to another by its file name, and all are in the folder `schemas` of this site.

## Which command prints which record

"""


def columns_schema() -> dict[str, Any]:
    """Return the JSON Schema of a schema: made from the classes that read one."""
    every = (*get_args(LearnedColumn), *get_args(GeneratedColumn))
    kinds = [_kind(TypeAdapter(each).json_schema()) for each in every]
    shared: dict[str, Any] = {}
    for each in kinds:
        shared |= each.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "schema.json",
        "title": "A schema of a table",
        "description": "What each column may hold; TOML, or JSON of the same structure.",
        "type": "object",
        "required": ["columns"],
        "properties": {
            "columns": {"type": "object", "additionalProperties": {"anyOf": kinds}},
            "constraints": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": shared,
    }


def _kind(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one kind of column, which must be named."""
    return {**schema, "required": sorted({*schema.get("required", ()), "kind"})}


def record_schemas() -> dict[str, dict[str, Any]]:
    """Return every JSON Schema by its file name."""
    written = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}
    return dict(sorted((written | {"schema.json": columns_schema()}).items()))


def record_files() -> dict[str, str]:
    """Return the text of every JSON Schema by its file name."""
    return {name: json.dumps(each, indent=1) + "\n" for name, each in record_schemas().items()}


def records_page() -> str:
    """Return the page that lists the JSON Schemas, each with its fields."""
    every = (_described(name, each) for name, each in record_schemas().items())
    return "\n".join([_HEAD + _commands(), *every])


def _commands() -> str:
    lines = ["| command with `--json` | record |", "|---|---|"]
    for command, names in PRINTED.items():
        files = ", ".join(f"`schemas/{name}.json`" for name in names)
        lines.append(f"| `understudy {command}` | {files} |")
    return "\n".join([*lines, ""])


def _described(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"## {schema['title']}", "", schema["description"], "", f"File: `schemas/{name}`", ""]
    lines += ["| field | | type |", "|---|---|---|"]
    needed = schema.get("required", ())
    for field, each in schema["properties"].items():
        there = "always" if field in needed else "where it applies"
        lines.append(f"| `{field}` | {there} | {_type(each)} |")
    return "\n".join([*lines, ""])


def _type(schema: Mapping[str, Any]) -> str:
    """Say in a few words what a field holds."""
    if "$ref" in schema:
        return str(schema["$ref"]).removesuffix(".json")
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"a list, each {_type(schema['items'])}"
    kind = schema.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
