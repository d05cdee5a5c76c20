"""Images by adversarial networks: from private arrays to a model that makes arrays like them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import DiskError, Diverged, UsageError
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.backend import torch
from understudy.gan.checkpoints import Checkpoint, Standing
from understudy.gan.convolutions import ImageCritic, ImageMaker, Shape
from understudy.gan.grids import write_sheet
from understudy.gan.image_course import course_facts, resumed_course
from understudy.gan.image_model import ImageGenerator, as_arrays, image_model
from understudy.gan.image_size import ImageSize
from understudy.gan.image_start import ImageStart
from understudy.gan.images import LABEL, ImageSource, LabelledImages, check_extent, images_behind
from understudy.gan.lessons import GeneratorLessons, Teaching
from understudy.gan.moment_teacher import MomentTeacher
from understudy.gan.moments import MomentMethod
from understudy.gan.tables import QUESTION_SHARE, Census
from understudy.gan.training import (
    Hyperparameters,
    NoiseSchedule,
    Trainer,
    TrainingHook,
    TrainingState,
)
from understudy.models.model import Model
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.run import OpenRun, PaidRun
from understudy.privacy.spending.list_pricing import QuestionsThenList, RoundsThenList
from understudy.privacy.spending.pricing import GaussianRounds, Pricing
from understudy.privacy.spending.record import DEFAULT, Books, LedgerChoice
from understudy.system.reprs import shown_fields

METHODS = {"dpgan": Neighbours.ADD_REMOVE, "noise-gan": Neighbours.ADD_REMOVE}
"""Methods that train networks on images, and the relation that each promises for."""

IMAGE_SETTINGS = Hyperparameters(
    epochs=5, batch=2048, rounds=10, generator_rate=1e-4, steady=0.3, lessons=1500
)
# The share of ε and δ that dpgan spends on its start: the rest is for the steps of its critic.
_START = Fraction(1, 2)
# What a run may change when it goes on from a checkpoint: how released numbers are learned from.
RATES = ("critic_rate", "generator_rate")
# How a checkpoint speaks of images that have no name.
_NAMELESS = "images"
# Checkpoints in a run, and images of each class on its sheets.
_CHECKPOINTS, _ON_SHEET = 20, 10

Progress = Callable[[int, int, float | None], None]
"""Called with the steps done, the steps in all, and ε so far: for the owner's terminal."""


