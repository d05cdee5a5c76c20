"""Rows from files, by the schema's kinds, never by what their cells look like.

CSV is read here, Parquet next door.
"""

from __future__ import annotations

import codecs
import csv
import mmap
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.facts.column import MISSING_TEXTS
from understudy.rows.reading.parquet import (
    check_names,
    is_parquet,
    parquet_blocks,
    parquet_types,
    read_parquet,
)
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import check_suffix
from understudy.system.frames import Rows, arrow_table

_BLOCK_BYTES = 1 << 22
# No line of a CSV file may be longer than a block.
_LEAST_BLOCK_BYTES = 1 << 20
# Arrow parses some blocks of text ahead, and their cells take about as much again.
_TEXT_BLOCKS = 16
# Arrow's words for a line that is too short or too long; the line itself follows and stays there.
_RAGGED = re.compile(r"CSV parse error: (?:Row #\d+: )?Expected (\d+) columns, got (\d+)")


def read_rows(
    data: Rows, codec: Codec, *, ignore_extra: bool = False, encoding: str = "utf-8"
) -> pa.Table:
    """The declared columns of a file, a folder of Parquet files, or a data frame.

    Privacy: the rows are private, and errors speak of the header and the shape alone.
    """
    if isinstance(data, str | os.PathLike):
        return _read_file(Path(data), codec, ignore_extra=ignore_extra, encoding=encoding)
    rows = arrow_table(data)
    check_names(rows.column_names, codec, ignore_extra=ignore_extra)
    return rows.select(list(codec.read_types))


def column_names(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> list[str]:
    """The header of a CSV or Parquet file, or of a folder of Parquet files."""
    path = Path(path)
    if is_parquet(path):
        return list(parquet_types(path).names)
    with reading(check_suffix(path)):
        return _csv_header(path, encoding)


def _read_file(path: Path, codec: Codec, *, ignore_extra: bool, encoding: str) -> pa.Table:
    if is_parquet(path):
        return read_parquet(path, codec, ignore_extra=ignore_extra)
    names = column_names(path, encoding=encoding)
    check_names(names, codec, ignore_extra=ignore_extra)
    with reading(path):
        return _read_csv(path, codec, encoding, one_column=len(names) == 1)


def _csv_header(path: Path, encoding: str) -> list[str]:
    is_utf8 = codecs.lookup(encoding).name == "utf-8"
    with path.open(encoding="utf-8-sig" if is_utf8 else encoding, newline="") as file:
        header = next(csv.reader(file), [])
    if not header:
        raise DataError(f"{path}: the file is empty; it needs a header with the column names")
    if len(set(header)) < len(header):
        raise DataError(f"{path}: two columns have the same name; rename one of them")
    return header


def read_blocks(
    path: str | os.PathLike[str],
    codec: Codec,
    *,
    ignore_extra: bool = False,
    encoding: str = "utf-8",
    memory: int | None = None,
) -> Iterator[pa.Table]:
    """The declared columns of a file or folder of any size, a block of rows at a time.

    Blocks are small enough that two of them, and what is made of them, take no more than `memory`.

    Privacy: as for `read_rows`, with the same rows in the same order.
    """
    path = Path(path)
    if is_parquet(path):
        yield from parquet_blocks(path, codec, ignore_extra=ignore_extra, memory=memory)
        return
    names = column_names(path, encoding=encoding)
    check_names(names, codec, ignore_extra=ignore_extra)
    with reading(path):
        size = _block_bytes(memory)
        yield from _csv_blocks(path, codec, encoding, size, one_column=len(names) == 1)


def _block_bytes(memory: int | None) -> int:
    if memory is None:
        return _BLOCK_BYTES
    return min(_BLOCK_BYTES, max(_LEAST_BLOCK_BYTES, memory // _TEXT_BLOCKS))


def _csv_blocks(
    path: Path, codec: Codec, encoding: str, size: int, *, one_column: bool
) -> Iterator[pa.Table]:
    """As `_read_csv`; where a cell defeats the types, texts continue from the same row."""
    typed, texts = _csv_types(codec)
    done = 0
    try:
        for block in _csv_stream(path, typed, encoding, size, one_column=one_column):
            yield block
            done += block.num_rows
    except pa.ArrowInvalid:
        for block in _csv_stream(path, texts, encoding, size, one_column=one_column):
            known = min(done, block.num_rows)
            done -= known
            yield block.slice(known)


def _csv_stream(
    path: Path, types: Mapping[str, pa.DataType], encoding: str, size: int, *, one_column: bool
) -> Iterator[pa.Table]:
    import pyarrow.csv as pc

    with _parsing(path, types, encoding, size, one_column=one_column) as options:
        try:
            reader = pc.open_csv(path, **options)
        except pa.ArrowInvalid as error:
            if _is_header_alone(error):
                return
            raise
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _read_csv(path: Path, codec: Codec, encoding: str, *, one_column: bool) -> pa.Table:
    """Numbers are read as numbers; if a cell of one is none, all of them are read as texts."""
    typed, texts = _csv_types(codec)
    try:
        return _parse_csv(path, typed, encoding, one_column=one_column)
    except pa.ArrowInvalid:
        return _parse_csv(path, texts, encoding, one_column=one_column)


def _csv_types(codec: Codec) -> tuple[dict[str, pa.DataType], dict[str, pa.DataType]]:
    """The types to read columns as, and those that no cell can defeat."""
    typed = codec.read_types
    texts = {n: t if pa.types.is_dictionary(t) else pa.string() for n, t in typed.items()}
    return typed, texts


def _parse_csv(
    path: Path, types: Mapping[str, pa.DataType], encoding: str, *, one_column: bool
) -> pa.Table:
    import pyarrow.csv as pc

    with _parsing(path, types, encoding, _BLOCK_BYTES, one_column=one_column) as options:
        try:
            return pc.read_csv(path, **options)
        except pa.ArrowInvalid as error:
            if _is_header_alone(error):
                return pa.schema(types.items()).empty_table()
            raise


def _is_header_alone(error: pa.ArrowInvalid) -> bool:
    """Whether a file ends with its header, which no line break follows."""
    return str(error).startswith("CSV parse error: Empty CSV file")


@contextmanager
def _parsing(
    path: Path, types: Mapping[str, pa.DataType], encoding: str, size: int, *, one_column: bool
) -> Iterator[dict[str, Any]]:
    """Options for Arrow's reader; a ragged line ends the reading in our words."""
    import pyarrow.csv as pc

    # In a file of one column an empty line is a row: its cell is empty.
    parse = pc.ParseOptions(
        newlines_in_values=_has_quotes(path),
        ignore_empty_lines=not one_column,
    )
    convert = pc.ConvertOptions(
        column_types=dict(types), include_columns=list(types), null_values=["", *MISSING_TEXTS]
    )
    read = pc.ReadOptions(encoding=encoding, block_size=size)
    try:
        yield {"parse_options": parse, "convert_options": convert, "read_options": read}
    except pa.ArrowInvalid as error:
        ragged = _RAGGED.match(str(error))
        if ragged:
            raise DataError(
                f"{path}: a line has {ragged[2]} fields where the header has {ragged[1]}; "
                "quote fields that hold commas"
            ) from None
        raise


def _has_quotes(path: Path) -> bool:
    """Whether a field could span lines, which costs the reader a third of its speed."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"') >= 0
