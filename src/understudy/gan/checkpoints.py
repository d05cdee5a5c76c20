"""Checkpoints: the game as it stands, so that a killed run goes on from there.

A checkpoint holds released and public numbers alone. Steps after the last one are lost with the
process and played again with fresh noise: nothing that was derived from them has left, since
checkpoints and sheets are written together and nothing else is before the end. So they are not
charged again; the grant that paid for the course stays open until it is finished. A game that left
the numbers says so: its steps are used, and it goes on after them with the players of before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import DiskError, ModelError, OutputError, UsageError
from understudy.files.locking import open_locked
from understudy.gan.archive import Arrays, read_arrays, write_arrays
from understudy.gan.backend import Parameters, random_from, torch
from understudy.gan.image_model import as_arrays, as_tensors
from understudy.gan.optimiser import Adam
from understudy.gan.training import Game, Settings

FORM = "understudy checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """A file that the game is written to and read from.

    Attributes:
        terms: what the run was asked for; a run with other terms does not go on from here.
    """

    path: Path
    terms: Mapping[str, Any]

    def write(self, game: Game, standing: Mapping[str, Any]) -> None:
        """The game after a step, and what else is needed to go on."""
        document = {
            "format": FORM,
            "terms": dict(self.terms),
            "standing": dict(standing),
            "step": game.step,
            "taken": [game.critic_steps.taken, game.generator_steps.taken],
        }
        write_arrays(self.path, _arrays(game), document)

    def set_back(self, lost: Game, standing: Mapping[str, Any], settings: Settings) -> Game | None:
        """The game with players as they last were numbers, and lost steps behind them.

        Privacy: that a step led nowhere is told, so it has been used and is not played again.
        """
        before = self.read(settings)
        if before is None:
            return None
        good, _ = before
        good.step = lost.step
        try:
            self.write(good, standing)
        except (DiskError, OutputError):
            # The older one would draw these steps again.
            self.path.unlink(missing_ok=True)
        return good

    def read(self, settings: Settings) -> tuple[Game, dict[str, Any]] | None:
        """The game to go on with, if there is one."""
        if not self.path.exists():
            return None
        arrays, document = read_arrays(self.path, form=FORM)
        if document.get("terms") != dict(self.terms):
            raise UsageError(
                f"{self.path}: was written by a run with other settings or budget; "
                "repeat that run's options, or name another checkpoint"
            )
        try:
            return _game(arrays, document, settings), dict(document["standing"])
        except (LookupError, TypeError, ValueError, RuntimeError):
            raise ModelError(f"{self.path}: the checkpoint is damaged; start again") from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a run holds its checkpoint no other run goes on from it."""
        try:
            descriptor = open_locked(Path(f"{self.path}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
        except BlockingIOError:
            raise UsageError(
                f"{self.path}: another run is using this checkpoint; wait, or name another"
            ) from None
        try:
            yield
        finally:
            os.close(descriptor)

    def remove(self) -> None:
        """Forget a game that is finished."""
        self.path.unlink(missing_ok=True)
        Path(f"{self.path}.lock").unlink(missing_ok=True)


def _parts(game: Game) -> dict[str, Parameters]:
    return {
        "critic": game.critic,
        "generator": game.generator,
        "averaged": game.averaged,
        "critic_means": game.critic_steps.means,
        "critic_squares": game.critic_steps.squares,
        "generator_means": game.generator_steps.means,
        "generator_squares": game.generator_steps.squares,
    }


def _arrays(game: Game) -> Arrays:
    found: Arrays = {"random": game.random.get_state().numpy()}
    for part, parameters in _parts(game).items():
        found |= {f"{part}/{name}": array for name, array in as_arrays(parameters).items()}
    return found


def _game(arrays: Arrays, document: Mapping[str, Any], settings: Settings) -> Game:
    held: dict[str, Parameters] = {}
    for name, array in as_tensors({k: v for k, v in arrays.items() if "/" in k}).items():
        part, _, own = name.partition("/")
        held.setdefault(part, {})[own] = array
    first, second = (int(taken) for taken in document["taken"])
    critic = Adam(settings.critic_rate, taken=first)
    critic.means, critic.squares = held.get("critic_means", {}), held.get("critic_squares", {})
    maker = Adam(settings.generator_rate, taken=second)
    maker.means, maker.squares = held.get("generator_means", {}), held.get("generator_squares", {})
    random = random_from(settings.seed)
    random.set_state(torch().from_numpy(np.ascontiguousarray(arrays["random"])))
    return Game(
        *(held["critic"], held["generator"], held["averaged"], critic, maker, random),
        step=int(document["step"]),
    )
