"""One process holds a file at a time, also when the file is replaced by another of its name."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from understudy.errors import DataError, OutputError, UsageError
from understudy.federated.holder.store import FolderStore
from understudy.gan.checkpoints import Checkpoint
from understudy.stream import DensityEstimator, Range
from understudy.system.files.locking import is_at, open_locked


@pytest.fixture
def replaced_meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Has a file replaced by a copy of itself once, after it was opened and before it is locked."""
    lock = fcntl.flock

    def arrange(path: Path) -> None:
        def first(descriptor: int, how: int) -> None:
            monkeypatch.setattr(fcntl, "flock", lock)
            path.rename(path.with_name("moved"))
            path.write_bytes(path.with_name("moved").read_bytes())
            lock(descriptor, how)

        monkeypatch.setattr(fcntl, "flock", first)

    return arrange


def test_a_lock_is_of_the_file_that_has_the_name(
    tmp_path: Path, replaced_meanwhile: Callable[[Path], None]
) -> None:
    """Whoever gets the lock of a file that was moved away tries again."""
    path = tmp_path / "lock"
    path.touch()
    replaced_meanwhile(path)
    descriptor = open_locked(path, os.O_RDWR)
    assert is_at(path, descriptor)
    with pytest.raises(BlockingIOError):
        open_locked(path, os.O_RDWR)
    path.unlink()
    assert not is_at(path, descriptor)
    os.close(descriptor)


def test_a_checkpoint_is_held_once(
    tmp_path: Path, replaced_meanwhile: Callable[[Path], None]
) -> None:
    """A run that ends removes its lock; the next two do not both continue."""
    checkpoint = Checkpoint(tmp_path / "game.npz", {}, None)
    (tmp_path / "game.npz.lock").touch()
    replaced_meanwhile(tmp_path / "game.npz.lock")
    with (
        checkpoint.held(),
        pytest.raises(UsageError, match="another run is using this checkpoint"),
        checkpoint.held(),
    ):
        pass


def test_a_state_is_open_once(tmp_path: Path, replaced_meanwhile: Callable[[Path], None]) -> None:
    """The state that is resumed is the one that has the name."""
    path = tmp_path / "visits.state"
    with DensityEstimator(Range(9), epsilon=1, path=path):
        pass
    replaced_meanwhile(path)
    with (
        DensityEstimator.resume(path),
        pytest.raises(UsageError, match="another process has it open"),
    ):
        DensityEstimator.resume(path)


def test_a_state_that_was_replaced_gives_no_answer(tmp_path: Path) -> None:
    """The other file would not know of it, and give the same answer once more."""
    path = tmp_path / "visits.state"
    with DensityEstimator(Range(9), epsilon=1, path=path) as visits:
        path.rename(tmp_path / "moved")
        with pytest.raises(DataError, match="was moved or replaced while it was open; put it back"):
            visits.answer()
        (tmp_path / "moved").rename(path)
        visits.answer()


def test_a_store_has_one_holder(tmp_path: Path) -> None:
    """A folder that was moved away is neither read nor written under its old name."""
    folder = tmp_path / "answers"
    store = FolderStore(folder)
    folder.rename(tmp_path / "moved")
    other = FolderStore(folder)
    with pytest.raises(OutputError, match="was moved or replaced while a holder used it"):
        store.find("r", "q")
    with pytest.raises(OutputError, match="was moved or replaced while a holder used it"):
        store.keep("r", "q", b"reply")
    other.keep("r", "q", b"reply")
    assert b"reply" == other.find("r", "q")
    store.close()
    other.close()
