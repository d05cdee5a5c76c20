"""Small images, and a method that learns them in a few steps, each with a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.torches import need_torch
from understudy.gan.convolutions import Shape
from understudy.gan.images import LabelledImages
from understudy.gan.pictures import ImageGAN, Progress
from understudy.gan.training import Hyperparameters

SHAPE = Shape(8, 8, 2)
# Eight steps, each with a checkpoint, whatever the noise on the number of images.
QUICK = Hyperparameters(epochs=8, batch=1000, rounds=2)


def halves(rows: int = 60) -> LabelledImages:
    """A bright upper half for one class, a bright lower half for the other."""
    labels = np.arange(rows) % 2
    pixels = np.zeros((rows, 8, 8), np.uint8)
    pixels[labels == 0, :4] = 255
    pixels[labels == 1, 4:] = 255
    return LabelledImages(pixels, labels)


def small_method(**changes: Any) -> ImageGAN:
    """Networks of a few filters."""
    need_torch()
    small = {"filters": (8, 6, 4), "critic_filters": (4, 6), "settings": QUICK}
    return ImageGAN(SHAPE, **{"epsilon": 2, "delta": 1e-5, **small, **changes})


class Killed(Exception):
    """Stands for the end of the process."""


def kill_at(step: int) -> Progress:
    """Progress that ends the run at a step, before its checkpoint."""

    def progress(done: int, total: int, epsilon: float | None) -> None:
        assert epsilon is None or 0 < epsilon <= 2
        if done == step < total:
            raise Killed

    return progress
