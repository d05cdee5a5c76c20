"""Options about how a network is learned, each with the name that its paper has for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from understudy.cli.options import completion
from understudy.cli.options.panels import LEARNING
from understudy.jobs.network_learning import NetworkLearningRequest

ScoreChoice = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="NAME",
        rich_help_panel=LEARNING,
        autocompletion=completion.from_list("TVD", "R", "MI", "F"),
        help="Choose families by this score: TVD under add-remove; R, MI (mutual information, "
        "I in the papers) or F under replace. F is for columns of two values.",
    ),
]
StructureShare = Annotated[
    str | None,
    typer.Option(
        "--structure-share",
        metavar="SHARE",
        rich_help_panel=LEARNING,
        help="Spend at most this share of the budget on the network: β of PrivBayes, as in 0.3. "
        "`understudy plan --compare-shares` says which is best on made-up rows.",
    ),
]
OneWayShare = Annotated[
    str | None,
    typer.Option(
        "--one-way-share",
        metavar="SHARE",
        rich_help_panel=LEARNING,
        help="Spend this share of the budget on tables of single columns before the network is "
        "learned. The default is more, the noisier they would be.",
    ),
]


@dataclass(frozen=True)
class NetworkLearningOptions(NetworkLearningRequest):
    """Options about how a network is learned."""

    score: ScoreChoice = None
    theta: Annotated[
        float | None,
        typer.Option(
            "--theta",
            metavar="NUMBER",
            rich_help_panel=LEARNING,
            help="Take no table whose average cell holds fewer rows than this many times its "
            "noise: θ-usefulness, 4 in the papers. It replaces the price of cells.",
        ),
    ] = None
    structure_share: StructureShare = None
    one_way_share: OneWayShare = None
    size_share: Annotated[
        str | None,
        typer.Option(
            "--size-share",
            metavar="SHARE",
            rich_help_panel=LEARNING,
            help="Spend this share of the budget on the number of rows, where it is private. The "
            "default is 0.01.",
        ),
    ] = None
    population: Annotated[
        int | None,
        typer.Option(
            "--population",
            metavar="NUMBER",
            rich_help_panel=LEARNING,
            help="Keep this many individuals in a generation of the genetic search: P. The default "
            "is 200.",
        ),
    ] = None
    selected: Annotated[
        int | None,
        typer.Option(
            "--selected",
            metavar="NUMBER",
            rich_help_panel=LEARNING,
            help="Let this many of them, the fittest, live on and have descendants: S. The default "
            "is 10.",
        ),
    ] = None
    mutation: Annotated[
        float | None,
        typer.Option(
            "--mutation",
            metavar="CHANCE",
            rich_help_panel=LEARNING,
            help="Mutate with this chance, from 0 to 1: r. The default is 1 over the number of "
            "columns.",
        ),
    ] = None
    generations: Annotated[
        int | None,
        typer.Option(
            "--generations",
            metavar="NUMBER",
            rich_help_panel=LEARNING,
            help="End the genetic search after this many generations at the most: e. The default "
            "is 2000.",
        ),
    ] = None
