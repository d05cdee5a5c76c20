"""Images and their labels: files in and out, and the private ones behind the Curator.

There is no schema. Height, width and classes are public options; what does not keep to them is
refused before anything is paid for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import CapacityError, DataError, UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.gan.archive import DAMAGED, members
from understudy.gan.backend import Tensor, torch
from understudy.gan.convolutions import Shape
from understudy.gan.image_size import ImageSize
from understudy.rows.counting import CountSource, Marginal, ScoreKernel, Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Integers
from understudy.system.files.writing import atomic

Pixels = npt.NDArray[np.uint8]
PIXELS, LABEL = "x", "y"


@dataclass(frozen=True, repr=False)
class LabelledImages:
    """Images as bytes, grey or in colour, and a class for each. Private, unless generated."""

    pixels: Pixels
    labels: Integers

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.labels)

    def batch(self, places: Integers) -> tuple[Tensor, Tensor]:
        """Some of them as a critic takes them: channels first, from −1 to 1, and labels."""
        pytorch = torch()
        chosen = pytorch.from_numpy(self.pixels[places].astype(np.float32))
        channels = chosen[:, None] if chosen.ndim == 3 else chosen.permute(0, 3, 1, 2)
        return channels / 127.5 - 1, pytorch.from_numpy(self.labels[places])

    def __repr__(self) -> str:
        return "LabelledImages(private)"


def read_images(path: Path, shape: Shape | ImageSize) -> LabelledImages:
    """The arrays `x` and `y` of an .npz file, checked against public facts.

    Raises:
        DataError: for a file that does not hold such images; no message quotes a pixel or label.
    """
    arrays = _arrays(path)
    if shape.classes == 1 and set(arrays) == {"x"}:
        arrays["y"] = np.zeros(len(arrays["x"]) if arrays["x"].ndim else 0, np.int64)
    elif shape.classes == 1 and "y" in arrays:
        raise DataError(f"{path}: holds labels in y; declare how many there are with --classes")
    if set(arrays) == {"x"}:
        raise DataError(
            f"{path}: holds no labels in y; name them so, or leave --classes out for images "
            "without labels (moments)"
        )
    if not {"x", "y"} <= set(arrays):
        raise DataError(f"{path}: images are expected as arrays x and y; rename them")
    return checked(arrays["x"], arrays["y"], shape, name=str(path))


def checked(x: Any, y: Any, shape: Shape | ImageSize, *, name: str = "images") -> LabelledImages:
    """Images and labels that keep to public facts."""
    check_extent(x, y, shape, name=name)
    if len(x) == 0:
        raise DataError(f"{name}: holds no images; there is nothing to learn from")
    return LabelledImages(x, y.astype(np.int64))


def check_extent(x: Any, y: Any, shape: Shape | ImageSize, *, name: str = "images") -> None:
    """Refuse pixels and labels that are not as declared."""
    if x.dtype != np.uint8:
        raise DataError(
            f"{name}: x must hold bytes (numpy's uint8, 0 for black to 255 for white); multiply "
            "numbers from 0 to 1 by 255, round, and convert them"
        )
    if x.shape[1:] != shape.extent:
        raise DataError(f"{name}: {_not_as_declared(x, shape)}")
    if y.ndim != 1 or len(y) != len(x) or not np.issubdtype(y.dtype, np.integer):
        raise DataError(f"{name}: y must hold one whole number for each image")
    labels = y.astype(np.int64)
    if ((labels < 0) | (labels >= shape.classes)).any():
        raise DataError(
            f"{name}: y holds labels outside 0 to {shape.classes - 1}; give the right --classes"
        )


def _not_as_declared(x: Any, shape: Shape | ImageSize) -> str:
    """Say in what way images have another form than was declared."""
    if x.ndim == 4 and x.shape[-1] == 3 and shape.channels == 1:
        return "x holds images in colour, and grey ones are declared; add --channels 3"
    if x.ndim == 3 and shape.channels > 1:
        return "x holds grey images, and colour is declared; leave --channels out"
    sizes = " × ".join(str(size) for size in shape.extent)
    return (
        f"x must hold bytes, images × {sizes} as declared; give the right --height and --width, "
        "or resize the images to one size"
    )


def _arrays(path: Path) -> dict[str, Any]:
    try:
        return members(path, ("x", "y"))
    except MemoryError:
        raise CapacityError(
            f"{path}: the images do not fit into memory; give fewer, or smaller ones"
        ) from None
    except OSError as error:
        reason = error.strerror or "it is not an .npz file"
        raise DataError(f"{path}: cannot be read: {reason}; check the path") from None
    except DAMAGED:
        raise DataError(
            f"{path}: is not an .npz file of plain arrays; save x (all images in one array, so of "
            "one size) and y by numpy"
        ) from None


def check_image_file(path: Path) -> Path:
    """Return the path, if images are written to such a file."""
    if path.suffix != ".npz":
        raise UsageError(f"{path}: images are written to .npz files; name one")
    return path


def image_table(images: LabelledImages) -> pa.Table:
    """Return generated images as a table: pixels in `x`, height by width, and the label in `y`."""
    extent = images.pixels.shape[1:]
    flat = pa.array(images.pixels.reshape(-1))
    cells = pa.FixedSizeListArray.from_arrays(flat, math.prod(extent))
    tensors = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.uint8(), extent), cells)
    return pa.table({PIXELS: tensors, LABEL: pa.array(images.labels)})


def labelled_images(blocks: Iterable[pa.Table]) -> LabelledImages:
    """Return the images in tables of generated ones."""
    table = pa.concat_tables(blocks)
    size = table.schema.field(PIXELS).type.shape
    pixels = [np.zeros((0, *size), np.uint8)]
    pixels += [chunk.to_numpy_ndarray() for chunk in table[PIXELS].chunks]
    return LabelledImages(np.concatenate(pixels), table[LABEL].to_numpy())


def write_images(path: Path, images: LabelledImages) -> None:
    """Generated images as arrays `x` and `y`, whole or not at all."""
    with atomic(path) as file:
        np.savez_compressed(file, x=images.pixels, y=images.labels)


@dataclass(frozen=True, repr=False)
class ImageSource:
    """Private images behind the Curator: their labels can be counted, as any column can."""

    images: LabelledImages
    labels: MemorySource

    @classmethod
    def of(cls, images: LabelledImages, shape: Shape | ImageSize) -> ImageSource:
        """Return the images of a declared shape."""
        domain = Domain.of(label_schema(shape.classes))
        codes = {LABEL: images.labels.astype(np.uint16)}
        return cls(images, MemorySource(Table(domain, codes, images.rows)))

    @property
    def domain(self) -> Domain:
        """Return only the label."""
        return self.labels.domain

    @property
    def rows_read(self) -> int:
        """How many images there are."""
        return self.images.rows

    @property
    def rows_per_person(self) -> int | None:
        """An image is a unit by itself."""
        return None

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Exact counts of labels."""
        return self.labels.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Exact scores of labels."""
        return self.labels.score(sets, kernel)


def label_schema(classes: int) -> Schema:
    """Return the label as a column."""
    return Schema.parse(
        {"columns": {LABEL: {"kind": "categorical", "values": list(range(classes))}}}
    )


def images_behind(source: CountSource) -> LabelledImages:
    """The images of a source; called only while the Curator looks."""
    if not isinstance(source, ImageSource):
        raise UsageError("these are not images; use a method for tables")
    return source.images
