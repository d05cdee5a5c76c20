"""Private training: a step by gradients of single images, beside a plain step and Opacus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measuring import in_turns
from benchmarks.scoreboard import Scoreboard
from understudy.gan.backend import random_from
from understudy.gan.convolutions import ImageCritic, Shape
from understudy.gan.gradients import ScoreGradients, TensorExamples
from understudy.privacy.mechanisms.sampled import UNIT

_SHAPE = Shape(28, 28, 10)


def run(board: Scoreboard) -> None:
    """The critic of the thesis on random images, on one thread."""
    import torch

    torch.set_num_threads(1)
    images = board.size.pick(256, 16)
    gradients = _gradients(torch, images)
    everybody = np.arange(images)
    work: dict[str, Callable[[], Any]] = {
        "plain": lambda: _plain_step(torch, gradients),
        "ours": lambda: gradients.total(everybody),
        "opacus": _opacus_step(torch, gradients),
    }
    taken = in_turns(work, rounds=board.size.pick(4, 1))
    ratio = taken["ours"] / taken["plain"]
    clipped = "a training step that clips each image's gradient, CPU times a plain step"
    board.add(clipped, ratio, "×", 2.5)
    hooks = "the same step by Opacus's hooks, CPU times a plain step"
    board.add(hooks, taken["opacus"] / taken["plain"], "×")
    moved = "how far the sum of a batch moves when its images are grouped differently"
    board.add(f"{moved}, in contributions of one image", _company(gradients), "", 1e-3)


def _gradients(torch: Any, images: int) -> ScoreGradients:
    random = random_from(0)
    critic = ImageCritic(_SHAPE)
    parameters, masks = critic.initial(random), critic.masks(random)
    examples = torch.rand(images, 1, 28, 28, generator=random) * 2 - 1
    labels = torch.randint(0, 10, (images,), generator=random)
    return ScoreGradients(
        critic=critic,
        parameters=parameters,
        masks=masks,
        examples=TensorExamples(examples, labels),
        clip=1.0,
    )


def _plain_step(torch: Any, gradients: ScoreGradients) -> None:
    leaves = {name: value.clone().requires_grad_() for name, value in gradients.parameters.items()}
    examples, labels = gradients.examples.batch(np.arange(gradients.rows))
    score = gradients.critic.score(leaves, examples, labels, gradients.masks).sum()
    torch.autograd.grad(score, list(leaves.values()))


def _opacus_step(torch: Any, gradients: ScoreGradients) -> Callable[[], None]:
    """The same network in Opacus's hooks, without dropout, which they make no difference for."""
    import opacus

    layers = torch.nn.Sequential(
        *(torch.nn.Conv2d(1, 64, 5, 2, 2), torch.nn.LeakyReLU(0.2)),
        *(torch.nn.Conv2d(64, 128, 5, 2, 2), torch.nn.LeakyReLU(0.2)),
        *(torch.nn.Flatten(), torch.nn.Linear(6272, 10)),
    )
    watched = opacus.GradSampleModule(layers, loss_reduction="sum")
    examples, labels = gradients.examples.batch(np.arange(gradients.rows))

    def step() -> None:
        watched.zero_grad()
        watched(examples).gather(1, labels[:, None]).sum().backward()
        samples = [p.grad_sample.flatten(1) for p in watched.parameters()]
        norms = torch.stack([sample.norm(dim=1) for sample in samples]).norm(dim=0)
        factors = (1 / norms).clamp(max=1)
        for sample in samples:
            factors @ sample

    return step


def _company(gradients: ScoreGradients) -> float:
    """How far a sum moves when every image gets other neighbours in its chunk."""
    order = np.arange(gradients.rows)
    shifted = np.concatenate([order[1:], order[:1]])
    apart = gradients.total(order) - gradients.total(shifted)
    return float(np.linalg.norm(apart)) / UNIT
