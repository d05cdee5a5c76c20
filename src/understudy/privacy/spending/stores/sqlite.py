"""A ledger in an SQLite file: for one machine, also where the system cannot lock files for us.

SQLite locks the file while a transaction writes, on every system that it runs on. A transaction
that begins with the intention to write lets nobody else begin one. Triggers refuse to change or
remove a row, and the chain of checksums shows it where someone has done so all the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from understudy.errors import LedgerError
from understudy.privacy.spending.lines import holds_entries
from understudy.privacy.spending.stores.chain import Chain, ChainLink
from understudy.privacy.spending.stores.file import Beside
from understudy.system.files.sqlite_address import slash_hint

# How many seconds a process waits for another that writes.
_PATIENCE = 60
_TABLES = """
CREATE TABLE IF NOT EXISTS understudy_ledger (
    number INTEGER PRIMARY KEY, body TEXT NOT NULL, "check" TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS understudy_ledger_in_order BEFORE INSERT ON understudy_ledger
    WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM understudy_ledger)
    BEGIN SELECT RAISE(ABORT, 'a ledger is written in order'); END;
CREATE TRIGGER IF NOT EXISTS understudy_ledger_no_update BEFORE UPDATE ON understudy_ledger
    BEGIN SELECT RAISE(ABORT, 'a ledger is only appended to'); END;
CREATE TRIGGER IF NOT EXISTS understudy_ledger_no_delete BEFORE DELETE ON understudy_ledger
    BEGIN SELECT RAISE(ABORT, 'a ledger is only appended to'); END;
"""
_READ = 'SELECT number, body, "check" FROM understudy_ledger WHERE number >= ? ORDER BY number'
_WRITE = "INSERT INTO understudy_ledger VALUES (?, ?, ?)"


class SqliteStore(Beside):
    """A ledger in a table of an SQLite file, with its secret beside it."""

    adds_up = False

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._known = Chain()

    @property
    def shown(self) -> str:
        """Return the address of the database."""
        return f"sqlite:///{self.path}"

    def exists(self) -> bool:
        """Whether there is a file."""
        return self.path.exists()

    @contextmanager
    def locked(self) -> Iterator[SqliteBook]:
        """Hold the file in a transaction, which is on disk when it is left."""
        with self._failures(), closing(self._connected()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._known = continued(self._known, self._links(connection), place=self.shown)
                yield SqliteBook(connection, self._known, self.shown)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _connected(self) -> sqlite3.Connection:
        hint = slash_hint(self.path)
        if hint:
            raise LedgerError(f"ledger {self.shown}: its folder is not there{hint}")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Autocommit: transactions begin and end where this module says so.
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        # The name of a new journal is flushed too, so that a power cut loses nothing.
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'understudy_ledger'")
        if known.fetchone() is None:
            connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}COMMIT;")
        return connection

    def _links(self, connection: sqlite3.Connection) -> list[ChainLink]:
        first = max(len(self._known.entries), 1)
        return [ChainLink(*row) for row in connection.execute(_READ, [first])]

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Failures of the file in our words; SQLite's may quote what is in it."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            # SQLite quotes names of a damaged file in its messages, which may not be text.
            raise LedgerError(
                f"ledger {self.shown}: {_reason(error)}; nothing was written and nothing was drawn"
            ) from None


class SqliteBook:
    """The table of a ledger while this process holds it."""

    def __init__(self, connection: sqlite3.Connection, chain: Chain, shown: str) -> None:
        self.chain = chain
        self._connection, self._shown = connection, shown

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, stamped with this machine's time."""
        time = datetime.now(UTC).isoformat(timespec="seconds")
        self._insert(self.chain.links(entries, time=time))

    def copy(self, chain: Chain) -> None:
        """Write the entries of another store into an empty table, as they are there."""
        if self.chain.entries:
            raise holds_entries(self._shown)
        self._insert(chain.all_links())

    def _insert(self, links: Sequence[ChainLink]) -> None:
        rows = [(link.number, link.body, link.check) for link in links]
        self._connection.executemany(_WRITE, rows)


def continued(known: Chain, links: Sequence[ChainLink], *, place: str) -> Chain:
    """A chain that was read before, and links from its last one on.

    Raises:
        LedgerError: its last entry is not there any more, or is another one.
    """
    if known.entries:
        last = links[0] if links else None
        if last is None or (last.number, last.check) != (len(known.entries), known.check):
            raise LedgerError(
                f"ledger {place}: lacks entries that were in it before; it was replaced by an "
                "older copy or by another ledger: restore the newest copy before spending more"
            )
        links = links[1:]
    return known.extended(links, place=place)


def _reason(error: sqlite3.Error | OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return f"cannot be opened: {error.strerror}; choose another with --ledger"
    name = str(getattr(error, "sqlite_errorname", "") or "SQLITE_ERROR")
    known = {
        "SQLITE_BUSY": f"another process has held it for {_PATIENCE} seconds; wait until it ends",
        "SQLITE_CANTOPEN": "cannot be opened; choose another with --ledger",
        "SQLITE_READONLY": "may not be written by this account; ask its owner",
        "SQLITE_FULL": "the disk is full; free some space",
        "SQLITE_NOTADB": "is not an SQLite file; name another with --ledger",
        "SQLITE_CORRUPT": "is damaged; restore it from a copy",
    }
    matches = (words for start, words in known.items() if name.startswith(start))
    return next(matches, f"SQLite refuses it ({name}); restore it from a copy, or name another")
