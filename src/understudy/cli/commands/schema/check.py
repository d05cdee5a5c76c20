"""`understudy schema check`: find all faults of a schema, and show its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.commands.check import print_check
from understudy.cli.console import TerminalProgress, messages, print_json, results, table_of
from understudy.cli.options.data import PersonOptions, ReadingOptions
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA
from understudy.errors import UsageError
from understudy.jobs.checking import CheckRequest

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.facts.schema import Schema


@grouped
def check(
    *,
    schema: Annotated[Path, typer.Argument(help="A schema in TOML or JSON.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Check these private rows against the schema too, as `understudy check` does: "
            "for the owner's eyes.",
        ),
    ] = None,
    people: PersonOptions,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Check a schema, all findings at once, and show how each column is encoded."""
    from understudy.jobs.schemas import load_whole, schema_document

    if data is not None:
        _check_data(CheckRequest(data=data, schema=schema, people=people, reading=reading), as_json)
        return
    for option in (*people.given, *reading.given):
        raise UsageError(f"{option} is about rows; give them by --data, or leave it out")
    loaded = load_whole(schema)
    if as_json:
        print_json(schema_document(loaded))
        return
    _show(loaded)
    if loaded.unreviewed:
        messages().print(
            f"unreviewed: {', '.join(loaded.unreviewed)}; nothing is fitted before "
            f"`understudy schema confirm {schema}`"
        )


def _check_data(request: CheckRequest, as_json: bool) -> None:
    """Do what `understudy check` does."""
    from understudy.jobs.checking import check_data

    print_check(check_data(request, progress=TerminalProgress()), as_json=as_json)


def _show(schema: Schema) -> None:
    columns = table_of(["column", "kind", "codes", "missing", "outside"])
    for name, column in schema.columns.items():
        codes = str(schema.attributes.get(name, "–"))
        markers = getattr(column, "missing", None)
        missing = "–" if markers is None else ", ".join(["empty", *markers])
        shown = (name, column.kind, codes, missing, str(getattr(column, "outside", "–")))
        columns.add_row(*shown)
    results().print(columns)
    if schema.constraints:
        results().print(_constraints(schema))


def _constraints(schema: Schema) -> Table:
    constraints = table_of(["\nconstraint", "\nforbids"])
    for constraint in schema.constraints:
        whole = f"{constraint.combinations:,} combinations of {' × '.join(constraint.sizes)}"
        constraints.add_row(constraint.words, f"{constraint.forbidden:,} of {whole}")
    return constraints
