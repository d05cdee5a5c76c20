"""`understudy audit`: what a method gives away, measured on made-up tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.amounts import at_most_text
from understudy.cli import methods, options
from understudy.cli.console import Stopwatch, messages, print_json, results
from understudy.errors import ClaimRefuted, UsageError
from understudy.privacy.assurance import less_proven_sentence

if TYPE_CHECKING:
    from understudy.auditing import Audit

_WIDTH, _HEIGHT = 50, 16
_REASONS = 8


def audit(
    method: Annotated[
        str,
        typer.Argument(
            help="random, independent, privbayes, nist, histogram, dpgan or noise-gan. "
            f"{less_proven_sentence()}"
        ),
    ],
    epsilon: options.Epsilon = None,
    delta: options.Delta = "0",
    structure: options.StructureName = None,
    degree: options.Degree = None,
    neighbours: options.NeighboursName = None,
    rows_per_person: Annotated[
        int | None,
        typer.Option(
            "--rows-per-person",
            min=1,
            help="Attack the promise for whole persons, made up, of whom so many rows are kept.",
        ),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            min=4,
            help="How many fits to attack on the first pair of tables; the other pairs share as "
            "many again. More show more.",
        ),
    ] = 10_000,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence", help="The chance, at least, that no false alarm is given, as 0.99."
        ),
    ] = 0.99,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="How many run at a time.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Attack a method thousands of times; exit code 5 if its privacy statement is found untrue.

    No private table is read. The method is fitted with real noise on pairs of made-up tables that
    differ in one row or person. Two attackers who know both tables say which one it was: one uses
    the laws of the noise, the other only what was released. What they get right gives a lower
    bound on epsilon. The noise itself is tested for its scale and independence, and some runs are
    replayed on the other table. Exit code 1 means that the audit itself failed.
    """
    from understudy.auditing import PERSON, SCHEMA, fits_in
    from understudy.auditing import audit as run_audit

    if method == "auto":
        raise UsageError("method 'auto' is a choice among methods; name the one to audit")
    # Each row of a histogram has its own share of the budget; one alone gives away the most.
    rows = 1 if method == "histogram" else None
    person = None if rows_per_person is None else PERSON
    request = methods.Request(
        epsilon,
        delta,
        method,
        structure,
        degree,
        neighbours=neighbours,
        rows=rows,
        people=options.People(person, rows_per_person),
    )
    synthesizer = methods.build(request, SCHEMA)
    watch = Stopwatch()
    with watch.timed("audit"), _progress(fits_in(synthesizer, runs)) as advance:
        found = run_audit(
            synthesizer, runs=runs, confidence=confidence, processes=processes, watch=advance
        )
    if as_json:
        print_json(found.document() | {"seconds": watch.seconds})
    else:
        _show(found)
    if found.refuted:
        raise ClaimRefuted("\n".join([*_most(found.reasons), _verdict(found)]))


def _most(reasons: list[str]) -> list[str]:
    """The first reasons; noise that is wrong everywhere fails hundreds of tests."""
    more = len(reasons) - _REASONS
    return reasons if more <= 0 else [*reasons[:_REASONS], f"and {more} findings more, see --json"]


def _verdict(found: Audit) -> str:
    if found.exceeds_claim:
        return (
            f"{found.method} gives away epsilon {found.lower_bound:.4g} or more where "
            f"{at_most_text(found.claimed_epsilon)} is claimed; do not release its results, and "
            "report this"
        )
    return (
        f"{found.method} does not do what its statement says; do not release its results, "
        "and report this"
    )


@contextmanager
def _progress(fits: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal; what it gives is told how many fits were added."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("fitting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=messages(), transient=True) as progress:
        task = progress.add_task("", total=fits)
        yield lambda added: progress.advance(task, added)


def _show(found: Audit) -> None:
    say = results()
    delta = f", delta {at_most_text(found.claim.delta)}" if found.claim.delta else ""
    head = (
        f"{found.method}, {found.unit} as unit, {found.neighbours} neighbours, {found.runs:,} runs"
    )
    say.print(head, style="bold")
    say.print(f"claimed      epsilon {at_most_text(found.claimed_epsilon)}{delta}")
    say.print(f"found        epsilon at least {found.lower_bound:.4g}", end="")
    say.print(f", with confidence {found.confidence:g}")
    say.print(f"could show   epsilon up to {found.provable:.4g}, if every guess were right\n")
    say.print("pair of tables: the one looked for is                by laws  without  at most")
    for place, box in enumerate(found.boxes):
        by_laws = "" if place else f"{found.finding.epsilon:.3f}"
        say.print(f"  {box.case:<50} {by_laws:>8} {box.epsilon:>8.3f} {box.provable:>8.2f}")
    failed = len(found.noise.faults)
    say.print(
        f"noise        {found.noise.tests:,} tests of scale and independence, {failed} failed"
    )
    say.print(f"replay       {len(found.boxes)} pairs of tables, {len(found.leaks)} told apart\n")
    say.print("the attacker's errors: upwards the person missed, to the right seen when absent")
    for line in plotted(found):
        say.print(line)
    say.print("● measured   ░ what the claim rules out")


def plotted(found: Audit) -> list[str]:
    """The trade-off as text: measured points over the region that the claim rules out."""
    from understudy.auditing.bounds import least_false_negative

    epsilon, delta = found.claimed_epsilon, float(found.claim.delta)
    columns = [i / (_WIDTH - 1) for i in range(_WIDTH)]
    least = [least_false_negative(x, epsilon=epsilon, delta=delta) for x in columns]
    grid = [
        ["░" if (height + 0.5) / _HEIGHT < limit else " " for limit in least]
        for height in range(_HEIGHT)
    ]
    for place, x in enumerate(columns):
        height = int(found.finding.curve.at(x) * _HEIGHT)
        grid[min(height, _HEIGHT - 1)][place] = "●"
    labels = {_HEIGHT - 1: "1.0", _HEIGHT // 2 - 1: "0.5", 0: "0.0"}
    lines = [f"{labels.get(h, ''):>5} │{''.join(grid[h])}" for h in reversed(range(_HEIGHT))]
    axis = f"{'':>5} └{'─' * _WIDTH}"
    return [*lines, axis, f"{'':>6} 0.0{'0.5':^{_WIDTH - 6}}1.0"]
