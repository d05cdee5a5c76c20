"""Critics and generators: pure functions of their parameters.

A critic scores single examples, so that no example's score depends on another's. What a generator
makes is public, so that there batches may be normalised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from understudy.gan.backend import Parameters, Tensor, leaky, torch


class Critic(Protocol):
    """Scores examples: the higher, the more they look like private ones."""

    def initial(self, random: object) -> Parameters:
        """Return the initial parameters."""

    def masks(self, random: object) -> tuple[Tensor, ...]:
        """Which units take part in one step, the same ones for every example."""

    def score(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Tensor:
        """One score for each example."""

    def gradients(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Parameters:
        """The gradient of each example's own score by every parameter, a line each."""


class Generator(Protocol):
    """Makes examples of random numbers and labels."""

    @property
    def latent(self) -> int:
        """How many random numbers an example is made of."""

    def initial(self, random: object) -> Parameters:
        """Return the initial parameters."""

    def make(
        self, parameters: Parameters, latents: Tensor, labels: Tensor, random: object
    ) -> Tensor:
        """Examples that a critic can score, differentiable by the parameters."""


@dataclass(frozen=True)
class Batch:
    """Examples with their labels, and the units that take part."""

    examples: Tensor
    labels: Tensor
    masks: tuple[Tensor, ...]


def one_by_one(critic: Critic, parameters: Parameters, batch: Batch) -> Parameters:
    """Gradients of single examples by differentiation alone, whatever the critic is."""
    pytorch = torch()

    def score(parameters: Parameters, example: Tensor, label: Tensor) -> Tensor:
        return critic.score(parameters, example[None], label[None], batch.masks)[0]

    by_example = pytorch.func.vmap(pytorch.func.grad(score), in_dims=(None, 0, 0))
    found = by_example(parameters, batch.examples, batch.labels)
    return {name: found[name].flatten(1) for name in parameters}


def dense(fan_in: int, fan_out: int, random: object) -> Tensor:
    """Weights of a dense layer, small enough for its inputs."""
    return torch().randn(fan_in, fan_out, generator=random) * math.sqrt(2 / (1.04 * fan_in))


@dataclass(frozen=True)
class RowCritic:
    """Scores encoded rows, one place for every code of every attribute."""

    width: int
    hidden: tuple[int, ...] = (128, 64)

    def initial(self, random: object) -> Parameters:
        """Return the initial parameters."""
        sizes = (self.width, *self.hidden, 1)
        return _dense_layers(sizes, random)

    def masks(self, random: object) -> tuple[Tensor, ...]:
        """All units take part."""
        del random
        return ()

    def score(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Tensor:
        """One score for each row; its target is in the row itself."""
        del labels, masks
        return _through(parameters, examples, len(self.hidden) + 1)[..., 0]

    def gradients(
        self, parameters: Parameters, examples: Tensor, labels: Tensor, masks: tuple[Tensor, ...]
    ) -> Parameters:
        """The gradient of each row's own score."""
        return one_by_one(self, parameters, Batch(examples, labels, masks))


@dataclass(frozen=True)
class RowMaker:
    """Makes encoded rows: scores of codes, and one code for each attribute by its softmax.

    Attributes:
        sizes: how many codes every attribute has.
        target: the place of the attribute that is given, if any.
    """

    sizes: tuple[int, ...]
    target: int | None = None
    latent: int = 32
    hidden: tuple[int, ...] = (128, 128)
    temperature: float = 0.5

    @property
    def classes(self) -> int:
        """How many codes the target has; none without a target."""
        return 0 if self.target is None else self.sizes[self.target]

    def initial(self, random: object) -> Parameters:
        """The first parameters; all codes are about equally likely at first."""
        sizes = (self.latent + self.classes, *self.hidden, sum(self.sizes))
        layers = _dense_layers(sizes, random)
        layers[f"w{len(sizes) - 2}"] *= 0.5
        return layers

    def make(
        self, parameters: Parameters, latents: Tensor, labels: Tensor, random: object
    ) -> Tensor:
        """Rows of zeros and ones, whose gradients are those of the softmax."""
        pytorch = torch()
        scores, known = self._scores(parameters, latents, labels)
        uniform = pytorch.rand(scores.shape, generator=random).clamp_(1e-12, 1 - 1e-7)
        blocks = (scores - uniform.log().neg().log()).split(self.sizes, dim=1)
        drawn = [self._one_code(block) for block in blocks]
        if self.target is not None:
            drawn[self.target] = known
        return pytorch.cat(drawn, dim=1)

    def chances(self, parameters: Parameters, latents: Tensor, labels: Tensor) -> Tensor:
        """How likely a row has each code, given its latent numbers: codes are independent then."""
        scores, known = self._scores(parameters, latents, labels)
        found = [block.softmax(dim=1) for block in scores.split(self.sizes, dim=1)]
        if self.target is not None:
            found[self.target] = known
        return torch().cat(found, dim=1)

    def _scores(
        self, parameters: Parameters, latents: Tensor, labels: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The scores of all codes, and the place of the target's code."""
        pytorch = torch()
        known = pytorch.nn.functional.one_hot(labels, max(self.classes, 1)).to(latents.dtype)
        inputs = latents if self.target is None else pytorch.cat([latents, known], dim=1)
        return _through(parameters, inputs, len(self.hidden) + 1), known

    def _one_code(self, scores: Tensor) -> Tensor:
        pytorch = torch()
        soft = (scores / self.temperature).softmax(dim=1)
        hard = pytorch.nn.functional.one_hot(soft.argmax(dim=1), soft.shape[1]).to(soft.dtype)
        return hard - soft.detach() + soft


def _dense_layers(sizes: tuple[int, ...], random: object) -> Parameters:
    layers: Parameters = {}
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        layers[f"w{i}"] = dense(fan_in, fan_out, random)
        layers[f"b{i}"] = torch().zeros(fan_out)
    return layers


def _through(parameters: Parameters, values: Tensor, layers: int) -> Tensor:
    for i in range(layers):
        values = values @ parameters[f"w{i}"] + parameters[f"b{i}"]
        values = leaky(values) if i < layers - 1 else values
    return values
