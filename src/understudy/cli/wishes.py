"""What the command line wishes of a network: texts, made into restrictions."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError

if TYPE_CHECKING:
    from understudy.learn.restrict import Restrictions


@dataclass(frozen=True)
class Wishes:
    """Options as they were given; the names of the fields are those of the options."""

    target: str | None = None
    protect: Sequence[str] | None = None
    quasi_identifiers: str | None = None
    require: Sequence[str] | None = None
    forbid: Sequence[str] | None = None
    tier: Sequence[str] | None = None
    predictors: Path | None = None

    @property
    def given(self) -> list[str]:
        """The options that were given, as people write them."""
        named = ((each.name, getattr(self, each.name)) for each in fields(self))
        return [f"--{name.replace('_', '-')}" for name, value in named if value]

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
