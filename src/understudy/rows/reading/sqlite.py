"""Rows from a table of an SQLite file, read once in one snapshot.

The file is opened for reading alone, and nothing that it declares is run: extensions stay off,
functions in its schema are not trusted, and views, which may compute without end, are refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.facts.codec import Codec
from understudy.rows.reading.cells import spelled
from understudy.system.files.refusals import reading

_MAGIC = b"SQLite format 3\0"
_DUCKDB = b"DUCK"
_NAMED = 10
_BLOCK_ROWS = 1 << 14
# A cell takes a few bytes on the disk, and several times that as Python and Arrow hold it.
BYTES_PER_FILE_BYTE = 4
_LONGEST_CELL = 1 << 20


def read_sqlite(path: Path, codec: Codec, table: str | None) -> pa.Table:
    """The declared columns of a table, each cell as a text."""
    names = list(codec.read_types)
    columns = ", ".join(map(_quoted, names))
    with connected(path) as connection:
        found = _table(connection, path, table)
        with _asking(path):
            cursor = connection.execute(f"SELECT {columns} FROM {_quoted(found)}")
            blocks = [_block(names, rows) for rows in _fetched(cursor)]
    empty = pa.schema([(name, pa.string()) for name in names]).empty_table()
    return pa.concat_tables([empty, *blocks])


def sqlite_columns(path: Path, table: str | None) -> dict[str, str]:
    """The columns of a table, and the types that they declare; its rows stay unread."""
    with connected(path) as connection:
        found = _table(connection, path, table)
        with _asking(path):
            rows = connection.execute("SELECT name, type FROM pragma_table_info(?)", (found,))
            return {str(name): str(kind) for name, kind in rows}


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, and sees the rows as they are now until it is closed."""
    with reading(path):
        _check_magic(path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    with _asking(path), closing(sqlite3.connect(address, uri=True)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
        connection.text_factory = _text
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")
        yield connection


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _check_magic(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start == _MAGIC:
        return
    if start[8:12] == _DUCKDB:
        raise DataError(f"{path}: is a DuckDB database; rename it to end in .duckdb")
    raise DataError(
        f"{path}: is not an SQLite database, or is encrypted; export the table to .csv or .parquet"
    )


def _table(connection: sqlite3.Connection, path: Path, name: str | None) -> str:
    if not name:
        raise UsageError(
            f"{path}: the table is not named; say which one, as --table NAME; the database has "
            f"{_names(connection, path)}"
        )
    with _asking(path):
        rows = connection.execute(
            "SELECT type, sql FROM sqlite_schema WHERE name = ? AND type IN ('table', 'view')",
            (name,),
        ).fetchall()
    if not rows:
        raise DataError(f"{path}: the database has no table {name!r}; check the name")
    kind, definition = rows[0]
    if kind != "table" or str(definition).upper().split()[1:2] == ["VIRTUAL"]:
        raise DataError(
            f"{path}: {name!r} is a view or a virtual table, and only stored rows are read; "
            "write it down by CREATE TABLE ... AS SELECT"
        )
    return name


def _names(connection: sqlite3.Connection, path: Path) -> str:
    """The first names of stored tables; they are public, as a header is."""
    with _asking(path):
        rows = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            f"ORDER BY name LIMIT {_NAMED + 1}"
        ).fetchall()
    names = [str(name) for (name,) in rows[:_NAMED]]
    return ", ".join(names) + (", ..." if len(rows) > _NAMED else "") if names else "no table"


def _fetched(cursor: sqlite3.Cursor) -> Iterator[list[tuple[object, ...]]]:
    while rows := cursor.fetchmany(_BLOCK_ROWS):
        yield rows


def _block(names: list[str], rows: list[tuple[object, ...]]) -> pa.Table:
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return pa.table({name: spelled(cells) for name, cells in columns})


@contextmanager
def _asking(path: Path) -> Iterator[None]:
    """SQLite's failures in our words: its own may quote cells."""
    try:
        yield
    # It also says that memory is short where a damaged row claims to be longer than it may be.
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, MemoryError):
        raise DataError(
            f"{path}: the database cannot be read; check that it is whole and that no program is "
            "writing to it, or export the table"
        ) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
