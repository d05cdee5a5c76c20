"""Checkpoints: a run resumes from the last one in the ledger, in one process, until it is done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import killed_training
from support.halves import Killed, halves, kill_at, small_method
from support.tiers import full_but
from support.torches import need_torch
from understudy.errors import LedgerError, UsageError
from understudy.gan.checkpoints import Checkpoint
from understudy.privacy.spending.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """An empty one, in a folder of its own."""
    return Ledger(tmp_path / "state" / "ledger.jsonl")


def _cut(path: Path, ledger: Ledger, step: int) -> None:
    """A run that is killed at a step, or continues until then."""
    with pytest.raises(Killed):
        small_method(checkpoint=path, progress=kill_at(step)).fit(
            halves(), ledger=ledger, dataset="images"
        )


def _copied(path: Path, name: str) -> Path:
    copy = path.with_name(name)
    copy.write_bytes(path.read_bytes())
    return copy


def _steps(ledger: Ledger) -> list[int]:
    """The steps that one run reported, in order."""
    [run] = ledger.account("images").runs
    return [entry["step"] for entry in ledger.entries(run["grant"]) if entry["entry"] == "step"]


@pytest.mark.slow
def test_an_older_copy_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    """Also in the place of the newer one; nothing is written, and the newer one still resumes."""
    kept = tmp_path / "game.npz"
    _cut(kept, ledger, 3)
    backup = _copied(kept, "backup.npz")
    _cut(kept, ledger, 5)
    newer, spent = kept.read_bytes(), ledger.path.read_bytes()
    with pytest.raises(LedgerError, match=r"knows step 4 of this run.* of step 2"):
        small_method(checkpoint=backup).fit(halves(), ledger=ledger, dataset="images")
    kept.write_bytes(backup.read_bytes())
    with pytest.raises(LedgerError, match="continue from the checkpoint of step 4, or start again"):
        small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert (spent, backup.read_bytes()) == (ledger.path.read_bytes(), kept.read_bytes())
    kept.write_bytes(newer)
    model = small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    [run] = ledger.account("images").runs
    assert (False, len(model.statement.charges)) == (run["open"], run["charges"])
    assert _steps(ledger) == sorted(set(_steps(ledger)))


@pytest.mark.slow
def test_a_copy_at_the_same_time_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    """Under another name, while the run continues; the run is not disturbed."""
    kept, refused = tmp_path / "game.npz", list[str]()

    def beside(done: int, total: int, epsilon: float | None) -> None:
        if done in (4, 5):
            copy = _copied(kept, "copy.npz")
            with pytest.raises(LedgerError) as error:
                small_method(checkpoint=copy).fit(
                    halves(), ledger=Ledger(ledger.path), dataset="images"
                )
            refused.append(str(error.value))

    small_method(checkpoint=kept, progress=beside).fit(halves(), ledger=ledger, dataset="images")
    assert 2 == len(refused)
    assert all(
        "another process has this run" in text and "wait until it ends" in text for text in refused
    )
    assert [False] == [run["open"] for run in ledger.account("images").runs]
    names = {path.name for path in ledger.path.parent.iterdir()}
    assert {ledger.path.name, f"{ledger.path.name}.secret"} == names


@pytest.mark.slow
def test_who_was_taken_over_makes_no_model(tmp_path: Path, ledger: Ledger) -> None:
    """Where a copy got past the lock, as on another machine, only the last one writes steps."""
    kept = tmp_path / "game.npz"

    def beside(done: int, total: int, epsilon: float | None) -> None:
        if done == 4:
            copy = _copied(kept, "copy.npz")
            [held] = ledger.path.parent.glob(".*.held")
            held.unlink()
            small_method(checkpoint=copy).fit(
                halves(), ledger=Ledger(ledger.path), dataset="images"
            )

    with pytest.raises(LedgerError, match="another process has resumed this run"):
        small_method(checkpoint=kept, progress=beside).fit(
            halves(), ledger=ledger, dataset="images"
        )
    assert [False] == [run["open"] for run in ledger.account("images").runs]
    assert _steps(ledger) == sorted(set(_steps(ledger)))


@pytest.mark.slow
def test_a_checkpoint_of_a_finished_run_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    """By name; nothing is spent, and the file stays."""
    kept = tmp_path / "game.npz"
    _cut(kept, ledger, 3)
    backup = _copied(kept, "backup.npz")
    small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    spent, before = ledger.path.read_bytes(), backup.read_bytes()
    with pytest.raises(LedgerError, match="the run of this checkpoint is finished"):
        small_method(checkpoint=backup).fit(halves(), ledger=ledger, dataset="images")
    assert (spent, before) == (ledger.path.read_bytes(), backup.read_bytes())


def test_a_checkpoint_needs_a_ledger(tmp_path: Path) -> None:
    """Nothing else could know which steps were reported; a run that is not private needs none."""
    method = small_method(checkpoint=tmp_path / "game.npz")
    with pytest.raises(UsageError, match="give one, as ledger=Ledger"):
        method.fit(halves(), ledger=None)
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.slow
def test_what_was_put_aside_is_gone_on_from_if_it_was_told(tmp_path: Path, ledger: Ledger) -> None:
    """A kill came between the ledger's entry and the file's name; another run's file stays."""
    kept = tmp_path / "game.npz"
    _cut(kept, ledger, 3)
    aside = Checkpoint(kept, {}, ledger).aside
    kept.rename(aside)
    kept.write_bytes(b"of another run")
    with pytest.raises(UsageError, match="is of another run; rename one of them"):
        small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert b"of another run" == kept.read_bytes()
    kept.unlink()
    small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert 1 == len(ledger.account("images").runs)
    assert {ledger.path.parent, kept.with_suffix(".png")} == set(tmp_path.iterdir())


