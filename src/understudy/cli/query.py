"""`understudy query`: what a model says of some columns, given what is known of others."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.console import print_json, results

if TYPE_CHECKING:
    from understudy.query import Answer

_SHOWN = 40


def query(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` wrote.")],
    question: Annotated[
        str, typer.Argument(help='As "P(income | age >= 30, sex = Female)" or "P(income = high)".')
    ],
    samples: Annotated[
        int | None,
        typer.Option("--samples", min=1, help="Estimate from so many rows instead of exactly."),
    ] = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Answer a question from a model alone; this costs no budget, however often."""
    from understudy.model import Model
    from understudy.query import ask

    answer = ask(Model.load(model), question, samples=samples, seed=seed)
    if as_json:
        print_json(_document(answer))
    else:
        _show(answer)


def _lines(answer: Answer) -> list[tuple[tuple[Any, ...], float, float]]:
    every = itertools.product(*answer.labels)
    numbers = zip(answer.chances.ravel().tolist(), answer.errors.ravel().tolist(), strict=True)
    return [(labels, *number) for labels, number in zip(every, numbers, strict=True)]


def _document(answer: Answer) -> dict[str, Any]:
    lines = [
        {**dict(zip(answer.targets, labels, strict=True)), "probability": chance, "error": error}
        for labels, chance, error in _lines(answer)
    ]
    return {
        "question": answer.question,
        "exact": answer.exact,
        "evidence_probability": answer.evidence,
        "answers": lines,
    }


def _show(answer: Answer) -> None:
    from rich.table import Table

    say = results()
    if not answer.targets:
        [(_, chance, error)] = _lines(answer)
        say.print(f"{answer.question} = {_number(chance, error, exact=answer.exact)}", style="bold")
    else:
        table = Table(*answer.targets, "probability", box=None)
        lines = _lines(answer)
        if len(answer.targets) > 1:
            lines.sort(key=lambda line: -line[1])
        for labels, chance, error in lines[:_SHOWN]:
            texts = ["missing" if label is None else str(label) for label in labels]
            table.add_row(*texts, _number(chance, error, exact=answer.exact))
        say.print(table)
        if len(lines) > _SHOWN:
            say.print(f"and {len(lines) - _SHOWN:,} less likely combinations; --json has all")
    way = "exact" if answer.exact else "estimated from sampled rows, ± one standard error"
    say.print(f"{way}; computed from the model alone, at no cost", style="dim")


def _number(chance: float, error: float, *, exact: bool) -> str:
    return f"{chance:.6g}" if exact else f"{chance:.4g} ± {error:.2g}"
