"""`understudy query`: ask a model about some columns, given what is known about others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import print_json, results, table_of
from understudy.cli.options.output import AsJson, Seed
from understudy.cli.options.panels import METHOD

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.jobs.querying import QueryResult

_MOST_LINES = 40


def query(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` saved.")],
    question: Annotated[
        str,
        typer.Argument(
            help='The question, as in "P(income | age >= 30, sex = Female)" or "P(income = high)".'
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
    """Answer a question from a model alone; this costs no budget, however often."""
    from understudy.jobs.querying import query

    found = query(model, question, samples=samples, seed=seed)
    if as_json:
        print_json(found.document())
    else:
        _show(found)


def _show(found: QueryResult) -> None:
    console, answer = results(), found.answer
    if not answer.targets:
        [(_, chance, error)] = found.lines
        number = _number(chance, error, exact=answer.exact)
        console.print(f"{answer.question} = {number}", style="bold")
    else:
        console.print(_table(found))
        if len(found.lines) > _MOST_LINES:
            more = len(found.lines) - _MOST_LINES
            console.print(f"there are {more:,} less likely combinations; --json shows all")
    way = "exactly" if answer.exact else "from sampled rows, ± the standard error of sampling"
    console.print(
        f"computed {way} from the model alone, at no cost; how far the model is from the real rows "
        "is not part of it",
        style="dim",
    )


def _table(found: QueryResult) -> Table:
    answer, lines = found.answer, found.lines
    table = table_of([*answer.targets, "probability"])
    if len(answer.targets) > 1:
        lines.sort(key=lambda line: -line[1])
    for labels, chance, error in lines[:_MOST_LINES]:
        texts = ["missing" if label is None else str(label) for label in labels]
        table.add_row(*texts, _number(chance, error, exact=answer.exact))
    return table


def _number(chance: float, error: float, *, exact: bool) -> str:
    return f"{chance:.6g}" if exact else f"{chance:.4g} ± {error:.2g}"