@pytest.mark.slow
def test_what_was_put_aside_outlives_another_ledger(tmp_path: Path, ledger: Ledger) -> None:
    """A wrong ledger given by mistake is refused, and the run resumes with the right one."""
    kept = tmp_path / "game.npz"
    _cut(kept, ledger, 3)
    older = kept.read_bytes()
    _cut(kept, ledger, 5)
    kept.rename(Checkpoint(kept, {}, ledger).aside)
    kept.write_bytes(older)
    with pytest.raises(LedgerError, match="no open grant"):
        small_method(checkpoint=kept).fit(
            halves(), ledger=Ledger(tmp_path / "another.jsonl"), dataset="images"
        )
    small_method(checkpoint=kept).fit(halves(), ledger=ledger, dataset="images")
    assert [False] == [run["open"] for run in ledger.account("images").runs]


def test_what_was_put_aside_and_not_told_is_forgotten(tmp_path: Path, ledger: Ledger) -> None:
    """Its steps are drawn again, so nobody may read what they were the first time."""
    kept = tmp_path / "game.npz"
    _cut(kept, ledger, 3)
    aside = Checkpoint(kept, {}, ledger).aside
    aside.write_bytes(b"half of a checkpoint")
    _cut(kept, ledger, 3)
    assert not aside.exists()
    assert [1, 2] == _steps(ledger)


@pytest.mark.slow
@pytest.mark.parametrize("every", full_but({4}, [1, 4]))
def test_killed_at_every_instant_a_run_goes_on(tmp_path: Path, every: int) -> None:
    """Before each change on the disk: what is visible was reported, and no step twice."""
    need_torch()
    # The instants before belong to the grant and its charges, and the last to the end.
    command = [sys.executable, killed_training.__file__, str(tmp_path), "7", str(every)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [True] * (len(runs) - 1) + [False] == [run["killed"] for run in runs]
    for run in runs:
        _check_killed(run)
    resumed = sum(run["after"][len(run["before"]) :][:1] != [] for run in runs)
    assert resumed > 20 // every


def _check_killed(run: dict[str, Any]) -> None:
    before, kinds = run["before"], [entry["entry"] for entry in run["before"]]
    told = {entry["checkpoint"] for entry in before if entry["entry"] == "step"}
    assert run["shown"] is None or run["shown"] in told
    assert told or not run["sheet"]
    if "close" in kinds:
        # It may have left its last checkpoint, which is refused then.
        assert (3 if run["shown"] else 0) == run["code"]
        return
    assert 0 == run["code"]
    after = run["after"][len(before) :]
    assert ("resume" if told else "grant") == after[0]["entry"]
    grant = run["after"][-1]["grant"]
    steps = [e["step"] for e in run["after"] if e["entry"] == "step" and e["grant"] == grant]
    assert [1, 2] == steps
    assert "close" == run["after"][-1]["entry"]
