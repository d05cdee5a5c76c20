"""`understudy plan`: what a budget can support, before anything is read or spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.amounts import at_most_text
from understudy.cli import methods, options
from understudy.cli.console import print_json, results, steps
from understudy.cli.groups import grouped
from understudy.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.planning import Band, Plan


@grouped
def plan(
    *,
    schema: options.SchemaFile,
    rows: Annotated[
        int, typer.Option("--rows", "-n", help="About how many rows the private table has.")
    ],
    choice: methods.Choice,
    as_json: options.AsJson = False,
) -> None:
    """Tell what a budget can support: questions, noise, expected error, time and memory."""
    from understudy.planning import plan_fit
    from understudy.schema import Schema

    request = methods.Request(**vars(choice))
    methods.refuse_trained(request)
    synthesizer = methods.build(request, Schema.load(schema))
    if request.chosen == "histogram":
        raise UsageError(
            "plan rehearses methods that count, and histogram draws rows; name another"
        )
    with steps("rehearsing") as watch:
        planned = plan_fit(synthesizer, rows, watch=watch)
    if as_json:
        print_json(planned.document())
    else:
        _show(planned)


def _show(planned: Plan) -> None:
    say = results()
    say.print(
        f"{planned.method} on {planned.rows:,} rows × {len(planned.cells)} columns, "
        f"{planned.budget}, {planned.unit.neighbours} neighbours",
        style="bold",
    )
    say.print("Nothing was read and nothing was spent.\n")
    say.print(_questions(planned))
    for sentence in _about_noise(planned):
        say.print(sentence)
    say.print("\nExpected distance of synthetic rows: 0 is the same, 1 has nothing in common")
    say.print(_outlooks(planned))
    say.print(planned.error_basis + "\n")
    say.print(_cost(planned))
    say.print(planned.cost_basis)


def _questions(planned: Plan) -> Table:
    from rich.table import Table

    table = Table("asked", "questions", "cells", "share", "noise in rows", box=None)
    for stage in planned.stages:
        mark = " *" if planned.depends_on_answers(stage) else ""
        cells = f"{sum(stage.cells):,}" if stage.cells else "–"
        share = f"{float(planned.share(stage)):.1%}"
        table.add_row(stage.name + mark, f"{stage.questions:,}", cells, share, _range(stage.noise))
    return table


def _range(noise: tuple[float, ...]) -> str:
    least, most = f"{min(noise):,.3g}", f"{max(noise):,.3g}"
    return least if least == most else f"{least} to {most}"


def _about_noise(planned: Plan) -> Iterator[str]:
    """What follows from the noise, in words."""
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
            "later steps take most of what makes cells negative away."
        )


def _outlooks(planned: Plan) -> Table:
    from rich.table import Table

    table = Table("epsilon", "1-way", "2-way", "3-way", "", box=None)
    for outlook in planned.outlooks:
        mine = outlook.epsilon == planned.budget.amount
        bands = (_band(band) for band in outlook.distances)
        mark = "← this" if mine else ""
        table.add_row(at_most_text(outlook.epsilon), *bands, mark, style="bold" if mine else None)
    return table


def _band(band: Band | None) -> str:
    if band is None:
        return "too large"
    return f"{band.expected:.2g} ({band.low:.2g}–{band.high:.2g})"


def _cost(planned: Plan) -> str:
    cost = planned.cost
    return (
        f"Time: fit {cost.fit_seconds:,.2g} s, sample {cost.sample_seconds:,.2g} s. Memory: rows "
        f"{cost.row_bytes / 2**20:,.3g} MiB, tables {cost.table_bytes / 2**20:,.3g} MiB."
    )
