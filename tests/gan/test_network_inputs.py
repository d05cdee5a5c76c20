"""Images for networks: what does not fit is refused before anything is spent; colour is learned."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.halves import QUICK, Killed, halves, small_method
from understudy.errors import DataError, UsageError
from understudy.gan.convolutions import Shape
from understudy.gan.image_model import ImageGenerator
from understudy.gan.image_start import FEATURES
from understudy.gan.images import LabelledImages, labelled_images
from understudy.gan.moments import MOMENTS, POOLED
from understudy.jobs.verification import claim_of
from understudy.models.model import Model
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.statements.verification import verified

TAUGHT = replace(QUICK, lessons=1)
METHODS = ("noise-gan", "dpgan")


def _images(*extent: int, rows: int = 12, kind: Any = np.uint8) -> LabelledImages:
    pixels = np.random.default_rng(0).integers(0, 256, (rows, *extent)).astype(kind)
    return LabelledImages(pixels, np.arange(rows) % 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (_images(8, 9), "images × 8 × 8"),
        (_images(8, 8, 3), "add --channels 3"),
        (_images(8, 8, kind=np.float32), "must hold bytes .* multiply"),
        (LabelledImages(_images(8, 8).pixels, np.arange(12)), "outside 0 to 1"),
        (LabelledImages(_images(8, 8).pixels, np.zeros(3, np.int64)), "one whole number"),
    ],
    ids=["other size", "colour", "floats", "labels outside", "too few labels"],
)
def test_other_images_cost_nothing(
    method: str, images: LabelledImages, message: str, tmp_path: Path
) -> None:
    """They are refused before the ledger has an entry."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(DataError, match=message):
        small_method(method=method, settings=TAUGHT).fit(images, ledger=ledger, dataset="images")
    assert not ledger.path.exists()


def test_grey_images_where_colour_was_declared_are_refused() -> None:
    """By what was declared."""
    method = small_method(settings=TAUGHT)
    method.shape = Shape(8, 8, 2, channels=3)
    with pytest.raises(DataError, match="leave --channels out"):
        method.fit(halves(), ledger=None)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((8, 8, 1), "classes is 1"), ((2, 8, 2), "height is 2"), ((8, 8, 2, 2), "channels is 2")],
)
def test_shapes_that_networks_cannot_have(shape: tuple[int, ...], message: str) -> None:
    """One class, too few pixels, and two channels."""
    with pytest.raises(UsageError, match=message):
        Shape(*shape)


def test_large_images_are_refused() -> None:
    """Moments, from which every network starts, have no waves for them."""
    method = small_method(settings=TAUGHT)
    method.shape = Shape(80, 8, 2)
    with pytest.raises(UsageError, match="height is 80"):
        method.check()


def test_noise_gan_needs_lessons() -> None:
    """It learns by nothing else."""
    with pytest.raises(UsageError, match="lessons is 0"):
        small_method(method="noise-gan").check()
    with pytest.raises(UsageError, match="lessons is -1"):
        small_method(settings=replace(QUICK, lessons=-1)).check()


@pytest.mark.parametrize("method", METHODS)
def test_without_torch_the_extra_is_named(
    method: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before anything is read or spent."""
    made = small_method(method=method, settings=TAUGHT)
    monkeypatch.setitem(sys.modules, "torch", None)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(UsageError, match=r"understudy\[gan\]"):
        made.fit(halves(), ledger=ledger, dataset="images")
    assert not ledger.path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_an_empty_declared_class_is_not_an_error(method: str) -> None:
    """Whether a class has an image is private."""
    made = small_method(method=method, settings=TAUGHT)
    made.shape = Shape(8, 8, 3)
    model = made.fit(halves(), ledger=None)
    assert 3 == model.domain["y"]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("extent", [(8, 8, 3), (5, 11), (7, 6, 3)])
def test_colour_and_other_sizes(method: str, extent: tuple[int, ...], tmp_path: Path) -> None:
    """Fit, save, load and sample: images of the declared extent."""
    made = small_method(method=method, settings=TAUGHT)
    made.shape = Shape(extent[0], extent[1], 2, channels=3 if len(extent) == 3 else 1)
    model = made.fit(_images(*extent), ledger=None)
    model.save(tmp_path / "model.zip")
    loaded = Model.load(tmp_path / "model.zip")
    first, second = (labelled_images([held.sample(5, seed=1)]) for held in (model, loaded))
    assert (5, *extent) == first.pixels.shape
    assert np.array_equal(first.pixels, second.pixels)
    assert isinstance(loaded.distribution, ImageGenerator)
    assert loaded.distribution.maker.shape == made.shape


@pytest.mark.slow
def test_lessons_teach_the_halves() -> None:
    """By sums alone upper halves come bright for one class and dark for the other."""
    made = small_method(method="noise-gan", epsilon=200, settings=replace(QUICK, lessons=150))
    model = made.fit(halves(300), ledger=None)
    assert isinstance(model.distribution, ImageGenerator)
    drawn = model.distribution.of_labels(np.arange(64) % 2, seed=1)
    upper = drawn.pixels[:, :4].mean(axis=(1, 2)) - drawn.pixels[:, 4:].mean(axis=(1, 2))
    assert upper[drawn.labels == 0].mean() > 60
    assert upper[drawn.labels == 1].mean() < -60


@pytest.mark.slow
def test_the_statement_of_a_started_run_is_recomputed(tmp_path: Path) -> None:
    """Rounds by the Gaussian curve and steps by their losses come to no more than is promised."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    model = small_method(settings=TAUGHT).fit(halves(), ledger=ledger, dataset="halves")
    bound = model.statement.bound
    assert "with the Gaussian rounds before" in bound.accounting
    assert 1 < (bound.epsilon or 0) <= 2
    assert bound.epsilon == ledger.account("halves").spent.epsilon
    model.save(tmp_path / "model.zip")
    checks = verified(claim_of(tmp_path / "model.zip"))
    assert not any(check.fails for check in checks)
    assert any("come to no more than it promises" in check.sentence for check in checks)


@pytest.mark.slow
def test_a_killed_run_with_a_start_pays_once(tmp_path: Path) -> None:
    """Its rounds are not asked again, and progress shows their cost with that of the steps."""
    ledger, kept, shown = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz", list[float]()

    def watched(done: int, total: int, epsilon: float | None) -> None:
        shown.append(epsilon or 0.0)
        if done == 4 < total:
            raise Killed

    with pytest.raises(Killed):
        small_method(settings=TAUGHT, checkpoint=kept, progress=watched).fit(
            halves(), ledger=ledger, dataset="images"
        )
    assert 0 == shown[0] < 1 < shown[1] <= shown[-1] <= 2
    assert 2 == ledger.account("images").spent.epsilon
    model = small_method(settings=TAUGHT, checkpoint=kept).fit(
        halves(), ledger=ledger, dataset="images"
    )
    asked = [charge.question for charge in model.statement.charges]
    assert [1, 1, 1] == [asked.count(name) for name in (POOLED, MOMENTS, FEATURES)]
    [run] = ledger.account("images").runs
    assert (False, len(asked)) == (run["open"], run["charges"])
    assert model.statement.bound.epsilon == ledger.account("images").spent.epsilon
