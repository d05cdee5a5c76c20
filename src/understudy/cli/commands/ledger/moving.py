"""`understudy ledger import` and `export`: move a ledger from a file to a server, or back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages
from understudy.cli.options.panels import PRIVACY
from understudy.cli.options.privacy import LedgerFile

if TYPE_CHECKING:
    from understudy.jobs.moving import Moved


def import_file(
    file: Annotated[Path, typer.Argument(help="A ledger's file; afterwards it is only read.")],
    ledger: LedgerFile = None,
) -> None:
    """Move a ledger from a file into an empty one, with its secret; entries keep their checks."""
    from understudy.jobs.moving import import_ledger

    _show(import_ledger(file, ledger))


def export(
    file: Annotated[Path, typer.Argument(help="The new file; it must not hold a ledger.")],
    ledger: LedgerFile = None,
    move: Annotated[
        bool,
        typer.Option(
            "--move",
            rich_help_panel=PRIVACY,
            help="Spend from the file from now on, and no more from the ledger. By default the "
            "file is a copy that is only read.",
        ),
    ] = False,
) -> None:
    """Write a ledger to a file: a copy to read and to verify with, or the ledger itself."""
    from understudy.jobs.moving import export_ledger

    _show(export_ledger(file, ledger, move=move))


def _show(moved: Moved) -> None:
    messages().print(moved.sentence)
