"""Counting inside a database: rows stay there, and only contingency tables come out.

Cells are encoded and rows counted by one query for many tables, in one read-only snapshot, so that
all questions of a run see the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.facts.capacity import ensure_tables_fit, in_batches
from understudy.facts.codec import Codec
from understudy.facts.codec.categories import ListedCodec, tally_texts
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import (
    Counts,
    CountSource,
    KeyCounts,
    Marginal,
    ScoreKernel,
    Scores,
)
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.expressions import (
    can_drop,
    code_of,
    first_of_each,
    group_of,
    must_be_parsed,
)
from understudy.rows.engines.keyed import KeyedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.engines.texts import compared_by_bytes, functions_of, name_of
from understudy.rows.table import Table
from understudy.system.extras import require

if TYPE_CHECKING:
    import ibis.expr.types as ir

_POSTGRES = ("postgres", "postgresql")
_SCHEMES = ("duckdb", *_POSTGRES)
# Texts as the standard writes them, whatever the server was told; compiling pays for no query here.
_POSTGRES_OPTIONS = "-c standard_conforming_strings=on -c jit=off"
# DuckDB counts fastest from codes it has written down, few tables at a time; PostgreSQL, whose
# temporary tables are not read in parallel and not everyone's to make, many at a time as it reads.
_WRITES_DOWN = ("duckdb",)
_SETS = {"postgres": 100}
_FEW_SETS = 10
_PERSON = "person"
# Of an error that says that a connection broke.
_LOST = ("OperationalError", "InterfaceError", "ConnectionException", "IOException")
# DuckDB holds codes as they are, and needs about as much again to count them.
_PARTS = 4
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
# A query holds at most so many bytes of tables.
_BYTES = 1 << 26
# Rows that are taken out of a database at a time, and the bytes of a cell on its way to a code.
_BLOCK_ROWS = 1 << 16
_BYTES_PER_ROW_CELL = 64


@dataclass(frozen=True, repr=False)
class DatabaseSource:
    """Rows in a database, counted there.

    Attributes:
        codes: the rows as codes, dropped ones left out: one column for each attribute, in order.
        domain: the attributes.
        rows_read: how many rows there are, dropped ones included.
        rows_per_person: the most rows of a person, where that was seen to.
        unfit: the number of rows that do not fit, of each person within the allowance, as an
            expression; None where persons are not known.
    """

    codes: ir.Table
    domain: Domain
    rows_read: int
    rows_per_person: int | None = None
    unfit: ir.Scalar | None = None

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact contingency tables, one for each set of attributes."""
        ensure_tables_fit(self.domain, sets)
        return list(self._counted(sets))

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores; the tables of one query are in memory at a time."""
        ensure_tables_fit(self.domain, sets, kept=False)
        return np.array([kernel(marginal) for marginal in self._counted(sets)], np.float64)

    def count_misfits(self) -> int:
        """How many rows did not fit the schema, of each person within the allowance."""
        if self.unfit is None:
            [fitting] = self.count([()])
            return self.rows_read - int(fitting.counts)
        [(found,)] = _fetch(self._backend, str(self._backend.compile(self.unfit)))
        return int(found or 0)

    def _counted(self, sets: Sequence[Attributes]) -> Iterator[Marginal]:
        most = _SETS.get(self._backend.name, _FEW_SETS)
        for batch in in_batches(self.domain, sets, memory=_BYTES):
            for start in range(0, len(batch), most):
                yield from self._count(batch[start : start + most])

    def _count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """One query for these sets; the order of attributes is no matter to it."""
        places = {name: place for place, name in enumerate(self.domain.names)}
        held = [tuple(sorted(attributes, key=places.__getitem__)) for attributes in sets]
        tables = self._tables(list(dict.fromkeys(held)))
        return [
            Marginal(asked, tables[own].transpose([own.index(a) for a in asked]))
            for asked, own in zip(sets, held, strict=True)
        ]

    def _tables(self, sets: Sequence[Attributes]) -> dict[Attributes, Counts]:
        used = [a for a in self.domain.names if any(a in attributes for attributes in sets)]
        cells = _cells(_fetch(self._backend, self._query(used, sets)), len(used))
        places = {tuple(a in attributes for a in used): attributes for attributes in sets}
        tables: dict[Attributes, Counts] = {
            attributes: np.zeros(self.domain.shape(attributes), np.int64) for attributes in sets
        }
        for grouped, codes, counts in cells:
            # Without attributes there is one cell and one count, and numpy wants it as a number.
            tables[places[grouped]][tuple(codes)] = counts if len(codes) else counts[0]
        return tables

    def _query(self, used: Sequence[str], sets: Sequence[Attributes]) -> str:
        """Rows grouped by every set in one reading; the database passes over columns unused."""
        names = dict(zip(self.domain.names, self.codes.columns, strict=True))
        groups = ", ".join(f"({', '.join(names[a] for a in attributes)})" for attributes in sets)
        columns = "".join(f"{names[a]}, " for a in used)
        return (
            f"WITH encoded AS ({self._encoded}) "
            f"SELECT {columns}COUNT(*) FROM encoded GROUP BY GROUPING SETS ({groups})"
        )

    @cached_property
    def _encoded(self) -> str:
        """The query for all codes; writing it takes long, so it is written once."""
        return str(self._backend.compile(self.codes))

    @property
    def _backend(self) -> Any:
        return self.codes.get_backend()

    def __repr__(self) -> str:
        return f"DatabaseSource({', '.join(self.domain)}; rows private)"


def encoded(rows: ir.Table, codec: Codec) -> ir.Table:
    """Rows as codes, those to be dropped left out, under names that need no quotes."""
    codes, names = _all_codes(rows, codec), _code_names(codec)
    dropping = [codes[name] for name in _dropping(codec)]
    kept = codes.filter([code.notnull() for code in dropping]) if dropping else codes
    if codec.persons:
        kept = first_of_each(kept, _PERSON, codec.persons.most)
    levels = enumerate(codec.domain.coarser.values())
    return kept.mutate(**{f"g{i}": group_of(kept[names[v.of]], v.groups) for i, v in levels})


def _code_names(codec: Codec) -> dict[str, str]:
    return {attribute: f"c{i}" for i, attribute in enumerate(codec.columns)}


def _all_codes(rows: ir.Table, codec: Codec) -> ir.Table:
    """All rows as codes, null where a cell sends its row away, and the person of each row."""
    functions = functions_of(rows.get_backend().name)
    rows, names = compared_by_bytes(rows.select(list(codec.read_types))), _code_names(codec)
    columns = {names[a]: code_of(c, rows[a], functions) for a, c in codec.columns.items()}
    if codec.persons:
        column = codec.persons.column
        columns[_PERSON] = name_of(column, rows[column], functions)
    return rows.select(**columns)


def _dropping(codec: Codec) -> list[str]:
    """The columns of codes that are null where a row is dropped."""
    names = _code_names(codec)
    found = [names[a] for a, c in codec.columns.items() if can_drop(c)]
    return [*found, _PERSON] if codec.persons else found


def unfit_rows(rows: ir.Table, codec: Codec) -> ir.Scalar | None:
    """The number of rows that do not fit, of every person at most what fitting rows leave."""
    import ibis

    if codec.persons is None:
        return None
    codes, most = _all_codes(rows, codec), codec.persons.most
    named = codes.filter(codes[_PERSON].notnull())
    checks = [named[name].notnull() for name in _dropping(codec)]
    flagged = named.select(_PERSON, fits=ibis.and_(*checks).cast("int64"))
    each = flagged.group_by(_PERSON).aggregate(fitting=flagged.fits.sum(), rows=flagged.count())
    left = most - ibis.least(each.fitting, most)
    return ibis.least(each["rows"] - each.fitting, left).sum()


def _fetch(backend: Any, query: str) -> list[tuple[Any, ...]]:
    with _asking():
        return list(backend.raw_sql(query).fetchall())


def _cells(
    rows: list[tuple[Any, ...]], columns: int
) -> Iterator[tuple[tuple[bool, ...], Codes, Counts]]:
    """The cells of a query, set by set: which columns it grouped by, their codes, the counts.

    Codes are never null, so a null marks a column that a set does not group by.
    """
    held = np.array(rows, np.float64).reshape(len(rows), columns + 1)
    grouped = ~np.isnan(held[:, :-1])
    patterns, which = np.unique(grouped, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        ours = held[which.ravel() == i]
        yield (
            tuple(pattern.tolist()),
            ours[:, :-1][:, pattern].T.astype(np.int64),
            ours[:, -1].astype(np.int64),
        )


@contextmanager
def _asking() -> Iterator[None]:
    """A database's failures in our words: its own may quote cells."""
    try:
        yield
    except Exception as error:
        state = getattr(error, "sqlstate", None)
        if state == "42501":
            reason = "refuses to show these rows; ask its owner for the right to SELECT"
        elif _is_any_of(error, "OutOfMemoryException"):
            reason = (
                "needs more memory for these rows than it may take, and private rows are not "
                "written to the disk; use a larger machine, or export the table to Parquet"
            )
        elif _is_any_of(error, *_LOST):
            reason = (
                "stopped answering; nothing of this question was used, run again when it is back"
            )
        else:
            reason = "rejects the query that counts these rows; check the table and its types"
        raise DataError(f"the database {reason}") from None


