"""The noise-layer game on rows: the features of each are noised once, the rest is post-processing.

The critic compares noised features of private rows with noised features of generated ones. It may
look at them as often as it likes. Images have sums of features instead: `image_start`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.gan.backend import Parameters, Tensor, torch
from understudy.gan.features import FeatureMap
from understudy.gan.gradients import Examples
from understudy.gan.perceptrons import Generator, RowCritic
from understudy.gan.training import (
    Hyperparameters,
    Reach,
    TrainingHook,
    TrainingState,
    gradient_of,
    left_the_numbers,
)
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator, Measurement
from understudy.privacy.mechanisms.sampled import LineGaussian, Schedule, ratio_for
from understudy.rows.counting import CountSource
from understudy.system.arrays import Floats, Integers
from understudy.system.notebooks import notebook_bar

QUESTION = "features of every row"


# Rows whose features are computed together.
_BLOCK = 1024


@dataclass(frozen=True)
class NoisyFeatures:
    """Noised features, a line for each row, and how wide their noise is."""

    features: Floats
    deviation: float


def release_features(
    curator: Curator, reach: Reach, features: FeatureMap, *, rows: int, budget: Budget
) -> NoisyFeatures:
    """Each row's features with noise on them, once and for all.

    Privacy: under replaced rows the number of lines is public, and one of them differs.
    """
    cells = max(rows, 1) * features.size
    ratio = ratio_for(Schedule(1, Fraction(1), cells), budget)
    mechanism = LineGaussian.of_ratio(ratio, cells=cells)
    curator.commit([Measurement(QUESTION, mechanism)])

    def look(source: CountSource) -> Integers:
        return all_lines(reach(source), features)

    drawn = curator.release(mechanism, look, name=QUESTION)
    deviation = 0.0 if budget.measure is Measure.UNLIMITED else mechanism.deviation
    return NoisyFeatures(mechanism.in_units(drawn), deviation)


def all_lines(examples: Examples, features: FeatureMap) -> Integers:
    """The features of all examples in whole units, block by block. Private."""
    blocks = [np.zeros((0, features.size), np.int64)]
    for start in range(0, examples.rows, _BLOCK):
        places = np.arange(start, min(start + _BLOCK, examples.rows))
        blocks.append(features.lines(*examples.batch(places)))
    return np.concatenate(blocks)


@dataclass(kw_only=True)
class NoiseTrainer:
    """Plays the game on released features; nothing private is within its reach."""

    generator: Generator
    features: FeatureMap
    settings: Hyperparameters
    released: NoisyFeatures
    chances: tuple[float, ...]
    watches: tuple[TrainingHook, ...] = ()

    @property
    def critic(self) -> RowCritic:
        """Return a critic of feature vectors."""
        return RowCritic(self.features.size)

    @property
    def steps(self) -> int:
        """How many steps the critic takes."""
        return int(max(self.settings.epochs * len(self.released.features) / self.settings.batch, 1))

    def play(self) -> TrainingState:
        """The game from its first step to its last."""
        game = TrainingState.begin(self.critic, self.generator, self.settings)
        bar = notebook_bar("Training")
        while game.step < self.steps:
            self._critic_step(game)
            game.step += 1
            if game.step % self.settings.rounds == 0:
                self._generator_step(game)
            if not game.finite:
                raise left_the_numbers(game.step, None)
            for watch in self.watches:
                watch(game)
            bar(game.step, self.steps)
        return game

    def _critic_step(self, game: TrainingState) -> None:
        real = self._taken(game)
        with torch().no_grad():
            fake = self._shown(game, game.generator)

        def loss(parameters: Parameters) -> Tensor:
            gap = self._score(parameters, fake).mean() - self._score(parameters, real).mean()
            return gap + self._penalty(parameters, fake)

        game.move_critic(gradient_of(loss, game.critic), self._pace(game))

    def _generator_step(self, game: TrainingState) -> None:
        frozen = {name: value.detach() for name, value in game.critic.items()}
        gradient = gradient_of(
            lambda parameters: -self._score(frozen, self._shown(game, parameters)).mean(),
            game.generator,
        )
        game.move_generator(gradient, self._pace(game), self.settings.averaging)

    def _pace(self, game: TrainingState) -> float:
        return self.settings.pace(game.step / (self.steps + 1))

    def _taken(self, game: TrainingState) -> Tensor:
        pytorch = torch()
        count, held = self.settings.batch, self.released.features
        if len(held) == 0:
            return pytorch.zeros(count, self.features.size)
        places = pytorch.randint(0, len(held), (count,), generator=game.random)
        return pytorch.from_numpy(held[places.numpy()].astype(np.float32))

    def _shown(self, game: TrainingState, parameters: Parameters) -> Tensor:
        """Features of generated examples under as much noise as those of private ones."""
        pytorch = torch()
        count = self.settings.batch
        latents = pytorch.randn(count, self.generator.latent, generator=game.random)
        law = pytorch.tensor(list(self.chances), dtype=pytorch.float64)
        labels = pytorch.multinomial(law, count, replacement=True, generator=game.random)
        made = self.generator.make(parameters, latents, labels, game.random)
        found = self.features.of(made, labels)
        noise = pytorch.randn(found.shape, generator=game.random)
        return found + self.released.deviation * noise

    def _score(self, parameters: Parameters, features: Tensor) -> Tensor:
        return self.critic.score(parameters, features, None, ())

    def _penalty(self, parameters: Parameters, features: Tensor) -> Tensor:
        pytorch = torch()
        points = features.clone().requires_grad_()
        [slopes] = pytorch.autograd.grad(
            self._score(parameters, points).sum(), points, create_graph=True
        )
        steep = (slopes.norm(dim=1) - 1).clamp(min=0)
        return self.settings.penalty * (steep * steep).mean()


__all__ = ["NoiseTrainer", "NoisyFeatures", "all_lines", "release_features"]
