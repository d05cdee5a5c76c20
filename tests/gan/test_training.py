"""The game: both sides weigh the same, whatever the sizes of batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from support.sheets import coded, listed
from support.torches import need_torch
from understudy.facts.unit import Neighbours, Unit
from understudy.gan.gradients import TensorExamples
from understudy.gan.perceptrons import RowCritic
from understudy.gan.training import Hyperparameters, NoiseSchedule, Trainer, TrainingState
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.list_pricing import QuestionsThenList
from understudy.rows.engines.memory import MemorySource
from understudy.testing import SeededNoise

WIDTH = 5


@dataclass(frozen=True)
class Copier:
    """A generator that has learned everything: what it makes are the private examples."""

    held: TensorExamples
    latent: int = 2

    def initial(self, random: Any) -> dict[str, Any]:
        """One weight, which has no part in anything."""
        return {"w": need_torch().zeros(1)}

    def make(self, parameters: Any, latents: Any, labels: Any, random: Any) -> Any:
        """Make as many as asked for, in order."""
        return self.held.batch(np.arange(len(labels)) % self.held.rows)[0]


def _copied(rows: int) -> TensorExamples:
    torch = need_torch()
    examples = torch.rand(rows, WIDTH, generator=torch.Generator().manual_seed(1))
    return TensorExamples(examples, torch.zeros(rows, dtype=torch.int64))


def _slope(rows: int, batch: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """The largest part of the critic's gradient when both sides show it the same."""
    held = _copied(rows)
    settings = Hyperparameters(epochs=1, batch=batch, rounds=1, penalty=0.0)
    critic, generator = RowCritic(WIDTH), Copier(held)
    game = TrainingState.begin(critic, generator, settings)
    cells = sum(value.numel() for value in game.critic.values())
    course = NoiseSchedule.within(settings.schedule(rows, cells), Budget.unlimited())
    source = MemorySource(coded(listed(a=2), {"a": [0] * rows}))
    grant = Grant(Budget.unlimited(), pricing=QuestionsThenList())
    instruments = Instruments(noise=SeededNoise(1))
    curator = Curator(source, Unit(Neighbours.ADD_REMOVE), grant, instruments)
    curator.commit(course.questions)
    seen: list[Any] = []
    monkeypatch.setattr(
        TrainingState, "move_critic", lambda game, gradient, pace: seen.append(gradient)
    )
    monkeypatch.setattr(Hyperparameters, "generated", rows)
    trainer = Trainer(
        critic=critic,
        generator=generator,
        settings=settings,
        course=course,
        examples=rows,
        chances=(1.0,),
    )
    trainer.critic_step(game, curator, lambda source: held)
    return max(float(part.abs().max()) for part in seen[0].values())


@pytest.mark.parametrize(("rows", "batch"), [(40, 40), (30, 40), (50, 40)])
def test_a_critic_that_is_shown_the_same_on_both_sides_stays_where_it_is(
    rows: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows are in the batch, fewer or more of them than were asked for."""
    assert 0 == pytest.approx(_slope(rows, batch, monkeypatch), abs=1e-6)