def _is_any_of(error: Exception, *kinds: str) -> bool:
    """Whether an error is of some kind, by the names that drivers share."""
    return not {kind.__name__ for kind in type(error).__mro__}.isdisjoint(kinds)


def is_database(data: object) -> bool:
    """Whether some data is the address of a database, or a table of an open one."""
    if type(data).__module__.partition(".")[0] == "ibis":
        return True
    text = str(data)
    return isinstance(data, str | PathLike) and (
        text.partition("://")[0] in _SCHEMES or text.endswith(".duckdb")
    )


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
    with (
        _opened(data, table) as rows,
        _behind(rows, codec, ignore_extra=ignore_extra, room=room) as source,
    ):
        yield source


def database_types(data: Any, table: str | None) -> pa.Schema:
    """The columns of a table and the types that they declare; its rows stay unread."""
    with _opened(data, table) as rows:
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
    with (
        _opened(data, table) as rows,
        _behind(rows, codec, ignore_extra=ignore_extra, room=room) as source,
    ):
        found = {name: _key_counts(rows, codec, name) for name in columns}
        yield KeyedSource(source, found)


@contextmanager
def open_database_blocks(
    data: Any, table: str | None, codec: Codec, *, ignore_extra: bool
) -> Iterator[Iterator[pa.Table]]:
    """The declared columns of a database's table, a block of rows at a time.

    Privacy: the rows themselves leave the database; they are for the owner's own check.
    """
    with _opened(data, table) as rows:
        _check_names(rows, codec, ignore_extra=ignore_extra)
        yield _row_blocks(rows.select(list(codec.read_types)))


