"""Lines of a sheet: the package's parser of XML, with the usual cells taken directly.

The package makes several objects for each text that is stored in its cell. Plain texts and numbers
are taken from the XML as it would take them; dates, results of formulas and all other cells are
left to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_VALUE, _INLINE, _TEXT = _MAIN + "v", _MAIN + "is", _MAIN + "t"
_DIGITS = "0123456789"

SheetCell = tuple[int, object]
"""The number of a cell's column, from 1, and its value."""
SheetLine = tuple[int, list[SheetCell]]
"""The number of a line, from 1, and those of its cells that the file has."""


@contextmanager
def lines_of(sheet: Any) -> Iterator[Iterator[SheetLine]]:
    """The lines of a sheet of a workbook that the package opened for reading, one after another."""
    from openpyxl.utils import column_index_from_string
    from openpyxl.worksheet._reader import WorkSheetParser

    class Lines(WorkSheetParser):  # type: ignore[misc]
        """Reads a cell as the number of its column and its value."""

        def parse_cell(self, element: Any) -> SheetCell:
            place, kind = element.get("r"), element.get("t", "n")
            if place and kind == "inlineStr" and _is_plain(element):
                value: object = element[0][0].text or ""
            elif place and kind == "n" and int(element.get("s", 0)) not in self.date_formats:
                value = _number(element.findtext(_VALUE))
            else:
                read = super().parse_cell(element)
                return read["column"], read["value"]
            self.col_counter = column_index_from_string(place.rstrip(_DIGITS))
            return self.col_counter, value

    book = sheet.parent
    with sheet._get_source() as source:
        parser = Lines(
            source,
            sheet._shared_strings,
            data_only=book.data_only,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        yield parser.parse()


def _is_plain(element: Any) -> bool:
    """Whether a cell holds one text without marks."""
    if len(element) != 1 or element[0].tag != _INLINE or len(element[0]) != 1:
        return False
    text = element[0][0]
    return bool(text.tag == _TEXT and not len(text))


def _number(text: str | None) -> float | int | None:
    """A number as the package reads it: whole where it is spelled so."""
    if not text:
        return None
    return float(text) if "." in text or "E" in text or "e" in text else int(text)
