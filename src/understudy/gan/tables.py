"""Tables by adversarial networks: rows as places for codes, through the same door as ever."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours
from understudy.gan.backend import Tensor, torch
from understudy.gan.features import FeatureMap
from understudy.gan.noise_layer import NoiseTrainer, NoisyFeatures, release_features
from understudy.gan.perceptrons import RowCritic, RowMaker
from understudy.gan.row_start import RowLessons, RowStart, RowTeaching
from understudy.gan.training import (
    Hyperparameters,
    NoiseSchedule,
    Trainer,
    TrainingHook,
    TrainingState,
)
from understudy.methods.abilities import TRAINING_OPTIONS, Abilities
from understudy.methods.adaptive import AdaptiveMarginals
from understudy.methods.base import Synthesizer
from understudy.methods.estimation.learned import Learned
from understudy.models.generator import RowGenerator
from understudy.models.model import Model
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator
from understudy.privacy.spending.list_pricing import QuestionsThenList, RoundsThenList
from understudy.privacy.spending.pricing import Pricing
from understudy.rows.counting import Counts, CountSource, NumbersRows
from understudy.system.arrays import Integers, Numbers

_TRAINED_REMARK = "rows come from a trained network, which has no probabilities to ask for"
# Of epsilon, to ask how many rows there are, or how many of each class.
QUESTION_SHARE = Budget.pure("1/50").amount
START_SHARE = Fraction(1, 2)
"""Of epsilon and delta, for the rows that dpgan starts from."""


TABLE_SETTINGS = Hyperparameters(lessons=1000)
"""How dpgan is played for tables where nothing else is given."""
# The part of its rate at which a generator learns from the critic once it was taught by lessons:
# a critic that has just begun would undo them at full rate.
_AFTER_LESSONS = 0.1


@dataclass(frozen=True, repr=False)
class EncodedRows:
    """Rows as zeros and ones, one place for every code of every attribute. Private."""

    codes: Counts
    sizes: tuple[int, ...]
    target: int | None

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.codes)

    def batch(self, places: Integers) -> tuple[Tensor, Tensor]:
        """Some of them, with the codes of the target."""
        pytorch = torch()
        chosen = self.codes[places]
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)
        ones = np.zeros((len(chosen), sum(self.sizes)), np.float32)
        np.put_along_axis(ones, np.maximum(chosen, 0) + starts, 1.0, axis=1)
        # A row that the codec dropped has no code: it says nothing, and keeps its line.
        ones[(chosen < 0).any(axis=1)] = 0.0
        chosen = np.maximum(chosen, 0)
        labels = chosen[:, self.target] if self.target is not None else np.zeros(len(chosen))
        return pytorch.from_numpy(ones), pytorch.from_numpy(labels.astype(np.int64))

    def __repr__(self) -> str:
        return "EncodedRows(private)"


class RowsBehind:
    """From a source to its encoded rows, numbered once in the life of a fit. Private."""

    def __init__(self, domain: Domain, target: int | None, *, dropped: bool = False) -> None:
        self._domain, self._target, self._dropped = domain, target, dropped
        self._known: EncodedRows | None = None

    def __call__(self, source: CountSource) -> EncodedRows:
        """The rows; called only while the Curator looks."""
        if self._known is None:
            assert isinstance(source, NumbersRows)
            codes = source.number_rows([(attribute,) for attribute in self._domain])
            kept = codes if self._dropped else codes[(codes >= 0).all(axis=1)]
            self._known = EncodedRows(kept, tuple(self._domain.sizes.values()), self._target)
        return self._known


@dataclass(frozen=True)
class Census:
    """How many rows there are, and how they share the classes: public, or paid for."""

    rows: int
    chances: tuple[float, ...]

    @classmethod
    def of(cls, counts: Numbers, rows: int | None) -> Census:
        """Make it from noisy counts of classes; a declared number of rows is kept."""
        cells = np.maximum(np.atleast_1d(counts).astype(float), 0.0)
        total = round(float(cells.sum())) if rows is None else rows
        shares = cells / cells.sum() if cells.sum() > 0 else np.full(cells.size, 1 / cells.size)
        return cls(total, tuple(float(share) for share in shares))


@dataclass(kw_only=True, eq=False, repr=False)
class TableGAN(Synthesizer):
    """The base of both methods: a target, a declared size, and a generator in the end."""

    abilities: ClassVar[Abilities] = Abilities(
        other_neighbours=False,
        persons=False,
        pure=False,
        other_budget="give one",
        constraints=False,
        options=("rows", *TRAINING_OPTIONS),
        extra="gan",
        is_trained=True,
        images=True,
    )

    usual: ClassVar[Hyperparameters] = Hyperparameters()
    """The settings where none are given."""

    rows: int | None = None
    target: str | None = None
    settings: Hyperparameters | None = None
    watches: tuple[TrainingHook, ...] = ()

    @property
    def pricing(self) -> Pricing:
        """A question for the size, and then a list of sums as a whole."""
        return QuestionsThenList()

    @classmethod
    def remarks(cls, model: Model) -> list[str]:
        """Remark what a generator cannot do, and which method does better."""
        del model
        return [f"{_TRAINED_REMARK}; nist is more accurate on most tables at the same epsilon"]

    @property
    def played(self) -> Hyperparameters:
        """Return the settings in force."""
        return self.settings or self.usual

    def check(self) -> None:
        """Refuse parameters that cannot work, and a missing package, before anything is read."""
        super().check()
        torch()
        self.played.check()
        if self.target is not None and self.target not in self.schema.learned:
            known = ", ".join(self.schema.learned)
            raise UsageError(f"target {self.target!r} is not a column; the columns are {known}")
        if self.rows is not None and self.rows < 0:
            raise UsageError(f"rows is {self.rows}; ask for none or more")

    def place_of_target(self, domain: Domain) -> int | None:
        """Return the position of the target among the attributes."""
        return None if self.target is None else list(domain).index(self.target)

    def maker(self, domain: Domain) -> RowMaker:
        """Return the generator's shape."""
        return RowMaker(tuple(domain.sizes.values()), self.place_of_target(domain))

    @property
    def needs_rows(self) -> str:
        """Single rows are learned from."""
        return (
            f"{self.method} learns from single rows, and this source only counts them; "
            "export the table to a .parquet file, or use another method"
        )

    def require_rows(self, curator: Curator) -> None:
        """Refuse sources that only count, before anything is paid."""
        if not curator.can_number_rows:
            raise UsageError(self.needs_rows)

    def finished(self, game: TrainingState, census: Census, domain: Domain) -> Learned:
        """The generator, as a model holds it."""
        weights = {name: value.numpy().copy() for name, value in game.averaged.items()}
        chances = census.chances if self.target is not None else ()
        return Learned(RowGenerator(domain, weights, self.target, chances), census.rows)


