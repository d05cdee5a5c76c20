"""The table of whom each result protects, found by asking the classes what they accept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import typer.main

from understudy.cli.main import app
from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours
from understudy.gan.image_size import ImageSize
from understudy.gan.moments import MomentMethod
from understudy.gan.pictures import METHODS as IMAGE_METHODS
from understudy.methods import Synthesizer, registry
from understudy.stream import density

_SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}, "coughs": {"kind": "boolean"}}})
_PERSONS = {"person_id": "patient", "rows_per_person": 2}
_DELTAS = {"pure ε": "0", "(ε, δ)": "1e-6"}
_HEADS = ("result", "unit", "neighbours by default", "on request", "budget")


def promise_table() -> str:
    """A line for each method and each other release: unit, neighbours, and kinds of budget."""
    rows = [f"| {' | '.join(_HEADS)} |", "|---" * len(_HEADS) + "|"]
    return "\n".join(rows + [f"| {' | '.join(cells)} |" for cells in (*_methods(), *_others())])


def _methods() -> Iterator[tuple[str, ...]]:
    for name in sorted(registry.names()):
        kind = registry.method(name)
        own = kind.default_neighbours
        others = [str(n) for n in Neighbours if n != own and _accepted(kind, neighbours=str(n))]
        budgets = [words for words, delta in _DELTAS.items() if _built(kind, delta=delta)]
        persons = ", or a person" if _accepted(kind, **_PERSONS) else ""
        yield f"`{name}`", f"a row{persons}", str(own), _listed(others), " or ".join(budgets)


def _accepted(kind: type[Synthesizer], **given: Any) -> bool:
    """Whether a method takes these parameters with one of the kinds of budget."""
    return any(_built(kind, delta=delta, **given) for delta in _DELTAS.values())


def _built(kind: type[Synthesizer], **given: Any) -> bool:
    try:
        kind(_SCHEMA, epsilon=1, **given).check()
    except UsageError:
        return False
    return True


def _others() -> Iterator[tuple[str, ...]]:
    yield _moments()
    for name, own in IMAGE_METHODS.items():
        yield f"images by `{name}`", "an image", str(own), "none", "(ε, δ)"
    persons = "a row, or a person"
    yield "`schema init --epsilon`", persons, *_asked("schema", "init"), "pure ε or (ε, δ)"
    yield "`schema infer`", persons, *_asked("schema", "infer"), "(ε, δ), or pure ε for ranges"
    yield (
        "`evaluate --release-epsilon`",
        *(persons, "those of the synthetic rows' statement", "any", "pure ε or (ε, δ)"),
    )
    yield "`holder` and `analyst`", persons, *_asked("analyst"), "pure ε or (ε, δ)"
    yield "`stream`", density.UNIT, density.NEIGHBOURS, "none", "pure ε"


def _moments() -> tuple[str, ...]:
    """The default method for images: its relations, and the kinds of budget that it takes."""
    own = MomentMethod.default_neighbours
    budgets = [words for words, delta in _DELTAS.items() if _learns_images(delta)]
    others = _listed([str(n) for n in Neighbours if n != own])
    return "images by `moments`", "an image", str(own), others, " or ".join(budgets)


def _learns_images(delta: str) -> bool:
    try:
        MomentMethod(size=ImageSize(4, 4), epsilon=1, delta=delta).check()
    except UsageError:
        return False
    return True


def _asked(*names: str) -> tuple[str, str]:
    """The relation that a command takes by default, and the others that it offers."""
    command: click.Command = typer.main.get_command(app)
    for name in names:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    [option] = [each for each in command.params if "--neighbours" in each.opts]
    return str(option.default), _listed([str(n) for n in Neighbours if n != option.default])


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
