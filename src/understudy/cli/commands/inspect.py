"""`understudy inspect`: what a model knows and promises, as text, as a picture, or for others."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.amounts import at_most_text
from understudy.cli import options
from understudy.cli.console import messages, print_json, results
from understudy.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from understudy.model import Model
    from understudy.privacy.released import ReleasedTable
    from understudy.protection import Protection
    from understudy.strengths import Strengths

_SUFFIXES = (".svg", ".png", ".bif")


def inspect(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` wrote.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the network: a picture, .svg or .png; or .bif, for others.",
        ),
    ] = None,
    theme: Annotated[
        str, typer.Option("--theme", help="Of a picture: light, dark, or auto, the reader's own.")
    ] = "auto",
    as_json: options.AsJson = False,
) -> None:
    """Show a model's network, its statement, and every answer it was made from."""
    from understudy.cli.images import inspect_images
    from understudy.files import check_apart
    from understudy.gan.archive import is_archive
    from understudy.model import Model
    from understudy.strengths import strengths_of

    if is_archive(model):
        if output is not None:
            raise UsageError("a model of images has no network to draw; leave out --output")
        inspect_images(model, as_json=as_json)
        return
    if output is not None:
        check_apart(_checked(output), model)
    loaded = Model.load(model)
    strengths = strengths_of(loaded)
    if output is not None:
        _write(loaded, strengths, output, theme)
    if as_json:
        print_json(_document(loaded, strengths))
    else:
        _show(loaded, strengths)
    if output is not None:
        messages().print(f"network → {output}", style="bold")


def _checked(output: Path) -> Path:
    from understudy.files import check_writable
    from understudy.optional import require

    if output.suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise UsageError(f"output {output}: suffix {output.suffix!r} is unknown; use {known}")
    if output.suffix == ".png":
        require("resvg_py", extra="pictures")
    return check_writable(output)


def _write(model: Model, strengths: Strengths, output: Path, theme: str) -> None:
    from understudy.draw import network_png, network_svg
    from understudy.files import atomic

    match output.suffix:
        case ".svg":
            data = network_svg(model, theme=theme, strengths=strengths).encode()
        case ".png":
            data = network_png(model, theme=theme, strengths=strengths)
        case _:
            data = "".join(model.bif_lines()).encode()
    with atomic(output) as file:
        file.write(data)


def _document(model: Model, strengths: Strengths) -> dict[str, Any]:
    from understudy.cli.synth import summary
    from understudy.strengths import MEASURE

    edges = [
        {"parent": parent, "child": child, "score": score}
        for (parent, child), score in strengths.scores.items()
    ]
    return summary(model, model.rows) | {
        "network": {family.child: list(family.parents) for family in model.network},
        "edges": edges,
        "scores": {"measure": MEASURE, "exact": strengths.rows is None, "rows": strengths.rows},
        "tables": [table.document() for table in _tables(model) if table],
    }


def _tables(model: Model) -> list[ReleasedTable | None]:
    """For every charge the table that it paid for, if any."""
    from understudy.privacy.released import released_table

    charges = (charge for charge, _ in model.statement.grouped)
    return [released_table(charge, model.domain, model.rows) for charge in charges]


def _show(model: Model, strengths: Strengths) -> None:
    say = results()
    held = "rows held, no network" if model.records is not None else "rows unless told otherwise"
    held += ", by a generator" if model.generator is not None else ""
    say.print(f"{model.statement.method}, {model.rows:,} {held}", style="bold")
    say.print(model.statement.sentence)
    say.print(f"accounting: {model.statement.bound.accounting}\n")
    _show_network(say, model, strengths)
    _show_answers(say, model)


def _show_network(say: Console, model: Model, strengths: Strengths) -> None:
    """Attributes after their parents; each parent in a line, the strongest first."""
    from rich.table import Table

    from understudy.strengths import MEASURE

    listing = Table("attribute", "codes", "← parent", "score", "", box=None)
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
        listing.add_row(attribute, f"{model.domain[attribute]:,}", "–", "", "")
    say.print(listing)
    if strengths.scores:
        say.print(f"scores: {MEASURE}, {strengths.basis}", style="dim")
    say.print()


def _show_answers(say: Console, model: Model) -> None:
    """The tables that were released, signal beside noise, then all other answers."""
    from rich.table import Table

    listing = Table("table", box=None)
    for head in ("cells", "rows a cell", "noise", "ratio"):
        listing.add_column(head, justify="right")
    for head in ("reads", "cost"):
        listing.add_column(head)
    others = Table("answer", "mechanism", "cost", box=None)
    tables = _tables(model)
    for table, event in zip(tables, model.statement.document()["events"], strict=True):
        if table is None:
            times = f"{event['times']:,} × " if "times" in event else ""
            others.add_row(f"{times}{event['question']}", event["mechanism"], _cost(event))
        else:
            numbers = map(_number, (table.average, table.noise, table.ratio))
            cells = f"{table.cells:,}"
            listing.add_row(event["question"], cells, *numbers, table.word, _cost(event))
    if listing.row_count:
        say.print(listing)
        say.print(f"{_tally([table for table in tables if table])}\n", style="dim")
    if others.row_count:
        say.print(others)


def _tally(tables: list[ReleasedTable]) -> str:
    """How many tables can be read, and by which noise they were covered."""
    words = Counter(table.word for table in tables)
    counts = ", ".join(f"{words[word]} {word}" for word in ("clear", "faint", "drowned"))
    mechanisms = ", ".join(sorted({table.charge.event.mechanism for table in tables}))
    return f"{counts}; noise: standard deviation of a cell, {mechanisms}; ratio: rows to noise"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _mark(attribute: str, protection: Protection | None) -> str:
    """What an attribute was declared to be, if anything."""
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
