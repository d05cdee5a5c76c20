"""Data frames of any brand, in through Arrow and out as what they were."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa
from typing_extensions import TypeIs

from understudy.errors import DataError
from understudy.system.files.piped import PipedFile


@runtime_checkable
class ArrowStream(Protocol):
    """A data frame of any brand that can hand itself over as Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as an Arrow stream."""


Rows = str | os.PathLike[str] | PipedFile | ArrowStream | Mapping[str, Any]


def are_rows(data: object) -> TypeIs[Rows]:
    """Whether something is a file or a data frame, and not rows already behind an engine."""
    return isinstance(data, str | os.PathLike | PipedFile | ArrowStream | Mapping)


def arrow_table(data: ArrowStream | Mapping[str, Any]) -> pa.Table:
    """A data frame as an Arrow table."""
    try:
        if brand_of(data) == "pandas":
            # An index that is no plain count would come along as a column of its own.
            return pa.Table.from_pandas(data, preserve_index=False)
        return pa.table(dict(data) if isinstance(data, Mapping) else data)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        # Arrow's own words may quote a cell.
        raise DataError(
            "the data is not a table that Arrow can read; pass columns of one type each"
        ) from None


def brand_of(data: object) -> str:
    """Which library a data frame comes from, so that rows can go out in the same brand."""
    module = type(data).__module__.partition(".")[0]
    return module if module in ("pandas", "polars") else "pyarrow"


def in_brand(rows: pa.Table, brand: str) -> Any:
    """Arrow rows as a data frame of the given brand."""
    if brand == "pandas":
        return _pandas_frame(rows)
    if brand == "polars":
        import polars

        return polars.from_arrow(rows)
    return rows


def _pandas_frame(rows: pa.Table) -> Any:
    """Arrow rows as pandas has them: days as moments, and objects where they are declared."""
    frame = rows.to_pandas(date_as_object=False)
    for name in _objects(rows):
        column = rows.column(name).to_pandas(date_as_object=True)
        frame[name] = column.astype(object).where(column.notna(), None)
    return frame


def _objects(rows: pa.Table) -> list[str]:
    """The columns that are declared to be objects."""
    notes = json.loads((rows.schema.metadata or {}).get(b"pandas", "{}")).get("columns", [])
    return [note["name"] for note in notes if note["numpy_type"] == "object"]
