"""A generator is taught by draws of `moments`, and brought to released sums of features.

All it sees was released before, so that it may take any number of steps. Proof:
docs/proofs/noise_gan.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from understudy.gan.backend import Parameters, Tensor, random_from, torch
from understudy.gan.convolutions import ImageMaker
from understudy.gan.layer_features import FeatureGaps, LayerFeatures
from understudy.gan.moment_teacher import MomentTeacher
from understudy.gan.optimiser import Adam
from understudy.gan.training import TrainingHook, TrainingState, gradient_of, left_the_numbers
from understudy.system.notebooks import notebook_bar

# Lessons that are prepared together; the waves of each slant are made once for all of them.
_TOGETHER = 4096
# The rate falls from here on, and features count from the same step on.
_STEADY = 0.5


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """How a generator is taught; all of it public.

    Attributes:
        steps: how many.
        batch: images in a step.
        rate: how fast the generator learns.
        of_features: the weight of features beside that of pixels.
        averaging: how much of the generator's past its released average keeps in each step.
        seed: of public random numbers.
    """

    steps: int = 1500
    batch: int = 64
    rate: float = 4e-3
    of_features: float = 0.1
    averaging: float = 0.98
    seed: int = 0


@dataclass(kw_only=True)
class GeneratorLessons:
    """Teaches a generator; nothing private is within its reach.

    Attributes:
        generator: the layers that are taught.
        teacher: gives an image for the latent numbers of a draw.
        features: by which made images are compared with the released sums.
        gaps: by how much the mean features of private images differ from the teacher's, of each
            class; released.
        teaching: steps, batch and rate.
        watches: called with the training state after every step.
    """

    generator: ImageMaker
    teacher: MomentTeacher
    features: LayerFeatures
    gaps: FeatureGaps
    teaching: Teaching
    watches: tuple[TrainingHook, ...] = ()
    _prepared: list[tuple[Tensor, Tensor, Tensor]] = field(default_factory=list, init=False)

    def play(self) -> TrainingState:
        """Teach from the first step to the last; the critic of the state has no numbers yet."""
        random, bar = random_from(self.teaching.seed), notebook_bar("Teaching")
        first = self.generator.initial(random)
        adam = Adam(self.teaching.rate, momentum=0.9, memory=0.999)
        state = TrainingState(
            {}, first, dict(first), critic_steps=Adam(0.0), generator_steps=adam, random=random
        )
        while state.step < self.teaching.steps:
            self._step(state)
            state.step += 1
            if not state.finite:
                raise left_the_numbers(state.step, None)
            for watch in self.watches:
                watch(state)
            bar(state.step, self.teaching.steps)
        return state

    def _step(self, state: TrainingState) -> None:
        done = state.step / self.teaching.steps
        latents, labels, lesson = self._next(state)
        late = done >= _STEADY

        def loss(parameters: Parameters) -> Tensor:
            made = self.generator.make(parameters, latents, labels, state.random)
            pixels = ((made - lesson) ** 2).mean()
            return pixels + self._of_features(made, lesson, labels) if late else pixels

        pace = min((1 - done) / (1 - _STEADY), 1.0)
        state.move_generator(gradient_of(loss, state.generator), pace, self.teaching.averaging)

    def _of_features(self, made: Tensor, lesson: Tensor, labels: Tensor) -> Tensor:
        """How far made images are from the released means.

        Made images are compared with their own lessons, whose mean features are known: what is
        left of chance in a batch is far less than in the features themselves.
        """
        pytorch = torch()
        gaps = pytorch.from_numpy(self.gaps.gaps.astype("float32"))
        apart = self.features.seen(made) - self.features.seen(lesson)
        known = pytorch.nn.functional.one_hot(labels, len(gaps)).to(apart.dtype)
        counts = known.sum(dim=0)
        means = (known.T @ apart) / counts.clamp(min=1)[:, None]
        squares = (((means - gaps) / self.gaps.length) ** 2).sum(dim=1)
        return self.teaching.of_features * (squares * counts).sum() / counts.sum()

    def _next(self, state: TrainingState) -> tuple[Tensor, Tensor, Tensor]:
        if not self._prepared:
            self._prepared = self._prepare(state)
        return self._prepared.pop()

    def _prepare(self, state: TrainingState) -> list[tuple[Tensor, Tensor, Tensor]]:
        pytorch, batch = torch(), self.teaching.batch
        left = max(self.teaching.steps - state.step, 1)
        count = min(max(_TOGETHER // batch, 1), left) * batch
        latents = pytorch.randn(count, self.generator.latent, generator=state.random)
        law = pytorch.tensor(list(self.teacher.law.chances), dtype=pytorch.float64)
        labels = pytorch.multinomial(law, count, replacement=True, generator=state.random)
        lessons = self.teacher.lesson(latents, labels)
        parts = (values.split(batch) for values in (latents, labels, lessons))
        return list(zip(*parts, strict=True))


__all__ = ["GeneratorLessons", "Teaching"]
