"""Rules for a network, read from texts such as age:income and illness=age,sex."""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import UsageError
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.methods.structure.restrict import Restrictions


Protected = dict[str, tuple[str, ...] | None]


@dataclass(frozen=True)
class NetworkRequest(JobRequest):
    """Rules that say which edges a network must and must not have.

    Attributes:
        target: the column that the others are used to predict.
        protect: sensitive columns, each a name, or a name and its allowed parents.
        quasi_identifiers: columns that an attacker may know, with commas between them.
        ignore: columns that protected ones must not depend on, with commas between them; they
            may depend on all others.
        require: edges that the network must have, as parent:child.
        forbid: edges that the network must not have, as parent:child.
        tier: groups of columns in order; none has parents in a later group.
        predictors: a CSV file of 0 and 1: which column may be a parent of which.
    """

    target: str | None = None
    protect: list[str] | None = None
    quasi_identifiers: str | None = None
    ignore: str | None = None
    require: list[str] | None = None
    forbid: list[str] | None = None
    tier: list[str] | None = None
    predictors: Path | None = None

    def restrictions(self, known: Collection[str]) -> Restrictions:
        """The same rules as restrictions on networks of these attributes."""
        from understudy.facts.protection import Protection
        from understudy.methods.structure.given import read_predictors
        from understudy.methods.structure.restrict import Restrictions

        protected = dict(_protected(text, known) for text in self.protect or ())
        if self.ignore is not None:
            protected = _but_for(names_of(self.ignore), protected, known)
        return Restrictions(
            required=tuple(_edge("--require", text, known) for text in self.require or ()),
            forbidden=tuple(_edge("--forbid", text, known) for text in self.forbid or ()),
            tiers=tuple(names_of(text) for text in self.tier or ()),
            predictors=None if self.predictors is None else read_predictors(self.predictors),
            protection=Protection(self.target, protected, names_of(self.quasi_identifiers or "")),
        )


def _edge(option: str, text: str, known: Collection[str]) -> tuple[str, str]:
    """Read a parent and a child, such as age:income; names may contain colons themselves."""
    cuts = _cuts(text, ":")
    if not cuts:
        raise UsageError(f"{option} {text!r}: write a parent and a child, such as age:income")
    return next((cut for cut in cuts if cut[0] in known and cut[1] in known), cuts[0])


def _protected(text: str, known: Collection[str]) -> tuple[str, tuple[str, ...] | None]:
    """Read a name, or a name and all that it may depend on, such as illness=age,sex."""
    cuts = [] if text in known else _cuts(text, "=")
    if not cuts:
        return text, None
    name, kept = next((cut for cut in cuts if cut[0] in known), cuts[0])
    return name, names_of(kept)


def _but_for(ignored: tuple[str, ...], protected: Protected, known: Collection[str]) -> Protected:
    """Let protected columns depend on all columns but the ignored ones and each other."""
    for name in ignored:
        if name not in known:
            raise UsageError(
                f"--ignore: attribute {name!r} is unknown; known are {', '.join(known)}"
            )
    open_ones = [name for name, of in protected.items() if of is None]
    if not open_ones:
        raise UsageError(
            "--ignore says what protected columns must not depend on, and no column is protected "
            "without a list; add --protect COLUMN"
        )
    kept = tuple(name for name in known if name not in (*ignored, *protected))
    return {**protected, **dict.fromkeys(open_ones, kept)}


def _cuts(text: str, at: str) -> list[tuple[str, str]]:
    """All ways to cut a text in two at a sign."""
    return [(text[:i], text[i + 1 :]) for i, sign in enumerate(text) if sign == at]


def names_of(text: str) -> tuple[str, ...]:
    """Read names with commas between them; a name with a comma is written in double quotes.

    Example:
        >>> names_of('age,"income, net"')
        ('age', 'income, net')
    """
    return tuple(name for line in csv.reader([text]) for name in line if name)