def _all_rows(rows: ir.Table) -> pa.Table:
    with _asking():
        return rows.to_pyarrow()


def _row_blocks(rows: ir.Table) -> Iterator[pa.Table]:
    with _asking():
        for batch in rows.to_pyarrow_batches(chunk_size=_BLOCK_ROWS):
            yield pa.Table.from_batches([batch])


def _key_counts(rows: ir.Table, codec: Codec, name: str) -> KeyCounts:
    """Rows grouped by a column's cells; what they spell is for Python to say."""
    column = codec.columns[name]
    assert isinstance(column, ListedCodec)
    backend = rows.get_backend()
    rows = compared_by_bytes(rows.select(name))
    groups = rows.group_by(cell=rows[name]).aggregate(times=rows.count())
    return KeyCounts(tally_texts(column, _fetch(backend, str(backend.compile(groups)))))


@contextmanager
def _behind(
    rows: ir.Table, codec: Codec, *, ignore_extra: bool, room: int
) -> Iterator[CountSource]:
    """Rows of an open database behind an engine: counted there, or read out to be parsed."""
    _check_names(rows, codec, ignore_extra=ignore_extra)
    size = _size(rows)
    if any(must_be_parsed(column, rows[name].type()) for name, column in codec.columns.items()):
        yield _read_out(rows.select(list(codec.read_types)), codec, size, room)
        return
    with _written_down(encoded(rows, codec), size) as codes:
        most = codec.persons.most if codec.persons else None
        source = DatabaseSource(codes, codec.domain, size, most, unfit=unfit_rows(rows, codec))
        # Every cell is encoded once: what the database refuses is refused before it costs.
        source.score([(attribute,) for attribute in codec.domain], lambda _: 0.0)
        yield source


