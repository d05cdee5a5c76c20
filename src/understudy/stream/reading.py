"""Where events come from: lines of text, a CSV column, a Parquet column.

Ids are read into one buffer that the next block overwrites, and that is wiped at the end. What is
handed out must be taken in before more is asked for.
"""

from __future__ import annotations

import csv
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from understudy.errors import DataError, UsageError
from understudy.rows.reading.parquet import read_footer
from understudy.stream.texts import Texts
from understudy.stream.universe import Ids, ids_of
from understudy.system.files.refusals import reading

Wait = Callable[[], float | None]
"""How many seconds there are until something is due; None where nothing is."""

_BUFFER = 1 << 22
_ROWS = 1 << 18
_NOTHING = Texts(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.int64))


def forever() -> float | None:
    """No hurry."""
    return None


def events(data: str, *, column: str | None = None, wait: Wait = forever) -> Iterator[Ids]:
    """Batches of ids from a file by its suffix, or from lines of standard input for "-".

    Args:
        data: a .csv or .parquet file, any other file of lines, or "-".
        column: the one that holds ids, of CSV and Parquet.
        wait: within how many seconds a batch must come, be it empty; asked each time, for lines.
    """
    path = Path("standard input" if data == "-" else data)
    if path.suffix == ".parquet":
        return _parquet(path, column)
    if column is not None or path.suffix == ".csv":
        return _csv(data, path, column)
    return _lines(data, path, wait)


def check_events(data: str, column: str | None) -> None:
    """Refuse a file that is not there, or lacks the column, before anything is paid for."""
    path = Path(data)
    if data == "-":
        return
    with reading(path):
        path.open("rb").close()
    if path.suffix not in (".csv", ".parquet") and column is None:
        return
    names = column_names(path)
    if (column is None and path.suffix == ".csv") or (column is None and len(names) > 1):
        raise UsageError(f"{path}: has columns; name the one that holds ids with --column")
    if column is not None and column not in names:
        raise UsageError(f"{path}: has no column {column!r}; name another")


def column_names(path: Path) -> list[str]:
    """The names of a file's columns; no row is read."""
    if path.suffix == ".parquet":
        return list(read_footer(path).types.names)
    with reading(path), path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def key_lines(path: Path) -> Texts:
    """The lines of a public file of keys."""
    with reading(path):
        return Texts.lines(np.frombuffer(path.read_bytes(), np.uint8))


def _lines(data: str, path: Path, wait: Wait) -> Iterator[Ids]:
    with reading(path), _opened(data) as file:
        yield from line_batches(file.fileno(), wait)


def line_batches(descriptor: int, wait: Wait = forever) -> Iterator[Texts]:
    """Whole lines as they come; the last one may lack its line break."""
    buffer = bytearray(_BUFFER)
    view, held = memoryview(buffer), 0
    try:
        while True:
            if not _is_ready(descriptor, wait()):
                yield _NOTHING
                continue
            got = os.readv(descriptor, [view[held:]])
            end = held if got == 0 else buffer.rfind(b"\n", 0, held + got) + 1
            held += got
            if end:
                yield Texts.lines(np.frombuffer(buffer, np.uint8, end))
            if got == 0:
                return
            if end == 0 and held == _BUFFER:
                raise DataError(f"a line is longer than {_BUFFER:,} bytes; write one id in a line")
            buffer[: held - end] = buffer[end:held]
            held -= end
    finally:
        view.release()
        buffer[:] = bytes(_BUFFER)


def _is_ready(descriptor: int, seconds: float | None) -> bool:
    """Whether there is something to read in time; a time that is over comes first."""
    if seconds is None:
        return True
    return seconds > 0 and bool(select.select([descriptor], [], [], seconds)[0])


def _csv(data: str, path: Path, column: str | None) -> Iterator[Ids]:
    import pyarrow.csv as pc

    if column is None:
        raise UsageError(f"{path}: has columns; name the one that holds ids with --column")
    convert = pc.ConvertOptions(
        include_columns=[column], column_types={column: pa.large_string()}, null_values=[]
    )
    with _column_of(path, column), _opened(data) as file:
        for batch in pc.open_csv(file, convert_options=convert):
            yield Texts.of_arrow(batch.column(0))


def _parquet(path: Path, column: str | None) -> Iterator[Ids]:
    import pyarrow.parquet as pq

    with _column_of(path, column), pq.ParquetFile(path) as file:
        name = column or file.schema_arrow.names[0]
        for batch in file.iter_batches(_ROWS, columns=[name]):
            yield ids_of(batch.column(0))


@contextmanager
def _column_of(path: Path, column: str | None) -> Iterator[None]:
    """Reading failures in our words, that of a missing column apart."""
    try:
        with reading(path):
            try:
                yield
            except (KeyError, IndexError):
                raise UsageError(f"{path}: has no column {column!r}; name another") from None
    except DataError:
        raise
    except pa.ArrowException:
        raise DataError(f"{path}: cannot be read; export it again") from None


@contextmanager
def _opened(data: str) -> Iterator[BinaryIO | Any]:
    if data == "-":
        yield sys.stdin.buffer
        return
    with Path(data).open("rb") as file:
        yield file
