"""Images in and out: refused or learned, kept through a kill, and never without their price."""

from __future__ import annotations

import resource
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.halves import QUICK, SHAPE, Killed, halves, kill_at, small_method
from support.tiers import slow_but
from support.torches import need_torch
from understudy.errors import (
    DataError,
    DiskError,
    Diverged,
    LedgerError,
    ModelError,
    OutputError,
    UsageError,
)
from understudy.gan.checkpoints import Checkpoint
from understudy.gan.convolutions import ImageCritic, ImageMaker, Shape
from understudy.gan.grids import png, sheet
from understudy.gan.image_model import ImageGenerator
from understudy.gan.images import checked, labelled_images, read_images, write_images
from understudy.gan.pictures import ImageGAN
from understudy.gan.training import QUESTION, Hyperparameters, Trainer, TrainingState
from understudy.models.model import Model
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.spending.ledger import Ledger
from understudy.testing import SeededNoise


@pytest.mark.parametrize("method", slow_but({"noise-gan"}, ["dpgan", "noise-gan"]))
def test_a_model_of_images(method: str, tmp_path: Path) -> None:
    """Fit, save, load, sample: images of the declared shape, a statement that equals the ledger."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    settings = replace(QUICK, epochs=4, batch=20, lessons=2)
    fitted = small_method(method=method, settings=settings)
    model = fitted.fit(halves(), ledger=ledger, dataset="halves")
    model.save(tmp_path / "model.npz")
    loaded = Model.load(tmp_path / "model.npz")
    made, again = (labelled_images([drawn.sample(9, seed=3)]) for drawn in (model, loaded))
    assert ((9, 8, 8), "uint8") == (made.pixels.shape, str(made.pixels.dtype))
    assert np.array_equal(made.pixels, again.pixels)
    assert model.statement == loaded.statement
    assert model.statement.bound.epsilon == ledger.account("halves").spent.epsilon
    assert 0 < (model.statement.bound.epsilon or 0) <= 2
    assert model.statement.document()["private"]


def _generator(model: Model) -> ImageGenerator:
    assert isinstance(model.distribution, ImageGenerator)
    return model.distribution


@pytest.mark.slow
def test_without_noise_the_halves_are_learned() -> None:
    """The game can be won: upper halves come bright for one class and dark for the other."""
    settings = replace(QUICK, epochs=80, batch=30, generator_rate=2e-3, steady=0.3, averaging=0.9)
    model = small_method(epsilon=Budget.unlimited(), settings=settings).fit(halves(), ledger=None)
    made = _generator(model).of_labels(np.arange(64) % 2, seed=1)
    upper = made.pixels[:, :4].mean(axis=(1, 2)) - made.pixels[:, 4:].mean(axis=(1, 2))
    assert upper[made.labels == 0].mean() > 60
    assert upper[made.labels == 1].mean() < -60
    assert "NOT PRIVATE" in model.statement.sentence


@pytest.mark.slow
def test_a_killed_run_goes_on_and_pays_once(tmp_path: Path) -> None:
    """From its checkpoint, within the grant that it left open; then the grant is closed."""
    ledger, kept = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz"
    with pytest.raises(Killed):
        small_method(checkpoint=kept, progress=kill_at(3)).fit(
            halves(), ledger=ledger, dataset="images"
        )
    assert kept.exists()
    assert b"\x89PNG" == kept.with_suffix(".png").read_bytes()[:4]
    assert 2 == ledger.account("images").spent.epsilon
    model = small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    account = ledger.account("images")
    assert [False] == [run["open"] for run in account.runs]
    assert model.statement.bound.epsilon == account.spent.epsilon
    assert len(model.statement.charges) == account.runs[0]["charges"]
    assert not kept.exists()


@pytest.mark.slow
def test_a_resumed_game_is_the_game(tmp_path: Path) -> None:
    """With the noise known, a resumed run ends where an unbroken one would have."""
    kept = tmp_path / "game.npz"

    def instruments() -> Instruments:
        return Instruments(noise=_Constant())

    whole = small_method(instruments=instruments()).fit(halves(), ledger=None)
    with pytest.raises(Killed):
        small_method(instruments=instruments(), checkpoint=kept, progress=kill_at(3)).fit(
            halves(), ledger=None
        )
    resumed = small_method(instruments=instruments(), checkpoint=kept).fit(halves(), ledger=None)
    for name, expected in whole.distribution.numbers().items():
        assert expected.tolist() == resumed.distribution.numbers()[name].tolist()


class _Constant(SeededNoise):
    """The same draws whenever it is asked, so that a resumed run gets those of the first."""

    def __init__(self) -> None:
        super().__init__(0)

    def uniform(self, below: int, size: int) -> Any:
        """Every other row is taken."""
        return np.arange(size) % 2

    def gaussian(self, sigma_squared: Any, size: int) -> Any:
        """Little noise, always the same."""
        return np.arange(size, dtype=np.int64) % 1000


def test_a_checkpoint_is_for_its_own_run(tmp_path: Path) -> None:
    """Other terms are refused, and so are a damaged file and a grant that is not open."""
    ledger, kept = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz"
    with pytest.raises(Killed):
        small_method(checkpoint=kept, progress=kill_at(3)).fit(
            halves(), ledger=ledger, dataset="images"
        )
    with pytest.raises(UsageError, match="other settings"):
        small_method(checkpoint=kept, epsilon=3).fit(halves(), ledger=ledger, dataset="images")
    with pytest.raises(LedgerError, match="no open grant"):
        small_method(checkpoint=kept).fit(
            halves(), ledger=Ledger(tmp_path / "another.jsonl"), dataset="images"
        )
    kept.write_bytes(kept.read_bytes()[:900])
    with pytest.raises(ModelError, match="damaged"):
        small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")


@contextmanager
def _full_disk(most: int) -> Iterator[None]:
    """No file takes more bytes than this, as if the disk were full."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def test_a_full_disk_does_not_end_a_course_that_is_paid_for(tmp_path: Path) -> None:
    """A note says so at every checkpoint, nothing is left half-written, and the model is made."""
    ledger, kept, said = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz", list[str]()
    method = small_method(checkpoint=kept, notice=said.append)
    with _full_disk(20_000):
        model = method.fit(halves(), ledger=ledger, dataset="images")
    assert said
    assert all("took no more bytes" in text and "training continues" in text for text in said)
    assert {"ledger.jsonl", "ledger.jsonl.secret"} == {path.name for path in tmp_path.iterdir()}
    assert 2 >= ledger.account("images").spent.epsilon == model.statement.bound.epsilon


