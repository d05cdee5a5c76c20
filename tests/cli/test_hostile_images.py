"""Archives that someone made to do harm, or that broke: refused in our words, nothing spent."""

from __future__ import annotations

import io
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.commands import Desk
from support.torches import need_torch
from understudy.errors import DataError, UnderstudyError
from understudy.gan.archive import members
from understudy.gan.convolutions import Shape
from understudy.gan.images import read_images

SHAPE = Shape(8, 8, 2)
GOOD = {"x": np.zeros((6, 8, 8), np.uint8), "y": np.arange(6) % 2}
FIT = (
    *("--method", "dpgan", "--height", 8, "--width", 8, "--classes", 2),
    *("--epsilon", 3, "--delta", "1e-5", "--epochs", 1, "--batch", 5),
)


def _bytes(**arrays: Any) -> bytes:
    written = io.BytesIO()
    np.savez_compressed(written, **arrays)
    return written.getvalue()


def _claiming(shape: tuple[int, ...], descr: str = "|u1", data: bytes = b"\0" * 64) -> bytes:
    """A member whose header says what it likes."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return header.getvalue() + data


def _archive(x: bytes, y: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("x.npy", x)
        archive.writestr("y.npy", y)
    return written.getvalue()


LABELS = _claiming((6,), "<i8", bytes(48))
HOSTILE = {
    "objects": _bytes(x=np.array([{}] * 6, object), y=GOOD["y"]),
    "texts": _bytes(x=np.full((6, 8, 8), "0"), y=GOOD["y"]),
    "fields": _bytes(x=np.zeros((6, 8, 8), [("a", "u1")]), y=GOOD["y"]),
    "a huge shape": _archive(_claiming((10**13, 8, 8)), LABELS),
    "a shape beyond numbers": _archive(_claiming((10**30, 8, 8)), LABELS),
    "a negative shape": _archive(_claiming((-6, 8, 8)), LABELS),
    "too few bytes": _archive(_claiming((6, 8, 8)), LABELS),
    "too many bytes": _archive(_claiming((6, 8, 8), data=bytes(385)), LABELS),
    "a wide type": _archive(_claiming((6, 8, 8), "|V9999999"), LABELS),
    "floats": _bytes(x=np.zeros((6, 8, 8)), y=GOOD["y"]),
    "labels with fractions": _bytes(x=GOOD["x"], y=np.zeros(6)),
    "labels beyond the classes": _bytes(x=GOOD["x"], y=np.full(6, 2**64 - 1, np.uint64)),
    "no labels": _bytes(x=GOOD["x"]),
    "no images": _bytes(x=np.zeros((0, 8, 8), np.uint8), y=np.zeros(0, int)),
    "no members": _bytes(),
    "one array": np.zeros(6).tobytes(),
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(desk: Desk, name: str) -> None:
    """Exit code 4, one message without a traceback, no model and no entry in the ledger."""
    need_torch()
    source = desk.folder / "in.npz"
    source.write_bytes(HOSTILE[name])
    result = desk.run("fit", source, *FIT, "-o", desk.folder / "model")
    assert (4, False) == (result.code, (desk.folder / "model").exists()), result.err
    assert str(source) in "".join(result.err.split("\n"))
    assert [] == desk.run("ledger", "show", "--json").document["datasets"]


@pytest.mark.parametrize(("at", "value"), [(8, 1), (10, 99)], ids=["encrypted", "compressed"])
def test_members_that_cannot_be_opened_are_refused(tmp_path: Path, at: int, value: int) -> None:
    """Encrypted ones, and those compressed in unknown ways."""
    raw = bytearray(_bytes(**GOOD))
    raw[raw.index(b"PK\x01\x02") + at] = value
    (tmp_path / "in.npz").write_bytes(raw)
    with pytest.raises(DataError, match="plain arrays"):
        _read(tmp_path / "in.npz")


def _read(path: Path) -> None:
    read_images(path, SHAPE)


@given(st.data())
def test_damaged_archives_are_images_or_refused(data: st.DataObject) -> None:
    """Whatever a few bytes are changed to, only errors of ours come out."""
    raw = bytearray(_bytes(**GOOD))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    _refused_or_read(bytes(raw[: data.draw(st.integers(0, len(raw)))]))


@given(
    st.lists(st.integers(-2, 2**40), max_size=4),
    st.sampled_from(["|u1", "<i8", ">f4", "|O", "|V8", "<U3", "<M8[s]", "|b1", "<f2", "|S0"]),
    st.binary(max_size=200),
)
def test_headers_may_say_what_they_like(shape: list[int], descr: str, data: bytes) -> None:
    """No header makes room for what is not there."""
    _refused_or_read(_archive(_claiming(tuple(shape), descr, data), LABELS))


def _refused_or_read(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.npz"
        path.write_bytes(raw)
        with suppress(UnderstudyError):
            _read(path)


def test_archives_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    """Both orders of memory, empty arrays, single numbers, other byte orders."""
    arrays = {
        "c": np.arange(12, dtype=">i4").reshape(3, 4),
        "f": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "e": np.zeros((0, 3), np.uint8),
        "n": np.array(7),
    }
    np.savez(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
    read = members(tmp_path / "a.npz")
    assert list(arrays) == list(read)
    for name, array in arrays.items():
        assert (array.dtype, array.tolist()) == (read[name].dtype, read[name].tolist())
