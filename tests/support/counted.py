"""Typed rows of every kind of column, and the check that an engine counts them as memory does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from support.databases import TYPES, typed_rows
from support.tables import boolean, categorical, day, integer, moment, real
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.rows.counting import CountSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

SCHEMA = Schema.parse(
    {
        "columns": {
            "a": {"kind": "integer", "min": 0, "max": 9, "missing": []},
            "b": {"kind": "categorical", "values": ["x", "y", "z"]},
            "c": {"kind": "float", "min": 0, "max": 1, "outside": "drop"},
        }
    }
)
ROWS = pa.table(
    {
        "a": pa.array([i % 12 if i % 5 else None for i in range(200)], pa.int32()),
        "b": [("x", " y", "z\t", "w")[i % 4] for i in range(200)],
        "c": [(i % 11) / 9 for i in range(200)],
    }
)
KINDS: dict[str, Callable[[], st.SearchStrategy[dict[str, Any]]]] = {
    "categorical": categorical,
    "boolean": boolean,
    "integer": integer,
    "float": real,
    "date": day,
    "datetime": moment,
}


# Letters that a database could take for white space, or the other way round.
LETTERS = ["female", "vav", "narrator", "batb", "a\vb", "a\fb", "\vfav\f", "\\v", "x\\f"]


def subsets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every set of up to three names, in every order."""
    return [s for k in range(4) for s in itertools.permutations(names, k)]


def check_equal(source: CountSource, schema: Schema, rows: pa.Table) -> None:
    """Every small table of an engine is that of the same rows in memory, cell by cell."""
    check_same(source, MemorySource(Table.of(Codec(schema).encode(rows))))


def check_same(source: CountSource, memory: CountSource) -> None:
    """Every small table of an engine is that of another one, cell by cell."""
    sets = [s for s in subsets(source.domain.attributes) if source.domain.cells(s) <= 10**5]
    assert memory.rows_read == source.rows_read
    for ours, theirs in zip(source.count(sets), memory.count(sets), strict=True):
        assert ours.attributes == theirs.attributes
        assert np.array_equal(theirs.counts, ours.counts)


@st.composite
def typed_tables(
    draw: st.DrawFn,
    kind: str,
    *,
    types: Collection[pa.DataType] = tuple(TYPES),
    infinite: bool = True,
) -> tuple[Schema, pa.Table]:
    """A schema of one kind of column, and rows of types that a database may hold them in."""
    columns = draw(st.lists(KINDS[kind](), min_size=1, max_size=2))
    schema = Schema.parse({"columns": {f"c{i}": column for i, column in enumerate(columns)}})
    return schema, draw(typed_rows(Codec(schema), types=types, infinite=infinite))
