"""`understudy schema`: write or import a skeleton, learn what it lacks, check and confirm it."""

from __future__ import annotations

import typer

from understudy.cli.command import CommandGroup, PanelCommand
from understudy.cli.commands.schema.check import check
from understudy.cli.commands.schema.confirm import confirm
from understudy.cli.commands.schema.infer import infer
from understudy.cli.commands.schema.skeleton import import_, init

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="Write or import the skeleton of a schema, learn what it lacks, check it, confirm it.",
)
app.command("init", cls=PanelCommand)(init)
app.command("import", cls=PanelCommand)(import_)
app.command("infer", cls=PanelCommand)(infer)
app.command("check", cls=PanelCommand)(check)
app.command("confirm", cls=PanelCommand)(confirm)
