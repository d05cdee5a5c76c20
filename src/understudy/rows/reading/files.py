"""Rows from files of every format, by suffix: whole, in blocks, or the names of columns alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from understudy.errors import CapacityError, DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.file_format import DECLARED, FileFormat
from understudy.rows.reading.csv import TextFile, read_text, text_blocks, wrong_separator
from understudy.rows.reading.excel import excel_header, read_excel
from understudy.rows.reading.feather import feather_blocks, feather_types, read_feather
from understudy.rows.reading.json_lines import json_blocks, read_json_lines
from understudy.rows.reading.lakes import is_lake, open_lake
from understudy.rows.reading.packed import RowsPlace
from understudy.rows.reading.parquet import (
    check_names,
    is_parquet,
    parquet_blocks,
    parquet_types,
    read_parquet,
)
from understudy.rows.reading.sqlite import read_sqlite, sqlite_columns
from understudy.rows.reading.statistics import read_statistics, statistics_columns
from understudy.system.files.piped import PipedFile
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import (
    ARROW,
    EXCEL,
    LINES,
    SQLITE,
    STATISTICS,
    check_suffix,
    suffix_of,
)
from understudy.system.frames import Rows, arrow_table

# The formats that are read whole or not at all.
WHOLE = (EXCEL, *SQLITE, *STATISTICS)


def read_rows(
    data: Rows,
    codec: Codec,
    *,
    ignore_extra: bool = False,
    given: FileFormat = DECLARED,
    table: str | None = None,
) -> pa.Table:
    """The declared columns of a file, a folder of Parquet files, or a data frame.

    Args:
        data: the rows.
        codec: of a schema, whose format says how a file is spelled.
        ignore_extra: pass over columns that the schema does not declare instead of refusing.
        given: how the file is spelled; what it leaves open is as the schema says.
        table: of an SQLite file.

    Privacy: the rows are private, and errors speak of the header and the shape alone.
    """
    if not isinstance(data, str | os.PathLike | PipedFile):
        rows = arrow_table(data)
        check_names(rows.column_names, codec, ignore_extra=ignore_extra)
        return rows.select(list(codec.read_types))
    if not isinstance(data, PipedFile) and is_lake(data):
        return open_lake(data).whole(codec, ignore_extra=ignore_extra)
    place, given = _place(data), given.over(codec.schema.format)
    if isinstance(place, Path) and is_parquet(place):
        return read_parquet(place, codec, ignore_extra=ignore_extra)
    suffix = _suffix(place)
    if suffix in LINES:
        return read_json_lines(place, codec)
    if isinstance(place, PipedFile) or suffix not in (*ARROW, *WHOLE):
        text = TextFile(place, given.dialect(suffix))
        names = _checked_header(text, codec, ignore_extra=ignore_extra)
        with reading(text.name):
            return read_text(text, codec, one_column=len(names) == 1)

    def check(names: list[str]) -> None:
        check_names(names, codec, ignore_extra=ignore_extra)

    if suffix == EXCEL:
        return read_excel(place, codec, given, check=check)
    check(column_names(place, given=given, table=table))
    if suffix in ARROW:
        return read_feather(place, codec)
    return read_sqlite(place, codec, table) if suffix in SQLITE else read_statistics(place, codec)


def column_names(
    data: str | os.PathLike[str] | PipedFile,
    *,
    given: FileFormat = DECLARED,
    table: str | None = None,
) -> list[str]:
    """The header of a file, or of a folder of Parquet files."""
    if not isinstance(data, PipedFile) and is_lake(data):
        return list(open_lake(data).types.names)
    place = _place(data)
    if isinstance(place, Path) and is_parquet(place):
        return list(parquet_types(place).names)
    suffix = _suffix(place)
    if suffix in LINES:
        raise UsageError(
            f"{place}: a {suffix} file has no header; its keys are in its rows, which are private"
        )
    if isinstance(place, PipedFile) or suffix not in (*ARROW, *WHOLE):
        text = TextFile(place, given.dialect(suffix))
        with reading(text.name):
            return text.header()
    if suffix == EXCEL:
        return excel_header(place, given)
    return list(declared_types(place, table=table))


def declared_types(path: Path, *, table: str | None = None) -> dict[str, object]:
    """The columns of a file that declares their types, each with its type; rows stay unread."""
    suffix = suffix_of(path)
    if suffix in SQLITE:
        return dict(sqlite_columns(path, table))
    if suffix in STATISTICS:
        return dict(statistics_columns(path))
    types = feather_types(path) if suffix in ARROW else parquet_types(path)
    return {field.name: field.type for field in types}


def text_file(place: RowsPlace, given: FileFormat) -> TextFile:
    """A file of text with its dialect, which its suffix and a declared format say."""
    return TextFile(place, given.dialect(_suffix(place)))


def read_blocks(
    path: str | os.PathLike[str],
    codec: Codec,
    *,
    ignore_extra: bool = False,
    given: FileFormat = DECLARED,
    memory: int | None = None,
) -> Iterator[pa.Table]:
    """The declared columns of a file or folder of any size, a block of rows at a time.

    Blocks are small enough that two of them, and what is made of them, take no more than `memory`.

    Privacy: as for `read_rows`, with the same rows in the same order.
    """
    if is_lake(path):
        yield from open_lake(path).blocks(codec, ignore_extra=ignore_extra, memory=memory)
        return
    path, given = Path(path), given.over(codec.schema.format)
    if is_parquet(path):
        yield from parquet_blocks(path, codec, ignore_extra=ignore_extra, memory=memory)
        return
    suffix = _suffix(path)
    if suffix in LINES:
        yield from json_blocks(path, codec, memory=memory)
    elif suffix in ARROW:
        check_names(column_names(path), codec, ignore_extra=ignore_extra)
        yield from feather_blocks(path, codec, memory=memory)
    elif suffix in WHOLE:
        yield read_rows(path, codec, ignore_extra=ignore_extra, given=given)
    else:
        file = text_file(path, given)
        names = _checked_header(file, codec, ignore_extra=ignore_extra)
        with reading(file.name):
            yield from text_blocks(file, codec, one_column=len(names) == 1, memory=memory)


def refuse_too_large(path: Path, needed: int) -> CapacityError:
    """The error for a file that is read whole and would not fit in memory."""
    return CapacityError(
        f"{path}: reading it takes about {needed:,} bytes, more than there is memory for, and such "
        "a file is not read in blocks; export it to .parquet or .csv, or give more by --memory"
    )


def _place(data: str | os.PathLike[str] | PipedFile) -> RowsPlace:
    return data if isinstance(data, PipedFile) else Path(data)


def _suffix(place: RowsPlace) -> str:
    return place.suffix if isinstance(place, PipedFile) else suffix_of(check_suffix(place))


def _checked_header(file: TextFile, codec: Codec, *, ignore_extra: bool) -> list[str]:
    with reading(file.name):
        names = file.header()
        if not any(name in names for name in codec.read_types):
            way_out = wrong_separator(file)
            if way_out:
                raise DataError(way_out)
    check_names(names, codec, ignore_extra=ignore_extra)
    return names
