"""Sums of features behind two convolutions: exact integers, and one bounded contribution each."""

from __future__ import annotations

import numpy as np
import pytest

from support.torches import need_torch
from understudy.facts.unit import Neighbours
from understudy.gan.image_size import ImageSize
from understudy.gan.layer_features import FeatureGaps, FeatureQuestion, LayerFeatures
from understudy.gan.waves import UNIT
from understudy.system.arrays import Bytes, Integers

SIZES = (ImageSize(8, 8, 2), ImageSize(5, 9, 2), ImageSize(8, 8, 2, channels=3))


def _pixels(size: ImageSize, rows: int = 6) -> Bytes:
    generator = np.random.default_rng(3)
    return generator.integers(0, 256, (rows, *size.extent)).astype(np.uint8)


def _question(size: ImageSize, *, length: float = 50.0) -> FeatureQuestion:
    features = LayerFeatures(size)
    centres = np.zeros((size.classes, features.cells), np.int64)
    return FeatureQuestion(size.classes, features, centres, length)


def _by_loops(image: Integers, kernels: Integers) -> Integers:
    """One layer in Python's integers: heights × widths × filters, signs and fractions dropped."""
    values = np.asarray(image, object)
    height, width, _ = values.shape
    found = np.zeros((-(-height // 2), -(-width // 2), len(kernels)), object)
    for i, j, f in np.ndindex(found.shape):
        total = 0
        for a, b, c in np.ndindex(5, 5, values.shape[2]):
            y, x = 2 * i + a - 2, 2 * j + b - 2
            if 0 <= y < height and 0 <= x < width:
                total += int(kernels[f, c, a, b]) * int(values[y, x, c])
        found[i, j, f] = abs(total) // 32
    return found


@pytest.mark.parametrize("size", SIZES)
def test_features_are_those_of_whole_numbers(size: ImageSize) -> None:
    """Both layers, computed in Python's integers, cell by cell."""
    features, image = LayerFeatures(size), _pixels(size, 1)
    first, second = (kernels.astype(np.int64) for kernels in features.kernels)
    plain = 2 * image[0].reshape(size.height, size.width, -1).astype(np.int64) - 255
    expected = _by_loops(_by_loops(plain, first), second).transpose(2, 0, 1).ravel()
    assert expected.tolist() == features.of(image)[0].tolist()


@pytest.mark.parametrize("size", SIZES)
def test_an_image_has_its_features_alone_and_among_others(size: ImageSize) -> None:
    """No bit of them depends on who is beside it."""
    question, pixels, labels = _question(size), _pixels(size, 300), np.arange(300) % 2
    together = question.vectors(pixels, labels)
    for place in (0, 1, 255, 256, 299):
        one = slice(place, place + 1)
        assert together[place].tolist() == question.vectors(pixels[one], labels[one])[0].tolist()
    sums = question.summed(pixels, labels)
    assert [together[labels == label].sum(axis=0).tolist() for label in (0, 1)] == sums.tolist()


@pytest.mark.parametrize("length", [1.0, 50.0, 1e9])
def test_no_contribution_is_longer_than_its_bound(length: float) -> None:
    """In exact integers, at any length; and at a short one the bound is nearly reached."""
    size = SIZES[0]
    extremes = np.stack([np.full(size.extent, value, np.uint8) for value in (0, 255)])
    pixels = np.concatenate([_pixels(size), extremes])
    vectors = _question(size, length=length).vectors(pixels, np.zeros(len(pixels), np.int64))
    squares = [sum(int(cell) ** 2 for cell in line) for line in vectors]
    assert max(squares) <= UNIT**2
    assert length > 1 or max(squares) > 0.98 * UNIT**2


def test_sensitivities_hold_for_both_relations() -> None:
    """One vector for an image that comes or goes, and two apart for one that is replaced."""
    question = _question(SIZES[0])
    cells = question.features.cells
    added, replaced = (
        question.sensitivity(relation) for relation in (Neighbours.ADD_REMOVE, Neighbours.REPLACE)
    )
    assert (UNIT**2, cells) == (added.squared, added.moved)
    assert (4 * UNIT**2, 2 * cells) == (replaced.squared, replaced.moved)
    assert (2, cells) == question.shape


def test_made_images_have_nearly_the_same_features() -> None:
    """What is differentiated differs from the integers by what they drop."""
    torch = need_torch()
    size = SIZES[2]
    pixels, features = _pixels(size), LayerFeatures(size)
    shown = torch.from_numpy(pixels.astype(np.float32) / 127.5 - 1).permute(0, 3, 1, 2)
    exact = features.of(pixels)
    assert np.allclose(exact, features.seen(shown).numpy(), atol=0.02 * exact.max())


def test_a_gap_is_shrunk_by_its_noise() -> None:
    """Nothing is left of noise alone, and most of what is far above it."""
    question = _question(SIZES[0])
    cells = question.features.cells
    noisy = np.random.default_rng(0).normal(0, 5.0, (2, cells))
    noisy[1] += 500
    gaps = FeatureGaps.of(noisy, 5.0, question, np.array([10.0, 10.0]))
    plain = noisy / UNIT / 10 * question.length
    assert np.abs(gaps.gaps[0]).max() < 0.5 * np.abs(plain[0]).max()
    assert np.allclose(gaps.gaps[1], plain[1], rtol=0.01)
    empty = FeatureGaps.of(np.zeros((2, cells)), 5.0, question, np.zeros(2))
    assert 0 == np.abs(empty.gaps).max()
