"""What one image adds to the moments is bounded, in whole numbers and for both relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from support.moment_images import SIZE, stripes
from understudy.facts.unit import Neighbours
from understudy.gan.image_size import ImageSize
from understudy.gan.images import LabelledImages
from understudy.gan.moment_release import (
    PRODUCT,
    SQUARE,
    CentreQuestion,
    Clusters,
    ImageSum,
    MomentQuestion,
    PooledQuestion,
    contribution,
)
from understudy.gan.waves import UNIT, ImageVectors, Waves, cut
from understudy.system.arrays import Bytes, Integers

COLOUR = ImageSize(5, 4, classes=2, channels=3)


def _vectors(size: ImageSize, ground: int | None = None) -> ImageVectors:
    """Around a centre that is not grey, so close that most images are cut off."""
    waves = Waves(size)
    centre = np.full(waves.count, waves.largest / 50)
    return ImageVectors(waves, centre, waves.largest / 4, ground)


def _clusters(size: ImageSize) -> Clusters:
    generator = np.random.default_rng(1)
    return Clusters(generator.integers(-UNIT, UNIT, (size.classes, 2, 6)))


QUESTIONS: dict[str, Callable[[ImageSize], ImageSum]] = {
    "pooled": lambda size: PooledQuestion(size.classes, ImageVectors.of_all(Waves(size))),
    "centres": lambda size: CentreQuestion(size.classes, _vectors(size), _clusters(size)),
    "moments": lambda size: MomentQuestion(size.classes, _vectors(size), _clusters(size)),
    "moments upright": lambda size: MomentQuestion(
        size.classes, _vectors(size, 0), _clusters(size)
    ),
}


def _extreme(size: ImageSize) -> Bytes:
    """Black, white, grey, half and half, and images of noise."""
    generator = np.random.default_rng(2)
    noise = generator.integers(0, 256, (6, *size.extent)).astype(np.uint8)
    plain = np.stack([np.full(size.extent, value, np.uint8) for value in (0, 127, 128, 255)])
    half = np.zeros((2, *size.extent), np.uint8)
    half[0, : size.height // 2] = half[1, size.height // 2 :] = 255
    return np.concatenate([noise, plain, half, 255 - noise])


def _adds(question: ImageSum, pixels: Bytes) -> Iterator[Integers]:
    """What every image adds alone, in every class."""
    for image in pixels:
        for label in range(question.classes):
            yield question.summed(image[None], np.array([label]))


def _squared(difference: Integers) -> int:
    return sum(int(cell) ** 2 for cell in difference.ravel())


@pytest.mark.parametrize("size", [SIZE, COLOUR, ImageSize(4, 4)])
@pytest.mark.parametrize("name", QUESTIONS)
def test_an_image_is_within_the_sensitivity(name: str, size: ImageSize) -> None:
    """Alone, and in the place of any other, of its class or not: exact integers."""
    question = QUESTIONS[name](size)
    parts = list(_adds(question, _extreme(size)))
    alone, instead = (
        question.sensitivity(relation) for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE)
    )
    assert max(_squared(part) for part in parts) <= alone.squared
    assert max(np.count_nonzero(part) for part in parts) <= alone.moved
    pairs = [one - other for one in parts for other in parts]
    assert max(_squared(pair) for pair in pairs) <= instead.squared
    assert max(np.count_nonzero(pair) for pair in pairs) <= instead.moved


def test_the_bounds_are_reached() -> None:
    """Vectors of full norm are within a thousandth of both bounds: nothing is wasted."""
    waves = Waves(SIZE)
    question = MomentQuestion(1, _vectors(SIZE), Clusters(np.zeros((1, 1, 2), np.int64)))
    one, other = np.zeros((2, 1, waves.count), np.int64)
    one[0, 0] = UNIT
    # The angle at which two images of a class are furthest apart: cos = −b²/2.
    cosine = -0.045
    other[0, :2] = np.trunc([cosine * UNIT, np.sqrt(1 - cosine**2) * UNIT])
    alone = question.sensitivity(Neighbours.ADD_REMOVE).squared
    instead = question.sensitivity(Neighbours.REPLACE).squared
    assert 0.999 * alone < _squared(contribution(one)) <= alone
    apart = _squared(contribution(one) - contribution(other))
    # Of one class the counts cancel, whose part is 2a² of about 2.19.
    assert 0.99 * instead < apart <= instead


def test_products_are_no_longer_than_their_vector() -> None:
    """41 stands for 29·√2 from below, by the least that whole numbers allow."""
    assert 2 * SQUARE**2 - PRODUCT**2 == 1


def test_vectors_are_cut_in_whole_numbers() -> None:
    """Norms are at most the unit, and what was shorter stays as it was."""
    generator = np.random.default_rng(3)
    wild = generator.integers(-(2**20), 2**20, (200, 40))
    assert (np.square(cut(wild)).sum(axis=1) <= UNIT**2).all()
    assert (np.square(cut(wild)).sum(axis=1) > 0.99 * UNIT**2).all()
    short = generator.integers(-100, 100, (200, 40))
    assert np.array_equal(short, cut(short))


@pytest.mark.parametrize("ground", [None, 0, 255])
def test_an_image_is_seen_alike_whoever_stands_beside_it(ground: int | None) -> None:
    """The vector of an image is the same to the last bit alone and among others."""
    images = stripes(70)
    vectors = _vectors(SIZE, ground)
    together = vectors.of(images.pixels)
    alone = np.concatenate([vectors.of(images.pixels[i : i + 1]) for i in range(70)])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("name", QUESTIONS)
def test_sums_are_those_of_single_images(name: str) -> None:
    """The answer is the sum of what images add one by one: so it is for holders together."""
    images, question = stripes(40), QUESTIONS[name](SIZE)
    singles = [
        question.summed(images.pixels[i : i + 1], images.labels[i : i + 1]) for i in range(40)
    ]
    assert np.array_equal(sum(singles), question.summed(images.pixels, images.labels))


@pytest.mark.parametrize("size", [SIZE, COLOUR])
def test_waves_are_orthonormal(size: ImageSize) -> None:
    """All waves together give an image back."""
    waves = Waves(size)
    assert np.allclose(waves.exact.T @ waves.exact, np.eye(waves.count))
    pixels = stripes(7, size).pixels
    back = waves.images(waves.coefficients(pixels)).reshape(pixels.shape)
    assert np.abs(back - pixels).max() < 0.01


def _none() -> LabelledImages:
    return LabelledImages(np.zeros((0, *SIZE.extent), np.uint8), np.zeros(0, np.int64))


@pytest.mark.parametrize("name", QUESTIONS)
def test_nothing_adds_nothing(name: str) -> None:
    """Without images every cell is zero."""
    assert not QUESTIONS[name](SIZE).summed(_none().pixels, _none().labels).any()
