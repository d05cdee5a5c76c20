"""Options of `understudy stream`: events, the universe of users, the state and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import completion
from understudy.cli.options.panels import DATA, METHOD, PLACES, PRIVACY
from understudy.jobs.stream_design import StreamRequest
from understudy.jobs.stream_events import EventRequest

_ESTIMATORS = ("bernoulli", "dwork", "quantised", "laplace", "gaussian")

StateEpsilon = Annotated[
    str | None,
    typer.Option(
        "--epsilon",
        "-e",
        metavar="NUMBER",
        rich_help_panel=PRIVACY,
        help="Allow the state this privacy loss; all answers together cost as much again.",
    ),
]
UniverseSize = Annotated[
    int | None,
    typer.Option(
        "--universe",
        min=1,
        metavar="USERS",
        rich_help_panel=DATA,
        help="Declare how many users there are; they are numbered.",
    ),
]
UserFile = Annotated[
    Path | None,
    typer.Option(
        "--users",
        metavar="FILE",
        rich_help_panel=DATA,
        help="Read the names of all users from this public file, one in each line.",
    ),
]
EstimatorName = Annotated[
    str,
    typer.Option(
        "--estimator",
        metavar="NAME",
        rich_help_panel=METHOD,
        autocompletion=completion.from_list(*_ESTIMATORS),
        help="Randomise entries this way: bernoulli, dwork, quantised, laplace or gaussian.",
    ),
]
LevelCount = Annotated[
    int,
    typer.Option(
        "--levels",
        metavar="NUMBER",
        rich_help_panel=METHOD,
        help="Give each entry this many levels; only the estimator quantised has a choice.",
    ),
]
SampleSize = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        metavar="USERS",
        rich_help_panel=METHOD,
        help="Keep an entry for this many users. The default is all up to 10⁸, else enough for "
        "alpha = beta = 0.05.",
    ),
]
AnswerCount = Annotated[
    int,
    typer.Option(
        "--answers",
        metavar="NUMBER",
        rich_help_panel=PRIVACY,
        help="Declare how many answers share the second epsilon.",
    ),
]


@dataclass(frozen=True)
class StreamOptions(StreamRequest):
    """Options about a new state."""

    epsilon: StateEpsilon = None
    universe: UniverseSize = None
    first: Annotated[
        int,
        typer.Option(
            "--first",
            metavar="NUMBER",
            rich_help_panel=DATA,
            help="Begin the numbers of users with this one.",
        ),
    ] = 0
    users: UserFile = None
    hash_space: Annotated[
        int | None,
        typer.Option(
            "--hash-space",
            metavar="PLACES",
            rich_help_panel=DATA,
            help="Hash users that nobody can list into this many places.",
        ),
    ] = None
    sketch: Annotated[
        int | None,
        typer.Option(
            "--sketch",
            metavar="BUCKETS",
            rich_help_panel=DATA,
            help="Hash users that nobody can list into this many buckets of 24 bits, for any "
            "number of users (the sketch of Flajolet and Martin).",
        ),
    ] = None
    vertices: Annotated[
        int | None,
        typer.Option(
            "--vertices",
            metavar="NUMBER",
            rich_help_panel=DATA,
            help="Count the edges of a graph with this many vertices; each line is a pair of them.",
        ),
    ] = None
    estimator: EstimatorName = "bernoulli"
    levels: LevelCount = 2
    sample: SampleSize = None
    answers: AnswerCount = 1
    shards: Annotated[
        int,
        typer.Option(
            "--shards",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Share users and epsilon among this many states.",
        ),
    ] = 1
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Sample the same users as this state does.",
        ),
    ] = None


@dataclass(frozen=True)
class EventOptions(EventRequest):
    """Options about where events come from."""

    data: Annotated[
        str,
        typer.Argument(
            help="The ids: a file of lines, a .csv or .parquet file, a redis:// address, or - for "
            "standard input."
        ),
    ] = "-"
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            metavar="NAME",
            rich_help_panel=DATA,
            help="Read ids from this column, or from this field of Redis entries.",
        ),
    ] = None
    stream: Annotated[
        str | None,
        typer.Option(
            "--stream",
            metavar="KEY",
            rich_help_panel=PLACES,
            help="Read the Redis stream under this key.",
        ),
    ] = None
    group: Annotated[
        str,
        typer.Option(
            "--group",
            metavar="NAME",
            rich_help_panel=PLACES,
            help="Read as a member of this group of Redis consumers.",
        ),
    ] = "understudy"
    consumer: Annotated[
        str,
        typer.Option(
            "--consumer",
            metavar="NAME",
            rich_help_panel=PLACES,
            help="Read as this Redis consumer; its unfinished entries are delivered again.",
        ),
    ] = "understudy"
    idle: Annotated[
        float | None,
        typer.Option(
            "--idle",
            min=0,
            metavar="SECONDS",
            rich_help_panel=PLACES,
            help="End after this long without new entries in the Redis stream.",
        ),
    ] = None
    deletions: Annotated[
        bool,
        typer.Option(
            "--deletions",
            rich_help_panel=DATA,
            help="Read lines that begin with - as users who leave.",
        ),
    ] = False
