"""Trained numbers in archives: what is written comes back, and nothing that was not written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from support.hostile import signed, zipped
from understudy.errors import ModelError
from understudy.models.archive import Parts
from understudy.models.trained import NamedArrays, read_trained, trained_bytes

MEMBER = "generator.arrow"
ARRAYS: NamedArrays = {
    "w0": np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 7,
    "b0": np.zeros(0, np.float32),
    "scale": np.array([1e-30], np.float32),
}


def _parts(path: Path, data: bytes) -> Parts:
    manifest = b'{"format": "understudy-model", "version": 3, "kind": "generator", "rows": 1}'
    path.write_bytes(zipped(signed({"manifest.json": manifest, MEMBER: data})))
    return Parts.read(path)


@pytest.mark.parametrize("number", [pa.float32(), pa.float64()])
def test_arrays_survive_being_written(tmp_path: Path, number: pa.DataType) -> None:
    """Names, shapes, numbers and texts come back as they were."""
    data = trained_bytes(ARRAYS, number, facts={"target": "größe"})
    arrays, facts = read_trained(_parts(tmp_path / "m.zip", data), MEMBER, number)
    assert {"target": "größe"} == facts
    assert list(ARRAYS) == list(arrays)
    for name, expected in ARRAYS.items():
        assert expected.shape == arrays[name].shape
        assert number.to_pandas_dtype() == arrays[name].dtype
        assert np.array_equal(expected, arrays[name])


def test_more_numbers_than_are_announced_are_refused(tmp_path: Path) -> None:
    """The same member is read where as many are announced as it holds."""
    numbers = np.random.default_rng(1).normal(size=2**18).astype(np.float64)
    parts = _parts(tmp_path / "m.zip", trained_bytes({"w": numbers}, pa.float64()))
    held, _ = read_trained(parts, MEMBER, pa.float64(), cells=numbers.size)
    assert np.array_equal(numbers, held["w"])
    with pytest.raises(ModelError, match="is not a complete model"):
        read_trained(parts, MEMBER, pa.float64(), cells=10)
