"""Propose how a file is spelled, for the owner to confirm.

The header is public, and the separator follows from it. Everything else follows from rows: it is
proposed as unreviewed, and nothing is fitted with it before a person vouches for it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from understudy.facts.column import MISSING_TEXTS
from understudy.facts.file_format import FileFormat, TextDialect
from understudy.rows.mending import MARKERS
from understudy.rows.reading.csv import TextFile
from understudy.rows.reading.files import text_file
from understudy.rows.reading.json_lines import first_keys
from understudy.rows.reading.packed import RowsPlace, opened_bytes
from understudy.system.files.refusals import reading

_FIRST_BYTES = 1 << 18
_FIRST_ROWS = 200
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# The encoding of offices; latin-1 has no sign that it lacks, but for a few that nobody uses.
_OFFICE = "cp1252"
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_DOT = re.compile(r"[-+]?[0-9]+\.[0-9]+")
_GROUPED = {
    ".": re.compile(r"[-+]?([0-9]{1,3}(\.[0-9]{3})+|[0-9]+)(,[0-9]+)?"),
    " ": re.compile(r"[-+]?([0-9]{1,3}([ \u00a0\u202f][0-9]{3})+|[0-9]+)([,.][0-9]+)?"),
    "'": re.compile(r"[-+]?([0-9]{1,3}(['\u2019][0-9]{3})+|[0-9]+)([,.][0-9]+)?"),
    ",": re.compile(r"[-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)(\.[0-9]+)?"),
}
_DAY, _MONTH, _YEAR = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])", "[12][0-9]{3}"
_DATES: Mapping[str, re.Pattern[str]] = {
    "%d.%m.%Y": re.compile(rf"{_DAY}\.{_MONTH}\.{_YEAR}"),
    "%d-%m-%Y": re.compile(rf"{_DAY}-{_MONTH}-{_YEAR}"),
    "%d/%m/%Y": re.compile(rf"{_DAY}/{_MONTH}/{_YEAR}"),
    "%m/%d/%Y": re.compile(rf"{_MONTH}/{_DAY}/{_YEAR}"),
    "%Y%m%d": re.compile(r"[12][0-9]{3}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"),
}
# Whole numbers may look so too.
_NUMBERS_TOO = "%Y%m%d"
# A number with a sign of currency before it, or with a unit or a percent sign behind it.
_BEFORE = re.compile(r"[-+]?([$£¥€][ \u00a0]?)[-+]?[0-9][0-9.,' \u00a0\u202f]*")
_BEHIND = re.compile(
    r"[-+]?[0-9](?:[0-9.,' \u00a0\u202f]*[0-9])?([ \u00a0]?[^\W0-9_]{1,4}|[ \u00a0]?[%$£¥€])"
)


@dataclass(frozen=True)
class FirstLook:
    """The names of columns, and what first rows seem to say.

    Attributes:
        names: of the header.
        format: what was given and what the header says; unreviewed where rows say more.
        columns: kinds and notations of columns; unreviewed, since rows say them.
        remarks: for the owner's terminal.
    """

    names: list[str]
    format: FileFormat
    columns: Mapping[str, SeenNotation]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class SeenNotation:
    """The notation that the first cells of a column show, with its keys, or missing markers.

    Attributes:
        kind: of the column; empty where markers alone are shown.
        keys: of the notation, and `missing`.
    """

    kind: str
    keys: Mapping[str, str | bool | list[str]]


def text_format(place: RowsPlace, given: FileFormat) -> tuple[list[str], FileFormat]:
    """The names of the header, and the format with the separator that the header has.

    Privacy: reads the header alone, and the mark before it.
    """
    file = text_file(place, given)
    with reading(file.name):
        marked = _mark(place)
        if given.encoding is None and marked is not None:
            given = replace(given, encoding=marked)
            file = text_file(place, given)
        other = None if given.separator is not None else file.other_separator()
        if other is not None:
            given = replace(given, separator=other)
        return text_file(place, given).header(), given


def key_look(place: RowsPlace) -> list[str]:
    """The keys of the first row of JSON lines, which have no header.

    Privacy: they come from a row; columns of these names are unreviewed.
    """
    return first_keys(place)


def first_look(place: RowsPlace, given: FileFormat) -> FirstLook:
    """Look at the first rows: decimal mark, thousands and encoding, and how dates are written.

    Privacy: for the owner's eyes; the format that is proposed is unreviewed.
    """
    seen = None if given.encoding or _mark(place) else _encoding(place)
    names, known = text_format(place, given if seen is None else replace(given, encoding=seen))
    file = text_file(place, known)
    with reading(file.name):
        columns = _first_cells(file)
    marks = _numbers({n: _bare(_filled(column)) for n, column in columns.items()}, given)
    shown = (marks.decimal, marks.thousands) != (given.decimal, given.thousands)
    if shown or seen is not None:
        known = replace(marks.over(known), unreviewed=True)
    noted = {
        name: _with_markers(_in_marks(_notation(column), column, marks), column)
        for name, column in columns.items()
    }
    seen_columns = {name: seen for name, seen in noted.items() if seen is not None}
    return FirstLook(names, known, seen_columns, _date_remarks(columns))


def _mark(place: RowsPlace) -> str | None:
    """The encoding that a mark before the header names."""
    with opened_bytes(place) as stream:
        start = stream.read(4)
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)


def _encoding(place: RowsPlace) -> str | None:
    """The encoding of offices where the text is not UTF-8."""
    with opened_bytes(place) as stream:
        first = stream.read(_FIRST_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return _OFFICE
    return None


def _first_cells(file: TextFile) -> dict[str, list[str]]:
    """The cells of the first rows by column, blanks around them off."""
    with opened_bytes(file.place) as stream:
        first = stream.read(_FIRST_BYTES)
    text = first.decode(file.encoding, errors="replace")
    lines = io.StringIO(text, newline="")
    for _ in range(file.dialect.header_line - 1):
        lines.readline()
    reader = csv.reader(
        lines, delimiter=file.dialect.separator, quotechar=file.dialect.quote or '"'
    )
    names = next(reader, [])
    rows = [row for row, _ in zip(reader, range(_FIRST_ROWS), strict=False)]
    return {name: [row[i].strip() for row in rows if i < len(row)] for i, name in enumerate(names)}


def _numbers(columns: Mapping[str, list[str]], given: FileFormat) -> FileFormat:
    """The decimal mark and the mark between thousands, where whole columns show them."""
    found: dict[str, str] = {}
    filled = [column for column in columns.values() if column]
    plain = any(_all(_DOT, column) for column in filled)
    for mark, pattern in _GROUPED.items():
        numbers = [column for column in filled if _all_numbers(pattern, column)]
        sure = [c for c in numbers if any(_is_sure(cell, mark) for cell in c)]
        if sure and not (mark == "." and plain):
            found["thousands"] = mark
            break
    comma = any(_all_numbers(_COMMA, column) for column in filled)
    if found.get("thousands") == "." or (comma and found.get("thousands") != "," and not plain):
        found["decimal"] = ","
    decimal = given.decimal or found.get("decimal")
    thousands = given.thousands or found.get("thousands")
    return FileFormat(decimal=decimal, thousands=None if thousands == decimal else thousands)


def _is_sure(cell: str, mark: str) -> bool:
    """Whether a cell can only be read so: it has a space, two marks, or marks of both kinds."""
    alike = TextDialect(thousands=mark).thousands_marks
    if len(alike) > 1:
        return any(each in cell for each in alike)
    return cell.count(mark) > 1 or {".", ","} <= set(cell)


def _all_numbers(pattern: re.Pattern[str], column: Iterable[str]) -> bool:
    """Whether a column is of such numbers, whole ones without marks apart."""
    odd = [cell for cell in column if not cell.lstrip("+-").isdigit()]
    return bool(odd) and _all(pattern, odd)


def _all(pattern: re.Pattern[str], column: Iterable[str]) -> bool:
    return all(pattern.fullmatch(cell) for cell in column)


def _notation(column: list[str]) -> SeenNotation | None:
    """The notation of all first cells of a column, where a single one fits them."""
    column = _filled(column)
    if not column:
        return None
    formats = _date_formats(column)
    if len(formats) == 1 and formats != [_NUMBERS_TOO]:
        return SeenNotation("date", {"format": formats[0]})
    before, behind = (_only_unit(pattern, column) for pattern in (_BEFORE, _BEHIND))
    if behind == "%":
        return SeenNotation("float", {"percent": True})
    unit = f"{before}#" if before else f"#{behind}" if behind else None
    return None if unit is None else SeenNotation("float", {"unit": unit})


def _in_marks(
    seen: SeenNotation | None, column: list[str], marks: FileFormat
) -> SeenNotation | None:
    """A notation of numbers with their own marks, where these are not those of the file."""
    if seen is None or not {"unit", "percent"} & seen.keys.keys():
        return seen
    own = _numbers({"": _bare(_filled(column))}, FileFormat())
    decimal, thousands = own.decimal or ".", own.thousands
    alike = decimal == (marks.decimal or ".") and thousands in (None, marks.thousands)
    if alike or (own.decimal is None and thousands is None):
        return seen
    grouped = {} if thousands is None else {"thousands": thousands}
    return SeenNotation(seen.kind, {**seen.keys, "decimal": decimal, **grouped})


def _filled(column: list[str]) -> list[str]:
    """The cells that do not say that something is missing."""
    return [cell for cell in column if cell and cell not in MARKERS]


def _bare(column: list[str]) -> list[str]:
    """The cells without the unit that all of them have, if so."""
    before, behind = (_only_unit(pattern, column) for pattern in (_BEFORE, _BEHIND))
    if before or behind:
        return [cell.replace(before or "", "").removesuffix(behind or "") for cell in column]
    return column


def _with_markers(seen: SeenNotation | None, column: list[str]) -> SeenNotation | None:
    """Add a level for missing cells to what is seen, where cells are empty or have a usual marker.

    A word such as none may be a value where cells are words.
    """
    filled = _filled(column)
    if not filled or len(filled) == len(column):
        return seen
    words = any(cell.isalpha() for cell in filled)
    known = {"", *MISSING_TEXTS}
    shown = [m for m in MARKERS if m in column and m not in known and not (words and m.isalpha())]
    if not shown and not known & {*column}:
        return seen
    kind, keys = ("", {}) if seen is None else (seen.kind, seen.keys)
    return SeenNotation(kind, {**keys, "missing": shown})


def _only_unit(pattern: re.Pattern[str], column: list[str]) -> str | None:
    """The unit that all cells have in this place; None where one has another, or none."""
    found = {m[1] if (m := pattern.fullmatch(cell)) else None for cell in column}
    return next(iter(found)) if len(found) == 1 else None


def _date_formats(column: list[str]) -> list[str]:
    return [shown for shown, pattern in _DATES.items() if column and _all(pattern, column)]


def _date_remarks(columns: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Remarks about columns whose first cells look like dates in another order than ISO's."""
    found = {name: _date_formats(_filled(column)) for name, column in columns.items()}
    return tuple(
        f"column {name!r}: its first cells look like dates written as {' or '.join(formats)}"
        for name, formats in found.items()
        if formats
    )
