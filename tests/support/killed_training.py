"""A training run that is really killed before each of its changes on the disk, and then resumes.

A program of its own, given a folder, the first instant and the step to the next: it imports
PyTorch once and forks.
Python calls an audit hook for every file that is opened, renamed or removed; the run of instant k
is killed by the system at the k-th of these. Writes one line of JSON for each instant.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import UnderstudyError
from understudy.gan.convolutions import Shape
from understudy.gan.images import LabelledImages
from understudy.gan.pictures import ImageGAN
from understudy.gan.training import Hyperparameters
from understudy.privacy.spending.ledger import Ledger

_INSTANTS = ("open", "os.rename", "os.remove")


def main() -> None:
    """Kill at every instant until a run comes to its end."""
    import torch

    torch.set_num_threads(1)
    place, killed = Path(sys.argv[1]), True
    instant, every = map(int, sys.argv[2:])
    # What is computed before the first step is remembered, so that children need not.
    _train(place / "rehearsal")
    while killed:
        folder = place / str(instant)
        killed = _in_child(folder, partial(_train, instant=instant)) == -signal.SIGKILL
        seen = _seen(folder)
        code = _in_child(folder, _train)
        found = {"killed": killed, "code": code, **seen, "after": _entries(folder)}
        sys.stdout.write(json.dumps(found) + "\n")
        # A child that is forked now must not write it again.
        sys.stdout.flush()
        shutil.rmtree(folder)
        instant += every


def _in_child(folder: Path, job: Callable[[Path], None]) -> int:
    """Do something in a forked process; how it ended, negative for a signal."""
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        try:
            job(folder)
            os._exit(0)
        except UnderstudyError as error:
            (folder / "error").write_text(str(error))
            os._exit(error.exit_code)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _train(folder: Path, instant: int = 0) -> None:
    """Two steps, each with a checkpoint; killed at an instant unless that is 0."""
    folder.mkdir(exist_ok=True)
    labels = np.arange(60) % 2
    images = LabelledImages(np.full((60, 8, 8), labels[:, None, None] * 200, np.uint8), labels)
    method = ImageGAN(
        Shape(8, 8, 2),
        *(2, 1e-5),
        settings=Hyperparameters(epochs=1, batch=1000, rounds=2),
        filters=(8, 6, 4),
        critic_filters=(4, 6),
        checkpoint=folder / "game.npz",
    )
    if instant:
        _die_at(instant, str(folder))
    method.fit(images, ledger=Ledger(folder / "ledger.jsonl"), dataset="images")


def _die_at(instant: int, folder: str) -> None:
    left = instant

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in _INSTANTS and str(arguments[0]).startswith(folder):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _seen(folder: Path) -> dict[str, Any]:
    """What a killed run left to be seen."""
    shown = folder / "game.npz"
    digest = hashlib.sha256(shown.read_bytes()).hexdigest() if shown.exists() else None
    sheet = (folder / "game.png").exists()
    return {"shown": digest, "sheet": sheet, "before": _entries(folder)}


def _entries(folder: Path) -> list[dict[str, Any]]:
    """All that the ledger says, which must be readable."""
    ledger = Ledger(folder / "ledger.jsonl")
    runs = [run["grant"] for account in ledger.accounts().values() for run in account.runs]
    return [dict(entry) for run in runs for entry in ledger.entries(run)]


if __name__ == "__main__":
    main()
