"""The adversarial game: a critic that pays for every look, and a generator that never looks.

Each critic step releases the noisy sum of clipped gradients over a batch of private examples. The
rest is post-processing: the same for generated examples, a penalty on generated points, and the
generator, which learns from the critic alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from understudy.errors import Diverged, UsageError
from understudy.gan.backend import Parameters, Tensor, random_from, torch
from understudy.gan.gradients import Examples, ScoreGradients, TensorExamples, split
from understudy.gan.optimiser import Adam
from understudy.gan.perceptrons import Critic, Generator
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Measurement
from understudy.privacy.mechanisms.sampled import (
    UNIT,
    Contributions,
    SampledGaussian,
    Schedule,
    ratio_for,
)
from understudy.rows.counting import CountSource
from understudy.system.amounts import at_most_text
from understudy.system.arrays import Integers
from understudy.system.notebooks import notebook_bar

QUESTION = "step of the critic"
_FEWEST_GENERATED, _MOST_GENERATED = 64, 512

Reach = Callable[[CountSource], Examples]
"""From the rows behind the Curator to the examples in them; used only while it looks."""


@dataclass(frozen=True)
class Hyperparameters:
    """How the game is played; all of it public.

    Attributes:
        epochs: how often a row is expected to be in a batch.
        batch: how many rows are expected in a batch.
        clip: the norm at which the gradient of an example is cut off.
        rounds: steps of the critic for each step of the generator.
        critic_rate: how fast the critic learns.
        generator_rate: how fast the generator learns.
        penalty: weight of the penalty on steep critics, at generated points.
        steady: the part of the course after which both rates fall, to nothing at its end. Where
            steps are mostly noise, they undo at full rate what the first ones learned.
        averaging: how much of the generator's past its released average keeps in each step.
        lessons: steps in which a generator is taught by draws of what was released, moments of
            images or rows of another method, before the first step of the critic; 0 for a
            generator that begins with random weights.
        seed: of public random numbers; it has no part in batches and noise.
    """

    epochs: float = 20
    batch: int = 256
    clip: float = 1.0
    rounds: int = 5
    critic_rate: float = 2e-3
    generator_rate: float = 1e-3
    penalty: float = 10.0
    steady: float = 1.0
    averaging: float = 0.98
    lessons: int = 0
    seed: int = 0

    @property
    def generated(self) -> int:
        """The number of generated examples that are compared with a batch.

        Noise moves the private side by far more than a smaller sample moves this one.
        """
        return min(self.batch, max(self.batch // 4, _FEWEST_GENERATED))

    def check(self) -> None:
        """Refuse settings under which nothing can be learned."""
        for name in ("epochs", "batch", "clip", "rounds", "critic_rate", "generator_rate"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UsageError(f"{name} is {value}; give a number above 0")
        if self.lessons < 0:
            raise UsageError(f"lessons is {self.lessons}; give 0 or more")

    def pace(self, done: float) -> float:
        """The part of its rate at which a player learns when so much of the course is done."""
        return min((1 - done) / (1 - self.steady), 1.0) if self.steady < 1 else 1.0

    def schedule(self, examples: int, cells: int) -> Schedule:
        """Steps and rate for a number of examples that is declared or was paid for.

        The rate is one in n, and n has two digits of bits at most: the noise for it is the same
        over a range of sizes, and has been found before.
        """
        every = _short(max(examples, 1) / self.batch)
        steps = max(math.ceil(self.epochs * every), self.rounds)
        return Schedule(steps, Fraction(1, every), cells)


def _short(number: float) -> int:
    """The nearest whole number of three binary digits and zeros after them, at least one."""
    whole = max(round(number), 1)
    shift = max(whole.bit_length() - 3, 0)
    return int(max(round(whole / 2**shift), 1) << shift)


@dataclass(frozen=True)
class NoiseSchedule:
    """A schedule with its noise: what every step releases through.

    Attributes:
        schedule: steps, their rate, and the cells of each.
        ratio: noise against its sensitivity.
        delta: of the list of steps.
        before: the ε of what was released before the first step, which costs add up to.
    """

    schedule: Schedule
    ratio: Fraction
    delta: Fraction
    before: Fraction = Fraction(0)

    @classmethod
    def within(
        cls, schedule: Schedule, budget: Budget, *, before: Fraction = Fraction(0)
    ) -> NoiseSchedule:
        """The course of least noise that stays within the budget."""
        return cls(schedule, ratio_for(schedule, budget), budget.delta, before)

    @property
    def mechanism(self) -> SampledGaussian:
        """Return the mechanism that releases the sum of every step."""
        return self.schedule.mechanism(self.ratio)

    @property
    def questions(self) -> list[Measurement[Any, Integers]]:
        """All that will be asked."""
        return [Measurement(QUESTION, self.mechanism)] * self.schedule.steps

    def epsilon_after(self, steps: int) -> float | None:
        """Return the cost of the first steps and of all before; the statement claims all steps."""
        if self.ratio == 0:
            return None
        found = self.schedule.bound(self.ratio, self.delta, steps=max(steps, 1)).epsilon
        return float((found or Fraction(0)) + self.before)


@dataclass
class TrainingState:
    """Both players as they stand; everything in it was released or is public."""

    critic: Parameters
    generator: Parameters
    averaged: Parameters
    critic_steps: Adam
    generator_steps: Adam
    random: Any
    step: int = 0

    @classmethod
    def begin(
        cls, critic: Critic, generator: Generator, settings: Hyperparameters
    ) -> TrainingState:
        """Return the players before the first step."""
        random = random_from(settings.seed)
        first, second = critic.initial(random), generator.initial(random)
        adams = Adam(settings.critic_rate), Adam(settings.generator_rate)
        return cls(first, second, dict(second), *adams, random)

    @property
    def finite(self) -> bool:
        """Whether both players are still numbers."""
        numbers = [*self.critic.values(), *self.generator.values()]
        return all(bool(value.isfinite().all()) for value in numbers)

    def move_critic(self, gradient: Parameters, pace: float) -> None:
        """One step of the critic against a gradient."""
        self.critic = self.critic_steps.step(self.critic, gradient, pace=pace)

    def move_generator(self, gradient: Parameters, pace: float, kept: float) -> None:
        """One step of the generator, after which its average keeps a share of the past."""
        self.generator = self.generator_steps.step(self.generator, gradient, pace=pace)
        self.averaged = {
            name: self.averaged[name] * kept + value * (1 - kept)
            for name, value in self.generator.items()
        }


TrainingHook = Callable[[TrainingState], None]


@dataclass(kw_only=True)
class Trainer:
    """Plays the game: each step of the critic is asked of the Curator and paid for.

    Attributes:
        examples: how many there are, declared or paid for.
        chances: of each class.
    """

    critic: Critic
    generator: Generator
    settings: Hyperparameters
    course: NoiseSchedule
    examples: int
    chances: Sequence[float]
    watches: list[TrainingHook] = field(default_factory=list)

    @property
    def expected(self) -> float:
        """How many examples a batch has on average, at the schedule's own rate.

        Were it another number, private examples would weigh more or less than generated ones, and
        the critic would gain by raising, or lowering, all its scores without end.
        """
        return max(self.examples * float(self.course.schedule.rate), 1.0)

    def play(self, game: TrainingState, curator: Curator, reach: Reach) -> TrainingState:
        """Play the game to its end.

        Privacy: the course must have been committed to.
        """
        bar, steps = notebook_bar("Training"), self.course.schedule.steps
        while game.step < steps:
            self.critic_step(game, curator, reach)
            game.step += 1
            if game.step % self.settings.rounds == 0:
                self.generator_step(game)
            self._check(game)
            for watch in self.watches:
                watch(game)
            bar(game.step, steps)
        return game

    def critic_step(self, game: TrainingState, curator: Curator, reach: Reach) -> None:
        """One paid look: away from generated examples, towards private ones."""
        masks = self.critic.masks(game.random)
        about = ScoreGradients(
            critic=self.critic,
            parameters=game.critic,
            masks=masks,
            examples=TensorExamples(None, None),
            clip=self.settings.clip,
        )
        mechanism = self.course.mechanism

        def look(source: CountSource) -> Contributions:
            return replace(about, examples=reach(source))

        released = curator.release(mechanism, look, name=QUESTION)
        real = mechanism.in_units(released) / self.expected
        fake, penalty = self._generated_part(game, about)
        slope = self.settings.clip * torch().from_numpy((fake - real).astype(np.float32))
        gradient = split(slope, game.critic)
        total = {name: gradient[name] + penalty[name] for name in gradient}
        game.move_critic(total, self._pace(game))

    def _generated_part(self, game: TrainingState, about: ScoreGradients) -> tuple[Any, Parameters]:
        """The mean clipped gradient over generated examples, and the gradient of the penalty."""
        with torch().no_grad():
            examples, labels = self._make(game, self.settings.generated)
        shown = replace(about, examples=TensorExamples(examples, labels))
        mean = shown.total(np.arange(shown.rows)) / (UNIT * shown.rows)
        return mean, self._penalty(game, examples, labels, about.masks)

    def _penalty(
        self, game: TrainingState, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Parameters:
        """The gradient of a penalty on slopes above one, at some of the generated points."""
        pytorch = torch()
        count = max(len(labels) // 2, 1)
        points = examples[:count].clone().requires_grad_()

        def penalty(parameters: Parameters) -> Tensor:
            scores = self.critic.score(parameters, points, labels[:count], masks)
            [slopes] = pytorch.autograd.grad(scores.sum(), points, create_graph=True)
            steep = (slopes.flatten(1).norm(dim=1) - 1).clamp(min=0)
            return self.settings.penalty * (steep * steep).mean()

        return gradient_of(penalty, game.critic)

    def generator_step(self, game: TrainingState) -> None:
        """One step towards what the critic takes for private: post-processing."""
        masks = self.critic.masks(game.random)
        frozen = {name: value.detach() for name, value in game.critic.items()}
        latents, labels = self._latents(game, min(self.settings.batch, _MOST_GENERATED))

        def loss(parameters: Parameters) -> Tensor:
            made = self.generator.make(parameters, latents, labels, game.random)
            return -self.critic.score(frozen, made, labels, masks).mean()

        gradient = gradient_of(loss, game.generator)
        game.move_generator(gradient, self._pace(game), self.settings.averaging)

    def _pace(self, game: TrainingState) -> float:
        return self.settings.pace(game.step / (self.course.schedule.steps + 1))

    def _make(self, game: TrainingState, count: int) -> tuple[Tensor, Tensor]:
        latents, labels = self._latents(game, count)
        return self.generator.make(game.generator, latents, labels, game.random), labels

    def _latents(self, game: TrainingState, count: int) -> tuple[Tensor, Tensor]:
        pytorch = torch()
        latents = pytorch.randn(count, self.generator.latent, generator=game.random)
        law = pytorch.tensor(list(self.chances), dtype=pytorch.float64)
        labels = pytorch.multinomial(law, count, replacement=True, generator=game.random)
        return latents, labels

    def _check(self, game: TrainingState) -> None:
        if not game.finite:
            raise left_the_numbers(game.step, self.course.epsilon_after(game.step))


def left_the_numbers(step: int, epsilon: float | None) -> Diverged:
    """Return the error of a training that diverged."""
    cost = "" if epsilon is None else f" after epsilon = {at_most_text(epsilon, digits=4)}"
    return Diverged(
        f"training diverged (NaN or infinity) in step {step:,}{cost}; resume from the last "
        "checkpoint, if one "
        "was named, or start again, at lower rates (--pace 0.5)"
    )


def gradient_of(loss: Callable[[Parameters], Tensor], parameters: Parameters) -> Parameters:
    """The gradient of a public loss by all parameters."""
    leaves = {name: value.detach().requires_grad_() for name, value in parameters.items()}
    value, names = loss(leaves), list(leaves)
    # Where all that is made was given, no parameter has a part in it.
    found: Sequence[Tensor] = [None] * len(names)
    if value.requires_grad:
        found = torch().autograd.grad(value, list(leaves.values()), allow_unused=True)
    zeros = (torch().zeros_like(value) for value in leaves.values())
    return {
        name: zero if slope is None else slope.detach()
        for name, slope, zero in zip(leaves, found, zeros, strict=True)
    }
