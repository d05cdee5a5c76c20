"""From the name of some data to the engine that counts it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import overload

import pyarrow as pa

from understudy.errors import UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.file_format import FileFormat
from understudy.facts.schema import Schema
from understudy.rows.counting import CountSource, KeySource
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.cluster import open_cluster
from understudy.rows.engines.cluster_connection import DEFAULT_TIMEOUT, check_address
from understudy.rows.engines.databases.connections import is_database
from understudy.rows.engines.databases.opening import (
    open_database,
    open_database_blocks,
    open_keyed_database,
)
from understudy.rows.engines.keyed import KeyedSource, tallied
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import is_parquet, read_blocks, read_footer, read_rows
from understudy.rows.reading.excel import BYTES_PER_XML_BYTE
from understudy.rows.reading.feather import feather_bytes
from understudy.rows.reading.files import WHOLE, refuse_too_large
from understudy.rows.reading.lakes import LakeTable, is_lake, lake_name, open_lake
from understudy.rows.reading.packed import unpacked_bytes
from understudy.rows.reading.sqlite import BYTES_PER_FILE_BYTE
from understudy.rows.reading.statistics import BYTES_PER_CELL as STATISTICS_CELL
from understudy.rows.reading.statistics import statistics_rows
from understudy.rows.reading.workbook_check import announced_bytes
from understudy.rows.table import Table
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import (
    ARROW,
    EXCEL,
    LINES,
    PARQUET,
    SQLITE,
    STATISTICS,
    packing_of,
    stem_of,
    suffix_of,
)
from understudy.system.frames import Rows
from understudy.system.progress import ProgressCallback, unwatched
from understudy.system.reprs import shown_fields

_PART_OF_FREE = 0.6
# Parquet is compressed; text holds numbers in about as many bytes as memory does.
_BYTES_PER_TEXT_BYTE, _BYTES_PER_PARQUET_BYTE = 3, 12
# Pages as they are unpacked, and the cells that are made of them.
_BYTES_PER_PAGE_BYTE = 2
# A cell as Arrow holds it, and its code; a file of few different values is smaller by far.
_BYTES_PER_CELL = 12


@dataclass(frozen=True)
class Access:
    """How private rows are reached.

    Attributes:
        ignore_extra: pass over columns that the schema does not speak of instead of refusing.
        format: how the file is spelled; what it leaves open is as the schema says.
        memory: how many bytes may be taken; a part of what is free unless given.
        table: the table of a database or an SQLite file, perhaps with its schema.
        cluster: the Dask cluster that counts, as tcp://HOST:PORT, tls://HOST:PORT or local.
        cluster_timeout: for how many seconds the cluster may be out of reach or without workers.
        persons: who has several rows, and how many are kept.
        watch: called as a reading in blocks advances; private, for the owner's eyes alone.
    """

    ignore_extra: bool = False
    format: FileFormat = field(default_factory=FileFormat)
    memory: int | None = None
    table: str | None = None
    cluster: str | None = None
    cluster_timeout: float = DEFAULT_TIMEOUT
    persons: Persons | None = None
    watch: ProgressCallback = unwatched

    def __repr__(self) -> str:
        return f"Access({shown_fields(self)})"

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
    elif isinstance(data, str | os.PathLike) and is_lake(data):
        yield _of_lake(open_lake(data), codec, access)
    elif isinstance(data, str | os.PathLike) and not _fits(Path(data), codec, access.room):
        yield _in_blocks(data, codec, access)
    else:
        yield MemorySource(Table.of(codec.encode(_whole(data, codec, access))))


def _of_lake(lake: LakeTable, codec: Codec, access: Access) -> CountSource:
    """A table of a lake: in memory where it fits, else in blocks of the same version."""
    needed = _BYTES_PER_CELL * max(len(codec.columns), 1) * lake.rows
    if needed <= access.room:
        rows = lake.whole(codec, ignore_extra=access.ignore_extra)
        return MemorySource(Table.of(codec.encode(rows)), reading=lake.reading)
    part = access.room // 4
    read_again = partial(lake.blocks, codec, ignore_extra=access.ignore_extra, memory=part)
    return _chunked(read_again, codec, access, reading=lake.reading)


def _whole(data: Rows, codec: Codec, access: Access) -> pa.Table:
    return read_rows(
        data,
        codec,
        ignore_extra=access.ignore_extra,
        given=access.format,
        table=access.table,
    )


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
    if isinstance(data, str | os.PathLike) and is_lake(data):
        # Opened once: by the second time somebody may have written another version.
        lake = open_lake(data)
        source = _of_lake(lake, codec, access)
        yield KeyedSource(source, tallied(_lake_blocks(lake, codec, access), codec, columns))
        return
    with open_source(data, schema, access) as source:
        yield KeyedSource(source, tallied(_blocks(data, codec, access), codec, columns))


def _lake_blocks(lake: LakeTable, codec: Codec, access: Access) -> Iterator[pa.Table]:
    """The rows of an open table; those of persons are bounded together."""
    if codec.persons is not None:
        yield lake.whole(codec, ignore_extra=access.ignore_extra)
    else:
        yield from lake.blocks(codec, ignore_extra=access.ignore_extra, memory=access.room // 4)


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
    elif isinstance(data, str | os.PathLike) and (
        is_lake(data) or suffix_of(Path(data)) not in WHOLE
    ):
        yield _reading(data, codec, access)()
    else:
        if isinstance(data, str | os.PathLike):
            _fits(Path(data), codec, access.room)
        yield iter([_whole(data, codec, access)])


def _blocks(data: Rows, codec: Codec, access: Access) -> Iterator[pa.Table]:
    if (
        codec.persons is None
        and isinstance(data, str | os.PathLike)
        and suffix_of(Path(data)) not in WHOLE
    ):
        yield from _reading(data, codec, access)()
    else:
        yield _whole(data, codec, access)


def _on_cluster(
    address: str, data: Rows, codec: Codec, access: Access
) -> AbstractContextManager[CountSource]:
    if not isinstance(data, str | os.PathLike) or is_lake(data) or not is_parquet(Path(data)):
        raise UsageError("a cluster counts only Parquet; give a .parquet file or a folder of them")
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
    return _chunked(_reading(path, codec, access), codec, access)


def _chunked(
    read_again: Callable[[], Iterator[pa.Table]],
    codec: Codec,
    access: Access,
    *,
    reading: str | None = None,
) -> ChunkedSource:
    """A quarter of the room each for kept tables, a question's tables, and rows on their way."""
    _refuse_persons(codec, "a file read in blocks")
    part = access.room // 4
    source = ChunkedSource(read_again, codec, part, kept=part, watch=access.watch, reading=reading)
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
        given=access.format,
        memory=access.room // 4,
    )


