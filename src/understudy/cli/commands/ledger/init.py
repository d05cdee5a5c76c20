"""`understudy ledger init`: make a ledger, and on a server say who may do what there."""

from __future__ import annotations

from typing import Annotated

import typer

from understudy.cli.console import messages
from understudy.cli.options.panels import OUTPUT, PRIVACY
from understudy.cli.options.privacy import LedgerFile


def init(
    ledger: LedgerFile = None,
    steward: Annotated[
        list[str] | None,
        typer.Option(
            "--steward",
            metavar="ROLE",
            rich_help_panel=PRIVACY,
            help="Let this role of the server set limits, and spend. Repeatable.",
        ),
    ] = None,
    analyst: Annotated[
        list[str] | None,
        typer.Option(
            "--analyst",
            metavar="ROLE",
            rich_help_panel=PRIVACY,
            help="Let this role of the server spend within limits. Repeatable.",
        ),
    ] = None,
    sql: Annotated[
        bool,
        typer.Option(
            "--sql",
            rich_help_panel=OUTPUT,
            help="Print the SQL instead, for a person who may run it.",
        ),
    ] = False,
) -> None:
    """Make a ledger, or grant further roles on a server; what is there stays.

    A ledger in PostgreSQL needs it, and only such a ledger has roles. A file or sqlite:///FILE is
    also made by the first run that spends.
    """
    from understudy.jobs.moving import InitRequest, init_ledger, ledger_sql

    asked = InitRequest(ledger=ledger, stewards=tuple(steward or ()), analysts=tuple(analyst or ()))
    if sql:
        print(ledger_sql(asked), end="")
        return
    messages().print(f"the ledger {init_ledger(asked)} is ready")
