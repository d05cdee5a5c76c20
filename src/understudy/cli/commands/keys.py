"""`understudy keys`: make the keys by which holders and analysts recognise each other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.console import messages
from understudy.cli.options.panels import OUTPUT

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Make the keys and certificates by which holders and analysts recognise each other.",
)


@app.command(cls=PanelCommand)
def holder(
    name: Annotated[
        Path, typer.Argument(help="The holder's name; its private key is saved in this file.")
    ],
) -> None:
    """Make a holder's private key NAME, which stays here, and NAME.pub for the analyst."""
    from understudy.jobs.keys import make_holder_key

    public = make_holder_key(name)
    messages().print(f"keep {name} secret; send {public} to the analyst")


@app.command(cls=PanelCommand)
def analyst(
    hosts: Annotated[
        list[str],
        typer.Argument(help="The names and addresses by which holders reach this machine."),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            "--folder", metavar="FOLDER", rich_help_panel=OUTPUT, help="Write the files here."
        ),
    ] = Path(),
) -> None:
    """Make an analyst's certificate and private key, and roots.crt for the holders."""
    from understudy.jobs.keys import make_analyst_certificate

    roots = make_analyst_certificate(folder, hosts)
    messages().print(
        f"keep {folder / 'analyst.key'} secret; send {roots} to every holder, by a way on which "
        "nobody can replace it"
    )
