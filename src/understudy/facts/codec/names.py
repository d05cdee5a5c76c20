"""The name of a person: what a cell of the column that names persons says, whatever its type.

A name is a function of its cell alone, and the same in every engine, but for combining marks that
were added to Unicode so lately that engines differ in whether they know them. Texts lose the white
space around them and are brought to Unicode's composed form (NFC); nothing else is changed, so that
"7" and "07", or "Ann" and "ann", are two persons. Cells of any other type are compared by value.
Rows whose cell has no name are dropped: several persons may be behind them, and counted as one they
would share one person's allowance of rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import DataError
from understudy.facts.codec.ordinates import undictionary
from understudy.system.arrays import Integers

UNNAMED = -1
"""The number of a person without a name."""

# What Python strips from texts: tabs and breaks, spaces of every width, and four separators.
BLANKS = "".join(chr(i) for i in range(0x3001) if chr(i).isspace())
# Texts end with it in some libraries: a name that holds it has no meaning they agree on.
NUL = "\0"

_BY_VALUE = (
    pa.types.is_integer,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_duration,
    pa.types.is_null,
)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_BYTES = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)


def number_names(column: str, cells: pa.ChunkedArray) -> Integers:
    """Persons numbered from 0 as they first come, one number for each name.

    Args:
        column: what the column is called, for messages.
        cells: one for each row; those without a name get `UNNAMED`.
    """
    encoded = names_of(column, cells).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numbers = encoded.indices.cast(pa.int64()).fill_null(UNNAMED)
    return np.asarray(numbers.to_numpy(zero_copy_only=False))


def names_of(column: str, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The name in every cell, null where there is none; equal names are one person's."""
    if pa.types.is_dictionary(cells.type):
        # A dictionary may list a name twice, and its chunks may have one each.
        cells = undictionary(cells)
    if isinstance(cells.type, pa.BaseExtensionType):
        cells = cells.cast(cells.type.storage_type)
    kind = cells.type
    if any(test(kind) for test in _TEXTS):
        return _of_texts(column, cells.cast(pa.large_string()))
    if pa.types.is_floating(kind):
        return _of_reals(cells.cast(pa.float64()))
    if any(test(kind) for test in _BYTES):
        plain = cells.cast(pa.large_binary())
        return _unless(pc.equal(pc.binary_length(plain), 0), plain)
    if any(test(kind) for test in _BY_VALUE):
        return cells
    raise unnameable(column, kind)


def unnameable(column: str, held: object) -> DataError:
    """Return the error for a column whose type has no names; it says only the type."""
    return DataError(
        f"column {column!r} names persons and holds {held}, which cannot be told apart alike "
        "everywhere; convert it to text or whole numbers"
    )


def _of_texts(column: str, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        names = pc.utf8_trim(texts, characters=BLANKS)
        # Plain letters are composed as they are, and most names have no others.
        if pc.all(pc.string_is_ascii(names)).as_py() is False:
            names = pc.utf8_normalize(names, form="NFC")
    except pa.ArrowInvalid:
        # Arrow's own words may quote a cell.
        raise DataError(
            f"column {column!r} names persons and holds text that is not UTF-8; mend its encoding"
        ) from None
    absent = pc.or_(pc.equal(names, pa.scalar("", names.type)), pc.match_substring(names, NUL))
    return _unless(absent, names)


def _of_reals(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    """Zero has one name, with either sign; what is not a number has none."""
    zero = pa.scalar(0.0, pa.float64())
    return _unless(pc.is_nan(numbers), pc.if_else(pc.equal(numbers, zero), zero, numbers))


def _unless(absent: pa.ChunkedArray, names: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(absent, pa.scalar(None, names.type), names)
