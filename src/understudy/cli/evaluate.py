"""`understudy evaluate`: what a stand-in is worth, as one page for the owner of the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli import options
from understudy.cli.console import messages, print_json, results, spinner
from understudy.cli.groups import grouped
from understudy.cli.keeping import write_or_keep, write_statement
from understudy.cli.releasing import Request, check_releasable, released
from understudy.errors import DataError, OutputError, UsageError

if TYPE_CHECKING:
    from understudy.evaluate import Evaluation
    from understudy.evaluate.exposure import Disclosure
    from understudy.report import Release, Subject


@grouped
def evaluate(
    *,
    real: Annotated[
        Path, typer.Argument(help="The private table: .csv, .parquet, a folder of .parquet.")
    ],
    synthetic: Annotated[Path, typer.Argument(help="The stand-in: .csv, .parquet, a folder.")],
    schema: options.SchemaFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write: .html.")],
    target: Annotated[
        str | None, typer.Option("--target", help="A column to predict; else the schema's.")
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option("--holdout", help="Real rows that the fit has not seen, to predict."),
    ] = None,
    classifiers: Annotated[
        str | None,
        typer.Option("--classifiers", help="default, all, tuc-2, sba, none, or names: a,b."),
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="A column that attackers want to know.")
    ] = None,
    keys: Annotated[
        str | None, typer.Option("--keys", help="Columns that they know of everybody: a,b,c.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="What the rows were drawn from, to be drawn too.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of resamples and splits.")] = 0,
    release_epsilon: Annotated[
        str | None,
        typer.Option(
            "--release-epsilon",
            help="Instead: a few distances that may leave, at this privacy loss.",
        ),
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", "-d", help="Of what is released; 0 unless given.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option("--neighbours", help="Of what is released: add-remove or replace.")
    ] = None,
    encoding: Annotated[
        str, typer.Option("--encoding", help="Of CSV text in real tables, for example latin-1.")
    ] = "utf-8",
    people: options.People,
    already_released: Annotated[
        bool,
        typer.Option(
            "--already-released", help="The synthetic rows may leave, though no statement says so."
        ),
    ] = False,
    purse: options.Purse,
    as_json: options.AsJson = False,
) -> None:
    """Compare synthetic rows with the real ones: a page for the owner's eyes, and JSON.

    With --release-epsilon the page holds a few noisy distances instead, and may leave. These are
    less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.files import check_writable
    from understudy.privacy.fingerprints import Sighting
    from understudy.report import Subject
    from understudy.sources import dataset_name

    inputs = [path for path in (real, synthetic, schema, holdout, model) if path is not None]
    _check_output(output, inputs)
    paid = {
        "delta": delta,
        "neighbours": neighbours,
        "person-id": people.person_id,
        "rows-per-person": people.rows_per_person,
        "already-released": already_released or None,
        "dataset": purse.dataset,
        "ledger": purse.ledger,
    }
    free = {
        "target": target,
        "holdout": holdout,
        "classifiers": classifiers,
        "sensitive": sensitive,
        "keys": keys,
    }
    _check_together(release_epsilon, paid, free)
    if release_epsilon is not None:
        check_writable(f"{output}.privacy.json")
    subject = Subject.of(real, synthetic, model)
    if release_epsilon is not None:
        request = Request(
            real,
            synthetic,
            schema,
            release_epsilon,
            delta or "0",
            neighbours,
            people.persons,
            encoding,
            seed,
        )
        check_releasable(subject, already_released=already_released)
        name = purse.dataset or dataset_name(real)
        purse.warn_of_copies(name, Sighting(real))
        release = released(request, subject, dataset=name, ledger=purse.book)
        _hand_over(release, output, as_json=as_json)
        return
    _check_attack(sensitive, keys)
    tables = (real, synthetic, schema)
    common: dict[str, Any] = {"holdout": holdout, "seed": seed, "encoding": encoding}
    chosen = _named(classifiers)
    found = _evaluated(*tables, target=target, classifiers=chosen or "default", **common)
    disclosure = None
    if sensitive is not None and keys is not None:
        common |= {"sensitive": sensitive, "keys": [name.strip() for name in keys.split(",")]}
        disclosure = _attacked(*tables, classifiers=chosen or "sba", **common)
    _write_page(found, subject, disclosure, output)
    if as_json:
        print_json(_document(found, subject, disclosure, output))
    else:
        _tell(found, output)


def _check_together(
    release_epsilon: str | None, paid: Mapping[str, object], free: Mapping[str, object]
) -> None:
    """Refuse options that the other kind of page has no use for."""
    useless, why = (
        (paid, "is for what is released; give --release-epsilon too, or leave it out")
        if release_epsilon is None
        else (free, "is for the owner's page; what is released holds distances alone; leave it out")
    )
    for name in (name for name, value in useless.items() if value is not None):
        raise UsageError(f"--{name} {why}")


