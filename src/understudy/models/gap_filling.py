"""Fill the gaps of a public table from a released model; cells that are there stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.codes import Mask
from understudy.facts.column import LearnedColumn
from understudy.facts.schema import Schema
from understudy.models.decoding import ColumnDecoder
from understudy.models.distribution import CodedRows
from understudy.models.imputation import Imputation, fill
from understudy.models.model import Model


@dataclass(frozen=True)
class FilledTable:
    """A public table without gaps in the columns of a model.

    Attributes:
        rows: all columns of the table, in their order.
        cells: how many cells were filled.
    """

    rows: pa.Table
    cells: int


def fill_table(model: Model, rows: pa.Table, *, seed: int | None = None) -> FilledTable:
    """Return a public table whose missing cells are drawn from a model given their rows.

    Columns with `missing_as = "mean"` or `"median"` get that number. Columns that the model does
    not know stay as they are.

    Args:
        model: the released model.
        rows: a table that is public or synthetic; it has all columns that the model learned.
        seed: makes the filled cells repeatable.

    Privacy: post-processing of the model. The table is copied into the result, and nothing
        protects it: it must be public or synthetic.
    """
    decoder = model.decoder
    if not isinstance(decoder, ColumnDecoder):
        raise UsageError("a model of images has no columns to fill; use a model of rows")
    codes, gaps = _encoded(model.schema, rows)
    imputation, generator = Imputation(model), np.random.default_rng(seed)
    drawn = {name: mask for name, mask in gaps.items() if name not in imputation.fills}
    full = fill(model, codes, drawn, generator)
    codec = decoder.filling(imputation.fills).codec
    made = codec.decode(full, generator=generator)
    texts = codec.spell(made)
    for name, gap in gaps.items():
        rows = _replaced(rows, name, gap, made.column(name), texts=texts.column(name))
    return FilledTable(rows, sum(int(gap.sum()) for gap in gaps.values()))


def _encoded(schema: Schema, rows: pa.Table) -> tuple[CodedRows, dict[str, Mask]]:
    """The codes of a table in which every cell may be missing, and which cells are."""
    open_schema = _open(schema)
    found = Codec(open_schema).encode(rows)
    if found.dropped is not None and found.dropped.any():
        count = int(found.dropped.sum())
        raise DataError(
            f"{count:,} of the rows to fill hold a value that the schema does not declare; "
            "correct them, or leave these rows out"
        )
    codes = dict(found.codes)
    gaps = {n: codes[n] == c.missing_code for n, c in open_schema.learned.items()}
    return codes, {name: gap for name, gap in gaps.items() if gap.any()}


def _open(schema: Schema) -> Schema:
    """The schema with a level for missing cells in every column."""
    columns = {
        name: c.model_copy(update={"missing": c.missing or (), "missing_as": "level"})
        if isinstance(c, LearnedColumn)
        else c
        for name, c in schema.columns.items()
    }
    return replace(schema, columns=columns)


def _replaced(
    rows: pa.Table, name: str, gap: Mask, made: pa.ChunkedArray, *, texts: pa.ChunkedArray
) -> pa.Table:
    """The rows with some cells of a column replaced: by texts among texts, else by values."""
    own = rows.column(name)
    if pa.types.is_dictionary(own.type):
        own = own.cast(own.type.value_type)
    is_text = pa.types.is_string(own.type) or pa.types.is_large_string(own.type)
    values = texts if is_text else made
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    cells = pc.if_else(pa.array(gap), values.cast(own.type, safe=False), own)
    return rows.set_column(rows.schema.get_field_index(name), name, cells)
