"""PyTorch for tests: present, or a reason to skip; and small adversarial methods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from support.promised import need
from understudy.facts.schema import Schema
from understudy.gan.tables import DPGAN, NoiseGAN
from understudy.gan.training import Hyperparameters

TINY = Hyperparameters(epochs=2, batch=40, rounds=2)


def need_torch() -> Any:
    """PyTorch on one thread; where it is missing a test is skipped, and fails where CI runs it."""
    torch = need("torch")
    torch.set_num_threads(1)
    return torch


def adversarial(schema: Schema, *, lessons: int = 0, **parameters: Any) -> DPGAN:
    """A gradient-noise GAN of a few steps, and with lessons one that starts from rows."""
    need_torch()
    return DPGAN(schema, settings=replace(TINY, lessons=lessons), **parameters)


def by_noise_layer(schema: Schema, **parameters: Any) -> NoiseGAN:
    """A noise-layer GAN of a few steps."""
    need_torch()
    return NoiseGAN(schema, settings=TINY, **parameters)
