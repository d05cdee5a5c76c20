"""Small images, and the method `moments` for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.gan.image_size import ImageSize
from understudy.gan.images import LabelledImages
from understudy.gan.moments import MomentMethod

SIZE = ImageSize(6, 5, classes=3)


def stripes(rows: int = 90, size: ImageSize = SIZE, *, seed: int = 0) -> LabelledImages:
    """A bright line for each class, whose place is that of the class, among dark pixels."""
    labels = np.arange(rows) % size.classes
    generator = np.random.default_rng(seed)
    pixels = generator.integers(0, 60, (rows, *size.extent)).astype(np.uint8)
    pixels[np.arange(rows), labels % size.height] += 180
    return LabelledImages(pixels, labels)


def moment_method(**changes: Any) -> MomentMethod:
    """The method for small images, at ε = 2 unless changed."""
    return MomentMethod(**{"size": SIZE, "epsilon": 2, "delta": 1e-5, **changes})


def strokes(rows: int = 60, size: ImageSize = SIZE, *, seed: int = 0) -> LabelledImages:
    """A stroke before a black ground, a column for each class, that leans left or right."""
    generator = np.random.default_rng(seed)
    labels, leaning = np.arange(rows) % size.classes, generator.integers(-1, 2, rows)
    pixels = np.zeros((rows, *size.extent), np.uint8)
    down = np.arange(size.height)
    for image, label, lean in zip(pixels, labels, leaning, strict=True):
        across = np.rint(1 + label + lean * (down / (size.height - 1) - 0.5))
        image[down, across.astype(int).clip(0, size.width - 1)] = generator.integers(150, 256)
    return LabelledImages(pixels, labels)
