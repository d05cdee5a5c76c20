"""Attacks on networks of images with real noise: nothing above the claim is found, faults are."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

from support.tiers import full_but
from support.torches import need_torch
from understudy.gan import layer_features
from understudy.gan.convolutions import Shape
from understudy.gan.gradients import ScoreGradients
from understudy.gan.images import LabelledImages
from understudy.gan.pictures import ImageGAN
from understudy.gan.training import Hyperparameters
from understudy.methods.auditing import LowerBound, lower_bound
from understudy.privacy.curator import Instruments
from understudy.privacy.mechanisms.sampled import UNIT, SampledGaussian
from understudy.system.arrays import Floats, Singles

SHAPE = Shape(4, 4, 2)
# Every image is in the batch of the only step, where the attacker's likelihood is exact.
ONE_STEP = Hyperparameters(epochs=1, batch=2048, rounds=1, clip=1e-3, lessons=1)
# The chance that luck alone shows a bound above the truth.
CONFIDENCE = 1 - 1e-6


class _Listening:
    """Keeps all releases with their exact answers, or gives those of another run."""

    def __init__(self, given: list[Any] | None = None) -> None:
        self.given, self.released = given, list[Any]()
        self.exact, self.variances = list[Floats](), list[float]()

    def looking(self) -> AbstractContextManager[None]:
        """Nothing to guard."""
        return nullcontext()

    def answer(self, charge: Any, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """A release of this run, or of the other."""
        self.exact.append(_numbers(mechanism, exact))
        self.variances.append(float(charge.event.sigma_squared))
        released = draw() if self.given is None else self.given[len(self.released)]
        self.released.append(released)
        return released


def _numbers(mechanism: Any, exact: Any) -> Floats:
    """An exact answer in the steps of its release."""
    if isinstance(mechanism, SampledGaussian):
        assert 1 == mechanism.rate
        return np.asarray(exact.total(np.arange(exact.rows)) * mechanism.finer, np.float64)
    return np.asarray(exact, np.float64)


def _tables() -> tuple[LabelledImages, LabelledImages]:
    """Grey images, and the same with one beside them that is half white."""
    grey = np.full((6, 4, 4), 128, np.uint8)
    canary = np.zeros((1, 4, 4), np.uint8)
    canary[0, :2] = 255
    labels = np.append(np.arange(6) % 2, 0)
    return (
        LabelledImages(np.concatenate([grey, canary]), labels),
        LabelledImages(grey, labels[:6]),
    )


def _fit(method: str, table: LabelledImages, tape: _Listening, epsilon: float) -> None:
    need_torch()
    ImageGAN(
        *(SHAPE, epsilon, 1e-5, method, ONE_STEP, (4, 3, 2), (2, 2)),
        instruments=Instruments(tape=tape),
    ).fit(table, ledger=None)


def _evidence(method: str, table: LabelledImages, other: LabelledImages, epsilon: float) -> float:
    """How much more likely all releases of a run are with its own table than with the other."""
    own = _Listening()
    _fit(method, table, own, epsilon)
    far = _Listening(own.released)
    _fit(method, other, far, epsilon)
    return sum(
        float((((seen - away) ** 2) - ((seen - here) ** 2)).sum()) / (2 * variance)
        for seen, here, away, variance in zip(
            own.released, own.exact, far.exact, own.variances, strict=True
        )
    )


def _attacked(method: str, epsilon: float, *, runs: int) -> LowerBound:
    present, absent = _tables()
    seen = np.array([_evidence(method, present, absent, epsilon) for _ in range(runs)])
    unseen = np.array([-_evidence(method, absent, present, epsilon) for _ in range(runs)])
    return lower_bound(seen, unseen, delta=1e-5, confidence=CONFIDENCE)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["noise-gan", "dpgan"])
def test_no_canary_is_heard_above_the_claim(method: str) -> None:
    """The likelihood of all sums, and of a step of the critic, shows no more than ε."""
    assert _attacked(method, 1, runs=60).epsilon <= 1


@pytest.mark.slow
@pytest.mark.parametrize("method", full_but({"noise-gan"}, ["noise-gan", "dpgan"]))
def test_the_attack_hears_something(method: str) -> None:
    """At a large ε some of what is claimed is found."""
    assert 0.5 < _attacked(method, 40, runs=100).epsilon <= 40


@pytest.mark.slow
def test_features_that_are_not_cut_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an image adds a vector of a hundred times its bound."""
    monkeypatch.setattr(layer_features, "cut", lambda vectors: 100 * vectors)
    assert _attacked("noise-gan", 1, runs=200).epsilon > 1


@pytest.mark.full
def test_a_missing_clipping_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: gradients keep their length, beyond what the noise is for."""

    def unclipped(self: ScoreGradients, gradients: Any) -> Singles:
        return np.full(len(gradients[0]), UNIT / self.clip, np.float32)

    monkeypatch.setattr(ScoreGradients, "factors", unclipped)
    assert _attacked("dpgan", 1, runs=200).epsilon > 1
