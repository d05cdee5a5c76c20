"""From a place to the store that keeps a ledger there."""

from __future__ import annotations

import os
from pathlib import Path

from understudy.errors import UsageError
from understudy.privacy.spending.stores.file import FileStore
from understudy.privacy.spending.stores.postgres import PostgresStore
from understudy.privacy.spending.stores.sqlite import SqliteStore
from understudy.privacy.spending.stores.store import LedgerPlace, LedgerStore
from understudy.system.files.sqlite_address import SQLITE, sqlite_path

_DEFAULTS = {"host": "localhost", "port": "5432"}
POSTGRES = ("postgresql://", "postgres://")


def store_at(place: LedgerPlace) -> LedgerStore:
    """The store that keeps a ledger at a place.

    Raises:
        UsageError: the place is an address of something else.
    """
    text = os.fspath(place)
    if text.startswith(POSTGRES):
        return PostgresStore(text)
    if text.startswith(SQLITE):
        return SqliteStore(sqlite_path(text))
    if "://" in text:
        scheme = text.partition("://")[0]
        raise UsageError(
            f"--ledger begins with {scheme}://; give a file, sqlite:///FILE or "
            "postgresql://USER@HOST/DATABASE"
        )
    return FileStore(Path(text))


def lasting_place(store: LedgerStore) -> str:
    """The place of a ledger as it can be found from elsewhere, the same for the same ledger."""
    if isinstance(store, PostgresStore):
        return _server_place(store)
    path = str(store.path.resolve())
    return f"{SQLITE}{path}" if isinstance(store, SqliteStore) else path


def _server_place(store: PostgresStore) -> str:
    """Host, port and database, wherever an address names them; no user and no password."""
    from psycopg.conninfo import conninfo_to_dict

    parts = _DEFAULTS | {name: str(part) for name, part in conninfo_to_dict(store.address).items()}
    host = parts.get("hostaddr", parts["host"])
    database = parts.get("dbname", parts.get("user", ""))
    return f"postgresql://{host}:{parts['port']}/{database}"