@pytest.mark.slow
def test_a_checkpoint_outlives_a_disk_that_fills_later(tmp_path: Path) -> None:
    """A cut run resumes from the last one that was written whole."""
    ledger, kept = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz"
    with pytest.raises(Killed):
        small_method(checkpoint=kept, progress=kill_at(2)).fit(
            halves(), ledger=ledger, dataset="images"
        )
    before = kept.read_bytes()
    with _full_disk(20_000), pytest.raises(Killed):
        small_method(checkpoint=kept, progress=kill_at(3)).fit(
            halves(), ledger=ledger, dataset="images"
        )
    assert before == kept.read_bytes()
    model = small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert [False] == [run["open"] for run in ledger.account("images").runs]
    assert model.statement.bound.epsilon == ledger.account("images").spent.epsilon


def _break_when(
    monkeypatch: pytest.MonkeyPatch, lost: Callable[[Trainer, TrainingState], bool]
) -> None:
    """At some steps the generator is not a number."""
    played = Trainer.generator_step

    def broken(self: Trainer, game: TrainingState) -> None:
        played(self, game)
        if lost(self, game):
            game.generator = {name: value * float("nan") for name, value in game.generator.items()}

    monkeypatch.setattr(Trainer, "generator_step", broken)


@pytest.mark.slow
def test_a_game_that_leaves_the_numbers_stops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It resumes at lower rates, pays once, and never draws again for a step that it reported."""
    ledger, kept = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz"
    steps: list[tuple[int, int]] = []
    with monkeypatch.context() as patch:
        _break_when(patch, lambda _, game: game.step == 2)
        with pytest.raises(Diverged, match="in step 2 after epsilon"):
            small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    slower = replace(QUICK, critic_rate=QUICK.critic_rate / 2)
    method = small_method(checkpoint=kept, settings=slower)
    method.progress = lambda done, total, epsilon: steps.append((done, total))
    model = method.fit(halves(), ledger=ledger, dataset="images")
    total = steps[0][1]
    assert list(range(3, total + 1)) == [done for done, _ in steps]
    assert total == sum(charge.question == QUESTION for charge in model.statement.charges)
    assert [False] == [run["open"] for run in ledger.account("images").runs]
    assert model.statement.bound.epsilon == ledger.account("images").spent.epsilon
    assert all(np.isfinite(weights).all() for weights in model.distribution.numbers().values())


@pytest.mark.slow
def test_a_game_lost_before_its_first_checkpoint_starts_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is nothing to resume from, and what was paid stays paid."""
    ledger, kept = Ledger(tmp_path / "ledger.jsonl"), tmp_path / "game.npz"
    _break_when(monkeypatch, lambda _, game: game.step == 1)
    settings = replace(QUICK, epochs=40, rounds=1)
    with pytest.raises(Diverged, match="in step 1 after epsilon"):
        small_method(checkpoint=kept, settings=settings).fit(
            halves(), ledger=ledger, dataset="images"
        )
    assert not kept.exists()
    assert 2 == ledger.account("images").spent.epsilon


