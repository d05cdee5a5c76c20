"""`understudy check`: show the owner how private rows fit a schema, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from understudy.cli.console import TerminalProgress, print_json, results, table_of
from understudy.cli.options.data import Data, PersonOptions, ReadingOptions, SchemaFile
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.jobs.checking import ROWS_LOST, CheckRequest

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.rows.checking import ColumnCheck, DataCheck

_CAUSES = ("missing", "clipped", "undeclared", "unreadable")


@dataclass(frozen=True, kw_only=True)
class CheckOptions(CheckRequest):
    """Options about private data and the schema that it should fit."""

    data: Data
    schema: SchemaFile
    people: PersonOptions
    reading: ReadingOptions


@grouped
def check(*, asked: CheckOptions, as_json: AsJson = False) -> None:
    """Show how private rows fit a schema: for the owner's eyes, nothing is spent.

    The exit code is 4 if rows do not fit and would be lost.
    """
    from understudy.jobs.checking import check_data

    print_check(check_data(asked, progress=TerminalProgress()), as_json=as_json)


def print_check(found: DataCheck, *, as_json: bool) -> None:
    """Print a check, and end with exit code 4 where rows are lost."""
    if as_json:
        print_json(found.document())
    else:
        show_check(found)
    if not found.fits:
        raise typer.Exit(ROWS_LOST)


def show_check(found: DataCheck) -> None:
    """Print a check for the owner: numbers, examples, and how to mend them."""
    from understudy.rows.checking import NOTICE, findings

    console = results()
    console.print(NOTICE, style="bold yellow")
    console.print(_table(found))
    for column in findings(found):
        _show_column(column)
    console.print(f"{found.sentence}", style="bold")
    if found.unnamed:
        console.print(f"{found.unnamed:,} rows have no name of a person, and are lost as well")


def _table(found: DataCheck) -> Table:
    table = table_of(["column", "read", *_CAUSES, "rows lost", "lost first"])
    for head in table.columns[1:]:
        head.justify = "right"
    for column in found.columns:
        numbers = [column.read, *(getattr(column, cause) for cause in _CAUSES)]
        numbers += [column.lost, column.lost_first]
        table.add_row(column.name, *(f"{number:,}" if number else "–" for number in numbers))
    return table


def _show_column(column: ColumnCheck) -> None:
    console = results()
    console.print(f"\n{column.name} ({column.kind})", style="bold")
    for cause, cells in column.examples.items():
        shown = ", ".join(repr(cell) for cell in cells)
        console.print(f"  {cause}, for example: {shown}")
    for sentence in column.remedies:
        console.print(f"  {sentence}")
