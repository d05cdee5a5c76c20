"""The budget of a stream: a grant that was given, or one that a ledger keeps."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.privacy.accounting.adjacency import Adjacency, UnitKind
from understudy.privacy.budget import Budget
from understudy.privacy.noise.system import Noise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.record import Books, LedgerChoice

WHOM = Adjacency(UnitKind.USER)


class StreamAccount:
    """The grant of a stream, and the ledger that records its cost at the end."""

    def __init__(self, grant: Grant, ledger: Ledger | None = None) -> None:
        self.grant = grant
        self._ledger = ledger

    @classmethod
    def of(
        cls,
        grant: Grant | None,
        *,
        cost: Budget,
        about: Mapping[str, str],
        ledger: LedgerChoice,
        dataset: str | None,
        noise: Noise | None,
    ) -> StreamAccount:
        """The grant that was given, else one of all that the stream may cost."""
        if grant is not None:
            return cls(grant)
        private = noise is None or noise.private
        books = Books.chosen(ledger, dataset, cost, private=private)
        paid = cls(
            Grant(cost) if books.ledger is None else Grant(cost, log=books.ledger), books.ledger
        )
        if books.ledger is not None:
            books.ledger.open(books.dataset, paid.grant, adjacency=WHOM, about=about)
        return paid

    def close(self) -> None:
        """State the cost of the run, once."""
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            ledger.close(self.grant)
