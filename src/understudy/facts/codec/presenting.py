"""Decoded values in the types and notations that a schema declares.

What comes back follows from the schema: the types of a frame depend on its rows, since one empty
cell makes real numbers of whole ones. Frames, Arrow, Parquet, workbooks and files of statistics
packages get the declared type; text and JSON lines get the declared notation. Texts (`dtype =
"string"`) have the notation everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from understudy.facts.column import (
    BinnedColumn,
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    DatetimeColumn,
    FloatColumn,
    IdColumn,
    IntegerColumn,
    ListedColumn,
    TextColumn,
)
from understudy.facts.column.dtypes import WHOLE_TYPES
from understudy.facts.column.notation import NumberNotation

_NULLABLE = {name.lower(): name for name in WHOLE_TYPES if name[0].isupper()}
_ISO = "%Y-%m-%d %H:%M:%S"
_TEXTS = ("string", "object")
# The digits of Arrow's decimals.
_MOST_DIGITS = 38


def presented(column: Column, cells: pa.Array) -> pa.Array:
    """Return decoded values in the declared type; in that of the kind where none is declared."""
    dtype = _dtype_of(column)
    if dtype in _TEXTS:
        return _marked(column, written(column, cells))
    if dtype == "category":
        return _categories(column, cells)
    wanted = arrow_type_of(column)
    return cells if wanted is None or wanted == cells.type else cells.cast(wanted)


def _dtype_of(column: Column) -> str | None:
    """The declared type; labels of booleans are texts by default."""
    if column.dtype is None and isinstance(column, BooleanColumn) and column.labels:
        return "string"
    return column.dtype


def arrow_type_of(column: Column) -> pa.DataType | None:
    """Return the Arrow type that a column declares; None where that of its kind will do."""
    zone = getattr(column, "zone", None)
    match column.dtype:
        case None:
            return pa.timestamp("s", tz=zone) if zone else None
        case "bool" | "boolean":
            return pa.bool_()
        case "date":
            return pa.date32()
        case "decimal":
            return _decimal(column)
        case str() as name if name.startswith("datetime64"):
            return pa.timestamp(name.removeprefix("datetime64[").removesuffix("]"), tz=zone)
        case str() as name:
            return pa.type_for_alias(
                {"float32": "float", "float64": "double"}.get(n := name.lower(), n)
            )


def _decimal(column: Column) -> pa.DataType:
    """Decimals that hold the bounds, with one digit to spare."""
    assert isinstance(column, FloatColumn)  # other kinds refuse this type
    decimals = column.decimals or 0
    most = max(*map(abs, column.bounds), *map(abs, column.marked_places), 1.0)
    return pa.decimal128(len(str(int(most))) + decimals + 1, decimals)


def _categories(column: Column, cells: pa.Array) -> pa.Array:
    """All declared values as categories, whether or not they occur."""
    if isinstance(column, BooleanColumn) and column.labels:
        cells = written(column, cells)
        values = pa.array(column.labels[::-1], cells.type)
    elif isinstance(column, BooleanColumn):
        values = pa.array([False, True])
    else:
        assert isinstance(column, CategoricalColumn)
        texts = pa.types.is_string(cells.type)
        values = pa.array(column.texts if texts else column.values, cells.type)
        if texts and column.has_nulls and column.missing:
            values = pa.concat_arrays([values, pa.array(column.missing[:1], cells.type)])
    ordered = getattr(column, "ordered", False)
    places = pc.index_in(cells, values)
    return pa.DictionaryArray.from_arrays(places, values, ordered=ordered)


# --- texts ------------------------------------------------------------------------------------


def written(column: Column, cells: pa.Array) -> pa.Array:
    """Return values as the texts that the column writes, null where they are missing."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type):
        return cells
    match column:
        case BooleanColumn():
            true, false = column.labels or ("true", "false")
            return pc.if_else(cells.cast(pa.bool_()), true, false)
        case IntegerColumn() | FloatColumn() if isinstance(column.notation, NumberNotation):
            return _noted(column, column.notation, cells)
        case FloatColumn() if column.decimals is not None:
            return _with_decimals(column, cells)
        case DateColumn() | DatetimeColumn():
            return _dated(column, cells)
        case _:
            return cells.cast(pa.string())


