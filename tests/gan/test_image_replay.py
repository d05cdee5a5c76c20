"""Record and replay on images: neighbours are asked the same, and within the sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.torches import need_torch
from understudy.gan import layer_features
from understudy.gan.convolutions import Shape
from understudy.gan.gradients import ScoreGradients
from understudy.gan.image_start import FEATURES
from understudy.gan.images import LabelledImages
from understudy.gan.layer_features import FeatureQuestion
from understudy.gan.moments import MOMENTS, POOLED
from understudy.gan.pictures import ImageGAN
from understudy.gan.training import QUESTION, Hyperparameters
from understudy.models.model import Model
from understudy.privacy.curator import Instruments
from understudy.privacy.mechanisms.sampled import UNIT
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.system.arrays import Singles

QUICK = Hyperparameters(epochs=2, batch=10, rounds=2, lessons=2)


def _images(rows: int = 30) -> LabelledImages:
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (rows, 8, 8)).astype(np.uint8)
    return LabelledImages(pixels, np.arange(rows) % 2)


def _neighbours(images: LabelledImages) -> list[LabelledImages]:
    """One image less, and one more of the other class."""
    more = np.concatenate([images.pixels, 255 - images.pixels[:1]])
    return [
        LabelledImages(images.pixels[1:], images.labels[1:]),
        LabelledImages(more, np.append(images.labels, 1)),
    ]


def _fitted(method: str, images: LabelledImages, tape: Any) -> Model:
    need_torch()
    return ImageGAN(
        *(Shape(8, 8, 2), 2, 1e-5, method, QUICK, (8, 6, 4), (4, 6)),
        instruments=Instruments(tape=tape),
    ).fit(images, ledger=None)


def _replayed(method: str) -> list[Model]:
    """A model, and those of neighbours to whom all answers were the same."""
    tape, images = Recorder(), _images()
    found = [_fitted(method, images, tape)]
    tape.check_paid(found[0].statement.charges)
    for other in _neighbours(images):
        again = Replay(tape.exchanges)
        found.append(_fitted(method, other, again))
        again.check_finished()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dpgan", "noise-gan"])
def test_neighbours_are_asked_the_same(method: str) -> None:
    """With the answers frozen, all that leaves is equal, bit by bit."""
    first, *others = _replayed(method)
    asked = [charge.question for charge in first.statement.charges]
    assert [POOLED, MOMENTS, FEATURES] == asked[:3]
    assert {"dpgan": {QUESTION}, "noise-gan": set()}[method] == set(asked[3:])
    for second in others:
        assert (first.rows, first.statement) == (second.rows, second.statement)
        for name, expected in first.distribution.numbers().items():
            assert expected.tolist() == second.distribution.numbers()[name].tolist()


@pytest.mark.slow
def test_a_missing_clipping_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: gradients of images keep their length."""

    def unclipped(self: ScoreGradients, gradients: Any) -> Singles:
        return np.full(len(gradients[0]), UNIT, np.float32)

    monkeypatch.setattr(ScoreGradients, "factors", unclipped)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed("dpgan")


@pytest.mark.slow
def test_features_that_see_other_images_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: features less their mean over the images, which every image has a part in."""
    true = FeatureQuestion.vectors

    def centred(self: FeatureQuestion, pixels: Any, labels: Any) -> Any:
        lines = true(self, pixels, labels)
        return lines - lines.mean(axis=0).astype(np.int64)

    monkeypatch.setattr(FeatureQuestion, "vectors", centred)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed("noise-gan")


@pytest.mark.slow
def test_features_that_are_not_cut_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an image adds features of any length."""
    monkeypatch.setattr(layer_features, "cut", lambda vectors: 9 * vectors)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed("noise-gan")
