"""The kind of distribution that `moments` learns: Gaussians of waves in every class of images.

Coded rows are labels, and decoding makes an image for each. Everything here is released, and
nothing costs budget. PyTorch is not needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from understudy.errors import CapacityError, UsageError
from understudy.facts.capacity import available_bytes
from understudy.facts.codes import code_type
from understudy.facts.domain import Domain
from understudy.gan.grids import png, sheet
from understudy.gan.image_size import ImageSize
from understudy.gan.images import (
    LABEL,
    LabelledImages,
    Pixels,
    check_image_file,
    image_table,
    label_schema,
    labelled_images,
    write_images,
)
from understudy.gan.slants import WHITE
from understudy.gan.waves import ImageVectors, Waves
from understudy.models.archive import IMAGE_WEIGHTS, IMAGES, Parts, json_bytes
from understudy.models.decoding import Decoder
from understudy.models.distribution import CodedRows, Distribution
from understudy.models.network import Network
from understudy.models.sampling.ways import How, Sieve
from understudy.models.trained import read_trained, trained_bytes
from understudy.system.arrays import Floats, Integers
from understudy.system.files.members import parsed_document

if TYPE_CHECKING:
    from understudy.facts.codec.regions import Region
    from understudy.facts.schema import Schema
    from understudy.models.inference import Evidence
    from understudy.models.sampling.ways import Sampler, Way

LEVELS = 257
"""Points of the curve that maps drawn brightness to released tones."""

_TOGETHER = 1024
_COPIES = 2
_ON_SHEET = 10


@dataclass(frozen=True, eq=False, repr=False)
class ImageMoments(Distribution):
    """Gaussians of the waves of images, some for each label.

    Attributes:
        domain: the label, which is the only attribute.
        size: height, width, channels and classes.
        arrays: `centre` and `length` of the vectors; `weights`, `means` and `roots` of the
            Gaussians, those of one label beside each other; `drawn` and `shown`, the points of the
            curve of tones.
        ground: the brightness of the background before which figures lean; None where images are
            drawn as they are, without a slant.
    """

    kind: ClassVar[str] = "image-moments"
    without_probabilities: ClassVar[str] = "makes images and has no probabilities"

    domain: Domain
    size: ImageSize
    arrays: Mapping[str, npt.NDArray[np.float32]]
    ground: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that are not those of such images."""
        found = {name: array.shape for name, array in self.arrays.items()}
        fits = found == sizes(self.size, self.each, slanted=self.ground is not None)
        fits = fits and self.ground in (None, 0, WHITE)
        fits = fits and dict(self.domain.sizes) == {LABEL: self.size.classes}
        fits = fits and all(_are_finite(array) for array in self.arrays.values())
        if not fits or self.arrays["weights"].min() < 0 or not self.arrays["weights"].sum() > 0:
            raise UsageError("the numbers of the moments do not fit their images")

    @classmethod
    def of(
        cls, size: ImageSize, arrays: Mapping[str, Floats], *, ground: int | None = None
    ) -> Self:
        """Return the law whose only attribute is the label."""
        single = {name: np.asarray(array, np.float32) for name, array in arrays.items()}
        return cls(Domain.of(label_schema(size.classes)), size, single, ground)

    @property
    def each(self) -> int:
        """How many Gaussians a label has."""
        return len(self.arrays.get("weights", ())) // self.size.classes

    @cached_property
    def _vectors(self) -> ImageVectors:
        centre, [length] = self.arrays["centre"], self.arrays["length"]
        waves = Waves(self.size)
        return ImageVectors(waves, centre.astype(np.float64), float(length), self.ground)

    @property
    def chances(self) -> tuple[float, ...]:
        """How often each label is drawn."""
        return tuple(float(chance) for chance in self._weights.sum(axis=1))

    @property
    def _weights(self) -> Floats:
        """How often each Gaussian is drawn, a line for each label."""
        weights = self.arrays["weights"].astype(np.float64).reshape(self.size.classes, -1)
        return np.asarray(weights / weights.sum())

    # --- rows -------------------------------------------------------------------------------

    @property
    def rows_note(self) -> str:
        """Say how large the images are."""
        labels = "" if self.size.classes == 1 else f" in {self.size.classes} classes"
        return f"images of {self.size.text}{labels} by default, by moments"

    def decoder(self, schema: Schema, within: Mapping[str, Region] | None = None) -> Decoder:
        """Return what makes an image for each label."""
        del schema, within  # a label is its code
        return MomentDecoder(self)

    def draw(
        self, rows: int, generator: np.random.Generator, *, sampler: Sampler | None = None
    ) -> CodedRows:
        """Draw some labels, each independent of the others."""
        del sampler
        labels = generator.choice(self.size.classes, rows, p=self._weights.sum(axis=1))
        return {LABEL: labels.astype(code_type(self.size.classes))}

    def check_rows(self, rows: int) -> None:
        """Refuse images that would not fit into free memory."""
        needed = _COPIES * rows * (self.size.cells + np.dtype(np.int64).itemsize)
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

    def of_labels(self, labels: Integers, generator: np.random.Generator) -> LabelledImages:
        """Make an image for each label.

        Privacy: post-processing of the model; costs nothing, however often.
        """
        pixels = np.zeros((len(labels), *self.size.extent), np.uint8)
        for start in range(0, len(labels), _TOGETHER):
            block = slice(start, start + _TOGETHER)
            seen = self._toned(self.raw(labels[block], generator))
            pixels[block] = np.rint(seen).reshape(-1, *self.size.extent)
        return LabelledImages(pixels, labels)

    def shown(self, vectors: Floats) -> Floats:
        """The brightness from 0 to 255 of the pixels of images with such vectors, a line each."""
        return self._toned(self._vectors.images(vectors))

    def raw(self, labels: Integers, generator: np.random.Generator) -> Floats:
        """Draw the brightness of the pixels of an image for each label, before any tones."""
        means, roots = self.arrays["means"], self.arrays["roots"]
        which = self.gaussian_of(labels, generator.random(len(labels)))
        normal = generator.standard_normal((len(labels), means.shape[1]), np.float32)
        vectors = np.zeros_like(normal)
        for i in np.unique(which):
            places = np.flatnonzero(which == i)
            vectors[places] = means[i] + normal[places] @ roots[i].T
        return self._vectors.images(vectors.astype(np.float64))

    def gaussian_of(self, labels: Integers, chosen: Floats) -> Integers:
        """The number of a Gaussian of each label, by its weights and a number from 0 to 1."""
        weights = self._weights + 1e-12  # a label may be asked for that is never drawn
        ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        found = (chosen[:, None] > ends[labels]).sum(axis=1)
        return np.asarray(labels * self.each + np.minimum(found, self.each - 1), np.int64)

    def _toned(self, raw: Floats) -> Floats:
        """Brightness by the curve of tones, cut to 0 to 255."""
        drawn, shown = (self.arrays[name].astype(np.float64) for name in ("drawn", "shown"))
        return np.asarray(np.interp(raw, drawn, shown).clip(0, 255))

    def sheet(self) -> bytes:
        """A picture of samples, a line for each label."""
        labels = np.repeat(np.arange(self.size.classes), _ON_SHEET)
        made = self.of_labels(labels, np.random.default_rng(0))
        return png(sheet(made.pixels, across=_ON_SHEET))

    def require_structure(self) -> Network:
        """Refuse: a label alone makes no picture of a network."""
        raise UsageError(
            f"a model of kind {self.kind!r} has no network to draw; name a .png file, which will "
            "show samples"
        )

    # --- what leaves --------------------------------------------------------------------------

    def numbers(self) -> Mapping[str, npt.NDArray[Any]]:
        """Return all arrays of the law."""
        return dict(self.arrays)

    def members(self) -> dict[str, bytes]:
        """Return the sizes of the images, and the arrays."""
        return {
            IMAGES: json_bytes(self.document()),
            IMAGE_WEIGHTS: trained_bytes(self.arrays, pa.float32()),
        }

    def document(self) -> dict[str, Any]:
        """Describe all but the arrays, for JSON."""
        return {**facts(self.size), "gaussians": self.each, "ground": self.ground}

    @classmethod
    def read(cls, parts: Parts, domain: Domain) -> Self:
        """Read the arrays, as many numbers as the sizes announce."""
        document = parsed_document(parts.document(IMAGES))
        names = ("height", "width", "classes", "channels")
        size = ImageSize(*(int(document[name]) for name in names))
        ground = document.get("ground")  # files of before had none
        shapes = sizes(size, int(document["gaussians"]), slanted=ground is not None)
        cells = sum(int(np.prod(shape)) for shape in shapes.values())
        arrays, _ = read_trained(parts, IMAGE_WEIGHTS, pa.float32(), cells=cells)
        return cls(domain, size, arrays, ground)


