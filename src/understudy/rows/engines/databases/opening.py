"""A table of a database behind an engine: counted there, or read out where cells must be parsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from understudy.errors import CapacityError, DataError
from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec, tally_texts
from understudy.rows.counting import CountSource, KeyCounts
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.databases.connections import opened
from understudy.rows.engines.databases.counted_only import CountedOnly
from understudy.rows.engines.databases.database import Database, asking
from understudy.rows.engines.databases.dialects import OneReading
from understudy.rows.engines.databases.encoding import (
    TIMES,
    alike,
    all_codes,
    kept_codes,
    unfit_rows,
)
from understudy.rows.engines.databases.expressions import must_be_parsed
from understudy.rows.engines.databases.loose_types import days_spelled, firmly_typed, spelled_blocks
from understudy.rows.engines.databases.snapshots import fixed, one_reading
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.engines.databases.texts import compared_by_bytes
from understudy.rows.engines.keyed import KeyedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

if TYPE_CHECKING:
    import ibis.expr.types as ir

# DuckDB holds codes as they are, and needs about as much again to count them.
_PARTS = 4
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
# Where all columns together have at most so many cells, rows that are alike are kept as one.
FEW_CELLS = 1 << 20
# Rows that are taken out of a database at a time, and the bytes of a cell on its way to a code.
_BLOCK_ROWS = 1 << 16
_BYTES_PER_ROW_CELL = 64


@contextmanager
def open_database(
    data: Any, table: str | None, codec: Codec, *, ignore_extra: bool, room: int
) -> Iterator[CountSource]:
    """A table of a database behind an engine, its connection closed in the end.

    Args:
        data: the address of a database, or a table that ibis knows.
        table: the table's name, perhaps with its schema: clinic.patients.
        codec: encodes its cells.
        ignore_extra: pass over columns that the schema does not speak of instead of refusing.
        room: the bytes that may be taken where rows have to be read out.
    """
    with opened(data, table) as rows:
        _check_names(rows, codec, ignore_extra=ignore_extra)
        database = Database.of(rows)
        with one_reading(database, rows), _behind(database, rows, codec, room=room) as source:
            yield source


def database_types(data: Any, table: str | None) -> pa.Schema:
    """The columns of a table and the types that they declare; its rows stay unread."""
    with opened(data, table) as rows:
        return rows.schema().to_pyarrow()


@contextmanager
def open_keyed_database(
    data: Any,
    table: str | None,
    codec: Codec,
    columns: Sequence[str],
    *,
    ignore_extra: bool,
    room: int,
) -> Iterator[KeyedSource]:
    """As `open_database`, with the texts of some columns and their counts."""
    with opened(data, table) as found:
        _check_names(found, codec, ignore_extra=ignore_extra)
        database = Database.of(found)
        with (
            one_reading(database, found),
            fixed(database, found.select(list(codec.read_types))) as rows,
            _behind(database, rows, codec, room=room) as source,
        ):
            keys = {name: _key_counts(database, rows, codec, name) for name in columns}
            yield KeyedSource(source, keys)


@contextmanager
def open_database_blocks(
    data: Any, table: str | None, codec: Codec, *, ignore_extra: bool
) -> Iterator[Iterator[pa.Table]]:
    """The declared columns of a database's table, a block of rows at a time.

    Privacy: the rows themselves leave the database; they are for the owner's own check.
    """
    with opened(data, table) as rows:
        _check_names(rows, codec, ignore_extra=ignore_extra)
        database = Database.of(rows)
        with one_reading(database, rows):
            asked = days_spelled(database, rows.select(list(codec.read_types)), codec)
            yield _row_blocks(database, asked)


def _check_names(rows: ir.Table, codec: Codec, *, ignore_extra: bool) -> None:
    codec.check_columns(list(rows.columns))
    if not ignore_extra:
        codec.check_nothing_extra(list(rows.columns))


def _row_blocks(database: Database, rows: ir.Table) -> Iterator[pa.Table]:
    if not database.dialect.binds_types:
        yield from spelled_blocks(database, rows, _BLOCK_ROWS)
        return
    with asking():
        for batch in rows.to_pyarrow_batches(chunk_size=_BLOCK_ROWS):
            yield _as_text(pa.Table.from_batches([batch]))


def _as_text(block: pa.Table) -> pa.Table:
    """A block whose texts are UTF-8, as those of files must be; others are refused by column."""
    for name, column in zip(block.column_names, block.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raise DataError(
                f"column {name!r}: the database holds text that is not UTF-8; mend its encoding"
            ) from None
    return block


def _key_counts(database: Database, rows: ir.Table, codec: Codec, name: str) -> KeyCounts:
    """Rows grouped by a column's cells; what they spell is for Python to say."""
    column = codec.columns[name]
    assert isinstance(column, ListedCodec)
    rows = compared_by_bytes(rows.select(name), database.dialect)
    groups = rows.group_by(cell=rows[name]).aggregate(times=rows.count())
    return KeyCounts(tally_texts(column, database.fetch(database.written(groups))))


