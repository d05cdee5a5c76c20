"""`understudy schema init` and `schema import`: write a skeleton that a person fills in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages, print_text
from understudy.cli.options.data import FormatOptions, PipedFormat
from understudy.cli.options.groups import grouped
from understudy.cli.options.panels import DATA, OUTPUT
from understudy.jobs.schemas import SkeletonRequest

if TYPE_CHECKING:
    from understudy.facts.formats import Draft

_SkeletonFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="Write the skeleton to this .toml or .json file. The default is stdout.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class SkeletonOptions(SkeletonRequest):
    """Options about the data whose skeleton is written."""

    data: Annotated[
        str,
        typer.Argument(
            help="A file of rows, a folder of .parquet files, or, with --table, a database; only "
            "its header is read. With --format it may be - for standard input."
        ),
    ]
    spelling: FormatOptions = field(default_factory=FormatOptions)
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            rich_help_panel=DATA,
            help="Read the columns of this table of a database.",
        ),
    ] = None
    piped: PipedFormat = None
    look: Annotated[
        bool,
        typer.Option(
            "--look",
            rich_help_panel=DATA,
            help="Propose encoding, decimal mark and thousands from the first rows. They are "
            "marked as unreviewed until you confirm that they are public.",
        ),
    ] = False


@grouped
def init(*, asked: SkeletonOptions, output: _SkeletonFile = None) -> None:
    """Write a skeleton to fill in: column names, and kinds where the file declares types."""
    from understudy.jobs.schemas import draft_of

    made = draft_of(asked)
    _write(made.draft, output)
    for remark in made.remarks:
        messages().print(f"{remark} (for your eyes, not for release)")


def import_(
    file: Annotated[
        Path, typer.Argument(help="SDV metadata, a domain file or CSVW metadata, as JSON.")
    ],
    output: _SkeletonFile = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            rich_help_panel=DATA,
            help="Import this table, if the file describes several.",
        ),
    ] = None,
) -> None:
    """Write a skeleton from another tool's description of a table; its values are unreviewed."""
    from understudy.jobs.schemas import imported_draft

    _write(imported_draft(file, table=table), output)


def _write(draft: Draft, output: Path | None) -> None:
    from understudy.jobs.schemas import draft_text, write_draft

    if output is None:
        print_text(draft_text(draft, None))
        return
    write_draft(draft, output)
    console = messages()
    fill_in = "fill it in, then: " if draft.unfinished else ""
    check = f"understudy schema check {output}"
    console.print(f"{len(draft.columns)} columns → {output}; {fill_in}{check}")
    if draft.unreviewed:
        console.print(
            f"unreviewed: {', '.join(draft.unreviewed)}; these values may have been computed from "
            f"the rows. If you know them without looking: understudy schema confirm {output}"
        )
