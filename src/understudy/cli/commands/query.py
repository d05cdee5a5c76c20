"""`understudy query`: ask a model about some columns, given what is known about others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.console import print_json, results, table_of
from understudy.cli.options.output import AsJson, Seed
from understudy.cli.options.panels import METHOD

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.models.query import Answer, BaseAnswer, PairsAnswer

_MOST_LINES = 40


def query(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` saved.")],
    question: Annotated[
        str,
        typer.Argument(
            help='The question, as in "P(income | age >= 30, sex = Female)", "count(age >= 60)", '
            '"mean(weight | sex = male)", "quantile(age, 0.9)", "most probable row", '
            '"top 5 pairs" or "independent(age, income)" for a p-value.'
        ),
    ],
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            min=1,
            metavar="ROWS",
            rich_help_panel=METHOD,
            help="Estimate the answer from this many sampled rows instead of exactly.",
        ),
    ] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from a model alone; this costs no budget, however often.

    Answers have 95 % intervals for the noise of privacy. The first question whose answer rests on
    the model may take some seconds; what it computes is kept in the cache folder.
    """
    from understudy.jobs.querying import query

    found = query(model, question, samples=samples, seed=seed)
    if as_json:
        print_json(found.document())
    else:
        _show(found)


def _show(found: BaseAnswer) -> None:
    from understudy.models.query import Answer, PairsAnswer, RowAnswer
    from understudy.models.questions.answers import ChanceAnswer

    console = results()
    match found:
        case Answer() if found.targets:
            console.print(_table(found))
            if len(found.lines) > _MOST_LINES:
                more = len(found.lines) - _MOST_LINES
                console.print(f"there are {more:,} less likely combinations; --json shows all")
        case Answer():
            [line] = found.lines
            number = _number(line["probability"], exact=found.exact)
            ends = f" ({_between(line)})" if _between(line) else ""
            console.print(f"{found.question} = {number}{ends}", style="bold", highlight=False)
        case RowAnswer():
            listing = table_of(["column", "value"])
            for name, label in found.row.items():
                listing.add_row(name, _label(label))
            console.print(listing)
            console.print(f"probability {found.probability:.4g}", style="bold")
        case PairsAnswer():
            console.print(_pairs(found))
        case ChanceAnswer():
            console.print(f"{found.question}: {found.text}", style="bold", highlight=False)
        case _:
            console.print(f"{found.question} = {found.text}", style="bold", highlight=False)
    for note in found.notes:
        console.print(note, style="dim")


def _table(found: Answer) -> Table:
    lines = found.lines
    heads = ["95 % interval"] if found.interval.ends is not None else []
    table = table_of([*found.targets, "probability", *heads])
    if len(found.targets) > 1:
        lines.sort(key=lambda line: -line["probability"])
    for line in lines[:_MOST_LINES]:
        texts = [_label(line[name]) for name in found.targets]
        ends = [_between(line)] if heads else []
        table.add_row(*texts, _number(line["probability"], exact=found.exact), *ends)
    return table


def _pairs(found: PairsAnswer) -> Table:
    heads = ["95 % interval"] if found.interval.ends is not None else []
    table = table_of(["column", "and", "distance from independence", *heads, "released table"])
    for line in found.lines:
        ends = [_between(line)] if heads else []
        held = "yes" if line["measured"] else "no"
        table.add_row(*line["columns"], f"{line['score']:.3f}", *ends, held)
    return table


def _label(label: Any) -> str:
    return "missing" if label is None else str(label)


def _between(line: dict[str, Any]) -> str:
    low, high = line["low"], line["high"]
    return "" if low is None else f"{low:.4g} to {high:.4g}"


def _number(value: float, *, exact: bool) -> str:
    return f"{value:.6g}" if exact else f"{value:.4g}"
