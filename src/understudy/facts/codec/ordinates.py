"""Places on a line: how numbers, days and moments of any Arrow type become ordinates, and back.

Reading is a function of the single cell. Texts are cast by Arrow, a whole column at once; when one
cell defeats that, every text goes through `parse`, which gives what the cast would give wherever
the cast gives anything. Where a column declares a notation, texts that are written as declared are
cast, and each of the others is parsed. So no row's reading depends on another row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import DataError
from understudy.facts.codec.missing import either
from understudy.facts.codes import Mask
from understudy.facts.column import (
    HIGHEST_WHOLE,
    HIGHEST_WHOLE_REAL,
    LOWEST_WHOLE,
    BinnedColumn,
    DateColumn,
    DatetimeColumn,
    IntegerColumn,
    Ordinate,
)
from understudy.facts.column.notation import NumberNotation

_SECONDS_PER_DAY = 86400
# Characters that no number, day or moment of Arrow has; asking Arrow itself takes long.
_FOREIGN = re.compile(r"[^0-9A-Za-z_+\-.:() ]")
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

Ordinates = npt.NDArray[np.int64 | np.float64]


@dataclass(frozen=True)
class ColumnOrdinates:
    """A column on the line: ordinates, and which cells are missing or could not be read."""

    ordinates: Ordinates
    missing: Mask | None
    unreadable: Mask | None


def arrow_type(column: BinnedColumn) -> pa.DataType:
    """The Arrow type in which a column of this kind is read and written."""
    match column:
        case DateColumn():
            return pa.date32()
        case DatetimeColumn():
            return pa.timestamp("s")
        case IntegerColumn():
            return pa.int64()
        case _:
            return pa.float64()


def to_arrow(column: BinnedColumn, ordinates: Ordinates, missing: Mask | None) -> pa.Array:
    """Ordinates as an Arrow array of the column's type, null where missing."""
    match column:
        case DateColumn():
            days = pa.array(ordinates.astype(np.int32), mask=missing)
            return days.cast(pa.date32())
        case DatetimeColumn():
            return pa.array(ordinates, mask=missing).cast(pa.timestamp("s"))
        case _:
            return pa.array(ordinates, mask=missing)


