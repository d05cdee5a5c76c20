"""`understudy verify`: check that a statement, its file and a ledger belong together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import print_json, results
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import PRIVACY
from understudy.errors import ExitCode
from understudy.jobs.verification import VerifyRequest

if TYPE_CHECKING:
    from understudy.jobs.verification import Verification

DOES_NOT_BELONG = ExitCode.REFUTED


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(VerifyRequest):
    """Options about what is verified, and by whom."""

    file: Annotated[
        Path,
        typer.Argument(help="Synthetic rows with FILE.privacy.json beside them, or a model."),
    ]
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="PLACE",
            rich_help_panel=PRIVACY,
            help="Ask this ledger whether it holds the run.",
        ),
    ] = None
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            rich_help_panel=PRIVACY,
            help="Check that the statement was signed; this is the public key, NAME.pub.",
        ),
    ] = None


@grouped
def verify(*, asked: VerifyOptions, as_json: AsJson = False) -> None:
    """Check that statement, file and ledger belong together; the exit code is 5 if not."""
    from understudy.jobs.verification import verify

    found = verify(asked)
    if as_json:
        print_json(found.document())
    else:
        _show(found)
    if found.fails:
        raise typer.Exit(DOES_NOT_BELONG)


def _show(found: Verification) -> None:
    console = results()
    for check in found.checks:
        console.print(f"{check.about:<9}  {check.outcome:<9}  {check.sentence}")
    if found.fails:
        console.print(
            "they do not belong together, or it cannot be shown that they do", style="bold"
        )
    else:
        console.print("they belong together, as far as was asked", style="bold")
        console.print(found.claim.statement.sentence)
