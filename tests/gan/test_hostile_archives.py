"""Archives of arrays from elsewhere make no memory that they do not announce."""

from __future__ import annotations

import io
import json
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.earlier_images import earlier_document, write_earlier
from support.hostile import ALLOWED, WISHED, arrow, read_apart, signed, zipped
from support.torches import need_torch
from understudy.errors import CapacityError, ModelError
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.backend import random_from
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.image_model import ImageGenerator, as_arrays, image_model
from understudy.gan.images import read_images
from understudy.models.model import Model
from understudy.privacy.accounting.composition import Bound
from understudy.privacy.statements.statement import Statement

SHAPE = Shape(28, 28, 10)
REFUSED = {
    "packed.npz": "is not an understudy image model, or is damaged",
    "images header.npz": "is not an .npz file of plain arrays",
    "header.npz": "is not an understudy image model, or is damaged",
    "filters.npz": "the model is damaged",
    "hollow.zip": "is not a complete model",
    "compressed.zip": "images.arrow is compressed",
    "announced.zip": "the model is damaged",
}


STATEMENT = Statement(
    "dpgan", Bound("none", None, Fraction(0)), Unit(Neighbours.REPLACE), (), private=False
)


def _images() -> ImageGenerator:
    need_torch()
    maker = ImageMaker(SHAPE, latent=4, filters=(4, 4, 4))
    return ImageGenerator.of(maker, as_arrays(maker.initial(random_from(0))), (0.1,) * 10)


def _array(array: Any) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _endless_header(length: int) -> bytes:
    """An array of the second version, whose header takes as many bytes as it likes."""
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", length) + bytes(length)


def _write_hostile(folder: Path) -> None:
    """Files beside a sound model and sound images."""
    images = _images()
    write_earlier(folder / "sound.npz", images, 5, STATEMENT)
    _write_hostile_members(folder, images)
    np.savez(folder / "images sound.npz", x=np.zeros((3, 28, 28), np.uint8), y=np.zeros(3, int))
    document = earlier_document(images, 5, STATEMENT)
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    np.savez_compressed(folder / "packed.npz", document=text, w=np.zeros(WISHED // 8))
    many = document | {"filters": [2**12, 2**12, 4]}
    text = np.frombuffer(json.dumps(many).encode(), np.uint8)
    held: dict[str, Any] = {**images.weights, "document": text}
    np.savez(folder / "filters.npz", **held)
    header = {"x.npy": _endless_header(WISHED), "y.npy": _array(np.zeros(3, int))}
    (folder / "images header.npz").write_bytes(zipped(header))
    (folder / "header.npz").write_bytes(zipped({"document.npy": _endless_header(WISHED)}))


def _write_hostile_members(folder: Path, images: ImageGenerator) -> None:
    """Models of the present form: packed zeros, compressed weights, layers that nobody wrote."""
    model = image_model(images, 5, STATEMENT)
    manifest = {"format": "understudy-model", "version": 3, "kind": "images", "rows": 5}
    members = {**model.members(), "manifest.json": json.dumps(manifest).encode()}
    many = json.dumps(images.document() | {"filters": [2**10, 2**10, 4]}).encode()
    zeros = pa.table(
        {
            "name": ["t1"],
            "shape": pa.array([[WISHED // 4]], pa.list_(pa.int64())),
            "values": pa.LargeListArray.from_arrays(
                pa.array([0, WISHED // 4]), pa.array(np.zeros(WISHED // 4, np.float32))
            ),
        }
    )
    hostile = {
        "hollow": {"images.json": many, "images.arrow": arrow(zeros)},
        "compressed": {"images.json": many, "images.arrow": arrow(zeros, "lz4")},
        "announced": {"images.json": many},
    }
    for name, changes in hostile.items():
        (folder / f"{name}.zip").write_bytes(zipped(signed(members | changes)))


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
    model = image_model(_images(), 5, STATEMENT)
    for place in ("archive", "image_model"):
        monkeypatch.setattr(f"understudy.gan.{place}.available_bytes", lambda: 2**21)
    with pytest.raises(CapacityError, match=r"images\.npz: its arrays need 0\.0 GiB, more than is"):
        read_images(path, SHAPE)
    with pytest.raises(CapacityError, match="100,000 images need"):
        model.sample(100_000)


def test_sizes_are_those_of_the_parameters() -> None:
    """What is compared with a file is what the generator is made of."""
    need_torch()
    maker = ImageMaker(SHAPE, latent=3, filters=(5, 6, 7))
    made = maker.initial(random_from(0))
    assert maker.sizes == {name: tuple(value.shape) for name, value in made.items()}


def test_a_packed_model_is_refused(tmp_path: Path) -> None:
    """Models are stored as they are; the same arrays, packed, are someone else's."""
    write_earlier(tmp_path / "m.npz", _images(), 5, STATEMENT)
    held = dict(np.load(tmp_path / "m.npz"))
    np.savez_compressed(tmp_path / "packed.npz", **held)
    with pytest.raises(ModelError, match="is not an understudy image model, or is damaged"):
        Model.load(tmp_path / "packed.npz")
    np.savez(tmp_path / "plain.npz", **held)
    assert 5 == Model.load(tmp_path / "plain.npz").rows
