"""JSON Schemas of the reference, to hold what commands print against."""

from __future__ import annotations

from pages.site.records import record_schemas
from support.promised import need

RECORDS = record_schemas()
"""Every JSON Schema by its file name."""


def record_fault(name: str, document: object) -> str | None:
    """Return where a document is not what its JSON Schema says, else None."""
    jsonschema = need("jsonschema")
    referencing = need("referencing")
    resources = [(key, referencing.Resource.from_contents(value)) for key, value in RECORDS.items()]
    validator = jsonschema.Draft202012Validator(
        RECORDS[f"{name}.json"], registry=referencing.Registry().with_resources(resources)
    )
    found = jsonschema.exceptions.best_match(validator.iter_errors(document))
    return None if found is None else f"{found.json_path}: {found.message}"
