"""`understudy audit`: measure on made-up tables what a method leaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, print_json, results
from understudy.cli.options import completion
from understudy.cli.options.groups import grouped
from understudy.cli.options.method import Degree, StructureName
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import METHOD, PRIVACY
from understudy.cli.options.privacy import Delta, Epsilon, NeighboursName
from understudy.jobs.auditing import AuditRequest
from understudy.methods import registry
from understudy.privacy.statements.assurance import less_proven_sentence
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from understudy.methods.auditing import Audit

_WIDTH, _HEIGHT = 50, 16


@dataclass(frozen=True, kw_only=True)
class AuditOptions(AuditRequest):
    """Options about the method that is attacked, and how often."""

    method: Annotated[
        str,
        typer.Argument(
            help=f"The method: {registry.listed()}. {less_proven_sentence()}",
            autocompletion=completion.methods,
        ),
    ]
    epsilon: Epsilon = None
    delta: Delta = "0"
    structure: StructureName = None
    degree: Degree = None
    neighbours: NeighboursName = None
    rows_per_person: Annotated[
        int | None,
        typer.Option(
            "--rows-per-person",
            min=1,
            metavar="ROWS",
            rich_help_panel=PRIVACY,
            help="Attack the promise to whole persons, who are made up, with this many rows each.",
        ),
    ] = None
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            min=4,
            metavar="FITS",
            rich_help_panel=METHOD,
            help="Attack this many fits on the first pair of tables; the other pairs share as many "
            "again. More fits find more.",
        ),
    ] = 10_000
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence",
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Raise no false alarm with at least this probability, for example 0.99.",
        ),
    ] = 0.99
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes",
            min=1,
            metavar="NUMBER",
            rich_help_panel=METHOD,
            help="Run this many fits at the same time.",
        ),
    ] = None


@grouped
def audit(*, asked: AuditOptions, as_json: AsJson = False) -> None:
    """Attack a method thousands of times; exit code 5 if its privacy statement is found untrue.

    No private table is read. The method is fitted with real noise on pairs of made-up tables that
    differ in one row or person. Two attackers who know both tables say which one it was: one uses
    the laws of the noise, the other only what was released. What they get right gives a lower
    bound on epsilon. The noise itself is tested for its scale and independence, and some runs are
    replayed on the other table. Exit code 1 means that the audit itself failed.
    """
    from understudy.jobs.auditing import audit

    found = audit(asked, progress=TerminalProgress())
    if as_json:
        print_json(found.audit.document() | {"seconds": found.seconds})
    else:
        _show(found.audit)
    found.check()


def _show(found: Audit) -> None:
    console = results()
    delta = f", delta {at_most_text(found.claim.delta)}" if found.claim.delta else ""
    head = (
        f"{found.method}, {found.unit} as unit, {found.neighbours} neighbours, {found.runs:,} runs"
    )
    console.print(head, style="bold")
    console.print(f"claimed      epsilon {at_most_text(found.claimed_epsilon)}{delta}")
    console.print(f"found        epsilon at least {found.lower_bound:.4g}", end="")
    console.print(f", with confidence {found.confidence:g}")
    console.print(f"could show   epsilon up to {found.provable:.4g}, if every guess were right\n")
    console.print("pair of tables: the one looked for is                by laws  without  at most")
    for place, box in enumerate(found.boxes):
        by_laws = "" if place else f"{found.finding.epsilon:.3f}"
        console.print(f"  {box.case:<50} {by_laws:>8} {box.epsilon:>8.3f} {box.provable:>8.2f}")
    failed = len(found.noise.faults)
    console.print(
        f"noise        {found.noise.tests:,} tests of scale and independence, {failed} failed"
    )
    console.print(
        f"replay       {len(found.boxes)} pairs of tables, {len(found.leaks)} told apart\n"
    )
    console.print(
        "the attacker's errors: the person is missed (upwards), or seen when absent (to the right)"
    )
    for line in plotted(found):
        console.print(line)
    console.print("● measured   ░ what the claim rules out")


def plotted(found: Audit) -> list[str]:
    """The trade-off as text: measured points over the region that the claim rules out."""
    from understudy.methods.auditing.bounds import least_false_negative

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
