"""`understudy analyst`: learn one model from tables that stay with their holders."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.console import TerminalProgress, print_result
from understudy.cli.options import completion
from understudy.cli.options.data import RowsPerPerson, SharedSchemaFile
from understudy.cli.options.groups import grouped
from understudy.cli.options.learning import ImageSizeOptions
from understudy.cli.options.method import Degree
from understudy.cli.options.network import NetworkOptions
from understudy.cli.options.network_learning import OneWayShare, ScoreChoice
from understudy.cli.options.output import AsJson, ModelFile
from understudy.cli.options.panels import HOLDERS, LEARNING, METHOD
from understudy.cli.options.privacy import Delta, Epsilon, neighbours_option
from understudy.jobs.collaboration import (
    AnalystRequest,
    ListeningRequest,
    PatienceRequest,
    ProtocolRequest,
)


@dataclass(frozen=True, kw_only=True)
class ListeningOptions(ListeningRequest):
    """Options about where holders connect."""

    holders: Annotated[
        int,
        typer.Option(
            "--holders",
            min=1,
            metavar="NUMBER",
            rich_help_panel=HOLDERS,
            help="Wait until this many holders are connected before asking anything.",
        ),
    ]
    holder_keys: Annotated[
        list[Path],
        typer.Option(
            "--holder-keys",
            metavar="PATH",
            rich_help_panel=HOLDERS,
            help="Admit the holders with these public keys: NAME.pub, or a folder of them. Repeat "
            "for more.",
        ),
    ]
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            rich_help_panel=HOLDERS,
            help="Listen for holders at this address.",
        ),
    ]
    certificate: Annotated[
        Path,
        typer.Option(
            "--certificate",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Show holders this certificate, made by `understudy keys analyst`.",
        ),
    ] = Path("analyst.crt")
    certificate_key: Annotated[
        Path,
        typer.Option(
            "--certificate-key",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Use this private key of the certificate.",
        ),
    ] = Path("analyst.key")


@dataclass(frozen=True)
class ProtocolOptions(ProtocolRequest):
    """Options about how holders learn together."""

    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="NAME",
            rich_help_panel=METHOD,
            autocompletion=completion.from_list(
                "votes", "statistics", "model", "parameters", "adaptive", "moments"
            ),
            help="Learn by this protocol: votes, statistics, model, parameters or adaptive for "
            "tables, moments for images.",
        ),
    ] = "votes"
    epsilon: Epsilon = None
    delta: Delta = "0"
    neighbours: Annotated[
        str,
        neighbours_option(
            help="Protect under replace, where numbers of rows are public, or under add-remove."
        ),
    ] = "replace"
    rows_per_person: RowsPerPerson = None
    degree: Degree = None
    structure: Annotated[
        Path | None,
        typer.Option(
            "--structure",
            metavar="FILE",
            rich_help_panel=METHOD,
            help="Read the network from this .json, .bif or .csv file (the protocol parameters).",
        ),
    ] = None
    score: ScoreChoice = None
    structure_share: Annotated[
        str | None,
        typer.Option(
            "--structure-share",
            metavar="SHARE",
            rich_help_panel=LEARNING,
            help="Spend this share of the budget on votes: β, ε₁/ε in the theses, where it is 0.5 "
            "(votes).",
        ),
    ] = None
    one_way_share: OneWayShare = None
    ballot: Annotated[
        str | None,
        typer.Option(
            "--ballot",
            metavar="NAME",
            rich_help_panel=LEARNING,
            autocompletion=completion.from_list("choices", "scores"),
            help="Let holders vote by choices of families, as in noisy majority voting, or by "
            "scores of all pairs. The default is scores with a delta, else choices (votes).",
        ),
    ] = None
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            metavar="NAME",
            rich_help_panel=LEARNING,
            autocompletion=completion.from_list("greedy", "tree", "genetic"),
            help="Find the network in the collected tables this way: greedy, tree or genetic "
            "(statistics).",
        ),
    ] = "greedy"
    gathering: Annotated[
        str,
        typer.Option(
            "--gathering",
            metavar="NAME",
            rich_help_panel=LEARNING,
            autocompletion=completion.from_list("network", "union"),
            help="Make one network of the holders' models, or the union of their synthetic rows "
            "(model).",
        ),
    ] = "network"
    as_printed: Annotated[
        bool,
        typer.Option(
            "--as-printed",
            rich_help_panel=LEARNING,
            help="Follow the theses to the letter: equal shares, a fixed degree, counts below 0 "
            "set to 0, one vote for each holder.",
        ),
    ] = False
    network: NetworkOptions = field(default_factory=NetworkOptions)


@dataclass(frozen=True)
class PatienceOptions(PatienceRequest):
    """Options about how long the analyst waits."""

    least: Annotated[
        int | None,
        typer.Option(
            "--least",
            min=1,
            metavar="HOLDERS",
            rich_help_panel=HOLDERS,
            help="Continue while at least this many holders answer. The default is all of them.",
        ),
    ] = None
    deadline: Annotated[
        float,
        typer.Option(
            "--deadline",
            min=1,
            metavar="SECONDS",
            rich_help_panel=HOLDERS,
            help="Give each question at most this long.",
        ),
    ] = 120
    attempts: Annotated[
        int,
        typer.Option(
            "--attempts",
            min=1,
            metavar="NUMBER",
            rich_help_panel=HOLDERS,
            help="Ask a silent holder this often.",
        ),
    ] = 3
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            min=0,
            metavar="SECONDS",
            rich_help_panel=HOLDERS,
            help="Wait this long for holders to connect.",
        ),
    ] = 600
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            metavar="FILE",
            rich_help_panel=HOLDERS,
            help="Resume an interrupted run from this file. The default is OUTPUT.journal.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AnalystOptions(AnalystRequest):
    """Options about what is learned, from whom, and where the model goes."""

    schema: SharedSchemaFile = None
    images: ImageSizeOptions
    output: ModelFile
    listening: ListeningOptions
    protocol: ProtocolOptions
    patience: PatienceOptions


@grouped
def analyst(*, asked: AnalystOptions, as_json: AsJson = False) -> None:
    """Learn a model of the tables of several holders, which answer with noise of their own.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.jobs.collaboration import learn_together

    progress = TerminalProgress()
    result = learn_together(asked, progress=progress)
    print_result(result, as_json=as_json)
    if not as_json:
        for finding in result.findings:
            progress.warning(finding)
