"""Record and replay on images: neighbours are asked the same, and within the sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.torches import need_torch
from understudy.gan.convolutions import Shape
from understudy.gan.features import FeatureMap
from understudy.gan.gradients import ScoreGradients
from understudy.gan.images import LabelledImages
from understudy.gan.pictures import ImageGAN
from understudy.gan.training import Hyperparameters
from understudy.models.model import Model
from understudy.privacy.curator import Instruments
from understudy.privacy.mechanisms.sampled import UNIT
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.system.arrays import Singles

QUICK = Hyperparameters(epochs=2, batch=10, rounds=2)


def _images(rows: int = 30) -> LabelledImages:
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (rows, 8, 8)).astype(np.uint8)
    return LabelledImages(pixels, np.arange(rows) % 2)


def _neighbour(images: LabelledImages, method: str) -> LabelledImages:
    """One image less, or one that is another and of another class."""
    if method == "dpgan":
        return LabelledImages(images.pixels[1:], images.labels[1:])
    pixels, labels = images.pixels.copy(), images.labels.copy()
    pixels[0], labels[0] = 255 - pixels[0], 1 - labels[0]
    return LabelledImages(pixels, labels)


def _fitted(method: str, images: LabelledImages, tape: Any) -> Model:
    need_torch()
    return ImageGAN(
        *(Shape(8, 8, 2), 2, 1e-5, method, QUICK, (8, 6, 4), (4, 6)),
        instruments=Instruments(tape=tape),
    ).fit(images, ledger=None)


def _replayed(method: str) -> tuple[Model, Model]:
    """A model, and that of a neighbour to whom all answers were the same."""
    tape = Recorder()
    first = _fitted(method, _images(), tape)
    tape.check_paid(first.statement.charges)
    again = Replay(tape.exchanges)
    second = _fitted(method, _neighbour(_images(), method), again)
    again.check_finished()
    return first, second


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dpgan", "noise-gan"])
def test_neighbours_are_asked_the_same(method: str) -> None:
    """With the answers frozen, all that leaves is equal, bit by bit."""
    first, second = _replayed(method)
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


def test_features_that_see_other_images_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: features less their mean over the images, which every image has a part in."""
    true_lines = FeatureMap.lines

    def centred(self: FeatureMap, examples: Any, labels: Any, places: Any) -> Any:
        lines = true_lines(self, examples, labels, places)
        return lines - lines.mean(axis=0).astype(np.int64)

    monkeypatch.setattr(FeatureMap, "lines", centred)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed("noise-gan")
