"""The ledger keeps how far a long run has reported, so that no step is reported twice.

A run of many steps may be killed and continue from a checkpoint. Steps after the checkpoint are
drawn again with fresh noise, which is free only while nothing of them has left. So the ledger has,
for every checkpoint, a *step* entry that was there first, and a *resume* entry for every process
that takes the run over: from the checkpoint of the highest step alone, and in place of the process
before, which may report nothing more from then on. Proof: docs/proofs/dpgan.md.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import LedgerError
from understudy.system.files.locking import open_locked

# In the place of a checkpoint that could not be written: nothing goes on from such a step.
NO_CHECKPOINT = "0" * 64

# What is known of a run from its steps alone.
MARKS = ("step", "checkpoint", "holder")

_DIGEST, _HOLDER = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Told:
    """A step of which something has left, and the checkpoint to continue from.

    Attributes:
        grant: the identity of the run's grant.
        step: the last one of which something has left.
        checkpoint: SHA-256 of the checkpoint's file, in hexadecimal digits.
    """

    grant: str
    step: int
    checkpoint: str

    def entry(self, kind: str, holder: str) -> dict[str, Any]:
        """The entry for a ledger; a holder is the process that has the run now."""
        mark = {"grant": self.grant, "step": self.step, "checkpoint": self.checkpoint}
        return {"entry": kind, **mark, "holder": holder}


def enter_step(run: dict[str, Any], entry: Mapping[str, Any]) -> None:
    """Take a step into the books: of an open run, by who has it now, and above all before."""
    step, checkpoint = _mark(entry)
    if not run["open"] or entry["holder"] != holder_of(run) or step <= run.get("step", 0):
        raise ValueError("step")
    run |= {"step": step, "checkpoint": checkpoint}


def enter_resume(run: dict[str, Any], entry: Mapping[str, Any]) -> None:
    """Take a new holder into the books: of an open run, from its highest step."""
    holder = entry["holder"]
    if not run["open"] or _mark(entry) != (run.get("step"), run.get("checkpoint")):
        raise ValueError("resume")
    if not _HOLDER.fullmatch(holder) or holder == holder_of(run):
        raise ValueError("holder")
    run |= {"holder": holder}


def holder_of(run: Mapping[str, Any]) -> str:
    """Which process has a run now; the one that opened it has no name."""
    return str(run.get("holder", ""))


def check_holder(ledger: str, run: Mapping[str, Any], holder: str) -> None:
    """Refuse a word about a run that is finished, or that another process has resumed."""
    if not run["open"] or holder != holder_of(run):
        raise LedgerError(
            f"ledger {ledger}: another process has resumed this run, or finished it; what was "
            "drawn here since its last checkpoint is lost, and nothing of it may leave: let the "
            "other one end"
        )


def check_step(ledger: str, run: Mapping[str, Any], told: Told) -> None:
    """Refuse a step that was reported before."""
    if told.step <= run.get("step", 0):
        raise LedgerError(
            f"ledger {ledger}: knows step {run['step']:,} of this run, and step {told.step:,} is "
            "not above it; each step is reported once"
        )


def check_resumable(ledger: str, run: Mapping[str, Any], told: Told) -> None:
    """Refuse a checkpoint unless it is that of the highest step of an open run."""
    if not run["open"]:
        raise LedgerError(
            f"ledger {ledger}: the run of this checkpoint is finished, and cannot continue; "
            "remove the checkpoint, or name another, to begin a new run"
        )
    if "step" not in run:
        raise LedgerError(
            f"ledger {ledger}: knows no step of this checkpoint's run (version 0.1.0 wrote none), "
            "so that some might be drawn twice; start again without the checkpoint"
        )
    if (told.step, told.checkpoint) != (run["step"], run["checkpoint"]):
        raise LedgerError(
            f"ledger {ledger}: knows step {run['step']:,} of this run, and the checkpoint is an "
            f"older or another one, of step {told.step:,}: steps would be drawn twice; "
            f"continue from the checkpoint of step {run['step']:,}, or start again without one"
        )


def hold_path(ledger: Path, name: str) -> Path:
    """Where a process says that it holds something; the name may be any text."""
    place = ledger.resolve()
    return place.with_name(f".{place.name}.{hashlib.sha256(name.encode()).hexdigest()[:32]}.held")


def hold(path: Path) -> int | None:
    """An open file that no other process can hold; None while one does."""
    try:
        return open_locked(path, os.O_RDWR | os.O_CREAT)
    except BlockingIOError:
        return None


def let_go(path: Path, descriptor: int) -> None:
    """Remove the file while it is held, then let others hold one of its name."""
    # Windows does not remove a file that is open; an empty one may stay there.
    with suppress(PermissionError):
        path.unlink(missing_ok=True)
    os.close(descriptor)


def _mark(entry: Mapping[str, Any]) -> tuple[int, str]:
    step, checkpoint = entry["step"], entry["checkpoint"]
    if type(step) is not int or step < 1 or not _DIGEST.fullmatch(checkpoint):
        raise ValueError("step")
    return step, checkpoint