@dataclass(frozen=True)
class MomentDecoder(Decoder):
    """Makes an image for each label, and writes images to an .npz file.

    Attributes:
        images: the law that makes them.
    """

    noun: ClassVar[str] = "images"

    images: ImageMoments

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return height, width, the number of labels, and channels."""
        return facts(self.images.size)

    def decode(
        self, codes: CodedRows, *, generator: np.random.Generator, first_row: int = 1
    ) -> pa.Table:
        """Make an image for each label: the column `x`, beside the label in `y`."""
        del first_row  # images are not numbered
        return image_table(self.images.of_labels(codes[LABEL].astype(np.int64), generator))

    def check_output(self, path: Path) -> Path:
        """Return the path of an .npz file."""
        return check_image_file(path)

    def write(self, blocks: Iterable[pa.Table], path: Path) -> int:
        """Write images and labels to an .npz file."""
        images = labelled_images(blocks)
        write_images(check_image_file(path), images)
        return images.rows


def facts(size: ImageSize) -> dict[str, int]:
    """Return the sizes of images for JSON."""
    return {
        "height": size.height,
        "width": size.width,
        "classes": size.classes,
        "channels": size.channels,
    }


def sizes(size: ImageSize, each: int, *, slanted: bool = False) -> dict[str, tuple[int, ...]]:
    """The shapes of all arrays of a law with some Gaussians for each label."""
    waves, count = Waves(size).count, size.classes * each
    width = waves + slanted
    return {
        "centre": (waves,),
        "length": (1,),
        "weights": (count,),
        "means": (count, width),
        "roots": (count, width, width),
        "drawn": (LEVELS,),
        "shown": (LEVELS,),
    }


def _are_finite(array: npt.NDArray[Any]) -> bool:
    return array.dtype == np.float32 and bool(np.isfinite(array).all())


__all__ = ["LEVELS", "ImageMoments", "MomentDecoder", "Pixels", "facts", "sizes"]
