"""`understudy ledger`: show what was spent on which data, and set limits."""

from __future__ import annotations

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.commands.ledger.limit import limit
from understudy.cli.commands.ledger.show import show

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Show what was spent on which data and what remains; set limits.",
)
app.command("show", cls=PanelCommand)(show)
app.command("limit", cls=PanelCommand)(limit)
