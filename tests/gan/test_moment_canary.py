"""Attacks on `moments` with real noise: nothing above the claim is found, and a fault is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest

from support.moment_images import moment_method
from understudy.gan import waves
from understudy.gan.image_size import ImageSize
from understudy.gan.images import LabelledImages
from understudy.methods.auditing import LowerBound, lower_bound
from understudy.privacy.accounting.events import FineGaussianEvent
from understudy.privacy.curator import Instruments
from understudy.privacy.replay import Exchange, Recorder

SIZE = ImageSize(3, 3)
# The chance that luck alone shows a bound above the truth.
CONFIDENCE = 1 - 1e-6


class _Given:
    """Gives recorded releases back, and keeps the exact answers of another table."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self.exchanges, self.exact = exchanges, list[Any]()

    def looking(self) -> AbstractContextManager[None]:
        """Nothing to guard."""
        return nullcontext()

    def answer(self, charge: Any, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """The release of the other run."""
        del charge, mechanism, draw
        self.exact.append(exact)
        return self.exchanges[len(self.exact) - 1].released


def _tables() -> tuple[LabelledImages, LabelledImages]:
    """Grey images, and the same with a half that is white beside them."""
    grey = np.full((6, 3, 3), 128, np.uint8)
    canary = np.zeros((1, 3, 3), np.uint8)
    canary[0, 0] = 255
    both = np.concatenate([grey, canary])
    labels = np.zeros(7, np.int64)
    return LabelledImages(both, labels), LabelledImages(grey, labels[:6])


def _evidence(table: LabelledImages, other: LabelledImages, epsilon: float) -> float:
    """How much more likely all releases of a run are with its own table than with the other."""
    tape = Recorder()
    _fit(table, tape, epsilon)
    given = _Given(list(tape.exchanges))
    _fit(other, given, epsilon)
    total = 0.0
    for exchange, elsewhere in zip(tape.exchanges, given.exact, strict=True):
        own, far = (exchange.released - exact for exact in (exchange.exact, elsewhere))
        event = exchange.charge.event
        assert isinstance(event, FineGaussianEvent)
        total += float((far * far - own * own).sum()) / (2 * float(event.sigma_squared))
    return total


def _fit(table: LabelledImages, tape: Any, epsilon: float) -> None:
    instruments = Instruments(tape=tape)
    moment_method(size=SIZE, epsilon=epsilon, instruments=instruments).fit(table, ledger=None)


def _attacked(epsilon: float, *, runs: int) -> LowerBound:
    present, absent = _tables()
    seen = np.array([_evidence(present, absent, epsilon) for _ in range(runs)])
    unseen = np.array([-_evidence(absent, present, epsilon) for _ in range(runs)])
    return lower_bound(seen, unseen, delta=1e-5, confidence=CONFIDENCE)


@pytest.mark.slow
def test_no_canary_is_heard_above_the_claim() -> None:
    """The likelihood of everything that was released shows no more than ε."""
    assert _attacked(1, runs=100).epsilon <= 1


@pytest.mark.slow
def test_the_attack_hears_something() -> None:
    """At a large ε some of what is claimed is found."""
    assert 0.5 < _attacked(30, runs=100).epsilon <= 30


@pytest.mark.slow
def test_a_missing_cut_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: vectors are twenty times as long as the noise is for."""
    monkeypatch.setattr(waves, "cut", lambda vectors: 20 * vectors)
    assert _attacked(1, runs=200).epsilon > 1
