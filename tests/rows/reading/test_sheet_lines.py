"""Cells that are taken directly are those that the package reads."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

from understudy.errors import DataError
from understudy.facts.file_format import FileFormat
from understudy.rows.reading.excel import excel_header
from understudy.rows.reading.sheet_lines import lines_of

_MIXED = [
    ["a", "b", "c"],
    [1, 2.5, "x"],
    [None, "", " kept "],
    [True, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4)],
    [CellRichText("no ", TextBlock(InlineFont(b=True), "bold")), 1e300, -7],
    [],
    ["=1+1", dt.timedelta(hours=3), "ü\n"],
]
_SHARED = (
    '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.'
    'openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/>'
)


def _lines(path: Path) -> list[tuple[int, list[tuple[int, object]]]]:
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    with lines_of(book.worksheets[0]) as lines:
        found = list(lines)
    book.close()
    return found


def _written(tmp_path: Path, name: str, sheet: str, shared: str = "") -> Path:
    """A workbook of the package with another text of its sheet, and with shared texts."""
    plain, path = tmp_path / "plain.xlsx", tmp_path / name
    book = openpyxl.Workbook()
    book.active.append(["x"])
    book.save(plain)
    head = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    own = {"xl/worksheets/sheet1.xml": f"{head}<sheetData>{sheet}</sheetData></worksheet>"}
    if shared:
        own["xl/sharedStrings.xml"] = head.replace("worksheet", "sst") + shared + "</sst>"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w") as sink:
        for member in source.namelist():
            if member not in (*own, "[Content_Types].xml"):
                sink.writestr(member, source.read(member))
        types = source.read("[Content_Types].xml").decode()
        announced = types.replace("</Types>", f"{_SHARED}</Types>") if shared else types
        sink.writestr("[Content_Types].xml", announced)
        for member, text in own.items():
            sink.writestr(member, text)
    return path


def test_every_kind_of_cell_is_read_as_the_package_reads_it(tmp_path: Path) -> None:
    """Numbers, texts with and without marks, dates, booleans, and nothing at all."""
    path = tmp_path / "x.xlsx"
    book = openpyxl.Workbook()
    for line in _MIXED:
        book.active.append(line)
    book.save(path)
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    theirs = [list(line) for line in book.worksheets[0].iter_rows(values_only=True)]
    book.close()
    ours: list[list[object]] = [[None] * 3 for _ in theirs]
    for number, cells in _lines(path):
        for column, value in cells:
            ours[number - 1][column - 1] = value
    assert theirs == ours
    assert [list(map(type, line)) for line in theirs] == [list(map(type, line)) for line in ours]


def test_shared_texts_and_cells_without_a_place(tmp_path: Path) -> None:
    """A cell without its own place comes after the last one; other texts are kept once."""
    sheet = '<row r="2"><c r="B2" t="s"><v>1</v></c><c><v>4</v></c><c r="E2"/></row>'
    path = _written(tmp_path, "x.xlsx", sheet, "<si><t>one</t></si><si><t>two</t></si>")
    assert [(2, [(2, "two"), (3, 4), (5, None)])] == _lines(path)


@pytest.mark.parametrize("line", [1, 3])
def test_a_header_that_is_not_there(tmp_path: Path, line: int) -> None:
    """The line that was named is missing before the first row, or behind the last one."""
    path = _written(tmp_path, "x.xlsx", '<row r="2"><c r="A2"><v>4</v></c></row>')
    with pytest.raises(DataError, match="line of the header is empty"):
        excel_header(path, FileFormat(header_line=line))
