"""Attacks on a tiny critic: nothing above the claim is found, and a missing clipping is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from support.tiers import full_but
from support.torches import need_torch
from understudy.gan.gradients import ScoreGradients
from understudy.gan.tables import DPGAN, NoiseGAN
from understudy.gan.training import Hyperparameters
from understudy.methods.auditing import SCHEMA, Audit, audit, cases_for
from understudy.privacy.mechanisms.sampled import UNIT
from understudy.rows.counting import CountSource
from understudy.system.arrays import Singles

# All rows in every batch, where the attacker's likelihood is exact, and a single step.
ONE_STEP = Hyperparameters(epochs=1, batch=64, rounds=1, clip=0.05)


def _method(**changes: Any) -> DPGAN:
    need_torch()
    settings = changes.pop("settings", ONE_STEP)
    return DPGAN(SCHEMA, epsilon=1, delta=1e-5, rows=20, settings=settings, **changes)


def _attacked(method: DPGAN | NoiseGAN, *, runs: int) -> Audit:
    """An audit on the first pair of tables and no other."""
    return audit(method, cases_for(method)[:1], runs=runs, processes=1)


@pytest.mark.slow
@pytest.mark.parametrize("batch", full_but({64}, [64, 5]))
def test_no_canary_is_heard_above_the_claim(batch: int) -> None:
    """With every row in the batch, and with rows taken by coins."""
    found = _attacked(_method(settings=replace(ONE_STEP, batch=batch)), runs=120)
    assert not found.exceeds_claim
    assert found.provable > found.claimed_epsilon


@pytest.mark.slow
def test_an_attack_on_the_gradients_hears_something() -> None:
    """The attack is not too weak: it finds some of what is claimed."""
    settings = replace(ONE_STEP, clip=1e-3)
    need_torch()
    # At a smaller epsilon so few runs would prove nothing, whatever they hear.
    loud = DPGAN(SCHEMA, epsilon=40, delta=1e-5, rows=20, settings=settings)
    found = _attacked(loud, runs=120)
    assert 0.5 < found.finding.epsilon <= 40


@pytest.mark.slow
def test_a_missing_clipping_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: gradients keep their length, beyond what the noise is for."""

    def unclipped(self: ScoreGradients, gradients: Any) -> Singles:
        return np.full(len(gradients[0]), UNIT / self.clip, np.float32)

    monkeypatch.setattr(ScoreGradients, "factors", unclipped)
    found = _attacked(_method(), runs=200)
    assert found.exceeds_claim


@dataclass(frozen=True, repr=False)
class _Twice:
    """Examples whose last row speaks twice as often as it should."""

    held: Any

    @property
    def rows(self) -> int:
        """One more than there are."""
        return int(self.held.rows) * 2

    def batch(self, places: Any) -> Any:
        """Rows, each of them at two places."""
        return self.held.batch(places % self.held.rows)


class Doubled(DPGAN):
    """Lets every row into a batch twice."""

    def seen(self, reach: Any) -> Any:
        """Each row at two places."""

        def twice(source: CountSource) -> _Twice:
            return _Twice(reach(source))

        return twice


@pytest.mark.slow
def test_rows_that_count_twice_are_caught_by_a_replay() -> None:
    """Planted: sums of neighbours are then two contributions apart."""
    from support.neighbours import SCHEMA as PLAIN
    from support.neighbours import neighbours_of, random_rows, source_of
    from support.replay import audit as replayed
    from understudy.facts.unit import Neighbours
    from understudy.privacy.replay import LeakFound

    need_torch()
    rows = random_rows(12)
    method = Doubled(PLAIN, epsilon=1, delta=1e-5, rows=12, settings=ONE_STEP)
    _, neighbour = next(iter(neighbours_of(rows, Neighbours.ADD_REMOVE)))
    with pytest.raises(LeakFound, match="more than the sensitivity"):
        replayed(method, source_of(rows), source_of(neighbour))


@pytest.mark.slow
def test_noised_features_give_no_more_than_claimed() -> None:
    """One look at every row, replaced by another: near the claim, and never above."""
    need_torch()
    method = NoiseGAN(SCHEMA, epsilon=1, delta=1e-5, settings=ONE_STEP)
    found = _attacked(method, runs=120)
    assert not found.exceeds_claim