@dataclass(kw_only=True, eq=False, repr=False)
class DPGAN(TableGAN):
    """A Wasserstein critic trained by clipped and noised gradients, and a generator it teaches.

    Source: Xie, Lin, Wang, Wang, Zhou 2018. Proof: docs/proofs/dpgan.md.

    Args:
        schema: the declared values of each column.
        epsilon: as for every synthesizer; half of it pays for rows of `adaptive` to start from.
            Without lessons a fiftieth asks for the number of rows, or of each class.
        delta: above 0; half of it is for the start.
        neighbours: add-remove, the only relation that its sampling is accounted for.
        rows: a declared number of rows, which saves that part of the budget; with a target the
            classes are asked for all the same.
        target: a column to be given to the generator, so that every class is made as often as its
            released count says.
        settings: lessons, epochs, batch, clipping and rates; with lessons of 0 nothing is asked
            for a start, and the critic has nearly all of the budget.
        watches: called with the training state after every step.
    """

    method: ClassVar[str] = "dpgan"
    abilities: ClassVar[Abilities] = replace(TableGAN.abilities, lessons=True)
    law: ClassVar[int] = 2
    """2: starts from rows of the default method."""
    usual: ClassVar[Hyperparameters] = TABLE_SETTINGS
    summary: ClassVar[str] = (
        "a generator of rows, taught by a critic whose gradients are clipped, noised and "
        "accounted for; also of images"
    )

    @property
    def pricing(self) -> Pricing:
        """A question for the size, or rounds for a start, and then a list of sums as a whole."""
        return RoundsThenList(self._first) if self.played.lessons else QuestionsThenList()

    def check(self) -> None:
        """Refuse parameters that cannot work, those of the start too."""
        super().check()
        if self.played.lessons:
            self.starting.check()

    def pool_bytes(self, domain: Domain) -> int:
        """Return the most bytes that the start's made-up rows take."""
        return self.starting.pool_bytes(domain) if self.played.lessons else 0

    @property
    def starting(self) -> AdaptiveMarginals:
        """The method whose rows the generator is taught by, within the first share."""
        return AdaptiveMarginals(
            self.schema, epsilon=self._first, rows=self.rows, target=self.target
        )

    @property
    def _first(self) -> Budget:
        """Return the budget of the start."""
        budget = self.budget
        if budget.measure is Measure.UNLIMITED:
            return budget
        return Budget.approximate(budget.amount * START_SHARE, budget.delta * START_SHARE)

    def learn(self, curator: Curator) -> Learned:
        """Start from released rows, find the noise, commit to all steps, and play."""
        self.require_rows(curator)
        census, taught = self._begun(curator)
        trainer, game = self._prepared(curator.domain, census, curator.left_for_list)
        if taught is not None:
            self._set_out(game, taught)
        curator.commit(trainer.course.questions)
        reach = RowsBehind(curator.domain, self.place_of_target(curator.domain))
        return self.finished(trainer.play(game, curator, self.seen(reach)), census, curator.domain)

    def _prepared(
        self, domain: Domain, census: Census, left: Budget
    ) -> tuple[Trainer, TrainingState]:
        """Both networks before the first step, and noise for as many steps as will be played."""
        maker, critic = self.maker(domain), RowCritic(sum(domain.sizes.values()))
        game = TrainingState.begin(critic, maker, self.played)
        cells = sum(value.numel() for value in game.critic.values())
        course = NoiseSchedule.within(self.played.schedule(census.rows, cells), left)
        return Trainer(
            critic=critic,
            generator=maker,
            settings=self.played,
            course=course,
            examples=census.rows,
            chances=census.chances,
            watches=[*self.watches],
        ), game

    def seen(self, reach: Any) -> Any:
        """Return the way examples are reached, which audits replace."""
        return reach

    def _begun(self, curator: Curator) -> tuple[Census, TrainingState | None]:
        """The size, and a generator that was taught by released rows, unless lessons are 0."""
        if not self.played.lessons:
            return self._census(curator), None
        domain, start = curator.domain, RowStart.asked_of(curator, self.starting)
        rows = start.drawn(domain, seed=self.played.seed)
        lessons = RowLessons(
            generator=self.maker(domain),
            rows=rows,
            chances=start.chances(domain, rows),
            teaching=RowTeaching(steps=self.played.lessons, seed=self.played.seed),
        )
        return Census(start.rows, tuple(lessons.chances)), lessons.play()

    def _set_out(self, game: TrainingState, taught: TrainingState) -> None:
        """Let the generator begin where its lessons ended."""
        game.generator, game.averaged = taught.averaged, dict(taught.averaged)
        game.generator_steps.rate *= _AFTER_LESSONS

    def _census(self, curator: Curator) -> Census:
        """Return the size, declared or paid for."""
        budget = curator.budget
        if self.rows is not None and self.target is None:
            return Census(self.rows, (1.0,))
        table = () if self.target is None else (self.target,)
        unlimited = budget.measure is Measure.UNLIMITED
        share = budget if unlimited else Budget.pure(budget.amount * QUESTION_SHARE)
        [counts] = curator.measure([table], share)
        return Census.of(counts.counts, self.rows)


