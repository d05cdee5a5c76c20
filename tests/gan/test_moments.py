"""`moments` of images: learned, kept, drawn, and refused before anything is spent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.moment_images import SIZE, moment_method, stripes
from support.promised import need
from understudy.errors import CapacityError, DataError, UsageError
from understudy.gan.image_size import ImageSize
from understudy.gan.images import LabelledImages, labelled_images, read_images
from understudy.gan.moment_model import ImageMoments
from understudy.gan.moments import MomentMethod
from understudy.jobs.images import ImageRequest
from understudy.jobs.inspection import inspect
from understudy.models.model import Model
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.testing import SeededNoise


def _law(model: Model) -> ImageMoments:
    assert isinstance(model.distribution, ImageMoments)
    return model.distribution


def _learned(images: LabelledImages, **changes: Any) -> Model:
    """A model at a large ε whose noise is the same in every run."""
    seeded = Instruments(noise=SeededNoise(0))
    method = moment_method(**{"epsilon": 20, "instruments": seeded, **changes})
    return method.fit(images, ledger=None)


def test_a_model_of_images(tmp_path: Path) -> None:
    """Fit, save, load, sample: images of the declared shape, a statement that equals the ledger."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    model = moment_method().fit(stripes(), ledger=ledger, dataset="stripes")
    model.save(tmp_path / "model.zip")
    loaded = Model.load(tmp_path / "model.zip")
    made, again = (labelled_images([drawn.sample(9, seed=3)]) for drawn in (model, loaded))
    assert ((9, 6, 5), "uint8") == (made.pixels.shape, str(made.pixels.dtype))
    assert np.array_equal(made.pixels, again.pixels)
    assert model.statement == loaded.statement
    assert 2 == model.statement.bound.epsilon == ledger.account("stripes").spent.epsilon
    assert model.statement.document()["private"]


@pytest.mark.parametrize("size", [SIZE, ImageSize(7, 3, classes=3, channels=3)])
def test_lines_are_learned(size: ImageSize) -> None:
    """Each class has its bright line again, grey and in colour."""
    images = stripes(600, size)
    law = _law(_learned(images, size=size))
    made = law.of_labels(np.repeat([0, 1, 2], 20), np.random.default_rng(1))
    for label in range(3):
        mean = made.pixels[made.labels == label].mean(axis=0).reshape(size.height, -1)
        assert label == mean.mean(axis=1).argmax()
    real, drawn = images.pixels.mean(), made.pixels.mean()
    assert abs(real - drawn) < 20


def test_images_without_labels(tmp_path: Path) -> None:
    """A file without y is learned as one class; one with y is refused until it is declared."""
    size, images = ImageSize(6, 5), stripes(100)
    np.savez(tmp_path / "plain.npz", x=images.pixels)
    np.savez(tmp_path / "labelled.npz", x=images.pixels, y=images.labels)
    held = read_images(tmp_path / "plain.npz", size)
    assert {0} == set(labelled_images([_learned(held, size=size).sample(5, seed=1)]).labels)
    with pytest.raises(DataError, match="--classes"):
        read_images(tmp_path / "labelled.npz", size)


def test_a_class_without_images_is_not_an_error() -> None:
    """A declared class may be empty, and can still be asked for."""
    images = stripes(200, ImageSize(6, 5, classes=2))
    law = _law(_learned(images))
    made = law.of_labels(np.full(4, 2), np.random.default_rng(0))
    assert (4, 6, 5) == made.pixels.shape


@pytest.mark.parametrize("rows", [1, 2])
def test_few_images_are_no_error(rows: int) -> None:
    """One image and two give a model: 0 and 1 are neighbours of them."""
    assert moment_method().fit(stripes(rows), ledger=None).sample(3, seed=0).num_rows == 3


def test_few_images_are_warned_of_before_anything_is_spent(tmp_path: Path) -> None:
    """The owner is told; many images are not warned of."""
    said = list[str]()
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def notice(text: str) -> None:
        assert not (tmp_path / "ledger.jsonl").exists()
        said.append(text)

    moment_method(notice=notice).fit(stripes(30), ledger=ledger, dataset="few")
    [text] = said
    assert text.startswith("30 images in 3 classes are few for this epsilon")
    assert 0.5 > moment_method().noise_of_means(10_000)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"delta": 0}, "delta above 0"),
        ({"epsilon": 0}, "epsilon is 0"),
    ],
)
def test_budgets_that_cannot_work_are_refused(changes: dict[str, Any], told: str) -> None:
    """Nothing is read or spent."""
    with pytest.raises(UsageError, match=told):
        moment_method(**changes).fit(stripes(), ledger=None)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"height": 65, "width": 4}, "1 to 64 pixels"),
        ({"height": 4, "width": 4, "channels": 2}, "1 for grey or 3 for colour"),
        ({"height": 4, "width": 4, "classes": 1}, "leave --classes out"),
        ({"height": 4}, "width is not given"),
    ],
)
def test_sizes_that_cannot_work_are_refused(sizes: dict[str, int], told: str) -> None:
    """With the way out."""
    with pytest.raises(UsageError, match=told):
        _ = ImageRequest(**sizes).size  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pixels", "labels", "told"),
    [
        (np.zeros((4, 6, 5)), np.zeros(4, int), "by 255"),
        (np.zeros((4, 6, 5, 3), np.uint8), np.zeros(4, int), "--channels 3"),
        (np.zeros((4, 6, 4), np.uint8), np.zeros(4, int), "resize"),
        (np.zeros((4, 6, 5), np.uint8), np.full(4, 3), "outside 0 to 2"),
        (np.zeros((4, 6, 5), np.uint8), np.zeros(3, int), "one whole number"),
        (np.zeros((0, 6, 5), np.uint8), np.zeros(0, int), "nothing to learn from"),
    ],
)
def test_images_that_are_not_as_declared_are_refused(
    pixels: Any, labels: Any, told: str, tmp_path: Path
) -> None:
    """Floats, colour, another size, strange labels and nothing at all."""
    np.savez(tmp_path / "images.npz", x=pixels, y=labels)
    with pytest.raises(DataError, match=told):
        read_images(tmp_path / "images.npz", SIZE)


