"""`understudy stream plan`: how large a sample must be, or how accurate one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from understudy.cli.console import print_json, results
from understudy.cli.options import stream
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import METHOD
from understudy.jobs.stream_planning import StreamPlanRequest
from understudy.system.amounts import at_most_text


@dataclass(frozen=True)
class StreamPlanOptions(StreamPlanRequest):
    """Options about the budget of a stream, and the accuracy of its answers."""

    epsilon: stream.StateEpsilon = None
    universe: stream.UniverseSize = None
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Allow an answer to be this far off.",
        ),
    ] = 0.05
    beta: Annotated[
        float,
        typer.Option(
            "--beta",
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Allow an answer to be farther off with this probability.",
        ),
    ] = 0.05
    relative: Annotated[
        float | None,
        typer.Option(
            "--relative",
            metavar="PART",
            rich_help_panel=METHOD,
            help="Also say which sample is off by at most this part of the density itself, such "
            "as 0.1, where few users are seen.",
        ),
    ] = None
    least_density: Annotated[
        float,
        typer.Option(
            "--least-density",
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Let --relative hold for every density from this one on.",
        ),
    ] = 0.01
    sample: stream.SampleSize = None
    answers: stream.AnswerCount = 1
    estimator: stream.EstimatorName = "bernoulli"
    levels: stream.LevelCount = 2


@grouped
def plan(*, asked: StreamPlanOptions, as_json: AsJson = False) -> None:
    """Say how large a sample must be, or how accurate one is; reads and spends nothing."""
    from understudy.jobs.stream_planning import plan_stream

    document = plan_stream(asked)
    if as_json:
        print_json(document)
    else:
        _show(document, answers=asked.answers)


def _show(document: dict[str, Any], *, answers: int) -> None:
    console, epsilon = results(), at_most_text(document["epsilon_state"])
    console.print(
        f"{document['estimator']}, epsilon = {epsilon} for the state, "
        f"{answers} answers: a sample of {document['sample_size']:,} is within "
        f"{document['alpha']:g} of the density with probability {1 - document['beta']:g}."
    )
    console.print(
        f"With m = {document['m']:,} it is within {document['alpha_of_m']:.3g}; standard error "
        f"{document['standard_error']:.3g}; the state takes {document['state_bytes']:,} bytes."
    )
    if "relative" in document:
        console.print(
            f"A sample of {document['relative_sample_size']:,} is off by at most "
            f"{document['relative']:g} of the density, for densities of "
            f"{document['least_density']:g} or more."
        )
