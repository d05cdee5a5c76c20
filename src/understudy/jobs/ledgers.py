"""Who pays for a job: a ledger, and the name under which it knows the data."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING

from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.privacy.spending.fingerprints import Sighting
    from understudy.privacy.spending.ledger import Ledger


@dataclass(frozen=True)
class LedgerRequest(JobRequest):
    """Which ledger pays, and for which dataset.

    Attributes:
        dataset: the name of the data in the ledger; that of the file or folder unless given.
        ledger: the ledger's file; the user's own unless given.
    """

    dataset: str | None = None
    ledger: str | PathLike[str] | None = field(default=None, repr=False)

    def opened(self) -> Ledger:
        """The ledger asked for, else the user's own."""
        return open_ledger(self.ledger)

    def standing(self, dataset: str) -> tuple[str, ...]:
        """Say what is spent on a dataset so far, and what its limit leaves."""
        account = self.opened().account(dataset)
        spent = [
            f"ledger: {total.spent} spent on {dataset} so far, for {total.adjacency}"
            for total in account.totals
        ]
        left = "no limit is set" if account.limit is None else f"left: {account.remaining}"
        return (*(f"{each}; {left}" for each in spent[:1]), *spent[1:])

    def warn_of_copies(self, name: str, sighting: Sighting) -> None:
        """Warn at a terminal that these rows were spent on under another name, or elsewhere."""
        from understudy.privacy.spending.fingerprints import warn

        warn(self.opened(), name, sighting)


def open_ledger(place: str | PathLike[str] | None) -> Ledger:
    """The ledger asked for, else the user's own."""
    from understudy.privacy.spending.ledger import Ledger, default_place

    return Ledger(place or default_place())
