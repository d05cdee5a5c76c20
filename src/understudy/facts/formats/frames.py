"""Drafts from data frames: dtypes and categories, all of which depend on the rows.

Privacy: one empty cell makes reals of whole numbers, and a category lists what occurs. So each
column is marked unreviewed, and nothing is fitted until a person vouches for it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from understudy.facts.formats.draft import Draft, DraftColumn, unreviewed
from understudy.facts.names import is_identifier, remark_on
from understudy.system.frames import arrow_table


def of_frame(frame: Any) -> Draft:
    """A draft of the columns of a pandas, polars or Arrow table, everything in it unreviewed."""
    table = arrow_table(frame)
    return Draft({field.name: _column(field, table[field.name]) for field in table.schema})


def _column(field: pa.Field, cells: pa.ChunkedArray) -> DraftColumn:
    if is_identifier(field.name):
        return DraftColumn("id", unreviewed({"prefix": ""}), remark_on(field.name))
    kind = kind_of(field.type)
    keys: dict[str, Any] = {"missing": []} if cells.null_count else {}
    if pa.types.is_dictionary(field.type):
        chunks = cells.chunks or [pa.array([], field.type)]
        keys["values"] = [value for value in chunks[0].dictionary.to_pylist() if value is not None]
    return DraftColumn(kind, {**keys, "unreviewed": True})


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
