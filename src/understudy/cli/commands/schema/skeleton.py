"""`understudy schema init` and `schema import`: write a skeleton that a person fills in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_text
from understudy.cli.options.data import FormatOptions, PersonOptions, PipedFormat
from understudy.cli.options.groups import grouped
from understudy.cli.options.panels import DATA, OUTPUT, PRIVACY
from understudy.cli.options.privacy import Delta, LedgerOptions, SchemaNeighbours
from understudy.jobs.kinds import KindRequest
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
class KindOptions(KindRequest):
    """Options about learning the kinds of columns with budget."""

    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            "-e",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Learn the kinds of columns at this privacy loss, for example 0.1. Without it "
            "only the header is read.",
        ),
    ] = None
    delta: Delta = "0"
    neighbours: SchemaNeighbours = "add-remove"
    people: PersonOptions
    payer: LedgerOptions


@dataclass(frozen=True, kw_only=True)
class SkeletonOptions(SkeletonRequest):
    """Options about the data whose skeleton is written."""

    data: Annotated[
        str,
        typer.Argument(
            help="A file of rows, a folder of .parquet files, or, with --table, a database; only "
            "its header is read, unless kinds are learned. With --format it may be -, standard "
            "input."
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
            help="Propose encoding, decimal mark and thousands from the first rows, and for each "
            "column the format of dates, percent signs and units. They are marked as unreviewed "
            "until you confirm that they are public.",
        ),
    ] = False
    types: Annotated[
        bool,
        typer.Option(
            "--types",
            rich_help_panel=DATA,
            help="Propose the types of a Parquet file as well. They may depend on the rows, so "
            "their columns are marked unreviewed.",
        ),
    ] = False


_ONE_COLUMN = (
    "the header has one name; if it is a title, say by --header-line where the names are, and if "
    "it is a whole line, what separates names by --separator"
)


@grouped
def init(
    *,
    asked: SkeletonOptions,
    book: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Take what this code book says: Frictionless, CSVW or SDV JSON, a REDCap "
            "dictionary (.csv), or a DDI codebook (.xml). Its values are unreviewed.",
        ),
    ] = None,
    output: _SkeletonFile = None,
    learning: KindOptions,
) -> None:
    """Write a skeleton to fill in: column names, and kinds where the file declares types.

    With --epsilon the kinds of the other columns are learned from the rows. This spends budget.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.jobs.kinds import learn_kinds, standing_after
    from understudy.jobs.schemas import draft_of, imported_draft, with_code_book

    known = None if book is None else imported_draft(book)
    if learning.epsilon is None:
        learning.check_unused()
        made = draft_of(asked)
        _write(made.draft if known is None else with_code_book(made.draft, known), output)
        for remark in made.remarks:
            messages().print(f"{remark} (for your eyes, not for release)")
        if len(made.draft.columns) == 1:
            messages().print(_ONE_COLUMN)
        return
    learned = learn_kinds(asked, learning, output=output, book=known, progress=TerminalProgress())
    _show(learned.draft, output)
    messages().print(learned.statement.sentence)
    for sentence in standing_after(asked, learning):
        messages().print(sentence, style="dim")


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="SDV metadata, a domain file, CSVW metadata or a Frictionless Table Schema as "
            "JSON, a REDCap dictionary as CSV, or a DDI codebook as XML."
        ),
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
    from understudy.jobs.schemas import write_draft

    if output is not None:
        write_draft(draft, output)
    _show(draft, output)


def _show(draft: Draft, output: Path | None) -> None:
    from understudy.jobs.schemas import draft_text

    if output is None:
        print_text(draft_text(draft, None))
        return
    console = messages()
    fill_in = "fill it in, then: " if draft.unfinished else ""
    check = f"understudy schema check {output}"
    console.print(f"{len(draft.columns)} columns → {output}; {fill_in}{check}")
    if draft.unreviewed:
        console.print(
            f"unreviewed: {', '.join(draft.unreviewed)}; these values may have been computed from "
            f"the rows. If you know them without looking: understudy schema confirm {output}"
        )
