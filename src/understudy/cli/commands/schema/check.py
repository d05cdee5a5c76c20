"""`understudy schema check`: find all faults of a schema, and show its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages, print_json, results, table_of
from understudy.cli.options.output import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.facts.schema import Schema


def check(
    schema: Annotated[Path, typer.Argument(help="A schema in TOML or JSON.")],
    as_json: AsJson = False,
) -> None:
    """Check a schema, all findings at once, and show how each column is encoded."""
    from understudy.facts.schema import Schema
    from understudy.jobs.schemas import schema_document

    loaded = Schema.load(schema)
    if as_json:
        print_json(schema_document(loaded))
        return
    _show(loaded)
    if loaded.unreviewed:
        messages().print(
            f"unreviewed: {', '.join(loaded.unreviewed)}; nothing is fitted before "
            f"`understudy schema confirm {schema}`"
        )


def _show(schema: Schema) -> None:
    columns = table_of(["column", "kind", "codes", "missing", "outside"])
    for name, column in schema.columns.items():
        codes = str(schema.attributes.get(name, "–"))
        markers = getattr(column, "missing", None)
        missing = "–" if markers is None else ", ".join(["empty", *markers])
        outside = str(getattr(column, "outside", "–"))
        columns.add_row(*(name, column.kind, codes, missing, outside))
    results().print(columns)
    if schema.constraints:
        results().print(_constraints(schema))


def _constraints(schema: Schema) -> Table:
    constraints = table_of(["\nconstraint", "\nforbids"])
    for constraint in schema.constraints:
        whole = f"{constraint.combinations:,} combinations of {' × '.join(constraint.sizes)}"
        constraints.add_row(constraint.words, f"{constraint.forbidden:,} of {whole}")
    return constraints
