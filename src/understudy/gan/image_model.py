"""The kind of distribution whose rows are images: labels are drawn, and images are made of them.

The coded rows are the labels. Decoding makes an image for each label, as decoding a bin makes a
number of it. All of it is released, and nothing here costs budget. PyTorch is imported when the
first image is made, and not before: a model is read, inspected and verified without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.gan.archive import Arrays
from understudy.gan.backend import Parameters, random_from, torch
from understudy.gan.convolutions import ImageMaker, Shape
from understudy.gan.grids import png, sheet
from understudy.gan.images import (
    LABEL,
    LabelledImages,
    check_image_file,
    image_table,
    label_schema,
    labelled_images,
    write_images,
)
from understudy.models.archive import IMAGE_WEIGHTS, IMAGES, Parts, json_bytes
from understudy.models.decoding import Decoder
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.models.sampling.ways import How, Sieve
from understudy.models.trained import read_trained, trained_bytes
from understudy.privacy.statements.statement import Statement
from understudy.system.files.members import parsed_document

if TYPE_CHECKING:
    from understudy.facts.codec.regions import Region
    from understudy.facts.schema import Schema
    from understudy.models.inference import Evidence
    from understudy.models.sampling.ways import Sampler, Way

# Normalisation is over a batch, so that every image is made among as many others.
_TOGETHER = 256
# What is made stands in memory beside what it is made of.
_COPIES = 2
_ON_SHEET = 10


@dataclass(frozen=True, eq=False, repr=False)
class ImageGenerator(Distribution):
    """A trained network that makes an image for each label that is drawn.

    Attributes:
        domain: the label, which is the only attribute.
        maker: the layers of the network, and the shape of the images.
        weights: the numbers of each layer.
        chances: how often each label is drawn.
    """

    kind: ClassVar[str] = "images"
    without_probabilities: ClassVar[str] = "makes images and has no probabilities"

    domain: Domain
    maker: ImageMaker
    weights: Arrays
    chances: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse weights and chances that are not those of the network."""
        found = {name: array.shape for name, array in self.weights.items()}
        fits = found == self.maker.sizes and len(self.chances) == self.maker.shape.classes
        fits = fits and dict(self.domain.sizes) == {LABEL: len(self.chances)}
        fits = fits and all(_are_sound(array) for array in self.weights.values())
        if not fits or min(self.chances) < 0 or not abs(sum(self.chances) - 1) < 1e-9:
            raise UsageError("the generator's numbers do not fit its images")

    @classmethod
    def of(cls, maker: ImageMaker, weights: Arrays, chances: tuple[float, ...]) -> Self:
        """Return the generator whose only attribute is the label."""
        return cls(Domain.of(label_schema(maker.shape.classes)), maker, weights, chances)

    # --- rows -------------------------------------------------------------------------------

    @property
    def rows_note(self) -> str:
        """Say how large the images are."""
        shape = self.maker.shape
        colour = "" if shape.channels == 1 else " in colour"
        size = f"{shape.height} × {shape.width} pixels{colour} in {shape.classes} classes"
        return f"images of {size} by default, by a generator"

    def decoder(self, schema: Schema, within: Mapping[str, Region] | None = None) -> Decoder:
        """Return what makes an image for each label."""
        del schema, within  # a label is its code
        return ImageDecoder(self)

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Draw some labels, each independent of the others."""
        del sampler
        classes = len(self.chances)
        labels = generator.choice(classes, rows, p=self.chances)
        return {LABEL: labels.astype(code_type(classes))}

    def check_rows(self, rows: int) -> None:
        """Refuse images, or layers of the generator, that would not fit into free memory."""
        shape = self.maker.shape
        needed = _COPIES * rows * (math.prod(shape.extent) + np.dtype(np.int64).itemsize)
        needed += _COPIES * _TOGETHER * self.maker.most_units * np.dtype(np.float32).itemsize
        if needed > available_bytes():
            raise CapacityError(
                f"{rows:,} images need {needed / 2**30:,.1f} GiB, more than is free; "
                "ask for fewer rows"
            )

    def way(self, evidence: Evidence, how: How | str | None, *, sampler: Sampler) -> Way:
        """Draw labels until enough of them fit; images are made of those alone."""
        del sampler
        if how not in (None, How.REJECTION):
            raise UsageError(
                f"how is {str(how)!r}; a model of kind {self.kind!r} draws labels until enough of "
                "them fit: leave it out"
            )
        return Sieve(self, evidence)

    def of_labels(self, labels: npt.NDArray[np.int64], *, seed: int) -> LabelledImages:
        """Make an image for each label.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        random = random_from(seed)
        parameters = as_tensors(self.weights)
        blocks = [np.zeros((0, *self.maker.shape.extent), np.uint8)]
        for start in range(0, len(labels), _TOGETHER):
            blocks.append(self._block(parameters, labels[start : start + _TOGETHER], random))
        return LabelledImages(np.concatenate(blocks), labels)

    def _block(
        self, parameters: Parameters, labels: npt.NDArray[np.int64], random: Any
    ) -> npt.NDArray[np.uint8]:
        pytorch = torch()
        others = np.arange(_TOGETHER - len(labels)) % len(self.chances)
        asked = pytorch.from_numpy(np.concatenate([labels, others]).astype(np.int64))
        latents = pytorch.randn(_TOGETHER, self.maker.latent, generator=random)
        with pytorch.no_grad():
            made = self.maker.make(parameters, latents, asked, random)[: len(labels)]
        pixels = ((made + 1) * 127.5).round().clamp(0, 255).byte().permute(0, 2, 3, 1)
        return np.ascontiguousarray(pixels.numpy()).reshape(-1, *self.maker.shape.extent)

    def sheet(self) -> bytes:
        """Return a picture of samples, a line for each label."""
        labels = np.repeat(np.arange(len(self.chances)), _ON_SHEET)
        return png(sheet(self.of_labels(labels, seed=0).pixels, across=_ON_SHEET))

    def require_structure(self) -> Network:
        """Refuse: a label alone makes no picture of a network."""
        raise UsageError(
            f"a model of kind {self.kind!r} has no network to draw; name a .png file, which will "
            "show samples"
        )

    # --- what leaves --------------------------------------------------------------------------

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return the weights of every layer, and the chances of the labels."""
        weights = {f"weights {name}": array for name, array in self.weights.items()}
        return weights | {"chances of the labels": np.array(self.chances)}

    def members(self) -> dict[str, bytes]:
        """Return what announces the layers, and their weights."""
        return {
            IMAGES: json_bytes(self.document()),
            IMAGE_WEIGHTS: trained_bytes(self.weights, pa.float32()),
        }

    def document(self) -> dict[str, Any]:
        """Describe all but the weights, for JSON."""
        return {
            **_sizes(self.maker.shape),
            "latent": self.maker.latent,
            "filters": list(self.maker.filters),
            "chances": list(self.chances),
        }

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the weights, as many as the layers announce."""
        document = parsed_document(parts.document(IMAGES))
        maker = announced_maker(document)
        cells = sum(math.prod(size) for size in maker.sizes.values())
        weights, _ = read_trained(parts, IMAGE_WEIGHTS, pa.float32(), cells=cells)
        return cls(domain, maker, weights, announced_chances(document))


