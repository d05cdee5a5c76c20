"""From the name of some data to the engine that counts it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import overload

import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.rows.counting import CountSource, KeySource
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.cluster import open_cluster
from understudy.rows.engines.cluster_connection import DEFAULT_TIMEOUT, check_address
from understudy.rows.engines.database import (
    is_database,
    open_database,
    open_database_blocks,
    open_keyed_database,
)
from understudy.rows.engines.keyed import KeyedSource, tallied
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import read_blocks, read_footer, read_rows
from understudy.rows.table import Table
from understudy.system.files.suffixes import SUFFIXES
from understudy.system.frames import Rows
from understudy.system.progress import ProgressCallback, unwatched

_PART_OF_FREE = 0.6
# Parquet is compressed; text holds numbers in about as many bytes as memory does.
_BYTES_PER_FILE_BYTE = {".csv": 3, ".parquet": 12}
# Pages as they are unpacked, and the cells that are made of them.
_BYTES_PER_PAGE_BYTE = 2
# A cell as Arrow holds it, and its code; a file of few different values is smaller by far.
_BYTES_PER_CELL = 12


@dataclass(frozen=True)
class Access:
    """How private rows are reached.

    Attributes:
        ignore_extra: pass over columns that the schema does not speak of instead of refusing.
        encoding: of a CSV file's text.
        memory: how many bytes may be taken; a part of what is free unless given.
        table: the table of a database, perhaps with its schema.
        cluster: the Dask cluster that counts, as tcp://HOST:PORT, tls://HOST:PORT or local.
        cluster_timeout: for how many seconds the cluster may be out of reach or without workers.
        persons: who has several rows, and how many are kept.
        watch: called as a reading in blocks advances; private, for the owner's eyes alone.
    """

    ignore_extra: bool = False
    encoding: str = "utf-8"
    memory: int | None = None
    table: str | None = None
    cluster: str | None = None
    cluster_timeout: float = DEFAULT_TIMEOUT
    persons: Persons | None = None
    watch: ProgressCallback = unwatched

    def __post_init__(self) -> None:
        if self.cluster is not None:
            check_address(self.cluster)

    @property
    def room(self) -> int:
        """The bytes that may be taken."""
        return int(_PART_OF_FREE * available_bytes()) if self.memory is None else self.memory


_PLAIN = Access()


@contextmanager
def open_source(data: Rows, schema: Schema, access: Access = _PLAIN) -> Iterator[CountSource]:
    """Private rows behind an engine: in memory where they fit, else where they are.

    Privacy: the rows are private; what cannot be read is refused here, before anything is paid.
    """
    codec = Codec(schema, access.persons)
    if access.cluster is not None:
        with _on_cluster(access.cluster, data, codec, access) as source:
            yield source
    elif is_database(data):
        with open_database(
            data, access.table, codec, ignore_extra=access.ignore_extra, room=access.room
        ) as source:
            yield source
    elif isinstance(data, str | os.PathLike) and _needed(Path(data), codec) > access.room:
        yield _in_blocks(data, codec, access)
    else:
        rows = read_rows(data, codec, ignore_extra=access.ignore_extra, encoding=access.encoding)
        yield MemorySource(Table.of(codec.encode(rows)))


@contextmanager
def open_keyed(
    data: Rows, schema: Schema, columns: Sequence[str], access: Access = _PLAIN
) -> Iterator[KeySource]:
    """As `open_source`, for rows of which some columns list no values yet.

    Args:
        data: a file, a data frame, or a table of a database.
        schema: a provisional one; `columns` are categorical in it.
        columns: those whose texts are counted, whatever they are.
        access: how the rows are reached.
    """
    codec = Codec(schema, access.persons)
    if is_database(data):
        _refuse_persons(codec, "the count of a database's texts")
        with open_keyed_database(
            data,
            access.table,
            codec,
            columns,
            ignore_extra=access.ignore_extra,
            room=access.room,
        ) as keyed:
            yield keyed
        return
    with open_source(data, schema, access) as source:
        yield KeyedSource(source, tallied(_blocks(data, codec, access), codec, columns))


@contextmanager
def opened_blocks(
    data: Rows, codec: Codec, access: Access = _PLAIN
) -> Iterator[Iterator[pa.Table]]:
    """The declared columns of some rows, a block at a time, wherever the rows are.

    Privacy: the rows themselves. They are for the owner's own check, and never for a method.
    """
    if is_database(data):
        with open_database_blocks(
            data, access.table, codec, ignore_extra=access.ignore_extra
        ) as blocks:
            yield blocks
    elif isinstance(data, str | os.PathLike):
        yield _reading(data, codec, access)()
    else:
        yield iter([read_rows(data, codec, ignore_extra=access.ignore_extra)])


def _blocks(data: Rows, codec: Codec, access: Access) -> Iterator[pa.Table]:
    if codec.persons is None and isinstance(data, str | os.PathLike):
        yield from _reading(data, codec, access)()
    else:
        yield read_rows(data, codec, ignore_extra=access.ignore_extra, encoding=access.encoding)


def _on_cluster(
    address: str, data: Rows, codec: Codec, access: Access
) -> AbstractContextManager[CountSource]:
    if not isinstance(data, str | os.PathLike) or Path(data).suffix == ".csv":
        raise UsageError("a cluster counts Parquet alone; give a .parquet file or a folder of them")
    _refuse_persons(codec, "a cluster")
    return open_cluster(
        address,
        data,
        codec,
        memory=access.room // 2,
        ignore_extra=access.ignore_extra,
        timeout=access.cluster_timeout,
    )


def _in_blocks(path: str | os.PathLike[str], codec: Codec, access: Access) -> ChunkedSource:
    """A quarter of the room each for kept tables, a question's tables, and rows on their way."""
    _refuse_persons(codec, "a file read in blocks")
    part = access.room // 4
    reading = _reading(path, codec, access)
    source = ChunkedSource(reading, codec, part, kept=part, watch=access.watch)
    source.check()
    return source


