"""`understudy stream`: how many different users came by, from a state that may be seized."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.amounts import at_most, at_most_text
from understudy.cli import options, stream_options
from understudy.cli.console import messages, print_json, results
from understudy.cli.groups import grouped
from understudy.cli.stream_density import density
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.stream.sizing import Sizing

app = typer.Typer(
    no_args_is_help=True,
    help="How many different users came by, from a state that may be seized.",
)
app.command()(density)

# A universe that no sample is a large part of.
_UNBOUNDED = 2**60


@app.command()
def plan(
    epsilon: stream_options.Epsilon = None,
    universe: stream_options.UniverseSize = None,
    alpha: Annotated[float, typer.Option("--alpha", help="How far off an answer may be.")] = 0.05,
    beta: Annotated[float, typer.Option("--beta", help="How often it may be farther off.")] = 0.05,
    sample: stream_options.Sample = None,
    answers: stream_options.Answers = 1,
    estimator: stream_options.EstimatorName = "bernoulli",
    levels: stream_options.Levels = 2,
    as_json: options.AsJson = False,
) -> None:
    """Tell how large a sample must be, or how good one is; reads and spends nothing."""
    from understudy.privacy.budget import exact
    from understudy.stream.response import response_of
    from understudy.stream.sizing import Sizing

    if epsilon is None:
        raise UsageError("epsilon has no default; say it, for example --epsilon 0.25")
    if answers < 1:
        raise UsageError(f"answers is {answers}; declare at least 1")
    amount = exact(epsilon, what="epsilon")
    sizing = Sizing(response_of(estimator, amount, levels), amount / answers)
    document = _planned(sizing, amount, alpha, beta, sample, universe)
    if as_json:
        print_json(document)
        return
    results().print(
        f"{sizing.response.name}, epsilon = {at_most_text(amount)} for the state, "
        f"{answers} answers: a sample of {document['sample_size']:,} is within {alpha:g} of the "
        f"density with probability {1 - beta:g}."
    )
    results().print(
        f"With m = {document['m']:,} it is within {document['alpha_of_m']:.3g}; standard error "
        f"{document['standard_error']:.3g}; the state takes {document['state_bytes']:,} bytes."
    )


def _planned(
    sizing: Sizing,
    epsilon: Fraction,
    alpha: float,
    beta: float,
    sample: int | None,
    universe: int | None,
) -> dict[str, Any]:
    from understudy.stream.entries import bytes_for
    from understudy.stream.sizing import WHOLE_UP_TO

    least = sizing.sample_size(alpha, beta)
    size = universe or _UNBOUNDED
    m = min(sample or (size if size <= WHOLE_UP_TO else least), size)
    whole = m == universe
    of = None if whole else universe or _UNBOUNDED
    variances = [sizing.variance(m, density, of) for density in (0, 0.5, 1)]
    return {
        "estimator": sizing.response.name,
        "epsilon_state": at_most(epsilon),
        "epsilon_answer": at_most(sizing.answer_epsilon),
        "epsilon_total": at_most(2 * epsilon),
        "alpha": alpha,
        "beta": beta,
        "sample_size": least,
        "m": m,
        "alpha_of_m": sizing.accuracy(m, beta, whole=whole),
        "beta_of_m": sizing.miss_chance(alpha, m, whole=whole),
        "standard_error": max(variances) ** 0.5,
        "state_bytes": bytes_for(m, sizing.response),
    }


@app.command()
@grouped
def intrusion(
    *,
    state: Annotated[Path, typer.Argument(help="The state that was seen.")],
    keys: stream_options.KeyFile = None,
    purse: options.Purse,
) -> None:
    """Announce that a state was seen: it is kept as public, and a fresh epoch begins."""
    from understudy.privacy.budget import Budget
    from understudy.stream import DensityEstimator
    from understudy.stream.density import WHOM, about
    from understudy.stream.reading import key_lines
    from understudy.stream.state import FileState

    opened = FileState.open(state, None if keys is None else key_lines(keys))
    design = opened.design
    book = purse.book
    cost = Budget.pure(design.state_epsilon)
    with (
        book.grant(purse.dataset or state.stem, cost, adjacency=WHOM, about=about(design)) as grant,
        DensityEstimator.over(opened, grant) as visits,
    ):
        visits.announce_intrusion()
        epochs = visits.epochs
    total = at_most_text(design.total_epsilon(epochs))
    messages().print(f"epoch {epochs} of {state} has begun; epsilon = {total} in all")


@app.command()
@grouped
def merge(
    *,
    states: stream_options.States,
    disjoint: Annotated[
        bool, typer.Option("--disjoint", help="No user is in more than one of the states.")
    ] = False,
    keys: stream_options.KeyFile = None,
    purse: options.Purse,
    as_json: options.AsJson = False,
) -> None:
    """Give one answer for all shards of a stream."""
    from understudy.privacy.budget import Budget
    from understudy.stream.density import WHOM, about
    from understudy.stream.reading import key_lines
    from understudy.stream.shards import merged
    from understudy.stream.state import FileState

    names = None if keys is None else key_lines(keys)
    opened = [FileState.open(path, names) for path in states]
    design = opened[0].design
    book, cost = purse.book, Budget.pure(design.answer_epsilon)
    try:
        name = purse.dataset or "shards"
        with book.grant(name, cost, adjacency=WHOM, about=about(design)) as grant:
            answer = merged(opened, grant, disjoint=disjoint)
    finally:
        for state in opened:
            state.close()
    stream_options.tell(answer, as_json=as_json)
