"""Keys and ledgers that vouch for what a job writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import DataError, UsageError

if TYPE_CHECKING:
    from understudy.privacy.spending.record import Record
    from understudy.privacy.spending.stores.store import LedgerPlace
    from understudy.privacy.statements.binding import Signer
    from understudy.privacy.statements.statement import Statement


def signer_of(key: Path | None) -> Signer | None:
    """The signer of a private key, read before anything is spent; None where no key is named."""
    if key is None:
        return None
    from understudy.federated.wire.keys import private_key
    from understudy.privacy.statements.signing import KeySigner
    from understudy.system.extras import require

    require("cryptography", extra="federated")
    return KeySigner(private_key(key))


@dataclass(frozen=True)
class Sealing:
    """Who vouches for rows drawn from a model: the ledger that paid for it, a key, or nobody."""

    ledger: LedgerPlace | None
    signer: Signer | None

    def record(self, statement: Statement, *, path: Path) -> Record | None:
        """The record of the model's run; it has the run's seal key if the ledger sealed the model.

        Args:
            statement: the statement of the loaded model.
            path: where the model is.
        """
        from understudy.models.archive import bound_content
        from understudy.privacy.statements.binding import MODEL
        from understudy.privacy.statements.claim import Claim
        from understudy.privacy.statements.verification import recognised

        if self.ledger is None:
            return statement.record
        check_ledger(self.ledger)
        document, found = bound_content(path)
        claim = Claim.of(document, MODEL, found, path=path)
        if claim.statement != statement:
            raise DataError(f"{path}: changed while it was read; sample again")
        return recognised(claim, self.ledger, path=path)


def check_ledger(ledger: LedgerPlace) -> None:
    """Refuse a ledger that does not exist, where one that has paid is needed."""
    from understudy.privacy.spending.ledger import Ledger

    book = Ledger(ledger)
    if not book.exists or book.path.is_dir():
        raise UsageError(
            f"ledger {book.place}: does not exist; name the ledger that paid for the run"
        )
