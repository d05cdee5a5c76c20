"""`understudy sample`: draw rows from a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import (
    TerminalProgress,
    messages,
    print_json,
    print_result,
    results,
    table_of,
)
from understudy.cli.options import completion
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson, Force, RowCount, Seed, SignKey
from understudy.cli.options.panels import METHOD, OUTPUT
from understudy.cli.standard_output import STANDARD_OUTPUT, written
from understudy.errors import UsageError
from understudy.jobs.sampling import SampleRequest

if TYPE_CHECKING:
    from understudy.jobs.output import JobResult
    from understudy.jobs.sampling import SampleHead


@dataclass(frozen=True, kw_only=True)
class SampleOptions(SampleRequest):
    """Options about a model and the rows that are drawn from it."""

    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` saved.")]
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write the rows to this .csv or .parquet file; images go to an .npz file. "
            "Required unless --head is given.",
        ),
    ] = None
    rows: RowCount = None
    head: Annotated[
        int | None,
        typer.Option(
            "--head",
            min=1,
            metavar="ROWS",
            rich_help_panel=OUTPUT,
            help="Print this many rows instead of writing a file.",
        ),
    ] = None
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="TEXT",
            rich_help_panel=OUTPUT,
            help='Draw only rows that meet these conditions, as in "sex = Female, age >= 30".',
        ),
    ] = None
    how: Annotated[
        str | None,
        typer.Option(
            "--how",
            metavar="NAME",
            rich_help_panel=OUTPUT,
            autocompletion=completion.from_list("exact", "rejection", "weighting"),
            help="Draw rows under --where this way: exact, rejection or weighting. The default is "
            "exact where the network allows it.",
        ),
    ] = None
    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler",
            metavar="NAME",
            rich_help_panel=METHOD,
            autocompletion=completion.from_list(
                "without-replacement", "with-replacement", "inconsistent"
            ),
            help="Draw from the tables of a model this way: without-replacement, the default, "
            "whose rows stray least; with-replacement, independent rows; or inconsistent, from "
            "a network's noisy tables as they were released.",
        ),
    ] = None
    fill: Annotated[
        Path | None,
        typer.Option(
            "--fill",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Fill the missing cells of this CSV or Parquet file from the model instead of "
            "drawing rows. The file is copied and not protected: it must be public or synthetic.",
        ),
    ] = None
    replicates: Annotated[
        int | None,
        typer.Option(
            "--replicates",
            min=2,
            metavar="NUMBER",
            rich_help_panel=OUTPUT,
            help="Write this many stand-ins, FILE-1 and so on, each from its own draw of the "
            "tables given the released ones, for combining rules.",
        ),
    ] = None
    seed: Seed = None
    force: Force = False
    sign: SignKey = None
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="PLACE",
            rich_help_panel=OUTPUT,
            help="Seal the rows with the ledger that paid for the model, so that `understudy "
            "verify` can check them.",
        ),
    ] = None


@grouped
def sample(*, asked: SampleOptions, as_json: AsJson = False) -> None:
    """Draw synthetic rows, or images, from a model; this costs no budget, however often."""
    from understudy.jobs.sampling import sample, sample_head

    def work(place: Path) -> JobResult:
        return sample(replace(asked, output=place), progress=TerminalProgress())

    if asked.head is not None:
        _show(sample_head(asked), as_json=as_json)
    elif asked.replicates is not None and asked.output == STANDARD_OUTPUT:
        raise UsageError("--replicates writes several files; name them by --output FILE")
    elif asked.output is None:
        raise UsageError("output is not given; name a file by --output, or look by --head 5")
    else:
        print_result(written(asked.output, work, as_json=as_json), as_json=as_json)


def _show(found: SampleHead, *, as_json: bool) -> None:
    if as_json:
        print_json(found.document())
        return
    listing = table_of(found.rows.column_names)
    for row in zip(*found.texts, strict=True):
        listing.add_row(*row)
    results().print(listing)
    messages().print(found.statement.sentence)