def read(name: str, column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    """Where every cell of a column lies on the line."""
    if pa.types.is_dictionary(cells.type):
        cells = undictionary(cells)
    if pa.types.is_null(cells.type):
        cells = cells.cast(arrow_type(column))
    if pa.types.is_string_view(cells.type):
        cells = cells.cast(pa.string())
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return _read_texts(column, cells)
    return _read_typed(name, column, cells)


def undictionary(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells themselves, where a column holds numbers of entries in a list."""
    # Arrow cannot cast a dictionary of string views, which is what polars hands over.
    kind = cells.type.value_type
    plain = pa.string() if pa.types.is_string_view(kind) else kind
    return pa.chunked_array([c.dictionary.cast(plain).take(c.indices) for c in cells.chunks], plain)


def parse(column: BinnedColumn, text: str) -> Ordinate | None:
    """Where one text lies on the line; None when it is not a value of this kind."""
    text = text.strip()
    try:
        return column.place(text)
    except (ValueError, OverflowError):
        return None if _FOREIGN.search(text) else _cast(column, text)


def _place(column: BinnedColumn, text: str) -> Ordinate | None:
    """Where a cell's text lies on the line, in the notation that the column declares."""
    if column.notation is None:
        return parse(column, text)
    try:
        return column.place(column.notation.plain(text))
    except (ValueError, OverflowError):
        return None


def _cast(column: BinnedColumn, text: str) -> Ordinate | None:
    """Read a text as Arrow does where Python refuses it, such as 0x1F, nan(1) or the year 0000."""
    try:
        typed = pa.chunked_array([[text]], pa.string()).cast(arrow_type(column))
    except pa.ArrowInvalid:
        return None
    ordinate: Ordinate = _read_typed("", column, typed).ordinates[0].item()
    return ordinate


def _read_typed(name: str, column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    temporal = pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type)
    if isinstance(column, DateColumn | DatetimeColumn) != temporal or not (
        temporal or _is_number(cells.type)
    ):
        raise DataError(
            f"column {name!r}: the data holds {cells.type}, the schema says {column.kind}; "
            "correct the kind or convert the column"
        )
    if temporal:
        return _read_temporal(column, cells)
    if isinstance(column, IntegerColumn) and pa.types.is_integer(cells.type):
        return _read_whole(cells)
    return _read_real(column, cells)


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def _read_whole(cells: pa.ChunkedArray) -> ColumnOrdinates:
    if cells.type == pa.uint64():
        cells = pc.min_element_wise(cells, pa.scalar(HIGHEST_WHOLE, pa.uint64()), skip_nulls=False)
    ordinates = _values(cells.cast(pa.int64()), 0)
    return ColumnOrdinates(ordinates, _nulls(cells), None)


def _read_real(column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    if pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.int8())
    if pa.types.is_decimal(cells.type):
        # Arrow divides, and makes 34.800000000000004 of the decimal 34.800; a text is read exactly.
        cells = cells.cast(pa.string())
    ordinates = _values(cells.cast(pa.float64(), safe=False), math.nan)
    return _real_reading(column, ordinates, None)


def _real_reading(
    column: BinnedColumn, ordinates: npt.NDArray[np.float64], unreadable: Mask | None
) -> ColumnOrdinates:
    """NaN is missing; in a column of whole numbers the rest is rounded down."""
    nan = np.isnan(ordinates)
    missing = nan if nan.any() else None
    if not isinstance(column, IntegerColumn):
        return ColumnOrdinates(ordinates, missing, unreadable)
    whole = np.floor(np.clip(np.where(nan, 0.0, ordinates), LOWEST_WHOLE, HIGHEST_WHOLE_REAL))
    return ColumnOrdinates(whole.astype(np.int64), missing, unreadable)


def _read_temporal(column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    """Moments with a zone are kept by Arrow in UTC, which is how we read them."""
    if pa.types.is_date32(cells.type):
        seconds = _values(cells.cast(pa.int32()), 0).astype(np.int64) * _SECONDS_PER_DAY
    else:
        unit = "ms" if pa.types.is_date64(cells.type) else cells.type.unit
        seconds = _values(cells.cast(pa.int64()), 0) // _PER_SECOND[unit]
    days = isinstance(column, DateColumn)
    return ColumnOrdinates(seconds // _SECONDS_PER_DAY if days else seconds, _nulls(cells), None)


def _read_texts(column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    """Texts by one cast when all of them allow it, else one by one."""
    cells = pc.utf8_trim_whitespace(cells)
    if isinstance(column.notation, NumberNotation):
        return _read_noted(column, column.notation, cells)
    if column.notation is not None:
        return _read_each(column, cells)
    missing = _texts_missing(column, cells)
    try:
        typed = pc.if_else(missing, pa.scalar(None, cells.type), cells).cast(arrow_type(column))
    except pa.ArrowInvalid:
        return _read_each(column, cells)
    reading = _read_typed("", column, typed)
    return ColumnOrdinates(reading.ordinates, either(reading.missing, _flags(missing)), None)


def _texts_missing(column: BinnedColumn, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    markers = pa.array(column.missing_texts, cells.type)
    return pc.or_(pc.fill_null(pc.is_in(cells, markers), True), pc.is_null(cells))


def _read_noted(
    column: BinnedColumn, notation: NumberNotation, cells: pa.ChunkedArray
) -> ColumnOrdinates:
    """Numbers in the declared notation by one cast, and every other text by itself."""
    missing = _texts_missing(column, cells)
    usual = pc.fill_null(pc.match_substring_regex(cells, notation.usual), False)
    cast = pc.and_not(usual, missing)
    typed = _plain_numbers(notation, pc.if_else(cast, cells, pa.scalar(None, cells.type)))
    # Arrow's own memory is not to be written to.
    ordinates = np.array(_read_real(column, typed).ordinates)
    absent, unreadable = _values(missing, 0).astype(bool), np.zeros(len(cells), np.bool_)
    others = np.flatnonzero(_values(pc.or_(cast, missing), 0) == 0)
    if others.size:
        odd = _read_each(column, cells.take(pa.array(others)))
        ordinates[others] = odd.ordinates
        for flags, found in ((absent, odd.missing), (unreadable, odd.unreadable)):
            if found is not None:
                flags[others] = found
    return ColumnOrdinates(ordinates, absent, unreadable)


def _plain_numbers(notation: NumberNotation, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts that are all in the usual form of a notation, as numbers."""
    negative = pc.starts_with(texts, "-")
    # No unit holds a digit, so that trimming its letters leaves the number; it is the fastest way.
    texts = pc.utf8_trim(texts, f"-{notation.before}{notation.after}")
    if notation.thousands:
        texts = pc.replace_substring(texts, notation.thousands, "")
    if notation.decimal != ".":
        texts = pc.replace_substring(texts, notation.decimal, ".")
    numbers = texts.cast(pa.float64())
    return pc.if_else(negative, pc.negate(numbers), numbers)


def _read_each(column: BinnedColumn, cells: pa.ChunkedArray) -> ColumnOrdinates:
    """The total path: every different text is parsed once, and a null comes after the last."""
    encoded = cells.dictionary_encode().unify_dictionaries()
    texts: list[str] = encoded.chunk(0).dictionary.to_pylist() if encoded.num_chunks else []
    places = [*(_place(column, text) for text in texts), None]
    values = [0 if place is None else place for place in places]
    ordinates = np.array(values, np.int64 if column.whole else np.float64)
    absent = np.array([*(_is_missing(column, text) for text in texts), True])
    absent |= np.isnan(ordinates)
    unreadable = np.array([place is None for place in places]) & ~absent
    index = _values(pa.chunked_array([c.indices for c in encoded.chunks], pa.int32()), len(texts))
    return ColumnOrdinates(ordinates[index], absent[index], unreadable[index])


def _is_missing(column: BinnedColumn, text: str) -> bool:
    is_nan = isinstance(column, IntegerColumn) and text.lower() == "nan"
    return is_nan or text in column.missing_texts


def _values(cells: pa.ChunkedArray, fill: Ordinate) -> npt.NDArray[Any]:
    """The chunks as one numpy array, nulls filled."""
    if cells.null_count:
        cells = pc.fill_null(cells, fill)
    chunks: Sequence[npt.NDArray[Any]] = [c.to_numpy(zero_copy_only=False) for c in cells.chunks]
    if not chunks:
        return np.empty(0, cells.type.to_pandas_dtype())
    return chunks[0] if len(chunks) == 1 else np.concatenate(chunks)


def _flags(cells: pa.ChunkedArray) -> Mask | None:
    flags: Mask = _values(cells, 0).astype(bool)
    return flags if flags.any() else None


def _nulls(cells: pa.ChunkedArray) -> Mask | None:
    return _flags(pc.is_null(cells)) if cells.null_count else None
