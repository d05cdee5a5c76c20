"""Decide where a run is written down: the user's own ledger by default, another, or nowhere.

From Python as from the command line a run goes into the user's ledger, so that a limit cannot be
walked past by leaving an argument out. `ledger=None` leaves it out on purpose, and the statement
of such a run says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, Final

from understudy.errors import LedgerError, UsageError
from understudy.privacy.accounting.adjacency import Adjacency
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger, default_place
from understudy.privacy.spending.pricing import Adaptive, Pricing
from understudy.privacy.spending.scratch import ScratchLedger
from understudy.privacy.spending.steps import Told
from understudy.privacy.statements.binding import Secret


class DefaultLedger(Enum):
    """The type of `DEFAULT`, which stands for the user's own ledger."""

    OWN = "the user's own ledger"

    def __repr__(self) -> str:
        return "DEFAULT"


DEFAULT: Final = DefaultLedger.OWN
"""The ledger that the command line uses too: $UNDERSTUDY_LEDGER, else one in the state folder."""

LedgerChoice = Ledger | str | os.PathLike[str] | DefaultLedger | None
"""A ledger or its path, `DEFAULT` for the user's own, or None to keep no record of a run."""


class Kept(StrEnum):
    """Who keeps a record of a run."""

    LEDGER = "ledger"
    """A ledger of whoever holds the rows."""

    HOLDERS = "holders"
    """The ledgers of several holders, each for its own rows."""

    NOWHERE = "nowhere"
    """Nobody: no limit bounds this run and others together."""


@dataclass(frozen=True)
class Record:
    """A statement says by this record which ledger its run was written to.

    Attributes:
        kept: who keeps a record of the run.
        commitment: to the ledger's entry of the run, under a secret that stays beside the ledger;
            None where there is no such entry.
        seal_key: of the run, while the process lives that paid for it; never written down.
    """

    kept: Kept
    commitment: str | None = None
    seal_key: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """A sentence for the reader; empty where a ledger keeps the run."""
        if self.kept is Kept.NOWHERE:
            return "No ledger keeps this run, so no limit counts it."
        return ""

    def document(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {"kept": str(self.kept), "commitment": self.commitment}

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Record:
        """The record that was written down."""
        commitment = document.get("commitment")
        if not isinstance(commitment, str | None):
            raise TypeError("commitment")
        return cls(Kept(document["kept"]), commitment)


@dataclass(frozen=True)
class Books:
    """Where one run is written down.

    Attributes:
        ledger: the ledger, or None where no record is kept.
        dataset: the name by which the ledger knows the rows.
    """

    ledger: Ledger | None
    dataset: str

    @classmethod
    def chosen(
        cls, ledger: LedgerChoice, dataset: str | None, budget: Budget, *, private: bool
    ) -> Books:
        """The books of a run that may spend so much.

        Args:
            ledger: what the caller asked for.
            dataset: the name of the rows; None where they have none.
            budget: what the run may spend.
            private: whether nobody can predict its noise.

        Raises:
            UsageError: the rows have no name, or a run that is not private was to enter a ledger.
        """
        if isinstance(ledger, str | os.PathLike):
            ledger = Ledger(ledger)
        if not isinstance(ledger, Ledger | DefaultLedger | None):
            raise UsageError(
                f"ledger is {ledger!r}; give a Ledger, a path, or None to keep no record of a run"
            )
        private = private and budget.measure is not Measure.UNLIMITED
        if ledger is None or (ledger is DEFAULT and not private):
            return cls(None, dataset or "")
        if not private:
            raise UsageError(
                "this run uses seeded or no noise, so it must not be recorded in a ledger; remove "
                "the ledger argument"
            )
        if dataset is None:
            raise UsageError(
                "the rows have no name, and a ledger knows rows by their name; give one, as "
                "dataset='patients', or say ledger=None to keep no record of this run"
            )
        return cls(Ledger(default_place()) if ledger is DEFAULT else ledger, dataset)

    @contextmanager
    def granted(
        self,
        budget: Budget,
        *,
        adjacency: Adjacency,
        about: Mapping[str, str],
        pricing: Pricing | None = None,
        resume: Told | None = None,
    ) -> Iterator[Grant]:
        """A run's whole budget, set aside in the ledger where there is one."""
        if self.ledger is None:
            yield Grant(budget, pricing=pricing or Adaptive())
            return
        if not isinstance(self.ledger, ScratchLedger):
            # What could not be committed to afterwards is refused before it is paid for.
            about = {**about, "secret": _secret_of(self.ledger).name}
        with self.ledger.grant(
            self.dataset,
            budget,
            adjacency=adjacency,
            about=about,
            pricing=pricing,
            resume=resume,
        ) as grant:
            yield grant

    def record(self, grant: Grant) -> Record:
        """Make the record for a statement, once the grant is closed."""
        if self.ledger is None:
            return Record(Kept.NOWHERE)
        head = self.ledger.head_of(grant.identity)
        if head is None:
            return Record(Kept.LEDGER)
        secret = self.ledger.make_secret()
        return Record(Kept.LEDGER, secret.commitment(head), secret.seal_key(head))


def _secret_of(ledger: Ledger) -> Secret:
    """The secret of a ledger: made for its first run, and the same for all that follow.

    Raises:
        LedgerError: it was lost or replaced, so that statements of before could not be verified.
    """
    known, found = ledger.secrets(), ledger.secret()
    if known and (found is None or found.name not in known):
        raise LedgerError(
            f"ledger {ledger.place}: its secret, {ledger.store.secret_place}, is not the one "
            "of its earlier runs; restore it from a copy, or begin another ledger"
        )
    return ledger.make_secret()