@dataclass(frozen=True)
class ImageDecoder(Decoder):
    """Makes an image for each label, and writes images to an .npz file.

    Attributes:
        images: the generator that makes them.
    """

    noun: ClassVar[str] = "images"

    images: ImageGenerator

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return height, width, and the number of labels."""
        return _sizes(self.images.maker.shape)

    def decode(
        self, codes: CodedRows, *, generator: np.random.Generator, first_row: int = 1
    ) -> pa.Table:
        """Make an image for each label: the column `x`, beside the label in `y`."""
        del first_row  # images are not numbered
        labels, seed = codes[LABEL].astype(np.int64), int(generator.integers(2**62))
        return image_table(self.images.of_labels(labels, seed=seed))

    def check_output(self, path: Path) -> Path:
        """Return the path of an .npz file."""
        return check_image_file(path)

    def write(self, blocks: Iterable[pa.Table], path: Path) -> int:
        """Write images and labels to an .npz file."""
        images = labelled_images(blocks)
        write_images(check_image_file(path), images)
        return images.rows


def image_model(images: ImageGenerator, rows: int, statement: Statement) -> Model:
    """Return a model of images: its only column is the label."""
    return Model(label_schema(images.maker.shape.classes), images, rows, statement)


def announced_maker(document: Mapping[str, Any]) -> ImageMaker:
    """Return the layers that a document describes."""
    height, width, classes = (int(document[name]) for name in ("height", "width", "classes"))
    channels = int(document.get("channels", 1))  # files of before had grey images alone
    shape = Shape(height, width, classes, channels)
    first, second, third = (int(count) for count in document["filters"])
    return ImageMaker(shape, int(document["latent"]), (first, second, third))


def announced_chances(document: Mapping[str, Any]) -> tuple[float, ...]:
    """Return how often each label is drawn, as a document says."""
    return tuple(float(chance) for chance in document["chances"])


def as_arrays(parameters: Parameters) -> Arrays:
    """Parameters as arrays of their own."""
    return {name: value.detach().numpy().copy() for name, value in parameters.items()}


def as_tensors(arrays: Mapping[str, npt.NDArray[Any]]) -> Parameters:
    """Arrays as parameters."""
    return {name: torch().from_numpy(array.copy()) for name, array in arrays.items()}


def _sizes(shape: Shape) -> dict[str, int]:
    colour = {} if shape.channels == 1 else {"channels": shape.channels}
    return {"height": shape.height, "width": shape.width, "classes": shape.classes, **colour}


def _are_sound(array: npt.NDArray[Any]) -> bool:
    """Whether all numbers are finite, and single ones."""
    return array.dtype == np.float32 and bool(np.isfinite(array).all())
