"""Options about methods: which one, how it learns its network, and how it trains."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import completion, privacy
from understudy.cli.options.data import PersonOptions
from understudy.cli.options.network import NetworkOptions
from understudy.cli.options.network_learning import NetworkLearningOptions
from understudy.cli.options.output import RowCount
from understudy.cli.options.panels import METHOD, TRAINING
from understudy.jobs.method import FitRequest, MethodRequest, TrainingRequest
from understudy.methods import registry
from understudy.privacy.statements.assurance import less_proven_sentence

MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        rich_help_panel=METHOD,
        autocompletion=completion.methods_or_auto,
        help=f"Learn by this method: {registry.listed(registry.AUTOMATIC)}. auto is "
        f"{registry.DEFAULT}; where an option shapes a network it is nist with a delta, else "
        "privbayes; for images it is moments, which learns only images. "
        f"{less_proven_sentence()}",
    ),
]
PlannedName = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        metavar="NAME",
        rich_help_panel=METHOD,
        autocompletion=completion.planned_methods_or_auto,
        help=f"Plan for this method: {registry.listed(registry.AUTOMATIC, command='plan')}. auto "
        f"is {registry.DEFAULT}; where an option shapes a network it is nist with a delta, else "
        "privbayes.",
    ),
]
StructureName = Annotated[
    str | None,
    typer.Option(
        "--structure",
        metavar="NAME",
        rich_help_panel=METHOD,
        autocompletion=completion.from_list("greedy", "pairwise", "tree", "genetic"),
        help="Learn the network this way: greedy, pairwise, tree or genetic. Or read it from a "
        "file: .json (parents of each attribute), .bif, or .csv (a matrix with 1 where the "
        "column is a parent of the row).",
    ),
]
Degree = Annotated[
    int | None,
    typer.Option(
        "--degree",
        min=0,
        metavar="PARENTS",
        rich_help_panel=METHOD,
        help="Give each attribute at most this many parents.",
    ),
]
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        rich_help_panel=METHOD,
        help="Learn these sets of columns better than others: a list in JSON or TOML, such as "
        '[["age", "income"]] (adaptive).',
    ),
]


@dataclass(frozen=True)
class TrainingOptions(TrainingRequest):
    """Options about how neural networks are trained."""

    epochs: Annotated[
        float | None,
        typer.Option(
            "--epochs",
            metavar="NUMBER",
            rich_help_panel=TRAINING,
            help="Use each row this often in training, on average (dpgan, noise-gan).",
        ),
    ] = None
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            min=1,
            metavar="ROWS",
            rich_help_panel=TRAINING,
            help="Put this many rows into a batch, on average (dpgan, noise-gan).",
        ),
    ] = None
    clip: Annotated[
        float | None,
        typer.Option(
            "--clip",
            metavar="NORM",
            rich_help_panel=TRAINING,
            help="Clip the gradient of each row at this norm (dpgan).",
        ),
    ] = None
    pace: Annotated[
        float | None,
        typer.Option(
            "--pace",
            metavar="FACTOR",
            rich_help_panel=TRAINING,
            help="Multiply the learning rates by this factor; try 0.5 if training diverges (dpgan, "
            "noise-gan).",
        ),
    ] = None
    lessons: Annotated[
        int | None,
        typer.Option(
            "--lessons",
            min=0,
            metavar="STEPS",
            rich_help_panel=TRAINING,
            help="Teach a generator in this many steps before anything else: of images by released "
            "moments (dpgan, noise-gan), of rows by those of the default method (dpgan). 0 leaves "
            "that start out.",
        ),
    ] = None


@dataclass(frozen=True)
class MethodOptions(MethodRequest):
    """Options about a method and its budget."""

    epsilon: privacy.Epsilon = None
    delta: privacy.Delta = "0"
    neighbours: privacy.NeighboursName = None
    method: MethodName = "auto"
    structure: StructureName = None
    degree: Degree = None
    network: NetworkOptions = field(default_factory=NetworkOptions)
    learning: NetworkLearningOptions = field(default_factory=NetworkLearningOptions)
    workload: WorkloadFile = None


@dataclass(frozen=True)
class PlannedMethodOptions(MethodOptions):
    """Options about a method that is planned for."""

    method: PlannedName = "auto"


@dataclass(frozen=True)
class FitOptions(MethodOptions, FitRequest):
    """Options about a method that is going to be fitted."""

    people: PersonOptions = field(default_factory=PersonOptions)
    rows: RowCount = None
    training: TrainingOptions = field(default_factory=TrainingOptions)