def _reading(
    path: str | os.PathLike[str], codec: Codec, access: Access
) -> Callable[[], Iterator[pa.Table]]:
    return partial(
        read_blocks,
        path,
        codec,
        ignore_extra=access.ignore_extra,
        encoding=access.encoding,
        memory=access.room // 4,
    )


def _refuse_persons(codec: Codec, where: str) -> None:
    if codec.persons is not None:
        raise UsageError(
            f"{where} does not see all rows of a person together; "
            "give more memory, or count in a database"
        )


def _needed(path: Path, codec: Codec) -> int:
    """The bytes that reading all of a file or folder is expected to take; none if it is absent."""
    if path.is_dir():
        return sum(_needed(file, codec) for file in path.glob("*.parquet") if file.is_file())
    if not path.is_file():
        return 0
    by_size = _BYTES_PER_FILE_BYTE.get(path.suffix, 1) * path.stat().st_size
    if path.suffix != ".parquet":
        return by_size
    footer = read_footer(path)
    by_rows = _BYTES_PER_CELL * len(codec.columns) * sum(footer.rows)
    return max(by_size, by_rows, _BYTES_PER_PAGE_BYTE * footer.unpacked)


@overload
def dataset_name(data: str | os.PathLike[str], access: Access = _PLAIN) -> str: ...


@overload
def dataset_name(data: object, access: Access = _PLAIN) -> str | None: ...


def dataset_name(data: object, access: Access = _PLAIN) -> str | None:
    """The name a ledger knows some data by: that of a table, file or folder.

    The suffix of a format is no part of it, so that one table has one name in all of them. Frames
    and rows that were opened before have no name: None.
    """
    if access.table:
        return access.table
    if not isinstance(data, str | os.PathLike):
        return None
    path = Path(os.path.abspath(data))
    return path.stem if path.suffix in SUFFIXES else path.name
