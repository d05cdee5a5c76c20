"""Record and replay of `moments`: neighbours are asked the same, within the sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.moment_images import moment_method, stripes, strokes
from understudy.facts.unit import Neighbours
from understudy.gan import moments, waves
from understudy.gan.images import LabelledImages
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moment_release import MomentQuestion, MomentSensitivity
from understudy.gan.slants import slants
from understudy.models.model import Model
from understudy.privacy.curator import Instruments
from understudy.privacy.replay import LeakFound, Recorder, Replay
from understudy.system.arrays import Integers

RELATIONS = (Neighbours.ADD_REMOVE, Neighbours.REPLACE)


def _neighbours(images: LabelledImages, relation: Neighbours) -> list[LabelledImages]:
    """One image less, or more, or another: of the same class, of another, black and white."""
    if relation is Neighbours.ADD_REMOVE:
        more = np.concatenate([images.pixels, 255 - images.pixels[:1]])
        return [
            LabelledImages(images.pixels[1:], images.labels[1:]),
            LabelledImages(images.pixels[:-1], images.labels[:-1]),
            LabelledImages(more, np.append(images.labels, 2)),
        ]
    found = []
    for value, label in ((0, 0), (255, 0), (0, 2), (255, 1)):
        pixels, labels = images.pixels.copy(), images.labels.copy()
        pixels[0], labels[0] = value, label
        found.append(LabelledImages(pixels, labels))
    return found


def _fitted(images: LabelledImages, relation: Neighbours, tape: Any) -> Model:
    method = moment_method(neighbours=relation, instruments=Instruments(tape=tape))
    return method.fit(images, ledger=None)


def _replayed(relation: Neighbours, images: LabelledImages | None = None) -> Model:
    """Replay a run on all neighbours, and compare everything that leaves."""
    images, tape = stripes(60) if images is None else images, Recorder()
    first = _fitted(images, relation, tape)
    tape.check_paid(first.statement.charges)
    for other in _neighbours(images, relation):
        again = Replay(tape.exchanges)
        second = _fitted(other, relation, again)
        again.check_finished()
        assert (first.rows, first.statement) == (second.rows, second.statement)
        for name, expected in first.distribution.numbers().items():
            assert expected.tolist() == second.distribution.numbers()[name].tolist()
    return first


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("centres", [1, 3])
def test_neighbours_are_asked_the_same(
    relation: Neighbours, centres: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the answers frozen, all that leaves is equal, with and without k-means."""
    monkeypatch.setattr(moments.MomentMethod, "centres_for", lambda *_: centres)
    _replayed(relation)


@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_of_upright_images_are_asked_the_same(
    relation: Neighbours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strokes are set upright by their own slants, whichever ground the noisy tones show."""
    monkeypatch.setattr(moments, "ground_of", lambda _: 0)
    law = _replayed(relation, strokes(60)).distribution
    assert isinstance(law, ImageMoments)
    assert 0 == law.ground


def test_a_slant_that_sees_other_images_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: slants are less the mean slant of all images."""
    monkeypatch.setattr(moments, "ground_of", lambda _: 0)

    def apart(pixels: Any, *, ground: int) -> Integers:
        found = slants(pixels, ground=ground)
        return np.asarray(found - found.sum() % 7)

    monkeypatch.setattr(waves, "slants", apart)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed(Neighbours.ADD_REMOVE, strokes(60))


def test_a_missing_cut_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: vectors keep their length."""
    monkeypatch.setattr(waves, "cut", lambda vectors: 3 * vectors)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed(Neighbours.ADD_REMOVE)


def test_an_understated_number_of_cells_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the noise is for images that move a count and a sum alone."""
    true = MomentQuestion.sensitivity

    def fewer(self: MomentQuestion, neighbours: Neighbours) -> MomentSensitivity:
        return MomentSensitivity(true(self, neighbours).squared, 1 + self.vectors.width)

    monkeypatch.setattr(MomentQuestion, "sensitivity", fewer)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed(Neighbours.ADD_REMOVE)


def test_vectors_that_see_other_images_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: vectors less their own mean, in which every image has a part."""
    true = waves.ImageVectors.of

    def centred(self: waves.ImageVectors, pixels: Any) -> Integers:
        lines = true(self, pixels)
        return np.asarray(lines - lines.mean(axis=0).astype(np.int64))

    monkeypatch.setattr(waves.ImageVectors, "of", centred)
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        _replayed(Neighbours.ADD_REMOVE)


def test_every_round_is_in_the_statement() -> None:
    """The rounds are charged one by one, and their sum is what the curve allows."""
    model = moment_method().fit(stripes(), ledger=None)
    asked = [charge.question for charge in model.statement.charges]
    assert [moments.POOLED, moments.MOMENTS] == asked
    document = model.statement.document()
    assert ("image", "Gaussian curve") == (document["unit"], document["accounting"])