def _noted(column: BinnedColumn, notation: NumberNotation, cells: pa.Array) -> pa.Array:
    number = int if column.whole else float
    values = cells.to_pylist()
    return pa.array([v if v is None else notation.written(number(v)) for v in values], pa.string())


def _with_decimals(column: FloatColumn, cells: pa.Array) -> pa.Array:
    """Numbers with all their declared decimals, as 19.50; others, such as markers, in full."""
    try:
        exact = cells.cast(pa.decimal128(_MOST_DIGITS, column.decimals))
    except pa.ArrowInvalid:
        return cells.cast(pa.string())
    real = cells.cast(pa.float64())
    same = pc.equal(exact.cast(pa.float64()), real)
    return pc.if_else(same, exact.cast(pa.string()), real.cast(pa.string()))


def _dated(column: DateColumn | DatetimeColumn, cells: pa.Array) -> pa.Array:
    zone = getattr(column, "zone", None)
    if isinstance(column, DateColumn) and column.format is None:
        return cells.cast(pa.date32()).cast(pa.string())
    format = column.format or (f"{_ISO}%z" if zone else _ISO)
    # Arrow writes parts of seconds wherever the type has them. Offsets without a zone are those of
    # UTC, to which moments are taken as they are read.
    moments = cells.cast(pa.timestamp("s", tz=zone or ("UTC" if "%z" in format else None)))
    return pc.strftime(moments, format=format)


def _marked(column: Column, texts: pa.Array) -> pa.Array:
    """Texts with the first marker where a value is missing and a marker is declared."""
    markers = getattr(column, "missing", None)
    return texts.fill_null(markers[0]) if markers and texts.null_count else texts


def spelled(column: Column, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values for a file of texts: in the column's notation, with its missing marker."""
    if isinstance(column, IdColumn | TextColumn) or not _needs_spelling(column, cells.type):
        return cells
    texts = [_marked(column, written(column, chunk)) for chunk in cells.chunks]
    return pa.chunked_array(texts, pa.string())


def noted(column: Column, cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values for JSON: texts where the column has a notation, else numbers and nulls."""
    plain = pa.types.is_string(cells.type) or getattr(column, "notation", None) is None
    return cells if plain else spelled(column, cells)


def _needs_spelling(column: ListedColumn | BinnedColumn, kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind) or pa.types.is_timestamp(kind):
        return True
    noted = isinstance(column, BooleanColumn) and column.labels is not None
    noted |= isinstance(column, FloatColumn) and column.decimals is not None
    return bool(column.missing) or noted or getattr(column, "notation", None) is not None


# --- what pandas reads ------------------------------------------------------------------------


def described(rows: pa.Table, columns: Mapping[str, Column]) -> pa.Table:
    """Return the rows with the note that pandas reads types from, where they need one."""
    notes = [_note(name, columns[name], rows.schema.field(name).type) for name in rows.column_names]
    found = [note for note in notes if note is not None]
    if not found:
        return rows
    document = {
        "index_columns": [],
        "column_indexes": [],
        "columns": found,
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    return rows.replace_schema_metadata({"pandas": json.dumps(document)})


def _note(name: str, column: Column, kind: pa.DataType) -> dict[str, Any] | None:
    dtype = _pandas_name(column, kind)
    if dtype is None:
        return None
    plain = (
        "date" if pa.types.is_date(kind) else "unicode" if pa.types.is_string(kind) else str(kind)
    )
    return {
        "name": name,
        "field_name": name,
        "pandas_type": plain,
        "numpy_type": dtype,
        "metadata": None,
    }


def _pandas_name(column: Column, kind: pa.DataType) -> str | None:
    """The name of a type that Arrow's own does not show; whole numbers with gaps stay whole."""
    if pa.types.is_integer(kind) and getattr(column, "has_nulls", False):
        return _NULLABLE[str(kind)]
    if column.dtype == "date":
        return "object"
    names = (*_NULLABLE.values(), "Float32", "Float64", "boolean", *_TEXTS)
    return column.dtype if column.dtype in names else None
