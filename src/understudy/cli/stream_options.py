"""What the commands of `understudy stream` share: options, and how an answer is told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.amounts import at_most_text
from understudy.cli.console import results
from understudy.printable import printable_json

if TYPE_CHECKING:
    from understudy.stream import Answer

Epsilon = Annotated[
    str | None,
    typer.Option("--epsilon", "-e", help="Of the state; the answers cost as much again."),
]
UniverseSize = Annotated[
    int | None, typer.Option("--universe", min=1, help="How many users there are, numbered from 0.")
]
KeyFile = Annotated[
    Path | None, typer.Option("--keys", help="A public file that names every user, a line each.")
]
EstimatorName = Annotated[
    str, typer.Option("--estimator", help="bernoulli, dwork, quantised, laplace or gaussian.")
]
Levels = Annotated[int, typer.Option("--levels", help="Of an entry; quantised alone has a choice.")]
Sample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        min=1,
        help="Users with an entry; all up to 10⁸, else for alpha = beta = 0.05.",
    ),
]
Answers = Annotated[int, typer.Option("--answers", help="How many answers share the second ε.")]
StateFile = Annotated[
    Path | None,
    typer.Option("--state", help="A file that is the state: made when it is not there."),
]
States = Annotated[list[Path], typer.Argument(help="The state files of all shards.")]


def tell(answer: Answer, *, as_json: bool) -> None:
    """An answer for people, or as one line of JSON."""
    if as_json:
        print(printable_json(answer.document()), flush=True)
        return
    results().print(
        f"density {answer.density:.4g} ± {answer.standard_error:.2g}, "
        f"distinct {answer.distinct:,.0f} ± {answer.distinct_error:,.0f} "
        f"(m = {answer.m:,}; epsilon {at_most_text(answer.epsilon_state)} for the state, "
        f"{at_most_text(answer.epsilon_total)} in all, for any one user and all their events)"
    )
