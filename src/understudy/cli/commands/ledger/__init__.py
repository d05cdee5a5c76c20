"""`understudy ledger`: show what was spent on which data, and set limits."""

from __future__ import annotations

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.commands.ledger.init import init
from understudy.cli.commands.ledger.limit import limit
from understudy.cli.commands.ledger.moving import export, import_file
from understudy.cli.commands.ledger.show import show

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Show what was spent on which data and what remains; set limits; move ledgers.",
)
app.command("show", cls=PanelCommand)(show)
app.command("limit", cls=PanelCommand)(limit)
app.command("init", cls=PanelCommand)(init)
app.command("import", cls=PanelCommand)(import_file)
app.command("export", cls=PanelCommand)(export)