@pytest.mark.slow
def test_a_game_lost_in_its_last_step_is_as_it_was_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is left to be played, so the model is that of the last checkpoint."""
    said = list[str]()
    _break_when(monkeypatch, lambda trainer, game: game.step == trainer.course.schedule.steps)
    settings = replace(QUICK, rounds=1)
    method = small_method(checkpoint=tmp_path / "game.npz", settings=settings, notice=said.append)
    model = method.fit(halves(), ledger=Ledger(tmp_path / "ledger.jsonl"), dataset="images")
    assert 1 == len(said)
    assert said[0].startswith("training diverged (NaN or infinity) in its last step")
    assert all(np.isfinite(weights).all() for weights in model.distribution.numbers().values())


@pytest.mark.parametrize("error", [DiskError, OutputError])
def test_a_checkpoint_that_cannot_be_set_back_goes(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The older one, or a copy of it, would draw again for steps that were reported."""
    ledger, kept, copy = Ledger(tmp_path / "ledger"), tmp_path / "game.npz", tmp_path / "copy.npz"
    with pytest.raises(Killed):
        small_method(checkpoint=kept, progress=kill_at(3)).fit(
            halves(), ledger=ledger, dataset="images"
        )
    copy.write_bytes(kept.read_bytes())

    def refuse(*_: object) -> None:
        raise error("no")

    with monkeypatch.context() as patch:
        _break_when(patch, lambda _, game: game.step == 4)
        patch.setattr(Checkpoint, "_put_aside", refuse)
        patch.setattr(ImageGAN, "_watches", lambda *_: [])
        with pytest.raises(Diverged, match="in step 4"):
            small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert not kept.exists()
    with pytest.raises(LedgerError, match="knows step 4 of this run"):
        small_method(checkpoint=copy).fit(halves(), ledger=ledger, dataset="images")


def test_a_game_lost_after_its_checkpoint_was_removed_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing resumes from it, nor from a copy that was made before."""
    ledger, kept, copy = Ledger(tmp_path / "ledger"), tmp_path / "game.npz", tmp_path / "copy.npz"

    show = Checkpoint._show

    def moved(self: Checkpoint) -> None:
        show(self)
        kept.rename(copy)

    with monkeypatch.context() as patch:
        _break_when(patch, lambda _, game: game.step == 4)
        patch.setattr(Checkpoint, "_show", moved)
        with pytest.raises(Diverged, match="in step 4"):
            small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    with pytest.raises(LedgerError, match="knows step 4 of this run"):
        small_method(checkpoint=copy).fit(halves(), ledger=ledger, dataset="images")


def test_lessons_that_lead_nowhere_make_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator whose weights are not numbers is not released."""
    move = TrainingState.move_generator

    def broken(self: TrainingState, gradient: Any, pace: float, kept: float) -> None:
        move(self, {name: value * float("nan") for name, value in gradient.items()}, pace, kept)

    monkeypatch.setattr(TrainingState, "move_generator", broken)
    settings = replace(QUICK, lessons=2)
    with pytest.raises(Diverged, match="training diverged"):
        small_method(method="noise-gan", settings=settings).fit(halves(), ledger=None)


def test_rates_fall_to_nothing() -> None:
    """They are whole while the course is steady, and then go down in a straight line."""
    half = Hyperparameters(steady=0.5)
    assert [1, 1, 1, 0.5, 0] == [half.pace(done) for done in (0, 0.25, 0.5, 0.75, 1)]
    assert [1, 1] == [Hyperparameters(steady=1).pace(done) for done in (0, 1)]


