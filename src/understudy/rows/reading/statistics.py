"""Rows from files of SPSS, Stata and SAS, by the package pyreadstat.

Codes are read and not their labels: labels may have been written after a look at the rows. Values
that a file declares as missing are missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.errors import DataError
from understudy.facts.codec import Codec
from understudy.rows.reading.cells import spelled
from understudy.system.extras import require
from understudy.system.files.refusals import reading
from understudy.system.files.suffixes import suffix_of

_READERS = {".sav": "read_sav", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat"}
_AS_THEY_ARE = (pa.float64(), pa.int64(), pa.string())
# A cell as Python holds it in a list, and as Arrow holds it after that.
BYTES_PER_CELL = 80


def read_statistics(path: Path, codec: Codec) -> pa.Table:
    """Return the declared columns of the file."""
    names = list(codec.read_types)
    columns, _ = _read(path, usecols=names)
    return pa.table({name: _cells(columns[name]) for name in names})


def statistics_columns(path: Path) -> dict[str, str]:
    """The columns and the types they declare: string, date, datetime or number."""
    _, about = _read(path, metadataonly=True)
    return {
        name: _kind(kind, str(about.original_variable_types.get(name, "")))
        for name, kind in about.readstat_variable_types.items()
    }


def statistics_rows(path: Path) -> int:
    """How many rows the file announces; the bytes that are there bound it from above."""
    _, about = _read(path, metadataonly=True)
    return int(about.number_rows or path.stat().st_size)


def _kind(stored: str, shown: str) -> str:
    if stored == "string":
        return "string"
    shown = shown.upper().lstrip("%")
    if shown.startswith(("DATETIME", "TC")):
        return "datetime"
    dates = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "TD", "MMDDYY", "DDMMYY", "YYMMDD")
    return "date" if shown.startswith(dates) else "number"


def _read(path: Path, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    package = require("pyreadstat", extra="statistics")
    with reading(path):
        path.open("rb").close()
    with _reading_by(package, path):
        read = getattr(package, _READERS[suffix_of(path)])
        columns, about = read(str(path), output_format="dict", **options)
    return columns, about


@contextmanager
def _reading_by(package: Any, path: Path) -> Iterator[None]:
    """The failures of the package in our words."""
    try:
        yield
    except (
        package.ReadstatError,
        package.PyreadstatError,
        ArithmeticError,
        LookupError,
        MemoryError,
        TypeError,
        ValueError,
    ):
        what = f"{suffix_of(path)[1:]} file"
        raise DataError(
            f"{path}: is not a readable {what}; save it again, or export it to .csv"
        ) from None


def _cells(values: list[Any]) -> pa.Array:
    """Numbers and texts as they are: the file has one type for each of its columns."""
    try:
        found = pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return spelled(values)
    if pa.types.is_null(found.type):
        return found.cast(pa.float64())
    return found if found.type in _AS_THEY_ARE else spelled(values)
