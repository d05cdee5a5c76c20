"""Trained numbers as members of an archive: arrays by name, in an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.models.archive import Parts, arrow_bytes, shape_of, within
from understudy.system.files.arrow import Types, read_arrow

NamedArrays = Mapping[str, npt.NDArray[Any]]

_MOST_ARRAYS = 2**11 + 1


def trained_bytes(
    arrays: NamedArrays, number: pa.DataType, *, facts: Mapping[str, str] | None = None
) -> bytes:
    """Return arrays as the bytes of a member, their numbers of one type, beside some texts."""
    shapes = [array.shape for array in arrays.values()]
    flat = [array.ravel() for array in arrays.values()]
    table = pa.table(
        {
            "name": pa.array([*arrays], pa.string()),
            "shape": pa.array(shapes, pa.list_(pa.int64())),
            "values": pa.array(flat, pa.large_list(number)),
        }
    )
    return arrow_bytes(table.replace_schema_metadata(dict(facts or {})))


def read_trained(
    parts: Parts, name: str, number: pa.DataType, *, cells: int | None = None
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, str]]:
    """Read the arrays of a member, and its texts.

    Args:
        parts: the archive.
        name: the member.
        number: the type of the numbers.
        cells: how many numbers there are, where other members announce it.
    """
    types: Types = {
        "name": (pa.string(),),
        "shape": (pa.list_(pa.int64()),),
        "values": (pa.large_list(number),),
    }
    data = parts.trained(name, cells=cells)
    with within(name):
        table = read_arrow(data, types, rows=_MOST_ARRAYS)
        shapes = [shape_of(row) for row in table["shape"]]
    kind = number.to_pandas_dtype()
    names, values = table["name"].to_pylist(), table["values"]
    arrays = {
        array: np.array(row.values, kind).reshape(shape)
        for array, shape, row in zip(names, shapes, values, strict=True)
    }
    facts = table.schema.metadata or {}
    return arrays, {key.decode(): value.decode() for key, value in facts.items()}
