"""`understudy schema infer`: fill in what a skeleton does not say, from private rows, and pay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options
from understudy.cli.console import Stopwatch, messages, print_json
from understudy.cli.groups import grouped
from understudy.cli.keeping import write_or_keep
from understudy.errors import OutputError, UsageError

if TYPE_CHECKING:
    from understudy.discover import Inferred, Skeleton


@grouped
def infer(
    *,
    data: options.Data,
    schema: Annotated[
        Path,
        typer.Option(
            "--schema", "-s", help="A skeleton: kinds, but not all values, ranges or bins."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write: .toml or .json; not there yet.")
    ],
    epsilon: options.Epsilon = None,
    delta: Annotated[
        str, typer.Option("--delta", "-d", help="Needed where values are asked for, as 1e-6.")
    ] = "0",
    neighbours: Annotated[
        str, typer.Option("--neighbours", help="add-remove, which holds for both, or replace.")
    ] = "add-remove",
    purse: options.Purse,
    reading: options.Reading,
    people: options.People,
    as_json: options.AsJson = False,
) -> None:
    """Learn what a schema lacks from private rows: values, ranges and bins. Spends budget.

    Less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.discover import Skeleton, infer_schema
    from understudy.privacy.fingerprints import Sighting
    from understudy.sources import dataset_name

    skeleton = Skeleton.load(schema)
    if epsilon is None:
        raise UsageError(
            "epsilon is not given; say how much privacy loss is allowed, as --epsilon 1"
        )
    access = replace(reading.access, persons=people.persons)
    _check_output(output, skeleton)
    name = purse.dataset or dataset_name(data, access)
    purse.warn_of_copies(name, Sighting(data))
    watch = Stopwatch()
    with watch.stage("infer", "reading and counting") as readings:
        inferred = infer_schema(
            data,
            skeleton,
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            ledger=purse.book,
            dataset=name,
            access=replace(access, watch=readings),
        )
    write_or_keep(inferred.schema.text_for(output).encode(), output, what="schema")
    if as_json:
        print_json(_summary(inferred) | {"seconds": watch.seconds})
    else:
        _tell(inferred, skeleton, output)


def _check_output(output: Path, skeleton: Skeleton) -> None:
    """Refuse a place, or a format, in which the schema could not be written once it is paid for."""
    from understudy.files import check_writable

    if output.suffix not in (".toml", ".json"):
        raise OutputError(f"{output}: the name must end in .toml or .json")
    if output.exists():
        raise OutputError(f"{output}: is there already; remove it, or choose another place")
    skeleton.provisional.text_for(output)
    check_writable(output)


def _summary(inferred: Inferred) -> dict[str, object]:
    return {
        "columns": inferred.schema.attributes,
        "fingerprint": inferred.schema.fingerprint,
        "statement": inferred.statement.document(),
        "unseen": list(inferred.unseen),
    }


def _tell(inferred: Inferred, skeleton: Skeleton, output: Path) -> None:
    say, columns = messages(), inferred.schema.learned
    say.print(
        f"schema → {output}; look at it, then: understudy schema check {output}", style="bold"
    )
    for name in (*skeleton.keyed, *skeleton.ranged):
        column = columns[name]
        word = "values" if name in skeleton.keyed else "bins"
        say.print(f"{name}: {column.levels} {word}", style="dim")
    for name in inferred.unseen:
        say.print(f"{name}: nothing stood out of the noise, so its range is the public one")
    say.print(inferred.statement.sentence)
    say.print("every fit under this schema adds this to what it promises", style="dim")
