"""Drafts from data frames: dtypes and categories, all of which depend on the rows.

Privacy: one empty cell makes reals of whole numbers, and a category lists what occurs. So each
column is marked unreviewed, and nothing is fitted until a person vouches for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from understudy.facts.column.dtypes import TYPES
from understudy.facts.formats.draft import Draft, DraftColumn, unreviewed
from understudy.facts.names import is_identifier, remark_on
from understudy.system.frames import arrow_table


def of_frame(frame: Any) -> Draft:
    """A draft of the columns of a pandas, polars or Arrow table, everything in it unreviewed.

    Types are proposed so that rows come back in them: `dtype`, `ordered` and `zone`.
    """
    table = arrow_table(frame)
    named = _pandas_names(table.schema)
    return Draft(
        {
            field.name: _column(field, table[field.name], named.get(field.name, ""))
            for field in table.schema
        }
    )


def _column(field: pa.Field, cells: pa.ChunkedArray, named: str) -> DraftColumn:
    if is_identifier(field.name):
        types = _of_kind("id", type_keys(field.type, named))
        return DraftColumn("id", unreviewed({"prefix": "", **types}), remark_on(field.name))
    kind = kind_of(field.type)
    keys: dict[str, Any] = {"missing": []} if cells.null_count else {}
    if pa.types.is_dictionary(field.type):
        chunks = cells.chunks or [pa.array([], field.type)]
        keys["values"] = [value for value in chunks[0].dictionary.to_pylist() if value is not None]
    types = _of_kind(kind, type_keys(field.type, named))
    return DraftColumn(kind, {**keys, **types, "unreviewed": True})


def _of_kind(kind: str, types: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a type, unless a column of the kind cannot have it."""
    return types if types.get("dtype") in TYPES[kind] else {}


def _pandas_names(schema: pa.Schema) -> dict[str, str]:
    """Name the types of columns as pandas calls them."""
    notes = (schema.pandas_metadata or {}).get("columns", [])
    return {note["name"]: note["numpy_type"] for note in notes if note["name"] is not None}


# What pandas has besides the types of Arrow: types with gaps, and of texts.
_WITH_GAPS, _OF_TEXTS = ("Int", "UInt", "Float", "boolean"), ("string", "object")


def type_keys(kind: pa.DataType, named: str = "") -> dict[str, Any]:
    """The keys of a column by which rows come back in a type; none for that of its kind.

    Args:
        kind: the type in Arrow.
        named: what pandas calls it, where the column comes from there.

    Example:
        >>> type_keys(pa.int8()), type_keys(pa.int64()), type_keys(pa.int64(), "Int64")
        ({'dtype': 'int8'}, {}, {'dtype': 'Int64'})
    """
    if pa.types.is_dictionary(kind):
        return {"dtype": "category", **({"ordered": True} if kind.ordered else {})}
    if pa.types.is_timestamp(kind):
        zone = {} if kind.tz is None else {"zone": str(kind.tz)}
        return {"dtype": f"datetime64[{kind.unit}]", **zone}
    if pa.types.is_decimal(kind):
        return {"dtype": "decimal", "decimals": max(kind.scale, 0)}
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if named.startswith(_WITH_GAPS) or (is_text and named in _OF_TEXTS):
        return {"dtype": named}
    if pa.types.is_date(kind) and named == "object":
        return {"dtype": "date"}
    narrow = pa.types.is_integer(kind) and kind != pa.int64()
    return {"dtype": str(kind)} if narrow else {"dtype": "float32"} if kind == pa.float32() else {}


def kind_of(kind: pa.DataType) -> str:
    """The kind of column that a declared type stands for.

    Example:
        >>> kind_of(pa.int8()), kind_of(pa.string())
        ('integer', 'categorical')
    """
    tests = {
        "boolean": pa.types.is_boolean,
        "integer": pa.types.is_integer,
        "float": lambda t: pa.types.is_floating(t) or pa.types.is_decimal(t),
        "date": pa.types.is_date,
        "datetime": pa.types.is_timestamp,
    }
    return next((name for name, test in tests.items() if test(kind)), "categorical")
