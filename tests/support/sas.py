"""Files of SAS, which `pyreadstat` reads and offers no function to write.

The library inside it, ReadStat, can write them, and its functions are called here one by one. What
it writes is read by pandas' own reader as well, which shares no code with it.
"""

from __future__ import annotations

import ctypes
import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyreadstat import _readstat_writer

_TEXT, _NUMBER = 0, 5
_FIRST_DAY = dt.date(1960, 1, 1)
# When files say that they were written, in seconds since 1970.
_WRITTEN = 1_600_000_000
_DATA_WRITER = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def write_sas(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write texts, numbers and days as a .sas7bdat file; the test is skipped where that fails.

    Args:
        columns: the cells of every column, None where one is missing.
        path: of the new file.
    """
    library = _library()
    written = bytearray()

    def take(data: int, size: int, _: object) -> int:
        written.extend(ctypes.string_at(data, size))
        return size

    sink = _DATA_WRITER(take)
    writer = ctypes.c_void_p(library.readstat_writer_init())
    _sound(library.readstat_set_data_writer(writer, sink))
    # The same rows are the same file, whenever it is written.
    _sound(library.readstat_writer_set_file_timestamp(writer, ctypes.c_long(_WRITTEN)))
    declared = [(_declared(library, writer, name, cells), cells) for name, cells in columns.items()]
    rows = len(next(iter(columns.values())))
    _sound(library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(rows)))
    for row in range(rows):
        _sound(library.readstat_begin_row(writer))
        for variable, cells in declared:
            _sound(_put(library, writer, variable, cells[row]))
        _sound(library.readstat_end_row(writer))
    _sound(library.readstat_end_writing(writer))
    library.readstat_writer_free(writer)
    path.write_bytes(written)


def _library() -> Any:
    """The library in the extension module of `pyreadstat`, where its functions are visible."""
    library = ctypes.CDLL(_readstat_writer.__file__)
    if not hasattr(library, "readstat_begin_writing_sas7bdat"):
        pytest.skip("this build of pyreadstat hides the writer of SAS files in its library")
    library.readstat_writer_init.restype = ctypes.c_void_p
    library.readstat_add_variable.restype = ctypes.c_void_p
    return library


def _declared(library: Any, writer: Any, name: str, cells: Sequence[Any]) -> ctypes.c_void_p:
    """Add a variable of a file: a text of the longest cell's bytes, or a number."""
    kinds = {type(cell) for cell in cells if cell is not None}
    width = max((len(cell.encode()) for cell in cells if isinstance(cell, str)), default=0)
    kind = _TEXT if str in kinds else _NUMBER
    found = library.readstat_add_variable(writer, name.encode(), kind, ctypes.c_size_t(width))
    variable = ctypes.c_void_p(found)
    if dt.date in kinds:
        library.readstat_variable_set_format(variable, b"DATE9")
    return variable


def _put(library: Any, writer: Any, variable: Any, cell: object) -> int:
    """Write a cell: days are counted from 1960 on."""
    if cell is None:
        return int(library.readstat_insert_missing_value(writer, variable))
    if isinstance(cell, str):
        text = ctypes.c_char_p(cell.encode())
        return int(library.readstat_insert_string_value(writer, variable, text))
    number = (cell - _FIRST_DAY).days if isinstance(cell, dt.date) else float(str(cell))
    return int(library.readstat_insert_double_value(writer, variable, ctypes.c_double(number)))


def _sound(code: int) -> None:
    """Fail where the library reports an error."""
    assert code == 0, f"ReadStat ended with error {code}"
