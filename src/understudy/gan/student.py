"""The utility of generated images: a student learns from them and is tested on real ones.

Source: TUC-2 section 5.3: a convolution of 3 by 3, pooling, 128 units, dropout 0.2, a unit for each
class. All of it is evaluation on the owner's side; accuracies on private images are private.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.gan.backend import Parameters, Tensor, random_from, torch
from understudy.gan.convolutions import Shape
from understudy.gan.images import LabelledImages
from understudy.gan.optimiser import Adam
from understudy.gan.perceptrons import dense
from understudy.gan.training import gradient_of

LABELS_NOT_PRIVATE = "labels not private, not covered by epsilon"

_FILTERS, _UNITS, _DROPOUT, _RATE, _BATCH = 32, 128, 0.2, 1e-3, 128
_TOGETHER = 1000


@dataclass(frozen=True, eq=False)
class Student:
    """A small classifier of images."""

    shape: Shape
    parameters: Parameters

    @classmethod
    def taught(cls, images: LabelledImages, shape: Shape, *, epochs: int, seed: int = 0) -> Student:
        """Train a student for this number of passes over the images."""
        if images.rows == 0:
            raise UsageError("there are no images to learn from; make some first")
        random = random_from(seed)
        student = cls(shape, _initial(shape, random))
        adam, parameters = Adam(_RATE, momentum=0.9, memory=0.999), student.parameters
        for _ in range(epochs):
            order = torch().randperm(images.rows, generator=random).numpy()
            for start in range(0, images.rows, _BATCH):
                examples, labels = images.batch(order[start : start + _BATCH])
                gradient = gradient_of(_loss(examples, labels, random), parameters)
                parameters = adam.step(parameters, gradient)
        return cls(shape, parameters)

    def labels(self, images: LabelledImages) -> npt.NDArray[np.int64]:
        """The class that the student gives to each image."""
        found = [np.zeros(0, np.int64)]
        for start in range(0, images.rows, _TOGETHER):
            places = np.arange(start, min(start + _TOGETHER, images.rows))
            with torch().no_grad():
                scores = _scores(self.parameters, images.batch(places)[0], None)
            found.append(scores.argmax(dim=1).numpy())
        return np.concatenate(found)

    def accuracy(self, images: LabelledImages) -> float:
        """The share of images whose class is found."""
        return float((self.labels(images) == images.labels).mean())


def _initial(shape: Shape, random: Any) -> Parameters:
    flat = _FILTERS * ((shape.height - 2) // 2) * ((shape.width - 2) // 2)
    pytorch = torch()
    return {
        "c": pytorch.randn(_FILTERS, shape.channels, 3, 3, generator=random)
        * math.sqrt(2 / (9 * shape.channels)),
        "cb": pytorch.zeros(_FILTERS),
        "w0": dense(flat, _UNITS, random),
        "b0": pytorch.zeros(_UNITS),
        "w1": dense(_UNITS, shape.classes, random) * 0.5,
        "b1": pytorch.zeros(shape.classes),
    }


def _scores(parameters: Parameters, examples: Tensor, mask: Tensor | None) -> Tensor:
    functional = torch().nn.functional
    values = functional.conv2d(examples, parameters["c"], parameters["cb"]).relu()
    values = functional.max_pool2d(values, 2).flatten(1)
    values = (values @ parameters["w0"] + parameters["b0"]).relu()
    values = values if mask is None else values * mask
    return values @ parameters["w1"] + parameters["b1"]


def _loss(examples: Tensor, labels: Tensor, random: Any) -> Any:
    pytorch = torch()
    kept = pytorch.rand(len(labels), _UNITS, generator=random) >= _DROPOUT
    mask = kept.float() / (1 - _DROPOUT)
    return lambda parameters: pytorch.nn.functional.cross_entropy(
        _scores(parameters, examples, mask), labels
    )


@dataclass(frozen=True)
class Worth:
    """How far a student gets by generated images.

    Attributes:
        accuracy: taught by generated images and their own labels, tested on real ones.
        relabelled: the thesis's protocol: the labels come from a student of the real images, so
            that they are not private and ε does not cover them.
    """

    accuracy: float
    relabelled: float
    relabelled_note: str = LABELS_NOT_PRIVATE


def worth(
    generated: LabelledImages,
    test: LabelledImages,
    teacher: Student,
    *,
    epochs: int,
) -> Worth:
    """Measure the utility of generated images, by their own labels and by the thesis's protocol."""
    own = Student.taught(generated, teacher.shape, epochs=epochs)
    renamed = LabelledImages(generated.pixels, teacher.labels(generated))
    other = Student.taught(renamed, teacher.shape, epochs=epochs)
    return Worth(own.accuracy(test), other.accuracy(test))


@dataclass(frozen=True)
class Variety:
    """Whether a generator makes different images, or few of them again and again.

    Attributes:
        histogram: how many images a student of real ones sees in each class.
        diversity: the mean distance to the nearest other generated image, as a share of the same
            among real images; far below 1 is a collapse.
        collapsed: whether it is below a half, or a class is never seen.
    """

    histogram: tuple[int, ...]
    diversity: float

    @property
    def collapsed(self) -> bool:
        """Whether the generator makes few images again and again."""
        return self.diversity < 0.5 or min(self.histogram) == 0


def variety(
    generated: LabelledImages, real: LabelledImages, teacher: Student, *, most: int = 1000
) -> Variety:
    """How different generated images are from each other, beside real ones."""
    seen = np.bincount(teacher.labels(generated), minlength=teacher.shape.classes)
    share = _nearest(generated, most) / max(_nearest(real, most), 1e-9)
    return Variety(tuple(int(count) for count in seen), share)


def _nearest(images: LabelledImages, most: int) -> float:
    """The mean distance from an image to the one nearest to it."""
    places = np.arange(min(images.rows, most))
    if len(places) < 2:
        return 0.0
    flat = images.batch(places)[0].flatten(1)
    distances = torch().cdist(flat, flat)
    distances.fill_diagonal_(float("inf"))
    return float(distances.min(dim=1).values.mean())
