"""Images by `moments` that are not MNIST's: what a student learns of them, and the seconds taken.

The settings of `moments` were chosen on MNIST. Here they meet scikit-learn's digits, MNIST
inverted, at half its size and in colour, and made-up shapes in colour at any place. Each time the
thesis's student learns from generated images, and is tested on real ones that were held out.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.image_tables import DRAWING, FIT_OF_MNIST
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from understudy.gan.backend import one_thread
from understudy.gan.convolutions import Shape
from understudy.gan.image_size import ImageSize
from understudy.gan.images import LabelledImages, labelled_images
from understudy.gan.moments import MomentMethod
from understudy.gan.student import Student
from understudy.models.model import Model
from understudy.privacy.curator import Instruments
from understudy.system.arrays import Bytes
from understudy.testing import SeededNoise
from understudy_studies.digits import Digits, first, load_mnist

EPSILON, DELTA = "10", "1e-5"
_HELD_OUT = 300
# Passes of a student over as many images of each set, so that small sets are seen as often.
_LEARNED = 15_000
_COLOURS = 3
Make = Callable[[int], Digits]


@dataclass(frozen=True)
class ImageSet:
    """A set of images, and how many are learned from and made.

    Attributes:
        about: its name in the table.
        make: gives the images, at most the number asked for.
        images: learned from.
        made: generated.
        at_least: the accuracy that is asked for, if any.
    """

    about: str
    make: Make
    images: int
    made: int
    at_least: float | None = None


def run(board: Scoreboard) -> None:
    """Every set at ε = 10, and the seconds of 60,000 of MNIST's images."""
    for chosen in board.size.pick(_sets(board), [_SHAPES]):
        with one_thread():
            _measure(board, chosen, runs=board.size.pick(3, 1))
    if (SHARED / _MNIST).exists():
        _drawing(board)


def _measure(board: Scoreboard, chosen: ImageSet, *, runs: int) -> None:
    images = board.size.pick(chosen.images, 200)
    made = board.size.pick(chosen.made, 200)
    held = chosen.make(images)
    real = _accuracy(held.train, held)
    found, seconds = [], []
    for seed in range(runs if chosen.at_least is not None else 1):
        started = time.process_time()
        model = learned(held, seed)
        seconds.append(time.process_time() - started)
        found.append(_accuracy(labelled_images([model.sample(made, seed=1)]), held))
    about = {"set": chosen.about, "images": held.train.rows, "made": made, "real": real}
    board.details.append(about | {"accuracies": found, "seconds": max(seconds)})
    what = f"accuracy of a student of generated images, {chosen.about}, ε = {EPSILON}"
    board.add(what, 100 * float(np.mean(found)), "%", chosen.at_least, at_most=False)
    board.add(f"accuracy of a student of real images, {chosen.about}", 100 * real, "%")
    board.add(f"fit by moments, {chosen.about}, CPU", max(seconds), "s", 10)


def learned(held: Digits, seed: int) -> Model:
    """A model of the images by `moments`."""
    shape = held.shape
    return MomentMethod(
        size=ImageSize(shape.height, shape.width, shape.classes, shape.channels),
        epsilon=EPSILON,
        delta=DELTA,
        instruments=Instruments(noise=SeededNoise(seed)),
    ).fit(held.train, ledger=None)


def _accuracy(images: LabelledImages, held: Digits) -> float:
    passes = max(round(_LEARNED / images.rows), 1)
    return Student.taught(images, held.shape, epochs=passes).accuracy(held.test)


def _drawing(board: Scoreboard) -> None:
    """The seconds of one core for as many images as MNIST has."""
    count = board.size.pick(60_000, 200)
    held = _mnist(count)
    started = time.process_time()
    model = learned(held, 0)
    fitted = time.process_time()
    model.sample(count, seed=1)
    board.add(FIT_OF_MNIST, fitted - started, "s", 10)
    taken = time.process_time() - fitted
    board.add(DRAWING, taken, "s", 60)


_MNIST = "data/mnist.npz"