def test_fewer_images_than_a_batch() -> None:
    """All of them are in every batch."""
    model = small_method(settings=replace(QUICK, batch=500)).fit(halves(6), ledger=None)
    assert 2 >= (model.statement.bound.epsilon or 3)
    assert 4 == model.sample(4, seed=0).num_rows


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((3, 8, 9), np.uint8), np.zeros(3, int), "images × 8 × 8"),
        (np.zeros((3, 8, 8), np.float32), np.zeros(3, int), "must hold bytes"),
        (np.zeros((3, 8, 8), np.uint8), np.zeros(2, int), "one whole number for each"),
        (np.zeros((3, 8, 8), np.uint8), np.zeros(3), "one whole number for each"),
        (np.zeros((3, 8, 8), np.uint8), np.array([0, 1, 2]), "outside 0 to 1"),
        (np.zeros((0, 8, 8), np.uint8), np.zeros(0, int), "no images"),
    ],
)
def test_other_images_are_refused(x: Any, y: Any, message: str) -> None:
    """By what was declared; no label or pixel is quoted."""
    with pytest.raises(DataError, match=message):
        checked(x, y, SHAPE)


def test_files_that_hold_no_images_are_refused(tmp_path: Path) -> None:
    """Text, other arrays, no labels, objects, and no file at all."""
    for name, content in {"text.npz": b"hello", "empty.npz": b""}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=r"\.npz file"):
            read_images(tmp_path / name, SHAPE)
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(DataError, match="arrays x and y"):
        read_images(tmp_path / "other.npz", SHAPE)
    np.savez(tmp_path / "unlabelled.npz", x=np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(DataError, match="leave --classes out"):
        read_images(tmp_path / "unlabelled.npz", SHAPE)
    np.savez(tmp_path / "objects.npz", x=np.array([{}]), y=np.array([0]))
    with pytest.raises(DataError, match="plain arrays"):
        read_images(tmp_path / "objects.npz", SHAPE)
    with pytest.raises(DataError, match="cannot be read"):
        read_images(tmp_path / "nowhere.npz", SHAPE)


def test_images_come_back_as_they_were_written(tmp_path: Path) -> None:
    """Arrays x and y."""
    write_images(tmp_path / "out.npz", halves(5))
    back = read_images(tmp_path / "out.npz", SHAPE)
    assert np.array_equal(halves(5).pixels, back.pixels)


@pytest.mark.parametrize(
    ("sizes", "message"), [((3, 28, 10), "height is 3"), ((28, 28, 1), "classes is 1")]
)
def test_impossible_shapes_are_refused(sizes: tuple[int, int, int], message: str) -> None:
    """By name."""
    with pytest.raises(UsageError, match=message):
        Shape(*sizes)


def test_the_networks_are_those_of_the_thesis() -> None:
    """12,544 units, kernels of five by five, images of 28 by 28."""
    torch = need_torch()
    shape = Shape(28, 28, 10)
    maker, critic = ImageMaker(shape), ImageCritic(shape)
    random = torch.Generator().manual_seed(0)
    weights = maker.initial(random)
    assert (110, 12_544) == tuple(weights["w"].shape)
    labels = torch.zeros(2, dtype=torch.int64)
    made = maker.make(weights, torch.randn(2, 100), labels, random)
    assert (2, 1, 28, 28) == tuple(made.shape)
    scores = critic.score(critic.initial(random), made, labels, critic.masks(random))
    assert (2,) == tuple(scores.shape)


def test_a_sheet_is_a_png() -> None:
    """Its pixels can be read back line by line, in sixteen greys."""
    page = sheet(halves(5).pixels, across=3)[:, :-1]
    data = png(page)
    start = data.index(b"IDAT") + 4
    size = int.from_bytes(data[start - 8 : start - 4], "big")
    lines = zlib.decompress(data[start : start + size])
    length = 1 + -(-page.shape[1] // 2)
    line = np.frombuffer(lines[10 * length + 1 : 11 * length], np.uint8)
    greys = np.stack([line >> 4, line & 15], axis=1).ravel()[: page.shape[1]]
    assert (page[10] >> 4).tolist() == greys.tolist()
