"""`understudy ledger limit`: set the most that may be spent on a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages
from understudy.cli.options import completion
from understudy.cli.options.groups import grouped
from understudy.cli.options.panels import PRIVACY
from understudy.cli.options.privacy import Delta, LedgerFile, neighbours_option
from understudy.jobs.accounts import LimitRequest

if TYPE_CHECKING:
    from understudy.jobs.accounts import LimitResult


@dataclass(frozen=True, kw_only=True)
class LimitOptions(LimitRequest):
    """Options about a limit, whom it protects, and how it is counted."""

    dataset: Annotated[str, typer.Argument(help="The name of the data in the ledger.")]
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon",
            "-e",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Allow at most this epsilon over all runs.",
        ),
    ]
    delta: Delta = "0"
    neighbours: Annotated[
        str,
        neighbours_option(help="Limit what is spent under this relation: add-remove or replace."),
    ] = "add-remove"
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="NAME",
            rich_help_panel=PRIVACY,
            autocompletion=completion.from_list("row", "person", "image", "user"),
            help="Protect a row, person, image or user. The default is a row.",
        ),
    ] = None
    person_id: Annotated[
        str | None,
        typer.Option(
            "--person-id",
            metavar="COLUMN",
            rich_help_panel=PRIVACY,
            help="Protect the persons that this column identifies.",
        ),
    ] = None
    accounting: Annotated[
        str | None,
        typer.Option(
            "--accounting",
            metavar="NAME",
            rich_help_panel=PRIVACY,
            autocompletion=completion.from_list("zcdp", "basic"),
            help="Count runs by zcdp (the default with a delta) or by basic composition.",
        ),
    ] = None
    own_delta: Annotated[
        str,
        typer.Option(
            "--own-delta",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Keep this part of delta for `schema infer` (zcdp).",
        ),
    ] = "0"
    basic_epsilon: Annotated[
        str,
        typer.Option(
            "--basic-epsilon",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Set this part of epsilon aside for runs without a rho, such as dpgan (zcdp).",
        ),
    ] = "0"
    basic_delta: Annotated[
        str,
        typer.Option(
            "--basic-delta",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Set this part of delta aside for the same runs (zcdp).",
        ),
    ] = "0"
    ledger: LedgerFile = None


@grouped
def limit(*, asked: LimitOptions) -> None:
    """Set the limit of a dataset; runs that would exceed it are refused.

    The rule that counts it is fixed now. The limit holds for one kind of neighbours: a run whose
    promise says nothing about these is refused.
    """
    from understudy.jobs.accounts import set_limit

    _show(set_limit(asked))


def _show(result: LimitResult) -> None:
    console, account = messages(), result.account
    console.print(f"limit of {account.dataset}: {result.limit}; left of it: {account.remaining}")
    if result.unknown_name:
        console.print(result.unknown_name, style="yellow")
    if account.runs:
        console.print("runs before this limit count against it")
    if account.remaining is not None and account.remaining.overdrawn:
        console.print(
            "more than this limit is spent already, so every further run is refused; raise the "
            "limit if that is not what you want",
            style="yellow",
        )
    if result.rule_changed:
        console.print(
            "the rule was changed after runs: the promise is that of the larger of both limits, "
            "and only if no result led to the change"
        )
