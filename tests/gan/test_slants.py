"""Slants of images: exact, of an image alone, and put back when images are drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.moment_images import SIZE, moment_method, stripes, strokes
from understudy.gan.image_size import ImageSize
from understudy.gan.images import labelled_images
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moment_release import TONES
from understudy.gan.slants import MOST_SLANT, STEPS, ground_of, slants
from understudy.gan.waves import ImageVectors, Waves
from understudy.models.model import Model
from understudy.privacy.curator import Instruments
from understudy.system.arrays import Bytes, Floats
from understudy.testing import SeededNoise

LARGE = ImageSize(20, 20)


def _bar(lean: float, size: ImageSize = LARGE) -> Bytes:
    """A soft upright bar through the middle, shifted by this many pixels for each row down."""
    down, across = np.mgrid[: size.height, : size.width]
    middle = (size.width - 1) / 2 + lean * (down - (size.height - 1) / 2)
    bar = 255 * np.exp(-((across - middle) ** 2) / 6 - (down - (size.height - 1) / 2) ** 2 / 30)
    return np.asarray(np.rint(bar)[None], np.uint8)


def _twin(image: Bytes, ground: int) -> int:
    """The slope of x by y in exact fractions, pixel by pixel, rounded to a step."""
    weights = {place: abs(int(p) - ground) for place, p in np.ndenumerate(image)}
    total = sum(weights.values())
    if total == 0:
        return 0
    means = [Fraction(sum(w * place[i] for place, w in weights.items()), total) for i in (0, 1)]
    shared = sum(w * (p[0] - means[0]) * (p[1] - means[1]) for p, w in weights.items())
    spread = sum(w * (p[0] - means[0]) ** 2 for p, w in weights.items())
    if spread == 0:
        return 0
    step = math.floor(STEPS * shared / spread + Fraction(1, 2))
    return int(max(-MOST_SLANT, min(MOST_SLANT, step)))


@pytest.mark.parametrize("ground", [0, 255])
def test_slants_are_those_of_exact_fractions(ground: int) -> None:
    """Noise, black, white and a single row, each alone as among others."""
    generator = np.random.default_rng(0)
    pixels = generator.integers(0, 256, (20, 5, 7)).astype(np.uint8)
    pixels[1:8] = np.where(pixels[1:8] > 200, pixels[1:8], ground)
    pixels[8], pixels[9], pixels[10] = 0, 255, ground
    pixels[10, 2] = 100
    found = slants(pixels, ground=ground).tolist()
    assert [_twin(image, ground) for image in pixels] == found
    assert found == [int(slants(image[None], ground=ground)[0]) for image in pixels]
    assert len(set(found)) > 2


@pytest.mark.parametrize("lean", [-0.7, -0.2, 0.0, 0.4])
def test_a_leaning_bar_is_seen_before_both_grounds(lean: float) -> None:
    """The slant is that of the bar, dark or bright."""
    assert [round(lean * STEPS)] == slants(_bar(lean), ground=0).tolist()
    assert [round(lean * STEPS)] == slants(255 - _bar(lean), ground=255).tolist()


def test_the_largest_images_do_not_overflow() -> None:
    """White images of 64 × 64 pixels in colour are upright, and half of one leans as it must."""
    image = np.full((2, 64, 64, 3), 255, np.uint8)
    image[1][np.tri(64, dtype=bool)] = 0
    assert [0, _twin(image[1, :, :, 0], 0)] == slants(image, ground=0).tolist()


def _upright(image: Bytes, *, ground: int | None) -> Floats:
    waves = Waves(LARGE)
    vectors = ImageVectors(waves, np.zeros(waves.count), waves.largest, ground)
    return vectors.of(image)[0, : waves.count].astype(np.float64)


@pytest.mark.parametrize("ground", [0, 255])
def test_leaning_bars_are_set_upright(ground: int) -> None:
    """By its own slant a leaning bar becomes an upright one, but for a few parts in a hundred."""
    straight, leaning = (np.abs(_bar(lean).astype(int) - ground) for lean in (0.0, 0.5))
    straight, leaning = straight.astype(np.uint8), leaning.astype(np.uint8)
    before, after = (
        np.linalg.norm(_upright(straight, ground=g) - _upright(leaning, ground=g))
        for g in (None, ground)
    )
    assert after < before / 10


@pytest.mark.parametrize("lean", [-0.6, 0.0, 0.3])
def test_an_image_is_put_back_with_its_slant(lean: float) -> None:
    """Pixels, vector, pixels: nothing is lost but what faster waves hold."""
    image, waves = _bar(lean), Waves(LARGE)
    # No vector of such a length is cut off, beside which the slant would shrink.
    vectors = ImageVectors(waves, np.zeros(waves.count), 2 * waves.largest, ground=0)
    back = vectors.images(vectors.of(image) / 4096).reshape(image.shape)
    assert np.abs(back - image).max() < 12


def test_a_ground_is_a_common_tone() -> None:
    """Black or white from two fifths on; greys in between are not a ground."""
    tones = np.full(TONES, 0.6 / (TONES - 1))
    assert [0, 255, None] == [
        ground_of(np.where(np.arange(TONES) == place, 0.4, tones)) for place in (0, TONES - 1, 5)
    ]


def test_files_of_before_have_no_ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without a ground is a model of images that are drawn as they are."""
    model = moment_method(epsilon=50).fit(stripes(60), ledger=None)
    known = ImageMoments.document

    def before(law: ImageMoments) -> dict[str, Any]:
        described = known(law)
        assert None is described.pop("ground")
        return described

    monkeypatch.setattr(ImageMoments, "document", before)
    model.save(tmp_path / "before.zip")
    loaded = Model.load(tmp_path / "before.zip")
    made, again = (labelled_images([drawn.sample(5, seed=1)]) for drawn in (model, loaded))
    assert np.array_equal(made.pixels, again.pixels)


def _learned(ground: int) -> Model:
    held = strokes(300)
    held = type(held)(np.abs(held.pixels.astype(int) - ground).astype(np.uint8), held.labels)
    noise = Instruments(noise=SeededNoise(0))
    return moment_method(epsilon=50, instruments=noise).fit(held, ledger=None)


@pytest.mark.parametrize("ground", [0, 255])
def test_a_model_of_strokes_has_their_ground(ground: int, tmp_path: Path) -> None:
    """The ground is learned from released tones, kept in the file, and drawn again."""
    model, path = _learned(ground), tmp_path / "model.zip"
    model.save(path)
    loaded = Model.load(path)
    for law in (model.distribution, loaded.distribution):
        assert isinstance(law, ImageMoments)
        assert ground == law.ground
        assert (SIZE.classes, SIZE.cells + 1) == law.arrays["means"].shape
    made, again = (labelled_images([drawn.sample(40, seed=1)]) for drawn in (model, loaded))
    assert np.array_equal(made.pixels, again.pixels)
    assert (made.pixels == ground).mean() > 0.4
