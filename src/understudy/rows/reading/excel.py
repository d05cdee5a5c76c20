"""Rows from a sheet of a workbook, by the package openpyxl; formulas count by stored results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.file_format import FileFormat
from understudy.rows.reading.cells import spelled, spelling
from understudy.rows.reading.sheet_lines import SheetCell, SheetLine, lines_of
from understudy.rows.reading.workbook_check import SheetFacts, check_workbook
from understudy.system.extras import require
from understudy.system.files.refusals import reading

_BLOCK_ROWS = 1 << 12
_MOST_ROWS = 1 << 20
# Cells take a few times the bytes of their XML as Python holds them.
BYTES_PER_XML_BYTE = 3


def excel_header(path: Path, given: FileFormat) -> list[str]:
    """The names of a sheet's columns; its rows stay unread."""
    with _opened_sheet(path, given) as sheet:
        return sheet.header


def read_excel(
    path: Path, codec: Codec, given: FileFormat, *, check: Callable[[list[str]], None]
) -> pa.Table:
    """The declared columns of a sheet, each cell as a text.

    Args:
        path: the workbook.
        codec: of a schema.
        given: the sheet, and the line of its header.
        check: refuses names of columns, before any row is read.
    """
    names = list(codec.read_types)
    with _opened_sheet(path, given) as sheet:
        check(sheet.header)
        places = [sheet.header.index(name) for name in names]
        width = len(sheet.header)
        blocks = [_block(names, places, rows) for rows in _blocks(sheet.rows, width, path)]
    empty = pa.schema([(name, pa.string()) for name in names]).empty_table()
    return pa.concat_tables([empty, *blocks])


@dataclass(frozen=True)
class _Sheet:
    """The names of a sheet's columns, and the lines below them."""

    header: list[str]
    rows: Iterator[list[SheetCell]]


@contextmanager
def _opened_sheet(path: Path, given: FileFormat) -> Iterator[_Sheet]:
    package = require("openpyxl", extra="excel")
    with reading(path):
        facts = check_workbook(path)
    with _opening(path):
        book = package.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            sheet = _sheet(book, path, given.sheet)
            first = given.header_line or 1
            _check_sheet(path, facts.members[sheet._worksheet_path.lstrip("/")], first)
            with lines_of(sheet) as lines:
                below = _below(lines, first)
                yield _Sheet(_header(next(below), path), below)
        finally:
            book.close()


def _sheet(book: Any, path: Path, name: str | None) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if name is not None and name not in sheets:
        raise UsageError(f"{path}: the workbook has no sheet {name!r}; check --sheet")
    if name is None and len(sheets) != 1:
        raise UsageError(
            f"{path}: the workbook has {len(sheets)} sheets; say which one by --sheet NAME, or "
            "sheet = NAME in [format]"
        )
    return sheets[name] if name is not None else next(iter(sheets.values()))


def _below(lines: Iterator[SheetLine], first: int) -> Iterator[list[SheetCell]]:
    """The cells of a sheet's header, none where it has no such line, and of all lines below."""
    last = first - 1
    for number, cells in lines:
        if number > _MOST_ROWS:
            break
        if last < first < number:
            yield []
        if number > last:
            last = number
            yield cells
    if last < first:
        yield []


def _check_sheet(path: Path, found: SheetFacts, header_line: int) -> None:
    """Refuse what would be read as missing cells without a word."""
    if found.unstored:
        raise DataError(
            f"{path}: the sheet has formulas whose results are not stored; open it in a "
            "spreadsheet program and save it, or export it to .csv"
        )
    if found.merged_until >= header_line:
        raise DataError(
            f"{path}: the sheet has merged cells from line {header_line} on; unmerge them and fill "
            "each cell, or give the line of the header below them by --header-line"
        )


def _header(cells: list[SheetCell], path: Path) -> list[str]:
    line = _line(cells, max((column for column, _ in cells), default=0))
    names = [(spelling(cell) or "").strip() for cell in line]
    while names and not names[-1]:
        names.pop()
    if not names:
        raise DataError(
            f"{path}: the line of the header is empty; it needs the column names, and "
            "--header-line says where they are"
        )
    if not all(names):
        raise DataError(
            f"{path}: column {names.index('') + 1} has no name; name it in the header, or say by "
            "--header-line where the names are"
        )
    if len(set(names)) < len(names):
        raise DataError(
            f"{path}: two columns have the same name; rename one of them, or say by --header-line "
            "where the names are"
        )
    return names


def _blocks(
    lines: Iterator[list[SheetCell]], width: int, path: Path
) -> Iterator[list[list[object]]]:
    """The rows of a sheet; lines without any cell are not rows."""
    while block := list(islice(lines, _BLOCK_ROWS)):
        rows = [cells for cells in block if any(value is not None for _, value in cells)]
        if any(n > width and value is not None for cells in rows for n, value in cells):
            raise DataError(
                f"{path}: a line has more cells than the header has names; name all columns, or "
                "remove what is beside the table"
            )
        yield [_line(cells, width) for cells in rows]


def _line(cells: list[SheetCell], width: int) -> list[object]:
    """The values of a line, None where the file has no cell."""
    line: list[object] = [None] * width
    for column, value in cells:
        if column <= width:
            line[column - 1] = value
    return line


def _block(names: list[str], places: list[int], rows: list[list[object]]) -> pa.Table:
    return pa.table(
        {
            name: spelled([row[place] for row in rows])
            for name, place in zip(names, places, strict=True)
        }
    )


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Failures of the package in our words: whatever it raises, it met something unexpected."""
    try:
        # Its warnings may quote what they are about.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (UnderstudyError, GeneratorExit):
        raise
    except Exception:
        raise DataError(
            f"{path}: is not a readable .xlsx file; open it in a spreadsheet program, and save it "
            "again as .xlsx or .csv"
        ) from None