@dataclass
class ImageGAN:
    """Learns to make images like private ones, each image being a unit of privacy.

    Both methods first release moments of classes and sums of features, with noise, and teach the
    generator by draws of these moments. `noise-gan` ends there; `dpgan` continues with a critic,
    each of whose steps looks at the images again.

    Args:
        shape: public height, width, classes and channels.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss; above 0.
        method: dpgan or noise-gan, both for added and removed images.
        settings: lessons, epochs, batch, clipping and rates.
        filters: of the generator's three layers, and of the critic's two.
        checkpoint: where the game is kept while it is played; with it a killed run resumes.
        progress: called as training advances.
        notice: called with problems that do not end the training.
    """

    shape: Shape
    epsilon: Amount | Budget
    delta: Amount = 0
    method: str = "dpgan"
    settings: Hyperparameters = IMAGE_SETTINGS
    filters: tuple[int, int, int] = (256, 128, 64)
    critic_filters: tuple[int, int] = (64, 128)
    checkpoint: Path | None = None
    progress: Progress | None = None
    notice: Callable[[str], None] | None = None
    instruments: Instruments = field(default_factory=Instruments)

    def __repr__(self) -> str:
        return f"ImageGAN({shown_fields(self, without=('instruments',))})"

    @property
    def budget(self) -> Budget:
        """The whole budget of a fit."""
        if isinstance(self.epsilon, Budget):
            return self.epsilon
        return Budget.approximate(self.epsilon, self.delta)

    @property
    def unit(self) -> Unit:
        """Return the unit that the promise protects: single images."""
        return Unit(METHODS[self.method], of_images=True)

    @property
    def maker(self) -> ImageMaker:
        """Return the generator's shape."""
        return ImageMaker(self.shape, filters=self.filters)

    def check(self) -> None:
        """Refuse parameters that cannot work, before anything is read."""
        torch()
        self.settings.check()
        if self.method not in METHODS:
            known = " or ".join(METHODS)
            raise UsageError(f"method {self.method!r} makes no images; use {known}")
        if self.budget.measure not in (Measure.APPROXIMATE, Measure.UNLIMITED):
            raise UsageError(f"{self.method} needs a delta above 0; give one, as 1e-5")
        if self.budget.measure is Measure.APPROXIMATE and self.budget.amount == 0:
            raise UsageError("epsilon is 0; nothing can be learned for free, give more")
        if self.method == "noise-gan" and self.checkpoint is not None:
            raise UsageError("noise-gan looks once and is not resumed; leave out the checkpoint")
        if self.method == "noise-gan" and self.settings.lessons == 0:
            raise UsageError("noise-gan learns by lessons alone, and lessons is 0; give some")
        _ = self.size

    @property
    def size(self) -> ImageSize:
        """Return the size of the images as moments take it, or refuse what is too large."""
        shape = self.shape
        return ImageSize(shape.height, shape.width, shape.classes, shape.channels)

    def fit(
        self,
        images: LabelledImages,
        *,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
    ) -> Model:
        """Learn a model of private images.

        Args:
            images: pixels and labels.
            ledger: where the spending is kept: the user's own ledger unless given. None keeps no
                record, and the statement says so.
            dataset: the name the ledger knows the images by.

        Privacy: everything is paid for before it is drawn; the model is released. With a
        checkpoint the ledger knows every step of which something has left.
        """
        self.check()
        check_extent(images.pixels, images.labels, self.shape)
        if self.settings.lessons:
            MomentMethod(size=self.size, epsilon=self.epsilon).check_room(images.rows)
        books = self._run.books(ledger, dataset)
        kept = self._kept(books)
        source = ImageSource.of(images, self.shape)
        if kept is None:
            return self._fitted(source, books, None)
        with kept.held():
            model = self._fitted(source, books, kept)
            kept.remove()
        return model

    def _kept(self, books: Books) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if books.ledger is None and self._is_private:
            raise UsageError(
                f"checkpoint {self.checkpoint}: only a ledger knows which steps must not be drawn "
                "again; give one, as ledger=Ledger(path), or leave out the checkpoint"
            )
        return Checkpoint(self.checkpoint, self._terms(books.dataset or _NAMELESS), books.ledger)

    @property
    def _is_private(self) -> bool:
        return self.budget.measure is not Measure.UNLIMITED and self.instruments.noise.private

    def _fitted(self, source: ImageSource, books: Books, kept: Checkpoint | None) -> Model:
        before = None if kept is None else kept.read(self.settings)
        told = None if before is None else before.told
        with self._run.granted(books, resume=told) as run:
            if kept is not None:
                kept.forget()
            play = self._by_gradients if self.method == "dpgan" else self._by_sums
            game, census = play(run.curator_over(source), run, kept, before)
        return image_model(self._released(game, census), census.rows, run.statement())

    def _released(self, game: TrainingState, census: Census) -> ImageGenerator:
        """Release of a training the averaged generator, and how often each label is drawn."""
        return ImageGenerator.of(self.maker, as_arrays(game.averaged), census.chances)

    def _by_gradients(
        self,
        curator: Curator,
        run: OpenRun,
        kept: Checkpoint | None,
        before: Standing | None,
    ) -> tuple[TrainingState, Census]:
        critic, maker, grant = ImageCritic(self.shape, self.critic_filters), self.maker, run.grant
        if before is None:
            census, game, course = self._begun(curator, critic)
            curator.commit(course.questions)
        else:
            game = before.game
            census, course = resumed_course(before.facts, grant, game.step)
        trainer = Trainer(
            critic=critic,
            generator=maker,
            settings=self.settings,
            course=course,
            examples=census.rows,
            chances=census.chances,
        )
        trainer.watches = self._watches(course, census, run, kept)
        try:
            return trainer.play(game, curator, images_behind), census
        except Diverged:
            if kept is None:
                raise
            facts = course_facts(census, course, grant)
            good = kept.set_back(game, facts, self.settings, grant)
            if good is None or grant.unfinished:
                raise
            self._notice(
                "training diverged (NaN or infinity) in its last step; the model is that of before"
            )
            return good, census

    def _begun(
        self, curator: Curator, critic: ImageCritic
    ) -> tuple[Census, TrainingState, NoiseSchedule]:
        """Both players before the first step, and the noise of the steps: what is left allows."""
        game = TrainingState.begin(critic, self.maker, self.settings)
        cells = sum(value.numel() for value in game.critic.values())
        if self.settings.lessons == 0:
            census, left = self._census(curator)
            return census, game, self._course(census, cells, left)
        start = ImageStart.asked_of(curator, self.size, self.unit.neighbours)
        census = Census(start.rows, start.law.chances)
        taught = self._taught(start, more=self.settings.schedule(census.rows, cells).steps)
        game.generator, game.averaged = taught.averaged, dict(taught.averaged)
        return census, game, self._course(census, cells, self._after_start)

    def _course(self, census: Census, cells: int, left: Budget) -> NoiseSchedule:
        """As many steps as will be played, with the noise that what is left allows."""
        before = self.budget.amount - left.amount
        return NoiseSchedule.within(self.settings.schedule(census.rows, cells), left, before=before)

    def _by_sums(
        self,
        curator: Curator,
        run: OpenRun,
        kept: Checkpoint | None,
        before: Standing | None,
    ) -> tuple[TrainingState, Census]:
        del run, kept, before
        start = ImageStart.asked_of(curator, self.size, self.unit.neighbours)
        return self._taught(start), Census(start.rows, start.law.chances)

    def _taught(self, start: ImageStart, *, more: int = 0) -> TrainingState:
        """The generator after its lessons: post-processing of what was released."""
        lessons = GeneratorLessons(
            generator=self.maker,
            teacher=MomentTeacher(start.law, self.maker.latent),
            features=start.features,
            gaps=start.gaps,
            teaching=Teaching(steps=self.settings.lessons, seed=self.settings.seed),
        )
        if self.progress is not None:
            lessons.watches = (self._telling(self.settings.lessons + more),)
        return lessons.play()

    def _telling(self, steps: int) -> TrainingHook:
        def tell(game: TrainingState) -> None:
            if self.progress is not None:
                self.progress(game.step, steps, None)

        return tell

    @property
    def _first(self) -> Budget:
        """Return the budget of dpgan's start."""
        budget = self.budget
        if budget.measure is Measure.UNLIMITED:
            return budget
        return Budget.approximate(budget.amount * _START, budget.delta * _START)

    @property
    def _after_start(self) -> Budget:
        """The budget that dpgan's start leaves for its critic."""
        budget, first = self.budget, self._first
        if budget.measure is Measure.UNLIMITED:
            return budget
        return Budget.approximate(budget.amount - first.amount, budget.delta - first.delta)

    def _census(self, curator: Curator) -> tuple[Census, Budget]:
        """How many images of each class there are, with noise, and the budget that is left."""
        budget = self.budget
        if budget.measure is Measure.UNLIMITED:
            [counts] = curator.measure([(LABEL,)], budget)
            return Census.of(counts.counts, None), budget
        share = Budget.pure(budget.amount * QUESTION_SHARE)
        [counts] = curator.measure([(LABEL,)], share)
        left = Budget.approximate(budget.amount - share.amount, budget.delta)
        return Census.of(counts.counts, None), left

    def _watches(
        self, course: NoiseSchedule, census: Census, run: OpenRun, kept: Checkpoint | None
    ) -> list[TrainingHook]:
        every = max(course.schedule.steps // _CHECKPOINTS, 1)
        known: dict[int, float | None] = {}

        def tell(game: TrainingState) -> None:
            place = game.step // every
            if place not in known:
                known[place] = course.epsilon_after(game.step)
            if self.progress is not None:
                before = self.settings.lessons
                self.progress(before + game.step, before + course.schedule.steps, known[place])

        def keep(game: TrainingState) -> None:
            if kept is None or game.step % every:
                return
            try:
                kept.write(game, course_facts(census, course, run.grant), run.grant)
                self._draw(kept.path, game, census)
            except DiskError as error:
                # The course is paid for: what it has come to must not be lost for want of space.
                self._notice(
                    f"{error}; training continues, and resumes from the checkpoint before "
                    "if it is cut"
                )

        return [tell, keep]

    def _notice(self, text: str) -> None:
        if self.notice is not None:
            self.notice(text)

    def _draw(self, path: Path, game: TrainingState, census: Census) -> None:
        """A sheet of samples beside the checkpoint, made of what the checkpoint holds."""
        labels = np.repeat(np.arange(self.shape.classes), _ON_SHEET)
        made = self._released(game, census).of_labels(labels, seed=0)
        write_sheet(path.with_suffix(".png"), made.pixels, across=_ON_SHEET)

    def _terms(self, dataset: str) -> dict[str, Any]:
        return {
            "dataset": dataset,
            "method": self.method,
            "budget": str(self.budget),
            "shape": asdict(self.shape),
            "settings": {k: v for k, v in asdict(self.settings).items() if k not in RATES},
            "filters": [list(self.filters), list(self.critic_filters)],
        }

    @property
    def _pricing(self) -> Pricing:
        """How charges are counted: by the Gaussian curve, by a list, or by one after the other."""
        if self.method == "noise-gan":
            return GaussianRounds()
        return QuestionsThenList() if self.settings.lessons == 0 else RoundsThenList(self._first)

    @property
    def _run(self) -> PaidRun:
        """Return the budget of a fit, its unit, and how it draws noise."""
        return PaidRun(
            method=self.method,
            budget=self.budget,
            unit=self.unit,
            pricing=self._pricing,
            instruments=self.instruments,
        )
