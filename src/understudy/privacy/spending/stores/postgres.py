"""A ledger in PostgreSQL, for a team: everybody's spending in one chain, by roles.

One process at a time reads the chain and appends to it, in a transaction under a lock of the
server's. The lock keeps order; that nobody overspends does not rest on it: an entry's number is
the next one or is refused, so that whoever has not seen the newest entry cannot write. Commits wait
for the disk. Times are the server's. What the server checks by itself is in `postgres_tables`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from understudy.errors import FateUnknown, LedgerError, UsageError
from understudy.privacy.spending.lines import holds_entries
from understudy.privacy.spending.stores import postgres_tables
from understudy.privacy.spending.stores.chain import Chain, ChainLink
from understudy.privacy.spending.stores.sqlite import continued
from understudy.privacy.statements.binding import Secret
from understudy.system.extras import require

if TYPE_CHECKING:
    import psycopg

# How long a process waits for another that writes, and how long the server lets one sit idle.
_PATIENCE = "60s"
_LOCK = int.from_bytes(hashlib.sha256(b"understudy ledger").digest()[:8], "big", signed=True)
# The last one: no function of another role is called in the place of one of the server's.
_OPTIONS = (
    f"-c lock_timeout={_PATIENCE} -c idle_in_transaction_session_timeout={_PATIENCE} "
    "-c search_path=pg_catalog,pg_temp"
)
_READ = (
    'SELECT number, body, "check" FROM understudy_ledger.entries WHERE number >= %s ORDER BY number'
)
_WRITE = 'INSERT INTO understudy_ledger.entries (number, body, "check") VALUES (%s, %s, %s)'
_TIME = (
    "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"+00:00\"')"
)
_NOT_MADE = ("42P01", "3F000")
_REFUSALS = {
    "UL001": "another process wrote at the same time; nothing was written: try again",
    "UL002": "this role may not set limits; ask a steward, or connect as one",
    "UL003": "this run was closed, and nothing can be charged to it any more; begin another run",
    "UL004": "a run cannot be closed for less than its charges add up to; it counts whole",
    "UL005": "an entry would be of the future; set this machine's clock",
    "UL006": "was moved; `ledger show` says where to",
    "UL007": "a ledger is only appended to",
    "UL008": "an entry lacks an amount, or has one below 0; nothing was written: begin another run",
    "UL011": "an entry does not say what readers need, and would stop all of them; nothing was "
    "written: write it with understudy",
    "UL010": "an entry is not written as this program writes it, so nobody could read it; nothing "
    "was written: write it with understudy",
    "23505": "another process wrote at the same time; nothing was written: try again",
    "42501": "this role may not do that there; ask its owner for `ledger init --analyst ROLE`",
    "55P03": f"another process has held it for {_PATIENCE}; wait until it ends, or stop it",
    "53100": "the server's disk is full; free some space",
    "25006": "the server only reads; connect to the one that writes",
}
_OF_INIT = {
    **_REFUSALS,
    "42501": "this role may not make a ledger there; print the SQL with --sql, and ask an owner",
    "UL009": "the schema understudy_ledger, or a part of it, belongs to another role, which could "
    "change the ledger; connect as that role if it keeps the ledger, or else drop the schema",
    "42704": "a role does not exist on the server; create it first",
}
_LOST = "the connection was lost"


class PostgresStore:
    """A ledger in a PostgreSQL database, which the address names."""

    adds_up = True

    def __init__(self, address: str) -> None:
        self.address = address
        self.shown = _without_password(address)
        self._known = Chain()
        self._connection: psycopg.Connection[Any] | None = None
        self._owner = 0
        self._holds: set[str] = set()

    @property
    def path(self) -> Path:
        """The name, in this user's state folder, that files on this machine are beside."""
        import platformdirs

        digest = hashlib.sha256(self.shown.encode()).hexdigest()[:16]
        return platformdirs.user_state_path("understudy") / "ledgers" / f"postgres-{digest}"

    @property
    def secret_place(self) -> str:
        """The table that has the secret."""
        return f"{postgres_tables.SCHEMA}.secret"

    def exists(self) -> bool:
        """Always: a server that cannot be reached, or has no ledger, is refused by name."""
        return True

    def init(self, *, stewards: Sequence[str] = (), analysts: Sequence[str] = ()) -> None:
        """Make the tables, and grant roles what they may do; what is there already stays."""
        sql = postgres_tables.statements(stewards=stewards, analysts=analysts)
        with self._failures(_OF_INIT):
            connection = self._connected()
            try:
                connection.execute(sql.encode())
            except BaseException:
                with suppress(Exception):
                    connection.rollback()
                raise

    # --- one process at a time ------------------------------------------------------------------

    @contextmanager
    def locked(self) -> Iterator[PostgresBook]:
        """Hold the chain in a transaction, which is on the server's disk when it is left."""
        with self._failures():
            connection = self._connected()
        try:
            with self._failures():
                book = self._book(connection)
            yield book
            with self._failures(wrote=book.wrote):
                connection.commit()
        except BaseException:
            with suppress(Exception):
                connection.rollback()
            raise
        self._remember()

    def _book(self, connection: psycopg.Connection[Any]) -> PostgresBook:
        connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        # A snapshot of its own, after the lock: it sees all that others have committed.
        first = max(len(self._known.entries), 1)
        links = [ChainLink(*row) for row in connection.execute(_READ, [first])]
        self._known = continued(self._known, links, place=self.shown)
        self._check_not_behind()
        [time] = connection.execute(_TIME).fetchone() or [""]
        return PostgresBook(self, connection, self._known, time)

    @property
    def _seen(self) -> Path:
        return self.path.with_name(f"{self.path.name}.seen")

    def _check_not_behind(self) -> None:
        """Refuse a server that lacks entries which this user's processes have seen before."""
        try:
            seen = json.loads(self._seen.read_bytes())
            number, check = int(seen["number"]), str(seen["check"])
        except (OSError, ValueError, LookupError, TypeError):
            return
        if self._known.checks[number - 1 : number] != (check,):
            raise LedgerError(
                f"ledger {self.shown}: lacks entries that this machine has seen in it; it was "
                "restored from an older copy, or another one took its place: restore the newest "
                f"copy, or remove {self._seen} if you know that it begins again"
            )

    def _remember(self) -> None:
        """Keep the last entry that was read, for processes that come later."""
        number = len(self._known.entries)
        with suppress(OSError):
            self._seen.parent.mkdir(parents=True, exist_ok=True)
            part = self._seen.with_name(f"{self._seen.name}.{os.getpid()}")
            part.write_text(json.dumps({"number": number, "check": self._known.check}))
            if number:
                part.replace(self._seen)
            else:
                part.unlink()

    # --- the secret, and what is held -----------------------------------------------------------

    def secret(self) -> Secret | None:
        """Read the secret of the ledger's table."""
        with self._failures():
            [digits] = (
                self._connected().execute("SELECT digits FROM understudy_ledger.secret").fetchone()
            ) or [""]
        return Secret.of_text(digits, place=f"ledger {self.shown}") if digits else None

    def make_secret(self) -> Secret:
        """The secret, which `ledger init` has made."""
        found = self.secret()
        if found is None:
            raise LedgerError(f"ledger {self.shown}: has no secret; run `ledger init` again")
        return found

    def take_secret(self, secret: Secret) -> None:
        """Keep the secret of a ledger that is copied here; its owner alone may.

        Raises:
            LedgerError: there are entries already, whose statements are committed to by another.
        """
        with self.locked() as book:
            known = self.secret()
            if book.chain.entries and (known is None or known.text != secret.text):
                raise holds_entries(self.shown)
            with self._failures():
                update = "UPDATE understudy_ledger.secret SET digits = %s"
                self._connected().execute(update, [secret.text])

    def hold(self, name: str) -> bool:
        """Whether a lock of the session is now had; it ends with the connection."""
        if name in self._holds:
            return False
        with self._failures():
            found = self._connected().execute("SELECT pg_try_advisory_lock(%s)", [_number(name)])
            [got] = found.fetchone() or [False]
        if got:
            self._holds.add(name)
        return bool(got)

    def let_go(self, name: str) -> None:
        """Give the lock of the session back."""
        self._holds.discard(name)
        with suppress(LedgerError), self._failures():
            self._connected().execute("SELECT pg_advisory_unlock(%s)", [_number(name)])

    # --- the connection -------------------------------------------------------------------------

    def _connected(self) -> psycopg.Connection[Any]:
        """The connection of this process, opened again where it was lost."""
        driver = require("psycopg", extra="database")
        if self._connection is None or self._connection.closed or self._owner != os.getpid():
            connection = driver.connect(
                self.address, autocommit=True, options=_OPTIONS, connect_timeout=30
            )
            _commit_to_disk(connection)
            self._connection, self._owner = connection, os.getpid()
            self._take_again()
        return self._connection

    def _take_again(self) -> None:
        """Hold again what a lost connection held, unless another process has it by now."""
        names, self._holds = self._holds, set()
        for name in names:
            if not self.hold(name):
                raise LedgerError(
                    f"ledger {self.shown}: {_LOST}, and another process has this run by now; let "
                    "it end"
                )

    @contextmanager
    def _failures(
        self, words: Mapping[str, str] = _REFUSALS, *, wrote: bool = False
    ) -> Iterator[None]:
        """Failures of the server in our words, which quote neither passwords nor entries."""
        driver = require("psycopg", extra="database")
        try:
            yield
        except driver.Error as error:
            raise self._refusal(error, words, wrote=wrote) from None

    def _refusal(self, error: Any, words: Mapping[str, str], *, wrote: bool) -> LedgerError:
        code = error.sqlstate or ""
        lost = self._connection is not None and self._connection.closed
        start = f"ledger {self.shown}: "
        if lost and wrote:
            return FateUnknown(
                f"{start}{_LOST} while entries were written; they may be there and count as "
                "spent, and nothing was drawn: begin another run"
            )
        if code in _NOT_MADE:
            made = "there is no ledger in this database; make one with `understudy ledger init`"
            return LedgerError(f"{start}{made}")
        known = words.get(code)
        if known is not None:
            return LedgerError(f"{start}{known}")
        if lost or not code:
            why = _LOST if lost else "the server cannot be reached, or refuses to let this user in"
            return LedgerError(
                f"{start}{why}; nothing was written and nothing was drawn: check host, port, "
                "database, user and password, and begin again"
            )
        return LedgerError(f"{start}the server refuses it ({code}); nothing was written")


