"""What generated images are worth, and whether they differ."""

from __future__ import annotations

import numpy as np
import pytest

from support.torches import need_torch
from understudy.gan.convolutions import Shape
from understudy.gan.images import LabelledImages
from understudy.gan.student import Student, variety, worth

SHAPE = Shape(8, 8, 2)


def _halves(rows: int, seed: int = 0) -> LabelledImages:
    """Noise with a bright upper or lower half."""
    generator = np.random.default_rng(seed)
    labels = np.arange(rows) % 2
    pixels = generator.integers(0, 100, (rows, 8, 8)).astype(np.uint8)
    pixels[labels == 0, :4] += 150
    pixels[labels == 1, 4:] += 150
    return LabelledImages(pixels, labels)


def test_a_student_learns_what_can_be_learned() -> None:
    """Halves are told apart; labels that say nothing are not."""
    need_torch()
    student = Student.taught(_halves(256), SHAPE, epochs=8)
    assert student.accuracy(_halves(100, seed=1)) > 0.95
    generator = np.random.default_rng(2)
    random = LabelledImages(_halves(256).pixels, generator.integers(0, 2, 256))
    assert 0.2 < Student.taught(random, SHAPE, epochs=2).accuracy(_halves(100, seed=1)) < 0.8


def test_worth_by_own_labels_and_by_the_thesiss() -> None:
    """Images with wrong labels are worth nothing, unless a teacher of real ones corrects them."""
    need_torch()
    teacher = Student.taught(_halves(256), SHAPE, epochs=8)
    wrong = LabelledImages(_halves(256, seed=3).pixels, 1 - _halves(256).labels)
    found = worth(wrong, _halves(100, seed=1), teacher, epochs=8)
    assert found.accuracy < 0.1 < 0.9 < found.relabelled
    assert "not covered by epsilon" in found.relabelled_note


def test_a_collapse_is_seen() -> None:
    """One image again and again, or a class that never comes."""
    need_torch()
    teacher = Student.taught(_halves(256), SHAPE, epochs=8)
    fine = variety(_halves(100, seed=1), _halves(100, seed=2), teacher)
    assert ((50, 50), False) == (fine.histogram, fine.collapsed)
    assert 1 == pytest.approx(fine.diversity, abs=0.1)
    same = LabelledImages(np.repeat(_halves(2).pixels, 50, axis=0), np.repeat([0, 1], 50))
    assert variety(same, _halves(100, seed=2), teacher).collapsed
    upper = _halves(100, seed=1)
    only = LabelledImages(upper.pixels[::2], upper.labels[::2])
    assert variety(only, _halves(100, seed=2), teacher).collapsed
