"""Options about what a network must and must not contain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options.panels import NETWORK
from understudy.jobs.network_rules import NetworkRequest


@dataclass(frozen=True)
class NetworkOptions(NetworkRequest):
    """Options about what a network must and must not contain."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            rich_help_panel=NETWORK,
            help="Name the column that the others are used to predict: adaptive learns its tables "
            "better, networks put it first, dpgan and noise-gan choose its values first.",
        ),
    ] = None
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            metavar="COLUMN",
            rich_help_panel=NETWORK,
            help="Protect this sensitive column: it depends only on the target, or on the columns "
            "listed, as in illness=age,sex, and nothing depends on it. Repeat for more.",
        ),
    ] = None
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(
            "--quasi-identifiers",
            metavar="COLUMNS",
            rich_help_panel=NETWORK,
            help="Name columns that an attacker may know, as in age,sex. The statement lists them.",
        ),
    ] = None
    ignore: Annotated[
        str | None,
        typer.Option(
            "--ignore",
            metavar="COLUMNS",
            rich_help_panel=NETWORK,
            help="Let protected columns depend on all columns but these, as in age,sex: "
            "quasi-identifiers that are to be ignored.",
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            metavar="EDGE",
            rich_help_panel=NETWORK,
            help="Require this edge, written parent:child. Repeat for more.",
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            "--forbid",
            metavar="EDGE",
            rich_help_panel=NETWORK,
            help="Forbid this edge, written parent:child. Repeat for more.",
        ),
    ] = None
    tier: Annotated[
        list[str] | None,
        typer.Option(
            "--tier",
            metavar="COLUMNS",
            rich_help_panel=NETWORK,
            help="Order columns: those of this tier, as in age,sex, have no parents in later "
            "tiers. Repeat in order; columns without a tier come last.",
        ),
    ] = None
    predictors: Annotated[
        Path | None,
        typer.Option(
            "--predictors",
            metavar="FILE",
            rich_help_panel=NETWORK,
            help="Read allowed parents from this CSV matrix: a line for each child, 1 where the "
            "column may be a parent, else 0.",
        ),
    ] = None