def _read_out(rows: ir.Table, codec: Codec, size: int, room: int) -> CountSource:
    """Rows that hold numbers or days as texts: read and parsed here, as those of files are.

    A database parses texts by rules of its own, and may fail at one. Rows that do not fit into
    memory are read again for every question, in the same snapshot.
    """
    if codec.persons is not None or size * _BYTES_PER_ROW_CELL * len(codec.columns) <= room:
        return MemorySource(Table.of(codec.encode(_all_rows(rows))))
    source = ChunkedSource(partial(_row_blocks, rows), codec, room // 4, kept=room // 4)
    source.check()
    return source


def _check_names(rows: ir.Table, codec: Codec, *, ignore_extra: bool) -> None:
    codec.check_columns(list(rows.columns))
    if not ignore_extra:
        codec.check_nothing_extra(list(rows.columns))


@contextmanager
def _written_down(codes: ir.Table, rows: int) -> Iterator[ir.Table]:
    """The codes in a temporary table, where that pays; it stays in memory and is dropped.

    Privacy: a table that outgrows memory would be written to the disk as it is, for every account
    of the machine to read. Such codes are made anew for every question instead.
    """
    backend = codes.get_backend()
    if backend.name not in _WRITES_DOWN or not _fits(codes, rows):
        yield codes
        return
    name = f"understudy_{uuid4().hex}"
    with _asking():
        written = backend.create_table(name, codes, temp=True)
    try:
        yield written
    except BaseException:
        # A failure may have ended the transaction, and the table with it.
        with suppress(Exception):
            backend.drop_table(name)
        raise
    backend.drop_table(name)


def _fits(codes: ir.Table, rows: int) -> bool:
    """Whether the codes of so many rows take a small part of the memory that DuckDB may take."""
    needed = rows * sum(kind.nbytes for kind in codes.schema().types)
    return bool(_PARTS * needed <= _memory_limit(codes.get_backend()))


def _memory_limit(backend: Any) -> float:
    [(text,)] = _fetch(backend, "SELECT current_setting('memory_limit')")
    amount, unit = str(text).split()
    return float(amount) * _UNITS[unit]


def _size(rows: ir.Table) -> int:
    backend = rows.get_backend()
    [(size,)] = _fetch(backend, str(backend.compile(rows.count())))
    return int(size)


@contextmanager
def _opened(data: Any, table: str | None) -> Iterator[ir.Table]:
    if not isinstance(data, str | PathLike):
        yield data
        return
    if not table:
        raise UsageError(
            "the table is not named; say which one of the database, as --table patients"
        )
    backend = _snapshot(str(data))
    try:
        with _in_memory(backend):
            yield _table(backend, table)
    finally:
        backend.disconnect()


def _snapshot(address: str) -> Any:
    """A connection that only reads, and sees the rows as they are now until it is closed."""
    require("ibis", extra="database")
    scheme, _, rest = address.partition("://")
    return _postgres(address) if scheme in _POSTGRES else _duckdb(Path(rest or address))


def _postgres(address: str) -> Any:
    import ibis
    import psycopg

    try:
        connection = psycopg.connect(address, options=_POSTGRES_OPTIONS)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return ibis.postgres.from_connection(connection)
    except psycopg.Error:
        raise DataError(
            "the database cannot be reached; check its address: host, port, name, user, password"
        ) from None


def _duckdb(path: Path) -> Any:
    import duckdb
    import ibis

    try:
        connection = duckdb.connect(str(path), read_only=True)
    except duckdb.Error:
        raise DataError(
            f"{path}: is not a DuckDB database that can be read; check the path"
        ) from None
    connection.execute("BEGIN TRANSACTION")
    return ibis.duckdb.from_connection(connection)


@contextmanager
def _in_memory(backend: Any) -> Iterator[None]:
    """While rows are read by a connection of ours, nothing of them is written to the disk.

    DuckDB would write what outgrows memory beside the database, unencrypted and for everyone to
    read. The setting is the database's: connections that this process has to it share it, so it is
    set back. One that has already written there cannot be told otherwise.
    """
    if backend.name != "duckdb":
        yield
        return
    [(before,)] = _fetch(backend, "SELECT current_setting('temp_directory')")
    _set_folder(backend, "")
    try:
        yield
    finally:
        with suppress(Exception):
            # After a failure nothing else is heard.
            backend.raw_sql("ROLLBACK")
        _set_folder(backend, before)


def _set_folder(backend: Any, folder: str) -> None:
    import duckdb

    quoted = folder.replace("'", "''")
    with suppress(duckdb.Error):
        backend.raw_sql(f"SET temp_directory = '{quoted}'")


def _table(backend: Any, name: str) -> ir.Table:
    from ibis.common.exceptions import IbisError, TableNotFound

    place, _, last = name.rpartition(".")
    for table, database in ((name, None), (last, place or None)):
        try:
            return backend.table(table, database=database)
        except (IbisError, TableNotFound):
            continue
    known = ", ".join(sorted(backend.list_tables())) or "none"
    raise DataError(f"the database has no table {name!r} that can be read; known are {known}")
