"""Places on a line: how numbers, days and moments of any Arrow type become ordinates, and back.

Reading is a function of the single cell: a vectorised cast is tried first, and when one cell
defeats it every text of the column goes through the parser below, which agrees with the cast on
whatever the cast accepts. So no row's reading depends on another row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from understudy.codec.missing import Mask, either
from understudy.errors import DataError
from understudy.schema import BinnedColumn, DateColumn, DatetimeColumn, IntegerColumn, Ordinate

# Whole ordinates are kept this far from the ends of 64 bits.
_FAR = 2**62

Ordinates = npt.NDArray[np.int64 | np.float64]


@dataclass(frozen=True)
class Reading:
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


def read(name: str, column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
    """Where every cell of a column lies on the line."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_null(cells.type):
        cells = cells.cast(arrow_type(column))
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        return _read_texts(column, cells)
    if pa.types.is_string_view(cells.type):
        return _read_texts(column, cells.cast(pa.string()))
    return _read_typed(name, column, cells)


def parse(column: BinnedColumn, text: str) -> Ordinate | None:
    """Where one text lies on the line; None when it is no value of this kind."""
    try:
        return _PARSERS[column.kind](text.strip())
    except (ValueError, OverflowError):
        return None


def _read_typed(name: str, column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
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


def _read_whole(cells: pa.ChunkedArray) -> Reading:
    if cells.type == pa.uint64():
        cells = pc.min_element_wise(cells, pa.scalar(_FAR, pa.uint64()))
    ordinates = _values(cells.cast(pa.int64()), 0)
    return Reading(ordinates, _nulls(cells), None)


def _read_real(column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
    if pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.int8())
    ordinates = _values(cells.cast(pa.float64(), safe=False), math.nan)
    return _real_reading(column, ordinates, None)


def _real_reading(
    column: BinnedColumn, ordinates: npt.NDArray[np.float64], unreadable: Mask | None
) -> Reading:
    """NaN is missing; in a column of whole numbers the rest is rounded down."""
    nan = np.isnan(ordinates)
    missing = nan if nan.any() else None
    if not isinstance(column, IntegerColumn):
        return Reading(ordinates, missing, unreadable)
    whole = np.floor(np.clip(np.where(nan, 0.0, ordinates), -_FAR, _FAR))
    return Reading(whole.astype(np.int64), missing, unreadable)


def _read_temporal(column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
    missing = _nulls(cells)
    if pa.types.is_timestamp(cells.type):
        if cells.type.tz is not None:
            cells = cells.cast(pa.timestamp(cells.type.unit, "UTC"))
        unit = "day" if isinstance(column, DateColumn) else "second"
        cells = pc.floor_temporal(cells, unit=unit)
    seconds = _values(cells.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), 0)
    return Reading(seconds // 86400 if isinstance(column, DateColumn) else seconds, missing, None)


def _read_texts(column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
    """Texts by one cast when all of them allow it, else one by one."""
    cells = pc.utf8_trim_whitespace(cells)
    missing = _texts_missing(column, cells)
    try:
        typed = pc.if_else(missing, pa.scalar(None, cells.type), cells).cast(arrow_type(column))
    except pa.ArrowInvalid:
        return _read_each(column, cells)
    reading = _read_typed("", column, typed)
    return Reading(reading.ordinates, either(reading.missing, _flags(missing)), None)


def _texts_missing(column: BinnedColumn, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    markers = pa.array(["", *(column.missing or ())], cells.type)
    return pc.or_(pc.fill_null(pc.is_in(cells, markers), True), pc.is_null(cells))


def _read_each(column: BinnedColumn, cells: pa.ChunkedArray) -> Reading:
    """The total path: every different text is parsed once."""
    encoded = cells.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts: list[str] = encoded.dictionary.to_pylist()
    markers = {"", *(column.missing or ())}
    parsed = [None if text in markers else parse(column, text) for text in texts]
    bad = np.array([p is None and t not in markers for p, t in zip(parsed, texts, strict=True)])
    index = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    nan_or_zero: Ordinate = 0 if column.whole else math.nan
    values = [nan_or_zero if p is None else p for p in parsed]
    dtype = np.int64 if column.whole else np.float64
    ordinates = np.array([*values, nan_or_zero], dtype)[index]
    unreadable = np.append(bad, False)[index] if bad.size else np.zeros(len(index), bool)
    absent = np.array([t in markers for t in texts] + [True], bool)[index]
    if not column.whole:
        absent |= np.isnan(ordinates) & ~unreadable
    return Reading(ordinates, absent, unreadable)


def _parse_whole(text: str) -> int:
    bare = text.removeprefix("-").lower()
    if bare.startswith("0x") and "_" not in bare:
        # Arrow reads hexadecimal whole numbers, as two's complement of 64 bits.
        return _wrap(int(bare, 16)) if not text.startswith("-") else _refuse()
    real = _parse_real(text)
    if math.isinf(real):
        return int(math.copysign(_FAR, real))
    try:
        return max(-_FAR, min(_FAR, int(text)))
    except ValueError:
        return max(-_FAR, min(_FAR, math.floor(real)))


def _wrap(value: int) -> int:
    return value - 2**64 if 2**63 <= value < 2**64 else value if value < 2**63 else _refuse()


def _refuse() -> int:
    raise ValueError


def _parse_real(text: str) -> float:
    if "_" in text or not text.isascii():
        raise ValueError
    return float(text)


def _parse_moment(text: str) -> int:
    return DatetimeColumn.ordinate(datetime.fromisoformat(text))


def _parse_day(text: str) -> int:
    try:
        return DateColumn.ordinate(date.fromisoformat(text))
    except ValueError:
        return _parse_moment(text) // 86400


_PARSERS: dict[str, Callable[[str], Ordinate]] = {
    "integer": _parse_whole,
    "float": _parse_real,
    "date": _parse_day,
    "datetime": _parse_moment,
}


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
