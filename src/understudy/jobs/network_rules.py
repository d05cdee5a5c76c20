"""What the command line wishes of a network: texts, made into restrictions."""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.groups import Group
from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.learn.restrict import Restrictions


_PANEL = "What the network may be"


@dataclass(frozen=True)
class Wishes(Group):
    """What a network may be, as it was given."""

    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            rich_help_panel=_PANEL,
            help="The column that others are used to predict: the first of the network; "
            "for dpgan and noise-gan the one whose values are made to order.",
        ),
    ] = None
    protect: Annotated[
        list[str] | None,
        typer.Option(
            "--protect",
            rich_help_panel=_PANEL,
            help="A sensitive column: it depends on the target alone, or on what is listed, as "
            "illness=age,sex; nothing depends on it. Repeat for more.",
        ),
    ] = None
    quasi_identifiers: Annotated[
        str | None,
        typer.Option(
            "--quasi-identifiers",
            rich_help_panel=_PANEL,
            help="Columns, as age,sex, that an attacker may know; named in the statement.",
        ),
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(
            "--require",
            rich_help_panel=_PANEL,
            help="An edge that must be, parent:child. Repeat for more.",
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            "--forbid",
            rich_help_panel=_PANEL,
            help="An edge that must not be, parent:child. Repeat for more.",
        ),
    ] = None
    tier: Annotated[
        list[str] | None,
        typer.Option(
            "--tier",
            rich_help_panel=_PANEL,
            help="Columns, as age,sex, that come next: no parents from later tiers. Repeat, in "
            "order; columns in none come last.",
        ),
    ] = None
    predictors: Annotated[
        Path | None,
        typer.Option(
            "--predictors",
            rich_help_panel=_PANEL,
            help="A CSV matrix of 0 and 1: a line for each child, 1 where the column may be a "
            "parent.",
        ),
    ] = None

    def restrictions(self, known: Collection[str]) -> Restrictions:
        """The same as restrictions on networks of these attributes."""
        from understudy.learn.given import read_predictors
        from understudy.learn.restrict import Restrictions
        from understudy.protection import Protection

        protected = dict(_protected(text, known) for text in self.protect or ())
        return Restrictions(
            required=tuple(_edge("--require", text, known) for text in self.require or ()),
            forbidden=tuple(_edge("--forbid", text, known) for text in self.forbid or ()),
            tiers=tuple(_names(text) for text in self.tier or ()),
            predictors=None if self.predictors is None else read_predictors(self.predictors),
            protection=Protection(self.target, protected, _names(self.quasi_identifiers or "")),
        )


def _edge(option: str, text: str, known: Collection[str]) -> tuple[str, str]:
    """A parent and a child, such as age:income; names may have colons themselves."""
    cuts = _cuts(text, ":")
    if not cuts:
        raise UsageError(f"{option} {text!r}: write a parent and a child, such as age:income")
    return next((cut for cut in cuts if cut[0] in known and cut[1] in known), cuts[0])


def _protected(text: str, known: Collection[str]) -> tuple[str, tuple[str, ...] | None]:
    """A name, or a name and all that it may depend on, such as illness=age,sex."""
    cuts = [] if text in known else _cuts(text, "=")
    if not cuts:
        return text, None
    name, kept = next((cut for cut in cuts if cut[0] in known), cuts[0])
    return name, _names(kept)


def _cuts(text: str, at: str) -> list[tuple[str, str]]:
    """All ways to cut a text in two at a sign."""
    return [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == at]


def _names(text: str) -> tuple[str, ...]:
    """Names with commas between them; one that has a comma itself stands in double quotes."""
    return tuple(name for line in csv.reader([text]) for name in line if name)
