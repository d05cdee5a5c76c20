"""Features of images behind two fixed convolutions, and their noisy sum over every class.

The kernels are public: random whole numbers of a public seed, which no image has a part in. All is
computed in integers, so that the features of an image depend on that image alone, to the last bit.
Source: TUC-2 section 5.2, whose second algorithm has its noise behind the second convolution.
Proof: docs/proofs/noise_gan.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from understudy.facts.unit import Neighbours
from understudy.gan.backend import Tensor, torch
from understudy.gan.image_size import ImageSize
from understudy.gan.moment_release import ImageSum, MomentSensitivity
from understudy.gan.waves import UNIT, cut
from understudy.system.arrays import Bytes, Floats, Integers

_FILTERS = (16, 16)
_KERNEL, _STRIDE, _EDGE = 5, 2, 2
_SEED = 7
# Kernels have this deviation; outputs of the first layer drop as many of their steps.
_FINE = 32
_LARGEST = 2**20
_BLOCK = 256


@dataclass(frozen=True)
class LayerFeatures:
    """The strengths of two layers of random convolutions, each with its sign dropped."""

    size: ImageSize

    @property
    def shape(self) -> tuple[int, int, int]:
        """Filters, height and width of the second layer."""
        halves = (-(-side // _STRIDE) for side in (self.size.height, self.size.width))
        height, width = (-(-half // _STRIDE) for half in halves)
        return _FILTERS[1], height, width

    @property
    def cells(self) -> int:
        """How many features an image has."""
        return int(np.prod(self.shape))

    @cached_property
    def kernels(self) -> tuple[Floats, Floats]:
        """The weights of both layers as whole numbers: filters × inputs × height × width."""
        generator = np.random.default_rng(_SEED)
        inputs = (self.size.channels, _FILTERS[0])
        first, second = (
            np.rint(generator.standard_normal((count, held, _KERNEL, _KERNEL)) * _FINE)
            for count, held in zip(_FILTERS, inputs, strict=True)
        )
        return first, second

    def of(self, pixels: Bytes) -> Integers:
        """The features of every image, a line each. Private."""
        blocks = [np.zeros((0, self.cells), np.int64)]
        for start in range(0, len(pixels), _BLOCK):
            blocks.append(self._block(pixels[start : start + _BLOCK]))
        return np.concatenate(blocks)

    def _block(self, pixels: Bytes) -> Integers:
        flat = pixels.reshape(len(pixels), self.size.height, self.size.width, -1)
        values: Floats = 2 * flat.astype(np.float64) - 255
        first, second = self.kernels
        values = np.floor(np.abs(_convolved(values, first)) / _FINE)
        values = np.floor(np.abs(_convolved(values, second)) / _FINE)
        ordered = values.transpose(0, 3, 1, 2).reshape(len(pixels), -1)
        return np.asarray(ordered, np.int64)

    def seen(self, images: Tensor) -> Tensor:
        """The features of generated images from −1 to 1, differentiable; nothing is rounded."""
        pytorch = torch()
        values = images * 255
        for kernels in self.kernels:
            weights = pytorch.from_numpy(kernels.astype(np.float32)) / _FINE
            values = pytorch.nn.functional.conv2d(values, weights, stride=_STRIDE, padding=_EDGE)
            values = values.abs()
        return values.flatten(1)


def _convolved(values: Floats, kernels: Floats) -> Floats:
    """A convolution of images × height × width × inputs: sums of integers, exact in any order."""
    edges = ((0, 0), (_EDGE, _EDGE), (_EDGE, _EDGE), (0, 0))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, edges), (_KERNEL, _KERNEL), axis=(1, 2)
    )[:, ::_STRIDE, ::_STRIDE]
    patches = windows.reshape(*windows.shape[:3], -1)
    return np.asarray(patches @ kernels.reshape(len(kernels), -1).T)


@dataclass(frozen=True, eq=False)
class FeatureQuestion(ImageSum):
    """For every class the sum of the features of its images, less a centre and cut to norm UNIT.

    Attributes:
        features: public.
        centres: taken off the features of the images of each class; public or released.
        length: the norm at which an image's features are cut off; public or released.
    """

    features: LayerFeatures
    centres: Integers
    length: float

    def sensitivity(self, neighbours: Neighbours) -> MomentSensitivity:
        """One vector of norm UNIT; two of them in one class are at most two units apart."""
        if neighbours is Neighbours.REPLACE:
            return MomentSensitivity(4 * UNIT**2, 2 * self.features.cells)
        return MomentSensitivity(UNIT**2, self.features.cells)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the lines of classes and the cells of each."""
        return self.classes, self.features.cells

    def summed(self, pixels: Bytes, labels: Integers) -> Integers:
        """A line for each class: the sum of its images' vectors."""
        found = np.zeros(self.shape, np.int64)
        for start in range(0, len(labels), _BLOCK):
            block = slice(start, start + _BLOCK)
            np.add.at(found, labels[block], self.vectors(pixels[block], labels[block]))
        return found

    def vectors(self, pixels: Bytes, labels: Integers) -> Integers:
        """Return what every image adds to the line of its class, of norm UNIT at most. Private."""
        apart = self.features.of(pixels) - self.centres[labels]
        steps = np.trunc(apart * (UNIT / self.length)).clip(-_LARGEST, _LARGEST)
        return cut(steps.astype(np.int64))


@dataclass(frozen=True, eq=False)
class FeatureGaps:
    """How far the mean features of images are from those of their moments, as far as it is seen.

    Attributes:
        gaps: a line for each class, in the units of features.
        length: the usual distance of an image's features from their centre.
    """

    gaps: Floats
    length: float

    @classmethod
    def of(
        cls, noisy: Floats, deviation: float, question: FeatureQuestion, counts: Floats
    ) -> FeatureGaps:
        """Read a release, shrunk by its known noise: post-processing.

        Source: James and Stein (1961): a mean of many cells is nearest to the truth when the
        expected square of its noise is taken off its own square.
        """
        counts = np.maximum(counts, 1.0)[:, None]
        means = noisy / UNIT / counts
        noise = (deviation / UNIT / counts[:, 0]) ** 2 * means.shape[1]
        squares = np.maximum((means * means).sum(axis=1), 1e-12)
        kept = np.maximum(1 - noise / squares, 0.0)[:, None]
        return cls(np.clip(means * kept, -1, 1) * question.length, question.length)


__all__ = ["FeatureGaps", "FeatureQuestion", "LayerFeatures"]
