"""Images that studies learn from: MNIST in two parts, or small made-up ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from understudy.errors import DataError
from understudy.gan.convolutions import Shape
from understudy.gan.images import LabelledImages, checked
from understudy_studies.tables import DataFolder

MNIST = ("data/mnist.npz",)
BARS = "bars"
_CLASSES = 10


@dataclass(frozen=True, repr=False)
class Digits:
    """Images to learn from, and others to test on."""

    shape: Shape
    train: LabelledImages
    test: LabelledImages


@cache
def digits(name: str, images: int, shelf: DataFolder) -> Digits:
    """The first of the images that go by a name, and all that are kept for testing."""
    if name == BARS:
        return bars(images)
    found = load_mnist(shelf.path(MNIST[0]))
    return Digits(found.shape, first(found.train, images), found.test)


def first(images: LabelledImages, count: int) -> LabelledImages:
    """Return the first n images, in their order."""
    return LabelledImages(images.pixels[:count], images.labels[:count])


def load_mnist(path: Path) -> Digits:
    """MNIST from one .npz file of `x_train`, `y_train`, `x_test` and `y_test`."""
    try:
        with np.load(path) as held:
            parts = [held[f"{name}_{part}"] for part in ("train", "test") for name in "xy"]
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path}: is not MNIST ({type(error).__name__}); give an .npz file of x_train, "
            "y_train, "
            "x_test and y_test"
        ) from None
    shape = Shape(28, 28, _CLASSES)
    x_train, y_train, x_test, y_test = parts
    return Digits(shape, checked(x_train, y_train, shape), checked(x_test, y_test, shape))


def bars(images: int) -> Digits:
    """Made-up images of 12 by 12: a bright bar whose place is the class, and noise."""
    shape = Shape(12, 12, _CLASSES)
    return Digits(shape, _bars(images, shape, seed=0), _bars(images, shape, seed=1))


def _bars(images: int, shape: Shape, *, seed: int) -> LabelledImages:
    labels = np.arange(images) % shape.classes
    size = (images, shape.height, shape.width)
    pixels = np.random.default_rng(seed).integers(0, 80, size).astype(np.uint8)
    pixels[np.arange(images), labels] += 170
    return LabelledImages(pixels, labels)
