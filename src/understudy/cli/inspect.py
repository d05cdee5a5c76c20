"""`understudy inspect`: what a model knows and promises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli import options
from understudy.cli.console import print_json, results

if TYPE_CHECKING:
    from understudy.model import Model


def inspect(
    model: Annotated[Path, typer.Argument(help="A model that `understudy fit` wrote.")],
    as_json: options.AsJson = False,
) -> None:
    """Show a model's network, its statement, and every answer it was made from."""
    from understudy.cli.synth import summary
    from understudy.model import Model

    loaded = Model.load(model)
    if as_json:
        network = {family.child: list(family.parents) for family in loaded.network}
        print_json(summary(loaded, loaded.rows) | {"network": network})
        return
    _show(loaded)


def _show(model: Model) -> None:
    from rich.table import Table

    say = results()
    held = "rows held, no network" if model.records is not None else "rows unless told otherwise"
    say.print(f"{model.statement.method}, {model.rows:,} {held}", style="bold")
    say.print(model.statement.sentence)
    say.print(f"accounting: {model.statement.bound.accounting}\n")
    network = Table("attribute", "parents", "codes", box=None)
    parents = {family.child: ", ".join(family.parents) for family in model.network}
    for attribute in [*parents, *(a for a in model.domain if a not in parents)]:
        network.add_row(attribute, parents.get(attribute) or "–", f"{model.domain[attribute]:,}")
    say.print(network)
    say.print()
    events = Table("answer", "mechanism", "cost", box=None)
    for event in model.statement.document()["events"]:
        events.add_row(event["question"], event["mechanism"], _cost(event))
    say.print(events)


def _cost(event: dict[str, float]) -> str:
    if "epsilon" in event:
        chance = f", δ = {event['delta']:.4g}" if "delta" in event else ""
        return f"ε = {event['epsilon']:.4g}{chance}"
    return f"ρ = {event['rho']:.4g}" if "rho" in event else "no privacy"