def test_a_sheet_of_samples_is_inspected(tmp_path: Path) -> None:
    """`inspect -o sheet.png` shows samples, and another suffix is refused with the way out."""
    _learned(stripes()).save(tmp_path / "model.zip")
    inspect(tmp_path / "model.zip", output=tmp_path / "sheet.png")
    assert b"\x89PNG" == (tmp_path / "sheet.png").read_bytes()[:4]
    with pytest.raises(UsageError, match=r"name a \.png file"):
        inspect(tmp_path / "model.zip", output=tmp_path / "sheet.svg")


def test_labels_are_drawn_on_condition() -> None:
    """`sample` of one label makes images of it alone."""
    made = labelled_images([_learned(stripes()).sample(6, where="y = 1", seed=0)])
    assert {1} == set(made.labels)


@pytest.mark.slow
def test_no_torch_is_needed() -> None:
    """A fit and a sample import nothing of PyTorch."""
    code = (
        "import sys, numpy as np\n"
        "from understudy.gan.moments import MomentMethod\n"
        "from understudy.gan.image_size import ImageSize\n"
        "from understudy.gan.images import LabelledImages\n"
        "images = LabelledImages(np.zeros((9, 4, 4), np.uint8), np.zeros(9, np.int64))\n"
        "method = MomentMethod(size=ImageSize(4, 4), epsilon=1, delta=1e-5)\n"
        "method.fit(images, ledger=None).sample(3, seed=0)\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_small_digits_teach_at_ten() -> None:
    """Images made of scikit-learn's digits teach a classifier of the 300 that were held out."""
    datasets = need("sklearn.datasets")
    neighbors = need("sklearn.discriminant_analysis")
    held = datasets.load_digits()
    pixels = np.minimum(held.images * 16, 255).astype(np.uint8)
    train = LabelledImages(pixels[:-300], held.target[:-300])
    noise = Instruments(noise=SeededNoise(3))
    method = MomentMethod(
        size=ImageSize(8, 8, classes=10), epsilon=10, delta=1e-5, instruments=noise
    )
    made = labelled_images([method.fit(train, ledger=None).sample(6000, seed=1)])
    student = neighbors.LinearDiscriminantAnalysis()
    student.fit(made.pixels.reshape(6000, -1), made.labels)
    assert student.score(pixels[-300:].reshape(300, -1), held.target[-300:]) > 0.8


def test_without_noise_nothing_is_promised() -> None:
    """Exact moments are marked as not private."""
    model = moment_method(epsilon=Budget.unlimited()).fit(stripes(), ledger=None)
    assert "NOT PRIVATE" in model.statement.sentence


def test_too_many_classes_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """Sums for all classes would not fit into memory; that is said first."""
    size = ImageSize(64, 64, classes=2_000_000)
    ledger = Ledger(tmp_path / "l.jsonl")
    images = LabelledImages(np.zeros((2, 64, 64), np.uint8), np.zeros(2, np.int64))
    with pytest.raises(CapacityError, match="use fewer"):
        MomentMethod(size=size, epsilon=1, delta=1e-5).fit(images, ledger=ledger, dataset="x")
    assert {} == ledger.accounts()


@pytest.mark.parametrize(("pixels", "labels"), [((5, 8, 8), 3), ((5, 4, 16), 5), ((5, 8, 8, 3), 5)])
def test_images_that_are_not_as_declared_cost_nothing(
    tmp_path: Path, pixels: tuple[int, ...], labels: int
) -> None:
    """Other sizes, or another number of labels, are refused from Python too."""
    ledger = Ledger(tmp_path / "l.jsonl")
    images = LabelledImages(np.zeros(pixels, np.uint8), np.zeros(labels, np.int64))
    size = ImageSize(8, 8, classes=2)
    with pytest.raises(DataError):
        MomentMethod(size=size, epsilon=1, delta=1e-5).fit(images, ledger=ledger, dataset="x")
    assert {} == ledger.accounts()