def _check_attack(sensitive: str | None, keys: str | None) -> None:
    """Refuse half of what an attack needs."""
    if (sensitive is None) != (keys is None):
        absent = "keys" if keys is None else "sensitive"
        raise UsageError(
            f"--{absent} is not given; attackers know some columns and want another: "
            "give --sensitive and --keys"
        )


def _check_output(output: Path, inputs: list[Path]) -> None:
    """Refuse a place that the page cannot be written to, before anything is read."""
    from understudy.files import check_apart, check_writable

    if output.suffix != ".html":
        raise OutputError(f"{output}: the name must end in .html")
    check_apart(output, *inputs)
    check_writable(output)


def _named(classifiers: str | None) -> str | list[str] | None:
    """A choice of learners by its name, or learners by theirs."""
    names = [name.strip() for name in (classifiers or "").split(",")]
    return names if len(names) > 1 else names[0] or None


def _evaluated(real: Path, synthetic: Path, schema: Path, **asked: Any) -> Evaluation:
    """The evaluation, with a word on a terminal about what is being done."""
    from understudy.evaluate import evaluate
    from understudy.schema import Schema

    with spinner("reading") as show:
        found = evaluate(
            real,
            synthetic,
            Schema.load(schema),
            progress=lambda done, total, what: show(f"{done + 1} of {total}: {what}"),
            **asked,
        )
    for side in found.sides:
        _check_rows(found, side)
    return found


def _attacked(real: Path, synthetic: Path, schema: Path, **asked: Any) -> Disclosure:
    """Attacks on the real rows, with a word on a terminal about what is being done."""
    from understudy.evaluate.disclosure import disclosure_risk
    from understudy.report.disclosures import STAND_IN
    from understudy.schema import Schema

    with spinner("attacking") as show:
        return disclosure_risk(
            real,
            {STAND_IN: synthetic},
            Schema.load(schema),
            progress=lambda done, total, what: show(f"{done + 1} of {total}: {what}"),
            **asked,
        )


def _check_rows(found: Evaluation, side: str) -> None:
    counted = found.sides[side]
    if counted.fitting == 0:
        some = "none of its rows fits the schema" if counted.read else "it has no rows"
        raise DataError(f"the {side} data cannot be compared: {some}; look at file and schema")


def _write_page(
    found: Evaluation, subject: Subject, disclosure: Disclosure | None, output: Path
) -> None:
    from understudy.files import atomic
    from understudy.report import evaluation_page

    page = evaluation_page(found, subject, disclosure=disclosure)
    with atomic(output) as file:
        file.write(page.encode())


def _document(
    found: Evaluation, subject: Subject, disclosure: Disclosure | None, output: Path
) -> dict[str, Any]:
    """The evaluation for machines; private, as it says."""
    statement = None if subject.statement is None else subject.statement.document()
    document = found.document()
    return document | {
        "private": True,
        "notice": document["private"],
        "statement": statement,
        "disclosure": None if disclosure is None else disclosure.document(),
        "remarks": subject.remarks(found.sides["synthetic"].read),
        "report": str(output),
    }


def _tell(found: Evaluation, output: Path) -> None:
    from rich.table import Table

    listing = Table("columns at a time", box=None)
    for head in ("distance", "floor", "ceiling", "largest"):
        listing.add_column(head, justify="right")
    for way in (way for way in found.variations if way.mean.value is not None):
        numbers = (way.mean.value, way.mean.resampled, way.mean.independent, way.largest.value)
        listing.add_row(str(way.ways), *("–" if n is None else f"{n:.4f}" for n in numbers))
    results().print(listing)
    say = messages()
    say.print(f"page → {output}", style="bold")
    say.print("computed from private rows: not for release")
    for note in found.notes:
        say.print(note, style="dim")


def _hand_over(release: Release, output: Path, *, as_json: bool) -> None:
    """The page that may leave, and its numbers for people or machines."""
    write_or_keep(release.page().encode(), output, what="page")
    statement = release.summary.statement
    document = write_statement(
        release.document(), output, record=statement.record, beside={"method": statement.method}
    )
    if as_json:
        print_json(document | {"report": str(output)})
        return
    from rich.table import Table

    listing = Table("columns at a time", box=None)
    for head in ("distance", "from", "to"):
        listing.add_column(head, justify="right")
    for ways, mean in release.summary.means.items():
        listing.add_row(str(ways), *(f"{n:.4f}" for n in (mean.value, mean.low, mean.high)))
    results().print(listing)
    messages().print(f"page → {output}; it may be released", style="bold")
    messages().print(release.summary.statement.sentence)
