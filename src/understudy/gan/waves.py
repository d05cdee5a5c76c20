"""Images as whole numbers: public cosine waves, and vectors whose norm is bounded exactly.

Everything here is computed in integers, so that the vector of an image depends on that image and on
public or released numbers alone, to the last bit, whatever images are beside it. Doubles carry
integers below 2⁵³, of which sums and products are exact in any order.
Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.gan.image_size import ImageSize
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
        height, width, channels = self.size.height, self.size.width, self.size.channels
        colours = np.ones((1, 1)) if channels == 1 else _COLOURS
        columns = [
            np.multiply.outer(np.outer(_wave(i, height), _wave(j, width)), colours[c]).ravel()
            for i, j, c in self._orders
        ]
        return np.stack(columns, axis=1)

    @property
    def _orders(self) -> list[tuple[int, int, int]]:
        height, width = self.size.height, self.size.width

        def frequency(order: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
            i, j, colour = order
            plain = (i / height) ** 2 + (j / width) ** 2 + 1 / (height * width)
            return plain * (_OF_COLOUR**2 if colour else 1), order

        found = sorted(np.ndindex(height, width, self.size.channels), key=frequency)
        return [(i, j, colour) for i, j, colour in found[: self.count]]

    @cached_property
    def rounded(self) -> Floats:
        """The waves in whole steps; a double holds each of them exactly."""
        return np.rint(self.exact * _FINE)

    @property
    def largest(self) -> float:
        """The largest norm that an image's coefficients can have, in their own steps."""
        return float(_FINE) * _TWICE_GREY * float(np.sqrt(self.size.cells))

    def coefficients(self, pixels: Bytes) -> Floats:
        """How much of each wave is in every image, as whole numbers. Private."""
        flat = 2.0 * pixels.reshape(len(pixels), -1) - _TWICE_GREY
        return np.asarray(flat @ self.rounded)

    def images(self, coefficients: Floats) -> Floats:
        """The brightness of every pixel, from 0 to 255 but for what is beyond it."""
        flat = (coefficients / _FINE) @ self.exact.T
        return np.asarray((flat + _TWICE_GREY) / 2)


# Grey, and two differences of colours, at right angles.
_COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3], [2], [6]])


def _wave(order: int, size: int) -> Floats:
    wave = np.cos(np.pi * order * (np.arange(size) + 0.5) / size)
    return np.asarray(wave / np.linalg.norm(wave))


@dataclass(frozen=True, eq=False)
class ImageVectors:
    """Vectors of images: their waves less a centre, in parts of a length, cut to norm `UNIT`.

    Attributes:
        waves: public.
        centre: taken off the coefficients of every image; public or released.
        length: the norm at which an image is cut off; public or released.
    """

    waves: Waves
    centre: Floats
    length: float

    @classmethod
    def of_all(cls, waves: Waves) -> ImageVectors:
        """Vectors around grey, of which no image is cut off."""
        return cls(waves, np.zeros(waves.count), waves.largest)

    def of(self, pixels: Bytes) -> Integers:
        """The vector of every image, a line each, of norm `UNIT` at most. Private."""
        blocks = [np.zeros((0, self.waves.count), np.int64)]
        for start in range(0, len(pixels), _BLOCK):
            found = self.waves.coefficients(pixels[start : start + _BLOCK])
            steps = np.trunc((found - np.rint(self.centre)) * (UNIT / self.length))
            blocks.append(cut(np.clip(steps, -_LARGEST, _LARGEST).astype(np.int64)))
        return np.concatenate(blocks)

    def coefficients(self, vectors: Floats) -> Floats:
        """The coefficients that vectors in units of 1 stand for."""
        return np.asarray(np.rint(self.centre) + vectors * self.length)


def cut(vectors: Integers, *, unit: int = UNIT) -> Integers:
    """Shorten vectors whose norm exceeds a unit, towards zero and in whole numbers."""
    squares = (vectors * vectors).sum(axis=1)
    norms = np.sqrt(squares.astype(np.float64)).astype(np.int64) + 1  # above the root
    shorter = np.sign(vectors) * (np.abs(vectors) * unit // norms[:, None])
    return np.where((squares > unit * unit)[:, None], shorter, vectors)
