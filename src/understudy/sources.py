"""From the name of some data to the engine that counts it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from understudy.codec import Codec
from understudy.counting import CountSource
from understudy.engines.capacity import available_bytes
from understudy.engines.chunked import ChunkedSource, Watch, unwatched
from understudy.engines.database import is_database, open_database
from understudy.engines.memory import MemorySource
from understudy.files import Rows, read_blocks, read_rows
from understudy.schema import Schema

_PART_OF_FREE = 0.6
# Parquet is compressed; text holds numbers in about as many bytes as memory does.
_BYTES_PER_FILE_BYTE = {".csv": 3, ".parquet": 12}


@dataclass(frozen=True)
class Access:
    """How private rows are reached.

    Attributes:
        ignore_extra: pass over columns that the schema does not speak of instead of refusing.
        encoding: of a CSV file's text.
        memory: how many bytes may be taken; a part of what is free unless given.
        table: the table of a database, perhaps with its schema.
        watch: told how far a reading in blocks has come; private, for the owner's eyes alone.
    """

    ignore_extra: bool = False
    encoding: str = "utf-8"
    memory: int | None = None
    table: str | None = None
    watch: Watch = unwatched

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
    codec = Codec(schema)
    if is_database(data):
        with open_database(data, access.table, codec, ignore_extra=access.ignore_extra) as source:
            yield source
    elif isinstance(data, str | os.PathLike) and _needed(Path(data)) > access.room:
        yield _in_blocks(data, codec, access)
    else:
        rows = read_rows(data, codec, ignore_extra=access.ignore_extra, encoding=access.encoding)
        yield MemorySource(codec.encode(rows))


def _in_blocks(path: str | os.PathLike[str], codec: Codec, access: Access) -> ChunkedSource:
    """Half of the room is for tables, a quarter for rows on their way, the rest is kept free."""
    room = access.room
    reading = partial(
        read_blocks,
        path,
        codec,
        ignore_extra=access.ignore_extra,
        encoding=access.encoding,
        memory=room // 4,
    )
    source = ChunkedSource(reading, codec, room // 2, access.watch)
    source.check()
    return source


def _needed(path: Path) -> int:
    """The bytes that reading a whole file is expected to take; none if there is no such file."""
    return _BYTES_PER_FILE_BYTE.get(path.suffix, 1) * path.stat().st_size if path.is_file() else 0


def dataset_name(data: object, access: Access = _PLAIN) -> str:
    """The name a ledger knows some data by: a database's table, a file's stem, else "table"."""
    if access.table:
        return access.table
    return Path(data).stem if isinstance(data, str | os.PathLike) else "table"
