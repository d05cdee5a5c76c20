"""`understudy inspect`: show what a model has learned and promises, and draw its network."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import messages, print_json, results, table_of
from understudy.cli.options import completion
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import OUTPUT
from understudy.system.amounts import at_most_text

if TYPE_CHECKING:
    from rich.console import Console

    from understudy.facts.protection import Protection
    from understudy.jobs.inspection import AskedQuestion, ModelInspection
    from understudy.privacy.mechanisms.released import ReleasedTable


def inspect(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` saved.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Draw the network as .svg or .png, or export it: as .bif for other programs, or "
            "as .csv, the matrix of predictors that synthpop reads.",
        ),
    ] = None,
    theme: Annotated[
        str,
        typer.Option(
            "--theme",
            metavar="NAME",
            rich_help_panel=OUTPUT,
            autocompletion=completion.from_list("light", "dark", "auto"),
            help="Draw the picture in these colours: light, dark, or auto, which follows the "
            "reader's own setting.",
        ),
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Show a model's network, its statement, and every answer it was made from.

    With --output the network is written to a file, and nothing else is shown.
    """
    from understudy.jobs.inspection import inspect

    found = inspect(model, output=output, theme=theme)
    if as_json:
        print_json(found.document())
    elif output is None:
        _show(found)
    if output is not None:
        messages().print(f"network → {output}", style="bold")


def _show(found: ModelInspection) -> None:
    console, model = results(), found.model
    note = model.distribution.rows_note
    kept = f"; made from {len(model.tables):,} released tables" if model.tables else ""
    console.print(f"{model.statement.method}, {model.rows:,} {note}{kept}", style="bold")
    console.print(model.statement.sentence)
    console.print(f"accounting: {model.statement.bound.accounting}\n")
    _show_network(console, found)
    _show_answers(console, found)


def _show_network(console: Console, found: ModelInspection) -> None:
    """Show attributes after their parents; each parent in a line, the strongest first."""
    from understudy.models.strengths import MEASURE

    model, strengths = found.model, found.strengths
    listing = table_of(["attribute", "codes", "← parent", "score", ""])
    for family in model.network:
        scores = {parent: strengths.scores[parent, family.child] for parent in family.parents}
        ends = [
            (family.end_label(parent), f"{scores[parent]:.3f}")
            for parent in sorted(scores, key=lambda parent: -scores[parent])
        ]
        own = (family.end_label(family.child), f"{model.domain[family.child]:,}")
        mark = _mark(family.child, model.protection)
        for names, end in zip_longest([own], ends or [("–", "")], fillvalue=("", "")):
            listing.add_row(*names, *end, mark if names == own else "")
    for attribute in (a for a in model.domain if a not in model.network.order):
        listing.add_row(attribute, f"{model.domain[attribute]:,}", "–")
    console.print(listing)
    if strengths.scores:
        console.print(f"scores: {MEASURE}, {strengths.basis}", style="dim")
    console.print()


def _show_answers(console: Console, found: ModelInspection) -> None:
    """Show the tables that were released, signal beside noise, then all other answers."""
    listing = table_of(["table"])
    for head in ("cells", "rows a cell", "noise", "± 95 %", "ratio"):
        listing.add_column(head, justify="right")
    for head in ("reads", "cost"):
        listing.add_column(head)
    others = table_of(["answer", "mechanism", "cost"])
    for answer in found.answers:
        table, cost = answer.table, _cost(answer.cost)
        if table is None:
            times = f"{answer.cost['times']:,} × " if "times" in answer.cost else ""
            others.add_row(f"{times}{answer.question}", answer.cost["mechanism"], cost)
        else:
            numbers = map(_number, (table.average, table.noise, table.margin, table.ratio))
            listing.add_row(_asked(answer), f"{table.cells:,}", *numbers, table.word, cost)
    if listing.row_count:
        tables = [answer.table for answer in found.answers]
        console.print(listing)
        console.print(f"{_tally([table for table in tables if table])}\n", style="dim")
    if others.row_count:
        console.print(others)


def _asked(answer: AskedQuestion) -> str:
    """Return the question, and how often it was asked where that is more than once."""
    again = len(answer.events)
    return answer.question if again == 1 else f"{answer.question}, {again} times"


def _tally(tables: list[ReleasedTable]) -> str:
    """Count the tables that can be read, and name the noise that covers them."""
    words = Counter(table.word for table in tables)
    counts = ", ".join(f"{words[word]} {word}" for word in ("clear", "faint", "drowned"))
    mechanisms = ", ".join(sorted({table.charge.event.mechanism for table in tables}))
    noise = f"noise: standard deviation of a cell, {mechanisms}"
    margin = "± 95 %: noise moves a cell by less, 95 times in 100"
    return f"{counts}; {noise}; {margin}; ratio: rows to noise"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _mark(attribute: str, protection: Protection | None) -> str:
    """The role that an attribute was declared to have, if any."""
    if protection is None:
        return ""
    if attribute == protection.target:
        return "target"
    if attribute in protection.protected:
        return "protected"
    return "quasi-identifier" if attribute in protection.quasi_identifiers else ""


def _cost(event: dict[str, float]) -> str:
    if "epsilon" in event:
        chance = f", δ = {at_most_text(event['delta'], digits=4)}" if "delta" in event else ""
        return f"ε = {at_most_text(event['epsilon'], digits=4)}{chance}"
    if "rate" in event:
        return f"noise {(event['sigma_squared'] / event['sensitivity_squared']) ** 0.5:.4g} × bound"
    return f"ρ = {at_most_text(event['rho'], digits=4)}" if "rho" in event else "no privacy"