@dataclass(kw_only=True, eq=False, repr=False)
class NoiseGAN(TableGAN):
    """Features of every row, noised once; critic and generator see nothing else.

    Source: TUC-2 section 5.2, second algorithm, made private. Proof: docs/proofs/noise_gan.md.

    Args:
        schema: the declared values of each column.
        epsilon: as for every synthesizer; all of it goes into the noise on features.
        delta: above 0.
        neighbours: replace, the number of rows being public.
        rows: how many rows the model makes by default; as many as there are unless given.
        target: a column to be given to the generator.
        settings: epochs, batch and rates.
        watches: called with the training state after every step.
    """

    method: ClassVar[str] = "noise-gan"
    summary: ClassVar[str] = "the same from at most 64 features of every row, noised once"
    default_neighbours: ClassVar[Neighbours] = Neighbours.REPLACE

    def check(self) -> None:
        """Refuse lessons too: only dpgan starts from rows."""
        super().check()
        if self.played.lessons:
            raise UsageError(
                f"lessons is {self.played.lessons}; noise-gan of tables takes none: give 0, or use "
                "dpgan"
            )

    def learn(self, curator: Curator) -> Learned:
        """Noise every row's features, and play on them."""
        self.require_rows(curator)
        rows, maker = curator.public_rows or 0, self.maker(curator.domain)
        features = self._features(curator.domain, maker)
        reach = RowsBehind(curator.domain, maker.target, dropped=True)
        released = release_features(curator, reach, features, rows=rows, budget=curator.budget)
        trainer = self._trainer(maker, features, released)
        census = Census(self._made(rows), trainer.chances)
        return self.finished(trainer.play(), census, curator.domain)

    def _trainer(
        self, maker: RowMaker, features: FeatureMap, released: NoisyFeatures
    ) -> NoiseTrainer:
        """Train on released features alone; classes are as likely as those features say."""
        return NoiseTrainer(
            generator=maker,
            features=features,
            settings=self.played,
            released=released,
            chances=features.chances(released.features),
            watches=self.watches,
        )

    def _features(self, domain: Domain, maker: RowMaker) -> FeatureMap:
        """Make the public map of a row's codes to numbers, bounded in length."""
        width = sum(domain.sizes.values())
        return FeatureMap(width, max(maker.classes, 1), math.sqrt(len(domain.sizes)))

    def _made(self, rows: int) -> int:
        """How many rows the model makes by default."""
        return rows if self.rows is None else self.rows


def settings_of(method: str) -> Hyperparameters:
    """The settings in which a method trains on tables where nothing else is given."""
    kinds: tuple[type[TableGAN], ...] = (DPGAN, NoiseGAN)
    return {kind.method: kind.usual for kind in kinds}.get(method, TableGAN.usual)


__all__ = ["DPGAN", "Census", "EncodedRows", "NoiseGAN", "RowsBehind", "TableGAN", "settings_of"]
