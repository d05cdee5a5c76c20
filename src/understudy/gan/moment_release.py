"""The questions of `moments`: sums of bounded whole numbers, with Gaussian noise, in rounds.

Proof: docs/proofs/moments.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.facts.unit import Neighbours
from understudy.gan.images import images_behind
from understudy.gan.waves import UNIT, ImageVectors
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.additive import Additive, additive
from understudy.rows.counting import CountSource
from understudy.system.arrays import Bytes, Floats, Integers

TONES = 18
"""Parts of the greys: black, sixteen between, and white."""

# Squares and products carry 29 and 41: 41² is below 2·29², so that no vector of products is longer
# than the square of its vector.
SQUARE, PRODUCT = 29, 41
# The weights of a count and of a sum beside the products, chosen on held-out training images.
_COUNT = round(0.05 * SQUARE * UNIT**2)
_SUM = round(0.3 * SQUARE * UNIT)
# The weight of a count beside the sums of one step of k-means.
_MEMBER = round(0.1 * UNIT)


@dataclass(frozen=True)
class MomentSensitivity:
    """By how much one image moves a vector: its squared norm, and in how many cells."""

    squared: int
    moved: int

    def mechanism(self, budget: Budget) -> Additive:
        """Return the noise for such a vector that costs a budget."""
        return additive(
            budget,
            l1=Fraction(self.squared),  # pure budgets are refused before
            l2_squared=Fraction(self.squared),
            moved=self.moved,
        )


@dataclass(frozen=True, eq=False)
class ImageSum(ABC):
    """A sum over images, cell by cell; subclasses say what an image adds."""

    classes: int

    def answer(self, source: CountSource) -> Integers:
        """The exact sum. Private: called only while the Curator looks."""
        images = images_behind(source)
        return self.summed(images.pixels, images.labels)

    @abstractmethod
    def sensitivity(self, neighbours: Neighbours) -> MomentSensitivity:
        """By how much the sum moves when an image is added, removed or replaced."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the sum; public."""

    @abstractmethod
    def summed(self, pixels: Bytes, labels: Integers) -> Integers:
        """Add up what the images add."""


@dataclass(frozen=True, eq=False)
class VectorSum(ImageSum, ABC):
    """A sum of what the vectors of images add."""

    vectors: ImageVectors


