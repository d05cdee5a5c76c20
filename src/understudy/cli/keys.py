"""`understudy keys`: what holders and analysts know each other by."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.console import messages

app = typer.Typer(
    no_args_is_help=True,
    help="Make the keys and certificates by which holders and analysts know each other.",
)


@app.command()
def holder(
    name: Annotated[Path, typer.Argument(help="The holder's name, and its key's file.")],
) -> None:
    """Make a holder's key NAME, which stays here, and NAME.pub, for the analyst."""
    from understudy.federated.net.keys import make_holder_key

    public = make_holder_key(name)
    messages().print(f"keep {name} to yourself; send {public} to the analyst")


@app.command()
def analyst(
    hosts: Annotated[
        list[str], typer.Argument(help="Names and addresses by which holders reach the machine.")
    ],
    folder: Annotated[Path, typer.Option("--folder", help="Where the files go.")] = Path(),
) -> None:
    """Make an analyst's certificate and key, and roots.crt, for the holders."""
    from understudy.federated.net.keys import make_certificate

    roots = make_certificate(folder, hosts)
    messages().print(
        f"keep {folder / 'analyst.key'} to yourself; send {roots} to every holder, in a way that "
        "nobody can exchange it on"
    )
