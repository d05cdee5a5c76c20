"""Jobs of `ledger init`, `import` and `export`: make a ledger, and move one between stores."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import LedgerError, UsageError
from understudy.jobs.ledgers import open_ledger
from understudy.jobs.request import JobRequest

if TYPE_CHECKING:
    from understudy.privacy.spending.ledger import Ledger
    from understudy.privacy.spending.stores.chain import Chain


@dataclass(frozen=True, kw_only=True)
class InitRequest(JobRequest):
    """A ledger on a server that is to be made, and who may do what there.

    Attributes:
        ledger: the address of the database; the user's own ledger unless given.
        stewards: roles that set limits, and spend.
        analysts: roles that spend.
    """

    ledger: str | PathLike[str] | None = None
    stewards: tuple[str, ...] = ()
    analysts: tuple[str, ...] = ()


def ledger_sql(request: InitRequest) -> str:
    """Write the SQL that `ledger init` runs, for a person who may run it."""
    from understudy.privacy.spending.stores.postgres_tables import statements

    return statements(stewards=request.stewards, analysts=request.analysts)


def init_ledger(request: InitRequest) -> str:
    """Make a ledger's tables, or grant further roles; returns the place without a password."""
    from understudy.privacy.spending.stores.postgres import PostgresStore

    book = open_ledger(request.ledger)
    if isinstance(book.store, PostgresStore):
        book.store.init(stewards=request.stewards, analysts=request.analysts)
    elif request.stewards or request.analysts:
        raise UsageError(
            f"ledger {book.place}: a file has no roles; name a server with "
            "--ledger postgresql://USER@HOST/DATABASE"
        )
    else:
        # A file is made by its first use; this shows that it can be.
        with book.store.locked():
            pass
    return book.place


@dataclass(frozen=True)
class Moved:
    """A ledger that was moved or copied.

    Attributes:
        source: the place it came from.
        target: the place it is at.
        entries: how many entries there are.
        is_copy: whether the source is still spent from, and the target is only read.
    """

    source: str
    target: str
    entries: int
    is_copy: bool = False

    @property
    def sentence(self) -> str:
        """Say where the ledger is, and where spending continues."""
        count = "1 entry" if self.entries == 1 else f"{self.entries:,} entries"
        if self.is_copy:
            return (
                f"copied {count} of {self.source} to {self.target}, which is only read; spending "
                f"continues in {self.source}"
            )
        return f"moved {count} of {self.source} to {self.target}; spending continues there"


def import_ledger(file: Path, ledger: str | PathLike[str] | None) -> Moved:
    """Move a ledger from a file into an empty one; from then on the file is only read."""
    from understudy.privacy.spending.ledger import Ledger

    source, target = Ledger(file), open_ledger(ledger)
    if not source.exists:
        raise UsageError(f"ledger {source.place}: does not exist; name one that does")
    return _move(source, target)


def export_ledger(file: Path, ledger: str | PathLike[str] | None, *, move: bool = False) -> Moved:
    """Write a ledger to a new file: a copy that is only read, or the ledger itself.

    Args:
        file: the new ledger's file.
        ledger: the ledger; the user's own unless given.
        move: spend from the file from now on, and no more from the ledger.
    """
    from understudy.privacy.spending.ledger import MOVED, Ledger
    from understudy.privacy.spending.stores.places import lasting_place

    source, target = open_ledger(ledger), Ledger(file)
    if not source.exists:
        raise UsageError(f"ledger {source.place}: does not exist; name one that does")
    if move:
        return _move(source, target)
    with source.store.locked() as book:
        chain = book.chain
    # Two ledgers of the same rows would each allow a whole limit, so the copy is never without it.
    time = datetime.now(UTC).isoformat(timespec="seconds")
    note = {"entry": MOVED, "to": lasting_place(source.store), "copy": True}
    last = chain.links([note], time=time)
    _take_secret(source, target)
    _copy(chain.extended(last, place=source.place), target)
    return Moved(source.place, target.place, len(chain.entries), is_copy=True)


def _move(source: Ledger, target: Ledger) -> Moved:
    """Close the old place first: whatever happens then, nothing is spent in two places."""
    from understudy.privacy.spending.ledger import MOVED, is_copy, moved_to
    from understudy.privacy.spending.stores.chain import Chain
    from understudy.privacy.spending.stores.places import lasting_place

    place = lasting_place(target.store)
    _check_empty(target)
    # Before anything is closed: a role that may not write it would be stopped halfway.
    _take_secret(source, target)
    with source.store.locked() as book:
        chain, gone = book.chain, moved_to(book.chain)
        if gone not in (None, place):
            why = f"is a copy of {gone}" if is_copy(chain) else f"was moved before, to {gone}"
            raise LedgerError(f"ledger {source.place}: {why}; name that one")
        if gone is None:
            _rehearse(chain, target)
            book.write([{"entry": MOVED, "to": place}])
        elif chain.entries[-1]["entry"] != MOVED:
            raise LedgerError(
                f"ledger {source.place}: was moved to {gone}, and an older version wrote to it "
                "afterwards; both hold runs, so let the stricter of their limits be kept by hand"
            )
        else:
            chain = Chain(chain.entries[:-1], chain.checks[:-1])
    _copy(chain, target)
    return Moved(source.place, target.place, len(chain.entries))


class _TakenBack(Exception):
    """Ends a rehearsal; what was written in its transaction is rolled back."""


def _rehearse(chain: Chain, target: Ledger) -> None:
    """Let a database refuse entries while the old place is still open; nothing stays of it.

    Were they refused after the old place was closed, nothing could be spent anywhere.
    """
    from understudy.privacy.spending.stores.file import FileStore

    if isinstance(target.store, FileStore):
        return
    with suppress(_TakenBack), target.store.locked() as book:
        book.copy(chain)
        raise _TakenBack


def _check_empty(target: Ledger) -> None:
    from understudy.privacy.spending.lines import holds_entries

    with target.store.locked() as book:
        if book.chain.entries:
            raise holds_entries(target.place)


def _take_secret(source: Ledger, target: Ledger) -> None:
    """Copy the secret, so that statements of before can still be verified."""
    secret = source.secret()
    if secret is not None:
        target.store.take_secret(secret)


def _copy(chain: Chain, target: Ledger) -> None:
    """Copy entries with their checks."""
    with target.store.locked() as book:
        book.copy(chain)