@dataclass(frozen=True, eq=False)
class PooledQuestion(VectorSum):
    """Counts of classes, and of all images the sum of vectors, of their squares, and of tones."""

    def sensitivity(self, neighbours: Neighbours) -> MomentSensitivity:
        """Four parts of norm UNIT² at most; of two images counts, squares and tones are at most
        √2 apart in these units, and sums 2."""
        cells = 1 + 2 * self.vectors.waves.count + TONES
        if neighbours is Neighbours.REPLACE:
            return MomentSensitivity(10 * UNIT**4, 1 + cells)
        return MomentSensitivity(4 * UNIT**4, cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """One line of cells."""
        return (self.classes + 2 * self.vectors.waves.count + TONES,)

    def summed(self, pixels: Bytes, labels: Integers) -> Integers:
        """Counts, sums, squares and tones, one after the other."""
        lines = self.vectors.of(pixels)
        counts = np.bincount(labels, minlength=self.classes) * UNIT**2
        step = UNIT**2 // self.vectors.waves.size.cells
        parts = (counts, lines.sum(axis=0) * UNIT, (lines * lines).sum(axis=0))
        return np.concatenate([*parts, tones(pixels) * step]).astype(np.int64)


def tones(pixels: Bytes) -> Integers:
    """How many pixels are black, white, or of one of sixteen greys between."""
    seen = np.bincount(pixels.ravel(), minlength=256)
    return np.bincount(tone_of(np.arange(256)), weights=seen, minlength=TONES).astype(np.int64)


def tone_of(values: Integers) -> Integers:
    """The tone of each brightness from 0 to 255."""
    between = 1 + (values - 1) * (TONES - 2) // 254
    return np.where(values == 0, 0, np.where(values == 255, TONES - 1, between))


@dataclass(frozen=True, eq=False)
class Clusters:
    """Centres within every class, in the first waves and in whole units; released.

    None is further away than any vector: products and sums of squares are then exact in double
    precision, so that the nearest centre of a vector does not depend on the vectors beside it.
    """

    centres: Integers  # classes × centres × waves

    def __post_init__(self) -> None:
        """Refuse centres that are further away than any vector."""
        # Not by the absolute value: that of the least integer is negative.
        if self.centres.size and not -UNIT <= self.centres.min() <= self.centres.max() <= UNIT:
            raise UsageError("a centre is further away than any vector")

    @property
    def each(self) -> int:
        """How many there are in a class."""
        return int(self.centres.shape[1])

    @property
    def waves(self) -> int:
        """How many waves they are compared in."""
        return int(self.centres.shape[2])

    def nearest(self, lines: Integers, labels: Integers) -> Integers:
        """The number of the centre that is nearest to each vector in its class. Private."""
        found = np.zeros(len(lines), np.int64)
        for label, centres in enumerate(self.centres):
            places = np.flatnonzero(labels == label)
            products = lines[places, : self.waves].astype(np.float64) @ centres.T
            found[places] = ((centres * centres).sum(axis=1) - 2 * products).argmin(axis=1)
        return labels * self.each + found


@dataclass(frozen=True, eq=False)
class CentreQuestion(VectorSum):
    """The count and the sum of the images that are nearest to each centre."""

    clusters: Clusters

    def sensitivity(self, neighbours: Neighbours) -> MomentSensitivity:
        """A count and a vector; of two images in one place the vectors are at most 2 apart."""
        cells = 1 + self.clusters.waves
        if neighbours is Neighbours.REPLACE:
            return MomentSensitivity(2 * _MEMBER**2 + 4 * UNIT**2, 2 * cells)
        return MomentSensitivity(_MEMBER**2 + UNIT**2, cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape with a line for each centre."""
        return (self.classes * self.clusters.each, 1 + self.clusters.waves)

    def summed(self, pixels: Bytes, labels: Integers) -> Integers:
        """A line for each centre: its count, and its sum."""
        lines = self.vectors.of(pixels)
        places = self.clusters.nearest(lines, labels)
        found = np.zeros((self.classes * self.clusters.each, 1 + self.clusters.waves), np.int64)
        for i in range(len(found)):
            members = lines[places == i, : self.clusters.waves]
            found[i] = [len(members) * _MEMBER, *members.sum(axis=0)]
        return found

    def means(self, noisy: Floats, deviation: float) -> Clusters:
        """The means where a count is well above its noise, and the centres before elsewhere."""
        counts = noisy[:, :1] / _MEMBER
        shape = self.clusters.centres.shape
        before = self.clusters.centres.reshape(-1, self.clusters.waves)
        seen = counts > 3 * deviation / _MEMBER
        means = np.where(seen, noisy[:, 1:] / np.maximum(counts, 1), before)
        return Clusters(np.rint(np.clip(means, -UNIT, UNIT)).astype(np.int64).reshape(shape))


@dataclass(frozen=True, eq=False)
class MomentQuestion(VectorSum):
    """The count, the sum, and the sums of all products of vectors, around every centre."""

    clusters: Clusters

    @property
    def of_sum(self) -> int:
        """Return a vector of norm 1 in the cells of a sum."""
        return _SUM * UNIT

    def sensitivity(self, neighbours: Neighbours) -> MomentSensitivity:
        """With c = u·v: b²·(2 − 2c) + 2 − 2c² is at most 2b² + 2 + b⁴/2; counts add 2a²."""
        cells = self.shape[1]
        count, total, product = _COUNT**2, _SUM**2 * UNIT**2, SQUARE**2 * UNIT**4
        if neighbours is Neighbours.REPLACE:
            more = -(-(_SUM**4) // (2 * SQUARE**2))
            return MomentSensitivity(2 * (count + total + product) + more, 2 * cells)
        return MomentSensitivity(count + total + product, cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape with a line for each centre."""
        width = self.vectors.width
        return (self.classes * self.clusters.each, 1 + width + width * (width + 1) // 2)

    def summed(self, pixels: Bytes, labels: Integers) -> Integers:
        """A line for each centre: its count, its sum, its squares and its products."""
        lines = self.vectors.of(pixels)
        places = self.clusters.nearest(lines, labels)
        number = self.classes * self.clusters.each
        return np.stack([contribution(lines[places == i]) for i in range(number)])


def contribution(lines: Integers) -> Integers:
    """Return what vectors add to the cells of their centre: exact, as sums are below 2⁵³."""
    doubles = lines.astype(np.float64)
    products = (doubles.T @ doubles).astype(np.int64)
    upper = np.triu_indices(len(products), 1)
    return np.concatenate(
        [
            [len(lines) * _COUNT],
            lines.sum(axis=0) * _SUM,
            np.diagonal(products) * SQUARE,
            products[upper] * PRODUCT,
        ]
    ).astype(np.int64)


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Released counts, sums and second moments around every centre, in units of 1.

    Attributes:
        counts: of images.
        sums: of their vectors.
        products: a symmetric matrix for each centre.
        deviation: of the noise on a square; on a product it is lower by √2.
    """

    counts: Floats
    sums: Floats
    products: Floats
    deviation: float

    @classmethod
    def of(cls, noisy: Floats, deviation: float, *, width: int) -> NoisyMoments:
        """Put the cells back in their places."""
        counts, sums, squares, others = np.split(noisy, [1, 1 + width, 1 + 2 * width], axis=1)
        products = np.zeros((len(noisy), width, width))
        upper = np.triu_indices(width, 1)
        products[:, upper[0], upper[1]] = others / (PRODUCT * UNIT**2)
        products += products.transpose(0, 2, 1)
        products[:, range(width), range(width)] = squares / (SQUARE * UNIT**2)
        return cls(
            counts=counts[:, 0] / _COUNT,
            sums=sums / (_SUM * UNIT),
            products=products,
            deviation=deviation / (SQUARE * UNIT**2),
        )
