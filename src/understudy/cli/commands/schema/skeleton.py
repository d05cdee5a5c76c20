"""`understudy schema init` and `schema import`: write a skeleton that a person fills in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages, print_text
from understudy.cli.options.data import EncodingName
from understudy.cli.options.panels import DATA, OUTPUT

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


def init(
    data: Annotated[
        Path,
        typer.Argument(help="A .csv or .parquet file, or a folder; only its header is read."),
    ],
    output: _SkeletonFile = None,
    encoding: EncodingName = "utf-8",
    types: Annotated[
        bool,
        typer.Option(
            "--types",
            rich_help_panel=DATA,
            help="Propose the types of a Parquet file as well. They may depend on the rows, so "
            "their columns are marked unreviewed.",
        ),
    ] = False,
) -> None:
    """Write a skeleton to fill in: column names, and kinds where the file declares types."""
    from understudy.jobs.schemas import draft_of, with_types

    draft = draft_of(data, encoding=encoding)
    _write(with_types(draft, data) if types else draft, output)


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
