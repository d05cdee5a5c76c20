"""Decoded rows to JSON lines, to a sheet of a workbook, and to files of SPSS and Stata."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from understudy.errors import OutputError
from understudy.facts.column import text_of
from understudy.system.extras import require
from understudy.system.files.suffixes import suffix_of
from understudy.system.files.writing import writing

_LINES = 1 << 12
# The last line of a sheet, as the format has it.
MOST_SHEET_LINES = 1 << 20
_SHEET = "rows"
# Lines above the header hold something, for readers that skip empty lines count only others.
ABOVE_HEADER = "# synthetic rows"
"""What each line above the header says, where a format declares such lines."""


def write_json_lines(blocks: Iterable[pa.Table], file: BinaryIO) -> int:
    """Write a JSON object for each row; missing cells are null."""
    encode = json.JSONEncoder(ensure_ascii=False, default=text_of).encode
    rows = 0
    for block in blocks:
        for batch in block.to_batches(max_chunksize=_LINES):
            file.write("".join(f"{encode(row)}\n" for row in batch.to_pylist()).encode())
        rows += block.num_rows
    return rows


def write_excel(
    blocks: Iterable[pa.Table], file: BinaryIO, *, sheet: str | None = None, header_line: int = 1
) -> int:
    """Write a workbook of one sheet; texts stay texts, also those that begin like a formula.

    Lines above the header say that the rows are synthetic.
    """
    package = require("openpyxl", extra="excel")
    book = package.Workbook(write_only=True)
    page = book.create_sheet(sheet or _SHEET)
    for _ in range(header_line - 1):
        page.append([ABOVE_HEADER])
    rows = 0
    try:
        for line in _lines(blocks):
            page.append([_excel_cell(package, page, value) for value in line])
            rows += 1
            if rows + header_line - 1 > MOST_SHEET_LINES:
                raise OutputError(
                    f"a sheet holds {MOST_SHEET_LINES:,} lines; make fewer rows by --rows, or "
                    "write .csv or .parquet"
                )
        book.save(file)
    except package.utils.exceptions.IllegalCharacterError:
        raise OutputError(
            "a declared value has a character that a workbook cannot hold; write .csv or .parquet"
        ) from None
    return rows - 1


def _lines(blocks: Iterable[pa.Table]) -> Iterator[tuple[Any, ...]]:
    """The header, and the cells of each row."""
    header = False
    for block in blocks:
        if not header:
            yield tuple(block.column_names)
            header = True
        for batch in block.to_batches(max_chunksize=_LINES):
            columns = [column.to_pylist() for column in batch.columns]
            yield from islice(zip(*columns, strict=True), batch.num_rows)


def _excel_cell(package: Any, page: Any, value: object) -> object:
    if not isinstance(value, str):
        return value
    cell = package.cell.WriteOnlyCell(page, value=value)
    cell.data_type = "s"
    return cell


def check_statistics_names(path: Path, names: Iterable[str]) -> None:
    """Refuse, before anything is spent, columns that SPSS or Stata cannot name."""
    for name in names:
        fits = name.isidentifier() and len(name) <= _longest(path) and not name.startswith("_")
        if not fits:
            raise OutputError(
                f"{path}: column {name!r} cannot be named in such a file, which takes letters, "
                f"digits and underscores, {_longest(path)} at most; write .csv or .parquet"
            )


def _longest(path: Path) -> int:
    return 32 if suffix_of(path) == ".dta" else 64


def write_statistics(blocks: Iterable[pa.Table], path: Path) -> int:
    """Write a .sav or .dta file, whole or not at all."""
    package = require("pyreadstat", extra="statistics")
    frames = require("polars", extra="statistics")
    rows = pa.concat_tables(list(blocks))
    write = package.write_sav if suffix_of(path) == ".sav" else package.write_dta
    beside = path.with_name(f".{os.getpid()}.part{suffix_of(path)}")
    try:
        with writing(path):
            write(frames.from_arrow(rows), str(beside))
            beside.replace(path)
    except (package.PyreadstatError, package.ReadstatError):
        raise OutputError(
            f"{path}: a value cannot be written to such a file; write .csv or .parquet"
        ) from None
    finally:
        beside.unlink(missing_ok=True)
    return int(rows.num_rows)
