"""encode(decode(t)) == t, in memory and through files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from support.tables import decoded, encoded_tables
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.models.row_writing import write_rows
from understudy.rows.reading import read_rows
from understudy.rows.table import Table


@given(encoded_tables())
def test_decoding_and_encoding_is_the_identity(made: tuple[Schema, Table]) -> None:
    """Every table of codes survives decoding and encoding in Arrow."""
    schema, table = made
    rows = decoded(schema, table)
    again = Table.of(Codec(schema).encode(rows))
    assert table == again
    assert table.rows_read == again.rows_read
    assert list(schema.columns) == rows.column_names


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@given(encoded_tables())
def test_files_keep_every_table(suffix: str, made: tuple[Schema, Table]) -> None:
    """Every table of codes survives being decoded, written, read and encoded."""
    schema, table = made
    codec = Codec(schema)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        written = write_rows([decoded(schema, table)], path, codec)
        again = Table.of(codec.encode(read_rows(path, codec)))
    assert table.rows_read == written
    assert table == again
    assert table.rows_read == again.rows_read


@given(encoded_tables())
def test_ids_count_rows_and_are_no_attribute(made: tuple[Schema, Table]) -> None:
    """Ids are generated from the row number alone; no attribute is made of them."""
    schema, table = made
    rows = decoded(schema, table)
    for name in set(schema.columns) - set(schema.learned):
        assert name not in table.domain
        prefix = getattr(schema.columns[name], "prefix", "")
        numbers = range(1, rows.num_rows + 1)
        expected = [f"{prefix}{n}" if prefix else n for n in numbers]
        assert expected == rows.column(name).to_pylist()


def test_ids_go_on_from_the_first_row_asked_for() -> None:
    """Blocks of rows carry on counting where the last block ended."""
    schema = Schema.parse({"columns": {"no": {"kind": "id"}, "a": {"kind": "boolean"}}})
    codec = Codec(schema)
    codes = {"a": np.array([0, 1], np.uint8)}
    rows = codec.decode(codes, generator=np.random.default_rng(), first_row=11)
    assert [11, 12] == rows.column("no").to_pylist()


def test_ids_need_not_be_in_the_data() -> None:
    """A column of ids is not asked for when rows are encoded."""
    schema = Schema.parse({"columns": {"no": {"kind": "id"}, "a": {"kind": "boolean"}}})
    assert [1] == Codec(schema).encode(pa.table({"a": [True]})).codes["a"].tolist()
