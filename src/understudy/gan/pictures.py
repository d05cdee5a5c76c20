"""Images by adversarial networks: from private arrays to a model that makes arrays like them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import DiskError, Diverged, UsageError
from understudy.facts.unit import Unit
from understudy.gan.backend import torch
from understudy.gan.checkpoints import Checkpoint, Standing
from understudy.gan.convolutions import ImageCritic, ImageMaker, Shape
from understudy.gan.features import FeatureMap
from understudy.gan.grids import write_sheet
from understudy.gan.image_model import ImageGenerator, as_arrays, image_model
from understudy.gan.images import LABEL, ImageSource, LabelledImages, images_behind
from understudy.gan.noise_layer import NoiseTrainer, release_features
from understudy.gan.tables import DPGAN, QUESTION_SHARE, Census, NoiseGAN
from understudy.gan.training import (
    Hyperparameters,
    NoiseSchedule,
    Trainer,
    TrainingHook,
    TrainingState,
)
from understudy.models.model import Model
from understudy.privacy.accounting.events import Charge
from understudy.privacy.budget import Amount, Budget, Measure
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.sampled import Schedule
from understudy.privacy.run import OpenRun, PaidRun
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.pricing import QuestionsThenList
from understudy.privacy.spending.record import DEFAULT, Books, LedgerChoice

METHODS = {
    kind.method: kind.default_neighbours for kind in (DPGAN, NoiseGAN) if kind.abilities.images
}
IMAGE_SETTINGS = Hyperparameters(epochs=10, batch=1024, rounds=1, generator_rate=2e-3, steady=0.3)
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

    Args:
        shape: public height, width and classes.
        epsilon: the privacy loss allowed.
        delta: the chance allowed for a larger loss; above 0.
        method: dpgan, for added and removed images, or noise-gan, for replaced ones.
        settings: epochs, batch, clipping and rates.
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
            play = self._by_gradients if self.method == "dpgan" else self._by_features
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
            census, left = self._census(curator)
            game = TrainingState.begin(critic, maker, self.settings)
            cells = sum(value.numel() for value in game.critic.values())
            course = NoiseSchedule.within(self.settings.schedule(census.rows, cells), left)
            curator.commit(course.questions)
        else:
            game = before.game
            census, course = _resumed(before.facts, grant, game.step)
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
            facts = _facts(census, course, grant)
            good = kept.set_back(game, facts, self.settings, grant)
            if good is None or grant.unfinished:
                raise
            self._notice(
                "training diverged (NaN or infinity) in its last step; the model is that of before"
            )
            return good, census

    def _by_features(
        self,
        curator: Curator,
        run: OpenRun,
        kept: Checkpoint | None,
        before: Standing | None,
    ) -> tuple[TrainingState, Census]:
        del run, kept, before
        rows = curator.public_rows or 0
        shape = self.shape
        features = FeatureMap.of_images(shape.height, shape.width, shape.classes)
        released = release_features(curator, images_behind, features, rows=rows, budget=self.budget)
        chances = features.chances(released.features)
        trainer = NoiseTrainer(
            generator=self.maker,
            features=features,
            settings=self.settings,
            released=released,
            chances=chances,
        )
        if self.progress is not None:
            trainer.watches = (self._telling(trainer.steps),)
        return trainer.play(), Census(rows, chances)

    def _telling(self, steps: int) -> TrainingHook:
        def tell(game: TrainingState) -> None:
            if self.progress is not None:
                self.progress(game.step, steps, None)

        return tell

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
                self.progress(game.step, course.schedule.steps, known[place])

        def keep(game: TrainingState) -> None:
            if kept is None or game.step % every:
                return
            try:
                kept.write(game, _facts(census, course, run.grant), run.grant)
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
    def _run(self) -> PaidRun:
        """Return the budget of a fit, its unit, and how it draws noise."""
        return PaidRun(
            method=self.method,
            budget=self.budget,
            unit=self.unit,
            pricing=QuestionsThenList(),
            instruments=self.instruments,
        )


def _facts(census: Census, course: NoiseSchedule, grant: Grant) -> dict[str, Any]:
    """Return the facts that a resumed run needs, all public or released."""
    schedule = course.schedule
    return {
        "grant": grant.identity,
        "rows": census.rows,
        "chances": list(census.chances),
        "schedule": [schedule.steps, str(schedule.rate), schedule.cells],
        "ratio": str(course.ratio),
        "delta": str(course.delta),
        "questions": [c.document() for c in grant.charges if c not in set(grant.pricing.listed)],
    }


def _resumed(facts: dict[str, Any], grant: Grant, step: int) -> tuple[Census, NoiseSchedule]:
    """Census and course of the run before, its grant as it was after a step."""
    steps, rate, cells = facts["schedule"]
    schedule = Schedule(int(steps), Fraction(rate), int(cells))
    course = NoiseSchedule(schedule, Fraction(facts["ratio"]), Fraction(facts["delta"]))
    questions = [Charge.parse(document) for document in facts["questions"]]
    grant.restore(questions, [question.charge for question in course.questions], done=step)
    chances = tuple(float(chance) for chance in facts["chances"])
    return Census(int(facts["rows"]), chances), course
