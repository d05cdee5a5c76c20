"""`understudy holder`: answer an analyst's questions about rows that stay here."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_json
from understudy.cli.options.data import PersonOptions, ReadingOptions, SharedSchemaFile
from understudy.cli.options.groups import grouped
from understudy.cli.options.learning import ImageSizeOptions
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA, HOLDERS, PRIVACY
from understudy.cli.options.privacy import LedgerOptions, neighbours_option
from understudy.jobs.holding import ConsentRequest, HolderRequest, LinkRequest


@dataclass(frozen=True, kw_only=True)
class LinkOptions(LinkRequest):
    """Options about how the analyst is reached."""

    superlink: Annotated[
        str,
        typer.Option(
            "--superlink",
            metavar="HOST:PORT",
            rich_help_panel=HOLDERS,
            help="Connect to the analyst at this address.",
        ),
    ]
    key: Annotated[
        Path,
        typer.Option(
            "--key",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Identify this holder by its private key, made by `understudy keys holder`.",
        ),
    ]
    root_certificates: Annotated[
        Path,
        typer.Option(
            "--root-certificates",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Trust this roots.crt, which the analyst sent.",
        ),
    ]
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            min=0,
            metavar="SECONDS",
            rich_help_panel=HOLDERS,
            help="Wait this long for an analyst who cannot be reached.",
        ),
    ] = 300
    stay: Annotated[
        bool,
        typer.Option(
            "--stay",
            rich_help_panel=HOLDERS,
            help="Stay for further runs after the first one ends.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ConsentOptions(ConsentRequest):
    """Options about what the holder agrees to."""

    epsilon_limit: Annotated[
        str,
        typer.Option(
            "--epsilon-limit",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Never spend more than this epsilon on the table.",
        ),
    ]
    delta_limit: Annotated[
        str,
        typer.Option(
            "--delta-limit",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Never spend more than this delta on the table; 0 allows only pure runs.",
        ),
    ] = "0"
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Agree without asking to what this TOML file allows. Without it you are asked.",
        ),
    ] = None
    neighbours: Annotated[
        str,
        neighbours_option(
            help="Protect under replace, where the number of rows is public, or under add-remove."
        ),
    ] = "replace"


@dataclass(frozen=True, kw_only=True)
class HolderOptions(HolderRequest):
    """Options about the private table, the analyst, and what the holder agrees to."""

    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="DATA",
            rich_help_panel=DATA,
            help="Answer questions about this private table, in a format that synth reads, or "
            "about images in an .npz file.",
        ),
    ]
    schema: SharedSchemaFile = None
    images: ImageSizeOptions
    consent: ConsentOptions
    link: LinkOptions
    people: PersonOptions
    payer: LedgerOptions
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FOLDER",
            rich_help_panel=HOLDERS,
            help="Keep answers in this folder, so that a repeated question costs nothing. The "
            "default is beside the ledger.",
        ),
    ] = None
    reading: ReadingOptions


@grouped
def holder(*, asked: HolderOptions, as_json: AsJson = False) -> None:
    """Answer an analyst's questions about a private table, each paid for from the ledger.

        This machine connects to the analyst's; nothing needs to reach it from outside. No code that
    arrives is ever run: a holder answers only the questions of understudy's own protocols.

        Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.jobs.holding import hold

    agrees = _agrees if sys.stdin.isatty() else None
    result = hold(asked, agrees=agrees, progress=TerminalProgress())
    if as_json:
        print_json(result.document())
        return
    console = messages()
    console.print(f"{result.answers} messages answered")
    for sentence in result.standing:
        console.print(sentence)


def _agrees(lines: list[str]) -> bool:
    console = messages()
    console.print("An analyst asks for:", style="bold")
    for line in lines:
        console.print(f"  {line}")
    return typer.confirm("Take part?", err=True)
