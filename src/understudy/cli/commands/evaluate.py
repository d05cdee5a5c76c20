"""`understudy evaluate`: compare synthetic rows with the real ones, on a page for their owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.console import TerminalProgress, messages, print_json, results, table_of
from understudy.cli.options import completion
from understudy.cli.options.data import FormatOptions, PersonOptions, SchemaFile
from understudy.cli.options.groups import grouped
from understudy.cli.options.output import AsJson, Force
from understudy.cli.options.panels import DATA, METHOD, OUTPUT, PRIVACY
from understudy.cli.options.privacy import LedgerOptions, neighbours_option
from understudy.jobs.evaluation import ComparisonRequest, EvaluationRequest
from understudy.jobs.release import ReleaseRequest

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.evaluation import Evaluation
    from understudy.evaluation.prediction.prediction import Prediction
    from understudy.evaluation.verdict import Verdict
    from understudy.jobs.evaluation import OwnerEvaluation, ReleasedEvaluation


_CLASSIFIERS = ("default", "all", "tuc-2", "sba", "none")


@dataclass(frozen=True)
class ComparisonOptions(ComparisonRequest):
    """Options about the owner's page: predictions and attacks."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            rich_help_panel=METHOD,
            help="Predict this column. The default is the target that the schema names.",
        ),
    ] = None
    holdout: Annotated[
        Path | None,
        typer.Option(
            "--holdout",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Test predictions on these real rows, which the fit has not seen.",
        ),
    ] = None
    classifiers: Annotated[
        str | None,
        typer.Option(
            "--classifiers",
            metavar="NAMES",
            rich_help_panel=METHOD,
            autocompletion=completion.from_list(*_CLASSIFIERS),
            help="Train these classifiers: default, all, tuc-2, sba, none, or names as in a,b.",
        ),
    ] = None
    sensitive: Annotated[
        str | None,
        typer.Option(
            "--sensitive",
            metavar="COLUMN",
            rich_help_panel=METHOD,
            help="Attack this column: attackers try to infer it. Needs --known.",
        ),
    ] = None
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            "--keys",
            metavar="COLUMNS",
            rich_help_panel=METHOD,
            help="Assume that attackers know these columns of everybody, as in age,sex. Needs "
            "--sensitive.",
        ),
    ] = None
    subgroup: Annotated[
        str | None,
        typer.Option(
            "--subgroup",
            metavar="COLUMN",
            rich_help_panel=METHOD,
            help="Compare within the groups of this column too, such as sex or region.",
        ),
    ] = None
    detection: Annotated[
        bool,
        typer.Option(
            "--detection",
            rich_help_panel=METHOD,
            help="Teach a classifier to tell real rows from synthetic ones, and show by which "
            "columns it does.",
        ),
    ] = False
    aggregates: Annotated[
        Path | None,
        typer.Option(
            "--aggregates",
            metavar="FILE",
            rich_help_panel=METHOD,
            help="Compare the answers to the aggregates in this text file, one in a line, such as "
            "mean(age | sex = female).",
        ),
    ] = None


@dataclass(frozen=True)
class ReleaseOptions(ReleaseRequest):
    """Options about a page that may be released."""

    release_epsilon: Annotated[
        str | None,
        typer.Option(
            "--release-epsilon",
            "--private",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Write a page that may be released instead: a verdict and a few noisy distances, "
            "at this privacy loss.",
        ),
    ] = None
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta",
            "-d",
            metavar="NUMBER",
            rich_help_panel=PRIVACY,
            help="Allow the released page a larger loss with this probability. The default is 0.",
        ),
    ] = None
    neighbours: Annotated[
        str | None,
        neighbours_option(
            help="Protect the released page under add-remove or replace. The default is what "
            "protects the synthetic rows."
        ),
    ] = None
    people: PersonOptions = field(default_factory=PersonOptions)
    already_released: Annotated[
        bool,
        typer.Option(
            "--already-released",
            rich_help_panel=PRIVACY,
            help="Confirm that the synthetic rows may be released although no statement says so.",
        ),
    ] = False
    payer: LedgerOptions = field(default_factory=LedgerOptions)
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write a data sheet to this .md file too, which may be released with the rows. "
            "Needs --release-epsilon.",
        ),
    ] = None
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(EvaluationRequest):
    """Options about the tables to compare, and the page."""

    real: Annotated[
        str,
        typer.Argument(
            help="The private table: a file, or a folder of .parquet files. With --table it is an "
            "SQLite or .duckdb file, or the address of a database."
        ),
    ]
    synthetic: Annotated[Path, typer.Argument(help="The synthetic table: a file.")]
    schema: SchemaFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            rich_help_panel=OUTPUT,
            help="Write the page to this .html file.",
        ),
    ]
    compare: ComparisonOptions
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="FILE",
            rich_help_panel=DATA,
            help="Show the network of this model, from which the rows were sampled.",
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=0,
            metavar="NUMBER",
            rich_help_panel=OUTPUT,
            help="Make resamples and splits repeatable with this number.",
        ),
    ] = 0
    spelling: FormatOptions
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            metavar="NAME",
            rich_help_panel=DATA,
            help="Read the private rows from this table of a database, for example patients.",
        ),
    ] = None
    release: ReleaseOptions


