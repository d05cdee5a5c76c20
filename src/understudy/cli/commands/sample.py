"""`understudy sample`: draw rows from a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, print_result
from understudy.cli.options import completion
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson, RowCount, RowsFile, Seed, SignKey
from understudy.cli.options.panels import OUTPUT
from understudy.cli.standard_output import written
from understudy.jobs.sampling import SampleRequest

if TYPE_CHECKING:
    from understudy.jobs.output import JobResult


@dataclass(frozen=True, kw_only=True)
class SampleOptions(SampleRequest):
    """Options about a model and the rows that are drawn from it."""

    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` saved.")]
    output: RowsFile
    rows: RowCount = None
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
    seed: Seed = None
    sign: SignKey = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Seal the rows with the ledger that paid for the model, so that `understudy "
            "verify` can check them.",
        ),
    ] = None


@grouped
def sample(*, asked: SampleOptions, as_json: AsJson = False) -> None:
    """Draw synthetic rows, or images, from a model; this costs no budget, however often."""
    from understudy.jobs.sampling import sample

    def work(place: Path) -> JobResult:
        return sample(replace(asked, output=place), progress=TerminalProgress())

    print_result(written(asked.output, work, as_json=as_json), as_json=as_json)
