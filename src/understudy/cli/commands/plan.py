"""`understudy plan`: say what a budget can support, before anything is read or spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, print_json, results, table_of
from understudy.cli.options.data import SchemaFile
from understudy.cli.options.groups import grouped
from understudy.cli.options.method import PlannedMethodOptions
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA, LEARNING, OUTPUT
from understudy.jobs.planning import PlanRequest
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.methods.planning import Band, Need, Plan
    from understudy.methods.planning.share_comparison import ShareComparison


# The widest bar of the curve of distances, in letters.
_WIDEST = 40


@dataclass(frozen=True, kw_only=True)
class PlanOptions(PlanRequest):
    """Options about a table that is not read, and the method that would learn from it."""

    schema: SchemaFile
    rows: Annotated[
        int,
        typer.Option(
            "--rows",
            "-n",
            metavar="ROWS",
            rich_help_panel=DATA,
            help="Say about how many rows the private table has.",
        ),
    ]
    error: Annotated[
        float | None,
        typer.Option(
            metavar="DISTANCE",
            rich_help_panel=OUTPUT,
            help="Also say which epsilon is needed for this distance, such as 0.05; --epsilon may "
            "then be left out.",
        ),
    ] = None
    way: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            rich_help_panel=OUTPUT,
            help="Say which distance --error is about: 1-way, 2-way or 3-way. The default is the "
            "largest that can be compared.",
        ),
    ] = None
    compare_shares: Annotated[
        bool,
        typer.Option(
            "--compare-shares",
            rich_help_panel=LEARNING,
            help="Also rehearse several shares of the budget for the network, and say which "
            "--structure-share (β) to take.",
        ),
    ] = False
    holders: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=1,
            rich_help_panel=LEARNING,
            help="Also say from which epsilon on this many holders, each with a part of the rows, "
            "do better with `analyst --protocol statistics` than with votes.",
        ),
    ] = None
    method: PlannedMethodOptions


@grouped
def plan(*, asked: PlanOptions, as_json: AsJson = False) -> None:
    """Forecast what a budget can support: questions, noise, expected error, time and memory."""
    from understudy.jobs.planning import plan, privacy_of, protocols_advised, shares_compared

    protocols = protocols_advised(asked)
    shares = shares_compared(asked, progress=TerminalProgress()) if asked.compare_shares else None
    planned = plan(asked, progress=TerminalProgress())
    privacy = privacy_of(asked)
    need = None if asked.error is None else planned.need(asked.error, asked.way)
    if as_json:
        needed = {} if need is None else {"need": need.document()}
        advised = {} if shares is None else {"structure_shares": shares.document()}
        among = {} if protocols is None else {"protocols": protocols.document()}
        found = {**planned.document(), "privacy": privacy.document()}
        print_json({**found, **needed, **advised, **among})
        return
    _show(planned, need)
    results().print(
        privacy.warning or privacy.sentence, style="yellow" if privacy.warning else None
    )
    if shares is not None:
        results().print(_shares(shares))
        results().print(shares.sentence, style="bold")
    if protocols is not None:
        results().print(protocols.sentence, style="bold")


def _show(planned: Plan, need: Need | None) -> None:
    console = results()
    console.print(
        f"{planned.method} on {planned.rows:,} rows × {len(planned.cells)} columns, "
        f"{planned.budget}, {planned.unit.neighbours} neighbours",
        style="bold",
    )
    console.print("Nothing was read and nothing was spent.\n")
    console.print(_questions(planned))
    for sentence in _about_noise(planned):
        console.print(sentence)
    console.print("\nExpected distance of synthetic rows: 0 is the same, 1 has nothing in common")
    console.print(_outlooks(planned))
    if len(planned.outlooks) > 1:
        console.print(_curve(planned))
    if need is not None:
        console.print(need.sentence, style="bold")
    console.print(planned.error_basis + "\n")
    console.print(_cost(planned))
    console.print(planned.cost_basis)


def _shares(compared: ShareComparison) -> Table:
    table = table_of(["structure share", f"expected {compared.way} distance"])
    for each in compared.tried:
        name = "the method's own" if each.share is None else f"{float(each.share):g}"
        table.add_row(name, f"{each.distance:.3g}")
    return table


def _questions(planned: Plan) -> Table:
    table = table_of(["asked", "questions", "cells", "share", "noise in rows"])
    for stage in planned.stages:
        mark = " *" if planned.depends_on_answers(stage) else ""
        cells = f"{sum(stage.cells):,}" if stage.cells else "–"
        share = f"{float(planned.share(stage)):.1%}"
        line = (stage.name + mark, f"{stage.questions:,}", cells, share, _range(stage.noise))
        table.add_row(*line)
    return table


def _range(noise: tuple[float, ...]) -> str:
    least, most = f"{min(noise):,.3g}", f"{max(noise):,.3g}"
    return least if least == most else f"{least} to {most}"


def _about_noise(planned: Plan) -> Iterator[str]:
    """Say in words what follows from the noise."""
    yield "Noise is a standard deviation, of a cell or of a score. " + planned.noise_basis
    families = planned.families
    if families is not None:
        yield (
            f"A family's table may have up to {families.most_cells:,} cells, and must show "
            f"{families.price:,.3g} rows of dependence for each. In the simulations "
            f"{families.tables:.1f} were worth it on average, the largest of "
            f"{families.largest:,} cells."
        )
    if planned.one_way_noise is not None:
        yield (
            f"By their noise alone one-way tables would first be {planned.one_way_noise:.2g} off; "
            "later steps remove most of the negative cells, and with them much of this."
        )


def _outlooks(planned: Plan) -> Table:
    table = table_of(["epsilon", "1-way", "2-way", "3-way", ""])
    for outlook in planned.outlooks:
        mine = outlook.epsilon == planned.budget.amount
        bands = (_band(band) for band in outlook.distances)
        mark = "←" if mine else ""
        table.add_row(at_most_text(outlook.epsilon), *bands, mark, style="bold" if mine else None)
    return table


def _curve(planned: Plan) -> Table:
    """The distance of the largest tables over ε, as bars."""
    from understudy.methods.planning.band import WAYS

    way = planned.expected.largest
    table = table_of(["epsilon", f"expected {way} distance"])
    bands = [(o.epsilon, o.distances[WAYS.index(way)]) for o in planned.outlooks]
    curve = [(epsilon, band.expected) for epsilon, band in bands if band is not None]
    most = max(distance for _, distance in curve)
    for epsilon, distance in curve:
        bar = "█" * max(round(_WIDEST * distance / most), 1)
        table.add_row(at_most_text(epsilon), f"{bar} {distance:.2g}")
    return table


def _band(band: Band | None) -> str:
    if band is None:
        return "too large"
    low, high = band.likely
    return f"{band.expected:.2g} ({low:.2g}–{high:.2g})"


def _cost(planned: Plan) -> str:
    cost = planned.cost
    return (
        f"Time: fit {cost.fit_seconds:,.2g} s, sample {cost.sample_seconds:,.2g} s. Memory: rows "
        f"{cost.row_bytes / 2**20:,.3g} MiB, tables {cost.table_bytes / 2**20:,.3g} MiB, "
        f"made-up rows at most {cost.pool_bytes / 2**20:,.3g} MiB."
    )
