"""Decoders: the tables and files that coded rows become."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv

from support.distributions import ROWS, SCHEMA, model_with
from understudy.models.decoding import ColumnDecoder
from understudy.models.sampling import sample_blocks


def test_columns_are_decoded_by_the_schema() -> None:
    """A row becomes one legal value in each column, and facts count the columns."""
    model = model_with("network")
    decoder = model.decoder
    assert isinstance(decoder, ColumnDecoder)
    codes = model.distribution.draw(4, np.random.default_rng(1))
    table = decoder.decode(codes, generator=np.random.default_rng(2))
    assert [*SCHEMA.columns] == table.column_names
    assert {"columns": 3} == decoder.facts
    assert "rows" == decoder.noun


def test_rows_in_a_file_are_those_that_are_sampled(tmp_path: Path) -> None:
    """With the same seed a file holds what `sample` returns."""
    model, path = model_with("network"), tmp_path / "rows.csv"
    assert ROWS == model.decoder.write(sample_blocks(model, seed=5), path)
    expected = model.sample(seed=5)["sex"].to_pylist()
    assert expected == pyarrow.csv.read_csv(path)["sex"].to_pylist()