@contextmanager
def _behind(
    database: Database, rows: ir.Table, codec: Codec, *, room: int
) -> Iterator[CountSource]:
    """Rows of an open database behind an engine: counted there, or read out to be parsed."""
    asked = days_spelled(database, rows.select(list(codec.read_types)), codec)
    typed = asked if database.dialect.binds_types else firmly_typed(database, asked, codec)
    if typed is None or _must_be_parsed(typed, codec):
        yield CountedOnly(_read_out(database, asked, codec, room))
        return
    encoded = all_codes(typed, codec, database.dialect)
    together = _kept_together(database, codec)
    with (
        fixed(database, alike(encoded) if together else encoded) as everyone,
        _counted(database, everyone, codec) as codes,
    ):
        held = everyone if database.dialect.held is OneReading.CODES else asked
        size = int(database.value(held[TIMES].sum() if together else held.count()) or 0)
        most = codec.persons.most if codec.persons else None
        unfit = unfit_rows(everyone, codec)
        with _written_down(database, codes, size) as kept:
            source = DatabaseSource(
                database,
                kept,
                codec.domain,
                size,
                rows_per_person=most,
                unfit=unfit,
                times=TIMES if together else "",
            )
            # Every cell is encoded once: what the database refuses is refused before it costs.
            source.score([(attribute,) for attribute in codec.domain], lambda _: 0.0)
            yield source


def _kept_together(database: Database, codec: Codec) -> bool:
    """Whether codes that are kept for all questions are kept once for all rows that are alike.

    Then a question reads no more than the cells of the schema, however many rows there are. The
    schema alone decides; a column may have one more code, of rows that are dropped.
    """
    if database.dialect.held is not OneReading.CODES or codec.persons is not None:
        return False
    return prod(codec.domain[name] + 1 for name in codec.columns) <= FEW_CELLS


@contextmanager
def _counted(database: Database, everyone: ir.Table, codec: Codec) -> Iterator[ir.Table]:
    """The codes of rows that are counted; which rows of a person those are is found out once."""
    codes = kept_codes(everyone, codec)
    if codec.persons is None:
        yield codes
        return
    with fixed(database, codes) as kept:
        yield kept


def _must_be_parsed(rows: ir.Table, codec: Codec) -> bool:
    return any(must_be_parsed(column, rows[name].type()) for name, column in codec.columns.items())


def _read_out(database: Database, rows: ir.Table, codec: Codec, room: int) -> CountSource:
    """Rows that hold numbers or days as texts: read and parsed here, as those of files are.

    A database parses texts by rules of its own, and may fail at one. Rows that do not fit into
    memory are read again for every question, in the same snapshot.
    """
    reading, size = database.dialect.reading, int(database.value(rows.count()))
    blocks = partial(_row_blocks, database, rows)
    if codec.persons is not None or size * _BYTES_PER_ROW_CELL * len(codec.columns) <= room:
        whole = pa.concat_tables(list(blocks()) or [_no_rows(database, rows)])
        return MemorySource(Table.of(codec.encode(whole)), reading=reading)
    if database.dialect.held is not OneReading.TRANSACTION:
        raise CapacityError(
            "some columns hold texts that have to be parsed here, and the rows do not fit into "
            "memory; convert the columns in a view, or export the table to Parquet"
        )
    source = ChunkedSource(blocks, codec, room // 4, kept=room // 4, reading=reading)
    source.check()
    return source


def _no_rows(database: Database, rows: ir.Table) -> pa.Table:
    """An empty table of the types that blocks of rows have."""
    if database.dialect.binds_types:
        return rows.schema().to_pyarrow().empty_table()
    return pa.schema([(name, pa.string()) for name in rows.columns]).empty_table()


@contextmanager
def _written_down(database: Database, codes: ir.Table, rows: int) -> Iterator[ir.Table]:
    """The codes in a temporary table, where that pays; it stays in memory and is dropped.

    Privacy: a table that outgrows memory would be written to the disk as it is, for every account
    of the machine to read. Such codes are made again for every question instead.
    """
    if not database.dialect.writes_codes or not _fits(database, codes, rows):
        yield codes
        return
    name = f"understudy_{uuid4().hex}"
    with asking():
        written = database.backend.create_table(name, codes, temp=True)
    try:
        yield written
    except BaseException:
        # A failure may have ended the transaction, and the table with it.
        with suppress(Exception):
            database.backend.drop_table(name)
        raise
    database.backend.drop_table(name)


def _fits(database: Database, codes: ir.Table, rows: int) -> bool:
    """Whether the codes of the rows take a small part of the memory that DuckDB may take."""
    needed = rows * sum(kind.nbytes for kind in codes.schema().types)
    return bool(_PARTS * needed <= _memory_limit(database))


def _memory_limit(database: Database) -> float:
    [(text,)] = database.fetch("SELECT current_setting('memory_limit')")
    amount, unit = str(text).split()
    return float(amount) * _UNITS[unit]
