"""`understudy stream`: count the distinct users of a stream with a state that stays private."""

from __future__ import annotations

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.commands.stream.density import density
from understudy.cli.commands.stream.intrusion import intrusion
from understudy.cli.commands.stream.merge import merge
from understudy.cli.commands.stream.plan import plan

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Count the distinct users of a stream; the state stays private even if it is stolen.",
)
app.command("density", cls=PanelCommand)(density)
app.command("plan", cls=PanelCommand)(plan)
app.command("intrusion", cls=PanelCommand)(intrusion)
app.command("merge", cls=PanelCommand)(merge)
