"""Models of images: a kind of distribution whose rows are decoded to pixels."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.distributions import STATEMENT, images, model_with
from support.torches import need_torch
from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.gan.earlier import EarlierImages
from understudy.gan.image_model import image_model
from understudy.gan.images import LabelledImages, image_table, labelled_images
from understudy.jobs.verification import claim_of
from understudy.models.model import Model
from understudy.privacy.statements.verification import verified

EARLIER = Path(__file__).parent.parent / "data" / "model-of-images-format-1.npz"


def test_tables_hold_the_images() -> None:
    """Pixels and labels come back from tables of them, in their order, however few there are."""
    pixels = np.arange(3 * 4 * 8, dtype=np.uint8).reshape(3, 4, 8)
    made = LabelledImages(pixels, np.array([2, 0, 1]))
    none = LabelledImages(pixels[:0], np.zeros(0, np.int64))
    back = labelled_images([image_table(none), image_table(made), image_table(made)])
    assert np.array_equal(np.concatenate([pixels, pixels]), back.pixels)
    assert [2, 0, 1, 2, 0, 1] == back.labels.tolist()
    assert (0, 4, 8) == labelled_images([image_table(none)]).pixels.shape


def test_labels_come_as_often_as_their_chances_say() -> None:
    """The share of a label lies within seven standard errors of its chance."""
    drawn = images().draw(100_000, np.random.default_rng(1))["y"]
    assert abs(drawn.mean() - 0.75) < 7 * np.sqrt(0.75 * 0.25 / 100_000)


@pytest.mark.parametrize(
    "changes",
    [
        {"chances": (0.5, 0.4)},
        {"chances": (1.5, -0.5)},
        {"chances": (0.2, 0.3, 0.5)},
        {"chances": (float("nan"), 1.0)},
        {"domain": Domain({"label": 2})},
        {"weights": {}},
        {"weights": images().weights | {"b3": np.array([np.inf], np.float32)}},
        {"weights": images().weights | {"b3": np.zeros(1)}},
    ],
)
def test_numbers_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    """Chances are shares of one, weights are finite single numbers of the announced layers."""
    with pytest.raises(UsageError, match="do not fit its images"):
        replace(images(), **changes)


@pytest.mark.slow
def test_a_model_is_read_and_described_without_pytorch(tmp_path: Path) -> None:
    """Loading, inspecting and verifying a model of either form import nothing that makes images."""
    model_with("images").save(tmp_path / "m.zip")
    code = (
        "import sys; from pathlib import Path\n"
        "from understudy.jobs.inspection import inspect\n"
        "from understudy.jobs.verification import claim_of\n"
        "for path in map(Path, sys.argv[1:]):\n"
        "    print(inspect(path).document()['height'], claim_of(path).statement.method)\n"
        "assert 'torch' not in sys.modules\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "m.zip"), str(EARLIER)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "8 a method\n8 dpgan\n" == said


def test_an_earlier_archive_makes_what_it_made() -> None:
    """The same seed draws the same labels, and nearly the same pixels, as when it was written."""
    need_torch()
    made = labelled_images([Model.load(EARLIER).sample(5, seed=1)])
    assert [1, 1, 0, 1, 1] == made.labels.tolist()
    expected = [0, 242, 0, 255, 0, 254, 243, 247]
    assert np.abs(made.pixels[0, 0].astype(int) - expected).max() <= 1


def test_an_earlier_archive_is_verified() -> None:
    """Its statement is bound to its weights, and no check fails."""
    written, found = EarlierImages.bound_content(EARLIER)
    assert found == written["binding"]["sha256"]
    assert not any(check.fails for check in verified(claim_of(EARLIER)))


def test_a_model_of_images_has_its_labels_as_schema() -> None:
    """The only column is the label; the decoder knows the sizes of the images."""
    model = image_model(images(), 5, STATEMENT)
    assert ["y"] == [*model.schema.columns]
    assert {"height": 8, "width": 8, "classes": 2} == model.decoder.facts
    assert "images" == model.decoder.noun
