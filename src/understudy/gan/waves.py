"""Images as whole numbers: public cosine waves, and vectors whose norm is bounded exactly.

Everything here is computed in integers, so that the vector of an image depends on that image and on
public or released numbers alone, to the last bit, whatever images are beside it. Doubles carry
integers below 2⁵³, of which sums and products are exact in any order.
Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from understudy.gan.image_size import ImageSize
from understudy.gan.slants import MOST_SLANT, STEPS, slants
from understudy.system.arrays import Bytes, Floats, Integers

UNIT = 2**12
"""The largest norm of a vector, in whole units."""

MOST_WAVES = 180
"""How many waves an image is seen in; chosen on held-out training images of MNIST."""

# Waves are rounded to this many steps, pixels count twice their distance from grey.
_FINE = 2**20
_TWICE_GREY = 255
# A wave of colour is seen where a grey one of twice its frequency is.
_OF_COLOUR = 2.0
_LARGEST = 2**20
# A tenth of a pixel of slant in a vector: as far from upright as usual digits, it is a twelfth of
# the largest norm.
_OF_SLANT = UNIT // 32
_BLOCK = 4096


@dataclass(frozen=True)
class Waves:
    """The slowest cosine waves of images of one size, nearly orthonormal, as whole numbers."""

    size: ImageSize

    @property
    def count(self) -> int:
        """How many waves there are."""
        return min(self.size.cells, MOST_WAVES)

    @cached_property
    def exact(self) -> Floats:
        """The orthonormal waves, a column each, an image's numbers in their order down."""
        return self.slanted(0)

    def slanted(self, slant: int) -> Floats:
        """The waves, each row of pixels shifted by this many tenths of a pixel for each row.

        Rows are counted from the middle, and waves continue beyond the edges.
        """
        height, width = self.size.height, self.size.width
        colours = np.ones((1, 1)) if self.size.channels == 1 else _COLOURS
        down, across, colour = np.array(self._orders).T
        rows = np.arange(height) - (height - 1) / 2
        places = np.arange(width) - rows[:, None] * (slant / STEPS)
        waves = (
            _waves(places, width)[:, :, across]
            * _waves(np.arange(height), height)[:, None][:, :, down]
        )
        shown = waves[:, :, None, :] * colours[colour].T
        return np.asarray(shown.reshape(-1, self.count))

    @property
    def _orders(self) -> list[tuple[int, int, int]]:
        height, width = self.size.height, self.size.width

        def frequency(order: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
            i, j, colour = order
            plain = (i / height) ** 2 + (j / width) ** 2 + 1 / (height * width)
            return plain * (_OF_COLOUR**2 if colour else 1), order

        found = sorted(np.ndindex(height, width, self.size.channels), key=frequency)
        return [(i, j, colour) for i, j, colour in found[: self.count]]

    def rounded(self, slant: int = 0) -> Floats:
        """The waves in whole steps; a double holds each of them exactly."""
        return np.rint(self.slanted(slant) * _FINE)

    @property
    def largest(self) -> float:
        """The largest norm that an image's coefficients can have, in their own steps."""
        return float(_FINE) * _TWICE_GREY * float(np.sqrt(self.size.cells))

    def coefficients(self, pixels: Bytes) -> Floats:
        """How much of each wave is in every image, as whole numbers. Private."""
        flat = 2.0 * pixels.reshape(len(pixels), -1) - _TWICE_GREY
        return np.asarray(flat @ self.rounded())

    def upright(self, pixels: Bytes, *, slant: int, ground: int) -> Floats:
        """The coefficients of images of one slant, set upright before a ground. Private."""
        flat = 2.0 * pixels.reshape(len(pixels), -1) - 2 * ground
        return np.asarray(flat @ self.rounded(slant)) + self._plain(ground)

    def images(self, coefficients: Floats) -> Floats:
        """The brightness of every pixel, from 0 to 255 but for what is beyond it."""
        flat = (coefficients / _FINE) @ self.exact.T
        return np.asarray((flat + _TWICE_GREY) / 2)

    def slanting(self, coefficients: Floats, *, slant: int, ground: int) -> Floats:
        """The brightness of images that were set upright, with their slant again."""
        figures = (coefficients - self._plain(ground)) / _FINE
        return np.asarray(ground + figures @ self.slanted(slant).T / 2)

    def _plain(self, ground: int) -> Floats:
        """The coefficients of an image of the ground alone."""
        return np.asarray((2 * ground - _TWICE_GREY) * self.rounded().sum(axis=0))


# Grey, and two differences of colours, at right angles.
_COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def _waves(places: Floats | Integers, size: int) -> Floats:
    """All waves of a size at some places, along a new last axis."""
    orders = np.arange(size)
    norms = np.sqrt(np.where(orders == 0, 1, 2) / size)
    return np.asarray(np.cos(np.pi * orders * (places[..., None] + 0.5) / size) * norms)


@dataclass(frozen=True, eq=False)
class ImageVectors:
    """Vectors of images: their waves less a centre, in parts of a length, cut to norm `UNIT`.

    Attributes:
        waves: public.
        centre: taken off the coefficients of every image; public or released.
        length: the norm at which an image is cut off; public or released.
        ground: the brightness of the background before which images are set upright, their slant
            being the last entry of a vector; None leaves images as they are. Public or released.
    """

    waves: Waves
    centre: Floats
    length: float
    ground: int | None = None

    @classmethod
    def of_all(cls, waves: Waves) -> ImageVectors:
        """Vectors around grey, of which no image is cut off."""
        return cls(waves, np.zeros(waves.count), waves.largest)

    @property
    def width(self) -> int:
        """How many entries a vector has."""
        return self.waves.count + (self.ground is not None)

    def of(self, pixels: Bytes) -> Integers:
        """The vector of every image, a line each, of norm `UNIT` at most. Private."""
        if self.ground is None:
            return self._cut(pixels, self.waves.coefficients)
        leaning = slants(pixels, ground=self.ground)
        found = np.zeros((len(pixels), self.width), np.int64)
        for slant in np.unique(leaning):
            places = np.flatnonzero(leaning == slant)
            upright = partial(self.waves.upright, slant=int(slant), ground=self.ground)
            found[places] = self._cut(pixels[places], upright, slant * _OF_SLANT)
        return found

    def _cut(self, pixels: Bytes, seen: Callable[[Bytes], Floats], *more: np.int64) -> Integers:
        """Blocks of images as vectors, with some more entries that are the same for all."""
        blocks = [np.zeros((0, self.width), np.int64)]
        for start in range(0, len(pixels), _BLOCK):
            found = seen(pixels[start : start + _BLOCK])
            steps = np.trunc((found - np.rint(self.centre)) * (UNIT / self.length))
            lines = np.clip(steps, -_LARGEST, _LARGEST).astype(np.int64)
            last = np.tile(np.array(more, np.int64), (len(lines), 1))
            blocks.append(cut(np.concatenate([lines, last], axis=1)))
        return np.concatenate(blocks)

    def coefficients(self, vectors: Floats) -> Floats:
        """The coefficients that vectors in units of 1 stand for, slants apart."""
        return np.asarray(np.rint(self.centre) + vectors[..., : self.waves.count] * self.length)

    def images(self, vectors: Floats) -> Floats:
        """The brightness of the pixels of images with such vectors in units of 1."""
        seen = self.coefficients(vectors)
        if self.ground is None:
            return self.waves.images(seen)
        leaning = np.rint(vectors[:, -1] * (UNIT / _OF_SLANT)).clip(-MOST_SLANT, MOST_SLANT)
        made = np.zeros((len(vectors), self.waves.size.cells))
        for slant in np.unique(leaning):
            places = np.flatnonzero(leaning == slant)
            made[places] = self.waves.slanting(seen[places], slant=int(slant), ground=self.ground)
        return made


def cut(vectors: Integers, *, unit: int = UNIT) -> Integers:
    """Shorten vectors whose norm exceeds a unit, towards zero and in whole numbers."""
    squares = (vectors * vectors).sum(axis=1)
    norms = np.sqrt(squares.astype(np.float64)).astype(np.int64) + 1  # above the root
    shorter = np.sign(vectors) * (np.abs(vectors) * unit // norms[:, None])
    return np.where((squares > unit * unit)[:, None], shorter, vectors)