def _mnist(images: int) -> Digits:
    found = load_mnist(SHARED / _MNIST)
    return Digits(found.shape, first(found.train, images), first(found.test, 5_000))


def _changed(images: int, change: Callable[[Bytes], Bytes]) -> Digits:
    found = _mnist(images)
    train, test = (
        LabelledImages(change(part.pixels), part.labels) for part in (found.train, found.test)
    )
    height, width, *colours = train.pixels.shape[1:]
    return Digits(Shape(height, width, 10, *colours), train, test)


def inverted(images: int) -> Digits:
    """MNIST's digits, black on white."""
    return _changed(images, lambda pixels: 255 - pixels)


def halved(images: int) -> Digits:
    """MNIST's digits at half their size."""

    def shrink(pixels: Bytes) -> Bytes:
        blocks = pixels.reshape(-1, 14, 2, 14, 2)
        return np.asarray(blocks.mean(axis=(2, 4)).astype(np.uint8))

    return _changed(images, shrink)


def coloured(images: int) -> Digits:
    """MNIST's digits in a colour on a ground of another one, which say nothing of the class."""

    def paint(pixels: Bytes) -> Bytes:
        generator = np.random.default_rng(len(pixels))
        size = (2, len(pixels), 1, 1, _COLOURS)
        ink, ground = generator.integers(0, 128, size) + np.array([127, 0]).reshape(2, 1, 1, 1, 1)
        share = pixels[..., None] / 255
        return np.asarray(np.rint(share * ink + (1 - share) * ground).astype(np.uint8))

    return _changed(images, paint)


def small_digits(images: int) -> Digits:
    """scikit-learn's 8 by 8 digits, 300 of them held out."""
    datasets: Any = importlib.import_module("sklearn.datasets")
    found = datasets.load_digits()
    pixels = np.minimum(found.images * 16, 255).astype(np.uint8)
    parts = [LabelledImages(pixels[s], found.target[s]) for s in (_LEARN, _TEST)]
    return Digits(Shape(8, 8, 10), first(parts[0], images), parts[1])


_LEARN, _TEST = slice(None, -_HELD_OUT), slice(-_HELD_OUT, None)


def shapes(images: int) -> Digits:
    """Discs, squares, frames and crosses of any colour, size and place, 24 by 24, before noise."""
    made = [_shapes(count, seed) for seed, count in enumerate((images, 1_000))]
    return Digits(Shape(24, 24, 4, _COLOURS), *made)


def _shapes(count: int, seed: int) -> LabelledImages:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 4, count)
    radius = generator.uniform(5, 9, count)[:, None, None]
    centre = generator.uniform(10, 14, (2, count, 1, 1))
    down, across = np.abs(np.mgrid[:24, :24][:, None] - centre)
    square = np.maximum(down, across) < radius
    figures = [
        down**2 + across**2 < radius**2,
        square,
        square & (np.maximum(down, across) > radius - 3),
        square & (np.minimum(down, across) < 2),
    ]
    inside = np.choose(labels[:, None, None], figures)[..., None]
    ink, ground = generator.integers(0, 128, (2, count, 1, 1, _COLOURS))
    noise = generator.integers(-20, 21, (count, 24, 24, _COLOURS))
    pixels = np.where(inside, ink + 127, ground) + noise
    return LabelledImages(pixels.clip(0, 255).astype(np.uint8), labels)


_SHAPES = ImageSet("made-up shapes in colour, 24 × 24", shapes, 10_000, 5_000)


def _sets(board: Scoreboard) -> list[ImageSet]:
    digits = ImageSet("scikit-learn's digits, 8 × 8", small_digits, 1_497, 6_000, 80)
    if not (SHARED / _MNIST).exists():
        board.leave_out("changed images of MNIST", "the file is not there")
        return [digits, _SHAPES]
    changed = {
        "MNIST, 28 × 28": _mnist,
        "MNIST inverted, 28 × 28": inverted,
        "MNIST halved, 14 × 14": halved,
        "MNIST in colour, 28 × 28": coloured,
    }
    return [digits, *(ImageSet(n, make, 10_000, 5_000) for n, make in changed.items()), _SHAPES]
