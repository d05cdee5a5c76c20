"""`understudy schema infer`: learn what a skeleton lacks from private rows, and pay for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_json
from understudy.cli.options.data import Data, PersonOptions, ReadingOptions
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson
from understudy.cli.options.panels import DATA, OUTPUT, PRIVACY
from understudy.cli.options.privacy import Epsilon, LedgerOptions, SchemaNeighbours
from understudy.jobs.schema_inference import InferenceRequest

if TYPE_CHECKING:
    from understudy.jobs.schema_inference import InferenceResult


@dataclass(frozen=True, kw_only=True)
class InferenceOptions(InferenceRequest):
    """Options about private data, a skeleton of its schema, and what the rest may cost."""

    data: Data
    schema: Annotated[
        Path,
        typer.Option(
            "--schema",
            "-s",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Complete this skeleton: it has kinds, but not all values, ranges or bins.",
        ),
    ]
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write the schema to this new .toml or .json file.",
        ),
    ]
    epsilon: Epsilon = None
    delta: Annotated[
        str,
        typer.Option(
            "--delta",
            "-d",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Allow a larger loss with this probability, for example 1e-6. Learning unknown "
            "values needs it.",
        ),
    ] = "0"
    neighbours: SchemaNeighbours = "add-remove"
    people: PersonOptions
    payer: LedgerOptions
    reading: ReadingOptions


@grouped
def infer(*, asked: InferenceOptions, as_json: AsJson = False) -> None:
    """Learn what a schema lacks from private rows: values, ranges and bins. Spends budget.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.jobs.schema_inference import infer

    found = infer(asked, progress=TerminalProgress())
    if as_json:
        print_json(found.document() | {"seconds": found.seconds})
    else:
        _show(found, asked.output)


def _show(found: InferenceResult, output: Path) -> None:
    from understudy.facts.unlisted import substitution

    console, skeleton, inferred = messages(), found.skeleton, found.inferred
    console.print(
        f"schema → {output}; look at it, then: understudy schema check {output}", style="bold"
    )
    for name in (*skeleton.keyed, *skeleton.ranged):
        word = "values" if name in skeleton.keyed else "bins"
        console.print(f"{name}: {inferred.schema.learned[name].levels} {word}", style="dim")
    for name in inferred.prospects.nameless:
        console.print(
            f"{name}: no value was frequent enough to be found, so that all are other; if each row "
            'has its own value, declare kind = "id"'
        )
    for name in inferred.unseen:
        console.print(f"{name}: no value was above the noise, so its range is the public one")
    unlisted = substitution(inferred.schema)
    if unlisted:
        console.print(unlisted)
    console.print(inferred.statement.sentence)
    console.print("every fit under this schema adds this cost to its promise", style="dim")
    for sentence in found.standing:
        console.print(sentence, style="dim")
