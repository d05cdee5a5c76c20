"""`understudy fit`: learn a model of a private table and save it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_result
from understudy.cli.onlooker import owner_at_terminal
from understudy.cli.options.groups import grouped
from understudy.cli.options.learning import LearningOptions, Yes
from understudy.cli.options.method import FitOptions
from understudy.cli.options.output import AsJson, ModelFile, SignKey
from understudy.cli.options.panels import METHOD


@dataclass(frozen=True)
class ModelFitOptions(FitOptions):
    """Options about a method whose model is saved, and makes its rows later."""

    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            "-n",
            min=0,
            metavar="ROWS",
            rich_help_panel=METHOD,
            help="Let the model make this many rows by default, where the method has to know it "
            "(histogram, random, dpgan, noise-gan).",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelOptions(LearningOptions):
    """Options about private data, and the model that is learned from it."""

    fit: ModelFitOptions


@grouped
def fit(
    *,
    learning: ModelOptions,
    output: ModelFile,
    sign: SignKey = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Learn a model of a private table, or of images; sampling from it later costs nothing."""
    from understudy.jobs.learning import fit

    if learning.caution:
        messages().print(learning.caution, style="yellow")
    result = fit(
        learning, output, sign=sign, progress=TerminalProgress(), owner=owner_at_terminal(yes=yes)
    )
    print_result(result, as_json=as_json)
