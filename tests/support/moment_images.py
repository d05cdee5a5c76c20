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
