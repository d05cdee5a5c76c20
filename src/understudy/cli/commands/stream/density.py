"""`understudy stream density`: take events in, and give answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.commands.stream.answers import print_answer, print_standing
from understudy.cli.console import progress_for
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA, OUTPUT
from understudy.cli.options.privacy import LedgerOptions
from understudy.cli.options.stream import EventOptions, StreamOptions
from understudy.jobs.streams import DensityRequest


@dataclass(frozen=True)
class DensityOptions(DensityRequest):
    """Options about events, the state, and when answers are given."""

    source: EventOptions = field(default_factory=EventOptions)
    terms: StreamOptions = field(default_factory=StreamOptions)
    every: Annotated[
        float | None,
        typer.Option(
            "--every",
            min=0.01,
            metavar="SECONDS",
            rich_help_panel=OUTPUT,
            help="Answer at this interval, besides the answer at the end.",
        ),
    ] = None
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Keep the state in this file; it is created if it does not exist.",
        ),
    ] = None
    no_answer: Annotated[
        bool,
        typer.Option(
            "--no-answer",
            rich_help_panel=OUTPUT,
            help="Take events in, and keep the answers for later.",
        ),
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            rich_help_panel=DATA,
            help="Stop at an id outside of the universe instead of dropping it.",
        ),
    ] = False
    payer: LedgerOptions = field(default_factory=LedgerOptions)


@grouped
def density(*, asked: DensityOptions, as_json: AsJson = False) -> None:
    """Read a stream of ids, and estimate how many different users it had."""
    from understudy.jobs.streams import density

    for answer in density(asked, progress=progress_for(as_json=as_json)):
        print_answer(answer, as_json=as_json)
    print_standing(asked.standing, as_json=as_json)