class PostgresBook:
    """The table of a ledger while this process holds it."""

    def __init__(
        self, store: PostgresStore, connection: psycopg.Connection[Any], chain: Chain, time: str
    ) -> None:
        self.chain = chain
        self.wrote = False
        self._store, self._connection, self._time = store, connection, time

    def write(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Append entries, stamped with the server's time."""
        self._insert(self.chain.links(entries, time=self._time))

    def copy(self, chain: Chain) -> None:
        """Write the entries of another store into an empty table, as they are there."""
        if self.chain.entries:
            raise holds_entries(self._store.shown)
        self._connection.execute("SELECT set_config('understudy_ledger.importing', 'on', true)")
        self._insert(chain.all_links())

    def _insert(self, links: Sequence[ChainLink]) -> None:
        self.wrote = True
        rows = [(link.number, link.body, link.check) for link in links]
        with self._store._failures(), self._connection.cursor() as cursor:
            cursor.executemany(_WRITE, rows)


def _commit_to_disk(connection: psycopg.Connection[Any]) -> None:
    """Wait for the server's disk at each commit, also where the server's setting does not."""
    [how] = connection.execute("SHOW synchronous_commit").fetchone() or [""]
    if how in ("off", "local"):
        connection.execute("SET synchronous_commit TO on")


def _number(name: str) -> int:
    """The number of a session's lock; no name has the one of the whole ledger."""
    digest = hashlib.sha256(b"hold " + name.encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _without_password(address: str) -> str:
    """The address as it may be shown: no password, and no options, which could hold one."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UsageError(
            "--ledger is not an address of a PostgreSQL database; write "
            "postgresql://USER@HOST:PORT/DATABASE"
        ) from None
    if "@" in parts.path or "password" in parts.path.lower():
        # A slash ends the address of the server, and what follows would be shown.
        raise UsageError(
            "--ledger has something of a password in the database's name; write a slash in a "
            "password as %2F, or leave the password to PGPASSWORD or a password file"
        )
    if any(name.lower() == "options" for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        raise UsageError(
            "--ledger has options of the server, such as a role or a search path, which a ledger "
            "sets itself; leave options= out of the address"
        )
    user = f"{unquote(parts.username)}@" if parts.username else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}{parts.path}"
