"""`understudy stream merge`: give one answer for all shards of a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.commands.stream.answers import print_answer, print_standing
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA
from understudy.cli.options.privacy import LedgerOptions
from understudy.cli.options.stream import UserFile


@grouped
def merge(
    *,
    states: Annotated[list[Path], typer.Argument(help="The state files of all shards.")],
    disjoint: Annotated[
        bool,
        typer.Option(
            "--disjoint",
            rich_help_panel=DATA,
            help="Declare that no user is in more than one of the states.",
        ),
    ] = False,
    users: UserFile = None,
    payer: LedgerOptions,
    as_json: AsJson = False,
) -> None:
    """Give one answer for all shards of a stream."""
    from understudy.jobs.streams import merge, shards_name

    answer = merge(states, disjoint=disjoint, users=users, payer=payer)
    print_answer(answer, as_json=as_json)
    print_standing(payer.standing(shards_name(payer)), as_json=as_json)
