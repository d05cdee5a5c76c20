"""Archives of arrays from elsewhere make no memory that they do not announce."""

from __future__ import annotations

import io
import json
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.hostile import ALLOWED, WISHED, read_apart, zipped
from understudy.errors import CapacityError, ModelError
from understudy.gan.backend import random_from
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_model import FORM, ImageModel, as_arrays
from understudy.gan.images import read_images
from understudy.privacy.accounting import Bound
from understudy.privacy.statement import Statement
from understudy.privacy.unit import Neighbours, Unit

SHAPE = Shape(28, 28, 10)
REFUSED = {
    "packed.npz": "is no understudy image model, or is damaged",
    "images header.npz": "is no .npz file of plain arrays",
    "header.npz": "is no understudy image model, or is damaged",
    "filters.npz": "the model is damaged",
}


def _model() -> ImageModel:
    maker = ImageMaker(SHAPE, latent=4, filters=(4, 4, 4))
    statement = Statement(
        "dpgan", Bound("none", None, Fraction(0)), Unit(Neighbours.REPLACE), (), private=False
    )
    chances = (0.1,) * 10
    return ImageModel(maker, as_arrays(maker.initial(random_from(0))), chances, 5, statement)


def _array(array: Any) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _endless_header(length: int) -> bytes:
    """An array of the second version, whose header takes as many bytes as it likes."""
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", length) + bytes(length)


def _write_hostile(folder: Path) -> None:
    """Files beside a sound model and sound images."""
    model = _model()
    model.save(folder / "sound.npz")
    np.savez(folder / "images sound.npz", x=np.zeros((3, 28, 28), np.uint8), y=np.zeros(3, int))
    document = model.document() | {"format": FORM, "version": 1}
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    np.savez_compressed(folder / "packed.npz", document=text, w=np.zeros(WISHED // 8))
    many = document | {"filters": [2**12, 2**12, 4]}
    text = np.frombuffer(json.dumps(many).encode(), np.uint8)
    held: dict[str, Any] = {**model.weights, "document": text}
    np.savez(folder / "filters.npz", **held)
    header = {"x.npy": _endless_header(WISHED), "y.npy": _array(np.zeros(3, int))}
    (folder / "images header.npz").write_bytes(zipped(header))
    (folder / "header.npz").write_bytes(zipped({"document.npy": _endless_header(WISHED)}))


@pytest.mark.slow
def test_an_archive_makes_no_memory_that_is_not_announced(tmp_path: Path) -> None:
    """Packed weights, headers without end and layers that nobody wrote take nothing."""
    _write_hostile(tmp_path)
    files = ["sound.npz", "images sound.npz", *REFUSED]
    found = read_apart("arrays", [tmp_path / name for name in files])
    assert ["", ""] == [found[name][0] for name in files[:2]]
    for name, reason in REFUSED.items():
        said, taken = found[name]
        assert reason in said
        assert taken < ALLOWED


def test_images_for_a_larger_machine_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before they are unpacked, and before they are made."""
    path = tmp_path / "images.npz"
    np.savez_compressed(path, x=np.zeros((3000, 28, 28), np.uint8), y=np.zeros(3000, int))
    model = _model()
    for place in ("archive", "image_model"):
        monkeypatch.setattr(f"understudy.gan.{place}.available_bytes", lambda: 2**21)
    with pytest.raises(CapacityError, match=r"images\.npz: its arrays need 0\.0 GiB, more than is"):
        read_images(path, SHAPE)
    with pytest.raises(CapacityError, match="100,000 images need"):
        model.sample(100_000)


def test_sizes_are_those_of_the_parameters() -> None:
    """What is compared with a file is what the generator is made of."""
    maker = ImageMaker(SHAPE, latent=3, filters=(5, 6, 7))
    made = maker.initial(random_from(0))
    assert maker.sizes == {name: tuple(value.shape) for name, value in made.items()}


def test_a_packed_model_is_refused(tmp_path: Path) -> None:
    """Models are stored as they are; the same arrays, packed, are somebody else's."""
    _model().save(tmp_path / "m.npz")
    held = dict(np.load(tmp_path / "m.npz"))
    np.savez_compressed(tmp_path / "packed.npz", **held)
    with pytest.raises(ModelError, match="is no understudy image model, or is damaged"):
        ImageModel.load(tmp_path / "packed.npz")
    np.savez(tmp_path / "plain.npz", **held)
    assert 5 == ImageModel.load(tmp_path / "plain.npz").rows
