"""Checkpoints: the game as it stands, so that a killed run resumes from there.

A checkpoint holds released and public numbers alone. Steps after the last one are lost with the
process and played again with fresh noise: nothing that was derived from them has left, since
checkpoints and sheets are written together and nothing else is before the end. So they are not
charged again; the grant that paid for the course stays open until it is finished. A game that left
the numbers says so: its steps are used, and it resumes after them with the players of before.

A checkpoint is put aside whole, then the ledger records its step and digest, then it takes the
place of the one before. Whenever the process is killed, one of the two files is the one that the
ledger knows, and a run resumes from no other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import DataError, DiskError, ModelError, OutputError, UsageError
from understudy.gan.archive import Arrays, read_arrays, write_arrays
from understudy.gan.backend import Parameters, random_from, torch
from understudy.gan.image_model import as_arrays, as_tensors
from understudy.gan.optimiser import Adam
from understudy.gan.training import Hyperparameters, TrainingState
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.steps import NO_CHECKPOINT, Told
from understudy.system.files.descriptors import flush_folder
from understudy.system.files.locking import open_locked
from understudy.system.files.writing import writing

FORM = "understudy checkpoint"


@dataclass(frozen=True)
class Standing:
    """A point of the training: its state, what else is needed, and what the ledger must know."""

    game: TrainingState
    facts: dict[str, Any]
    told: Told


@dataclass(frozen=True)
class Checkpoint:
    """A file that the game is written to and read from.

    Attributes:
        terms: what the run was asked for; a run with other terms does not resume from here.
        ledger: records every step before its checkpoint appears; None where nothing is private.
    """

    path: Path
    terms: Mapping[str, Any]
    ledger: Ledger | None

    @property
    def aside(self) -> Path:
        """Where a checkpoint waits until the ledger knows it."""
        return self.path.with_name(f".{self.path.name}.next")

    def write(self, game: TrainingState, facts: Mapping[str, Any], grant: Grant) -> None:
        """Keep the training state after a step, and what else is needed to resume.

        Privacy: the ledger knows the step before the file appears.
        """
        digest = self._put_aside(game, facts)
        self._tell(grant, game.step, digest)
        self._show()

    def set_back(
        self, lost: TrainingState, facts: Mapping[str, Any], settings: Hyperparameters, grant: Grant
    ) -> TrainingState | None:
        """The game with players as they last were numbers, and lost steps behind them.

        Privacy: a failed step is reported, so it has been used and is not played again.
        """
        good, digest = None, NO_CHECKPOINT
        with suppress(DataError, UsageError):
            before = self.read(settings)
            good = None if before is None else before.game
        if good is not None:
            good.step = lost.step
            with suppress(DiskError, OutputError):
                digest = self._put_aside(good, facts)
        self._tell(grant, lost.step, digest)
        if digest == NO_CHECKPOINT:
            # The older one, if there is any, would draw these steps again.
            self.path.unlink(missing_ok=True)
            return good
        with suppress(DiskError, OutputError):
            self._show()
        return good

    def read(self, settings: Hyperparameters) -> Standing | None:
        """Return the training state to resume from, if there is one."""
        self._settle()
        if not self.path.exists():
            return None
        arrays, document = read_arrays(self.path, form=FORM)
        if document.get("terms") != dict(self.terms):
            raise UsageError(
                f"{self.path}: was written by a run with other settings or budget; "
                "repeat that run's options, or name another checkpoint"
            )
        try:
            game, facts = _game(arrays, document, settings), dict(document["standing"])
            return Standing(game, facts, Told(str(facts["grant"]), game.step, _digest(self.path)))
        except (LookupError, TypeError, ValueError, RuntimeError):
            raise ModelError(f"{self.path}: the checkpoint is damaged; start again") from None

    def forget(self) -> None:
        """Remove what was put aside and never released: its steps are about to be drawn again."""
        self.aside.unlink(missing_ok=True)

    def _put_aside(self, game: TrainingState, facts: Mapping[str, Any]) -> str:
        """Write a checkpoint that nobody reads before the ledger knows it; returns its digest."""
        self._settle()
        document = {
            "format": FORM,
            "terms": dict(self.terms),
            "standing": dict(facts),
            "step": game.step,
            "taken": [game.critic_steps.taken, game.generator_steps.taken],
        }
        write_arrays(self.aside, _arrays(game), document)
        with writing(self.path):
            flush_folder(self.path.parent)
        return _digest(self.aside)

    def _tell(self, grant: Grant, step: int, digest: str) -> None:
        if self.ledger is not None:
            self.ledger.tell(grant, step, digest)

    def _settle(self) -> None:
        """Show what was put aside, if a run is to resume from it; else it is left to `forget`."""
        if not self.aside.exists():
            return
        found = None if self.ledger is None else self.ledger.told(_digest(self.aside))
        if found is not None and found[1]:
            self._check_same_run(found[0])
            self._show()

    def _check_same_run(self, grant: str) -> None:
        """Refuse to put the checkpoint of one run in the place of another's."""
        assert self.ledger is not None
        if self.path.exists():
            shown = self.ledger.told(_digest(self.path))
            if shown is None or shown[0] != grant:
                raise UsageError(
                    f"{self.aside}: a run that was cut short resumes from this file, and "
                    f"{self.path} is of another run; rename one of them, or remove it"
                )

    def _show(self) -> None:
        with writing(self.path):
            self.aside.replace(self.path)
            flush_folder(self.path.parent)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While a run holds its checkpoint no other run resumes from it."""
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
        self.forget()
        Path(f"{self.path}.lock").unlink(missing_ok=True)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = error.strerror or "it is damaged"
        raise ModelError(f"{path}: cannot be read: {reason}; check the path") from None


def _parts(game: TrainingState) -> dict[str, Parameters]:
    return {
        "critic": game.critic,
        "generator": game.generator,
        "averaged": game.averaged,
        "critic_means": game.critic_steps.means,
        "critic_squares": game.critic_steps.squares,
        "generator_means": game.generator_steps.means,
        "generator_squares": game.generator_steps.squares,
    }


def _arrays(game: TrainingState) -> Arrays:
    found: Arrays = {"random": game.random.get_state().numpy()}
    for part, parameters in _parts(game).items():
        found |= {f"{part}/{name}": array for name, array in as_arrays(parameters).items()}
    return found


def _game(arrays: Arrays, document: Mapping[str, Any], settings: Hyperparameters) -> TrainingState:
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
    return TrainingState(
        critic=held["critic"],
        generator=held["generator"],
        averaged=held["averaged"],
        critic_steps=critic,
        generator_steps=maker,
        random=random,
        step=int(document["step"]),
    )
