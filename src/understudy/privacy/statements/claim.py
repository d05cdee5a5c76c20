"""A claim to be verified: a statement as it was written, and what was found beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from understudy.errors import DataError, UnderstudyError
from understudy.privacy.accounting.composition import CURVE, ZCDP
from understudy.privacy.accounting.events import Charge
from understudy.privacy.statements.binding import BINDING, canonical
from understudy.privacy.statements.recomputation import least_cost, parts_of
from understudy.privacy.statements.statement import MISFITS, Statement
from understudy.system.files.members import parsed_document, read_file
from understudy.system.version import __version__

# A statement names every answer; one of this size would name a million.
_MOST_BYTES = 2**28

# More answers than any run has; each is looked at several times.
_MOST_ANSWERS = 10**6


class Outcome(StrEnum):
    """How a check came out."""

    HOLDS = "holds"
    FAILS = "fails"
    ABSENT = "absent"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and what was found, in words."""

    about: str
    outcome: Outcome
    sentence: str

    @property
    def fails(self) -> bool:
        """Whether something that was asked for does not hold."""
        return self.outcome is Outcome.FAILS

    def document(self) -> dict[str, str]:
        """Return the check for JSON."""
        return {"check": self.about, "outcome": str(self.outcome), "sentence": self.sentence}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim is a statement as it was written, with the digest of the file it came with.

    Attributes:
        written: the statement's document.
        statement: the same, read.
        kind: whether it came with a file or in a model.
        found: the digest of that file, or of everything else in that model.
        beside: what else is in the statement's own file, where it has one.
    """

    written: Mapping[str, Any]
    statement: Statement
    kind: str
    found: str
    beside: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        written: Mapping[str, Any],
        kind: str,
        found: str,
        *,
        path: Path,
        beside: Mapping[str, Any] | None = None,
    ) -> Claim:
        """A claim, if what was written is a statement at all."""
        try:
            claim = cls(
                written=written,
                statement=Statement.parse(written),
                kind=kind,
                found=found,
                beside=beside,
            )
            claim._check()
        except (*MISFITS, UnderstudyError):
            raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
        return claim

    def _check(self) -> None:
        """Raise one of `MISFITS` for what could not be compared, or not in bounded time."""
        if len(self.statement.charges) > _MOST_ANSWERS:
            raise ValueError("events")
        words = [self.statement.method, self.statement.bound.accounting]
        words += [charge.question for charge, _ in self.grouped]
        bound_to = self.written.get(BINDING, {})
        if not all(isinstance(word, str) for word in words) or not isinstance(bound_to, Mapping):
            raise TypeError(BINDING)
        # Amounts of very many digits have no text, and values that are nested deeply no bytes.
        _ = self.anew, str(self.own_bound[0]), str(self.own_bound[1])
        _ = canonical(self.written), canonical(self.beside)

    @cached_property
    def anew(self) -> dict[str, Any]:
        """The document that this version writes for the same promise."""
        return self.statement.document()

    @cached_property
    def grouped(self) -> list[tuple[Charge, int]]:
        """Every answer drawn, equal ones that follow each other only once, with their number."""
        return self.statement.grouped

    @cached_property
    def costs(self) -> list[Fraction | None]:
        """The costs of the answers at the statement's delta; None where they are not known."""
        epsilon, delta = self.own_bound
        adaptive = self.statement.bound.accounting.startswith((ZCDP, CURVE))
        whole = epsilon or Fraction(0)
        return [
            least_cost(events, whole, delta, adaptive=adaptive)
            for events in parts_of(self.statement.method, self.grouped)
        ]

    @property
    def of_this_version(self) -> bool:
        """Whether this version says to have written it, so that every word can be compared."""
        return (self.binding or {}).get("version") == __version__

    @property
    def binding(self) -> Mapping[str, Any] | None:
        """The part that ties the statement to its file; None where version 0.1.0 wrote it."""
        return self.written.get(BINDING)

    @property
    def own_bound(self) -> tuple[Fraction | None, Fraction]:
        """The cost of the run itself, without what the schema had cost before."""
        bound, part = self.statement.bound, self.statement.inference
        if part is None or part.epsilon is None or bound.epsilon is None:
            return bound.epsilon, bound.delta
        return bound.epsilon - part.epsilon, bound.delta - part.delta


def read_statement(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Read the statement in a file OUTPUT.privacy.json, and what else it holds."""
    try:
        document = parsed_document(read_file(path, _MOST_BYTES))
        statement = document.pop("statement")
        if not isinstance(statement, Mapping):
            raise TypeError("statement")
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; without a statement nothing is promised"
        ) from None
    except MISFITS:
        raise DataError(f"{path}: holds no statement of understudy, or a damaged one") from None
    return statement, document
