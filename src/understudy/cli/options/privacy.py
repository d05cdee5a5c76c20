"""Options about privacy: the budget, the neighbour relation, and the ledger that pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from understudy.cli.options import completion
from understudy.cli.options.panels import PRIVACY
from understudy.jobs.ledgers import LedgerRequest


def neighbours_option(*, help: str) -> Any:
    """Return the option `--neighbours`, with what a command says of its relations."""
    return typer.Option(
        "--neighbours",
        metavar="NAME",
        rich_help_panel=PRIVACY,
        autocompletion=completion.NEIGHBOURS,
        help=help,
    )


Epsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        "-e",
        metavar="NUMBER",
        rich_help_panel=PRIVACY,
        help="Allow this privacy loss, for example 1 or 0.5. Required for tables and images, and "
        "there is no default.",
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        "--delta",
        "-d",
        metavar="NUMBER",
        rich_help_panel=PRIVACY,
        help="Allow a larger loss with this probability, for example 1e-6. 0 asks for pure "
        "differential privacy.",
    ),
]
NeighboursName = Annotated[
    str | None,
    neighbours_option(
        help="Protect against adding and removing (add-remove) or against replacing (replace). "
        "Each method has its own default."
    ),
]
SchemaNeighbours = Annotated[
    str,
    neighbours_option(
        help="Protect under add-remove, which serves fits of both kinds, or under replace."
    ),
]
LedgerFile = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PLACE",
        rich_help_panel=PRIVACY,
        help="Record spending in this ledger: a file, sqlite:///FILE or postgresql://HOST/NAME. "
        "The default is $UNDERSTUDY_LEDGER, else a file in the state folder.",
    ),
]


@dataclass(frozen=True)
class LedgerOptions(LedgerRequest):
    """Options about the ledger that pays, and the name under which it knows the data."""

    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            rich_help_panel=PRIVACY,
            help="Give the data this name in the ledger. The default is the name of the file, "
            "folder or table.",
        ),
    ] = None
    ledger: LedgerFile = None