def _refuse_persons(codec: Codec, where: str) -> None:
    if codec.persons is not None:
        raise UsageError(
            f"{where} does not see all rows of a person together; "
            "give more memory, or count in a database"
        )


def _fits(path: Path, codec: Codec, room: int) -> bool:
    """Whether all of a file or folder can be held; one that has no blocks is refused if not."""
    needed = _needed(path, codec, room)
    if needed > room and suffix_of(path) in WHOLE:
        raise refuse_too_large(path, needed)
    return needed <= room


def _needed(path: Path, codec: Codec, room: int) -> int:
    """The bytes that reading all of a file or folder is expected to take; none if it is absent."""
    if path.is_dir():
        files = (file for file in path.iterdir() if file.is_file() and is_parquet(file))
        return sum(_needed(file, codec, room) for file in files)
    if not path.is_file():
        return 0
    suffix = suffix_of(path)
    if suffix == PARQUET:
        return _parquet_bytes(path, codec)
    if suffix in ARROW:
        return feather_bytes(path, codec)
    if suffix in STATISTICS:
        return STATISTICS_CELL * statistics_rows(path) * len(codec.read_types)
    if suffix == EXCEL:
        return BYTES_PER_XML_BYTE * announced_bytes(path)
    if packing_of(path):
        with reading(path):
            return _BYTES_PER_TEXT_BYTE * unpacked_bytes(path, most=room)
    by_format = {**dict.fromkeys(SQLITE, BYTES_PER_FILE_BYTE), **dict.fromkeys(LINES, 4)}
    return by_format.get(suffix, _BYTES_PER_TEXT_BYTE) * path.stat().st_size


def _parquet_bytes(path: Path, codec: Codec) -> int:
    footer = read_footer(path)
    by_size = _BYTES_PER_PARQUET_BYTE * path.stat().st_size
    by_rows = _BYTES_PER_CELL * len(codec.columns) * sum(footer.rows)
    return max(by_size, by_rows, _BYTES_PER_PAGE_BYTE * footer.unpacked)


@overload
def dataset_name(data: str | os.PathLike[str], access: Access = _PLAIN) -> str: ...


@overload
def dataset_name(data: object, access: Access = _PLAIN) -> str | None: ...


def dataset_name(data: object, access: Access = _PLAIN) -> str | None:
    """The name a ledger knows some data by: that of a table, file or folder.

    The name leaves out the suffix of a format: one table has one name in all of them. Frames
        and rows that were opened before have no name: None.
    """
    if access.table:
        # Spark's tables may be files, which have the same name wherever they are counted.
        return stem_of(Path(access.table)) if access.table.endswith(PARQUET) else access.table
    if isinstance(data, str) and data == "-":
        raise UsageError(
            "rows from standard input have no name for the ledger; give one by --dataset"
        )
    if not isinstance(data, str | os.PathLike):
        return None
    if "://" in os.fspath(data) and is_lake(data):
        return stem_of(Path(lake_name(os.fspath(data))))
    return stem_of(Path(os.path.abspath(data)))