@grouped
def evaluate(*, asked: EvaluationOptions, as_json: AsJson = False) -> None:
    """Compare synthetic rows with the real ones: a page for the owner's eyes, and JSON.

    With --release-epsilon the page holds a few noisy distances instead, and may be released. These
    are less proven than counts for one table: docs/assurance.md says what is missing.
    """
    from understudy.jobs.evaluation import OwnerEvaluation, evaluate

    found = evaluate(asked, progress=TerminalProgress())
    if as_json:
        print_json(found.document())
    elif isinstance(found, OwnerEvaluation):
        _show_comparison(found)
    else:
        _show_release(found)


_TONES = {"green": "green", "amber": "yellow", "red": "red", "unknown": "dim"}


def _show_verdict(found: Verdict) -> None:
    """The decision, a line for each light, and what the rows are good for."""
    console = results()
    console.print(found.sentence, style="bold")
    for light in found.lights:
        line = f"{light.about:<11}{light.colour.words:<9}{light.number}: {light.sentence}"
        console.print(line, style=_TONES[light.colour])
    for title, lines in (
        (found.good_title.lower(), found.good_for),
        ("not good for", found.not_good_for),
        ("to improve it", found.improve),
    ):
        for line in lines:
            console.print(f"{title}: {line}")


def _show_predictions(found: Prediction) -> None:
    """The scores of every learner, from either table."""
    if not found.models:
        return
    listing = table_of([f"predicting {found.target}", "learnt from"])
    for name in found.baseline:
        listing.add_column(name, justify="right")
    for pair in found.models:
        for side, trained in (("real", pair.real), ("synthetic", pair.synthetic)):
            scores = (trained.scores.get(name) for name in found.baseline)
            listing.add_row(pair.learner.name, side, *map(_number, scores))
    listing.add_row("baseline", "real", *map(_number, found.baseline.values()))
    results().print(listing)


def _show_aggregates(found: Evaluation) -> None:
    """The answers of both tables to the aggregates that were listed."""
    if not found.aggregates:
        return
    listing = table_of(["aggregate"])
    for head in ("real", "synthetic", "within sampling error"):
        listing.add_column(head, justify="right")
    words = {True: "yes", False: "no", None: "–"}
    for each in found.aggregates:
        listing.add_row(each.asked, *each.texts, words[each.is_within_chance])
    results().print(listing)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _show_comparison(found: OwnerEvaluation) -> None:
    _show_verdict(found.verdict)
    listing = _distance_table("distance", "floor", "ceiling", "largest")
    for way in (way for way in found.evaluation.variations if way.mean.value is not None):
        numbers = (way.mean.value, way.mean.resampled, way.mean.independent, way.largest.value)
        listing.add_row(str(way.ways), *("–" if n is None else f"{n:.4f}" for n in numbers))
    results().print(listing)
    _show_predictions(found.evaluation.prediction)
    _show_aggregates(found.evaluation)
    console = messages()
    console.print(f"page → {found.output}", style="bold")
    console.print("computed from private rows: not for release")
    console.print(found.verdict.notice, style="dim")
    for note in found.evaluation.notes:
        console.print(note, style="dim")


def _show_release(found: ReleasedEvaluation) -> None:
    _show_verdict(found.release.verdict)
    listing = _distance_table("distance", "from", "to")
    summary = found.release.summary
    for ways, mean in summary.means.items():
        listing.add_row(str(ways), *(f"{n:.4f}" for n in (mean.value, mean.low, mean.high)))
    results().print(listing)
    messages().print(f"page → {found.output}; it may be released", style="bold")
    if found.markdown is not None:
        messages().print(f"data sheet → {found.markdown}; it may be released", style="bold")
    messages().print(summary.statement.sentence)
    for sentence in found.standing:
        messages().print(sentence, style="dim")


def _distance_table(*heads: str) -> Table:
    listing = table_of(["columns at a time"])
    for head in heads:
        listing.add_column(head, justify="right")
    return listing
