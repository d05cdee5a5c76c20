"""A state in a file: one version at any time, whole after a death, refused where damaged."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import (
    BudgetExceeded,
    DataError,
    DiskError,
    OutputError,
    UnderstudyError,
    UsageError,
)
from understudy.stream import DensityEstimator, Edges, Hashed, Keys, Range, Sketch
from understudy.stream.reading import key_lines
from understudy.stream.universe import Universe

USERS = 5000


def _started(path: Path, **terms: object) -> DensityEstimator:
    return DensityEstimator(USERS, epsilon=2, path=path, **terms, ledger=None)  # type: ignore[arg-type]


def test_a_state_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Entries, terms and the count of answers are those of before."""
    path = tmp_path / "visits.state"
    with _started(path, answers=2, sample=USERS // 2, estimator="quantised") as visits:
        visits.update(np.arange(USERS))
        before, terms = visits.state.tobytes(), visits.design
        visits.answer()
    with DensityEstimator.resume(path, ledger=None) as visits:
        assert (before, terms, 1) == (visits.state.tobytes(), visits.design, visits.answers_left)
        answer = visits.answer()
        assert 6 > abs(answer.density - 1) / answer.standard_error
        with pytest.raises(BudgetExceeded):
            visits.answer()


@pytest.mark.parametrize(
    "universe",
    [Range(100, first=7), Hashed(100), Sketch(9), Edges(20)],
    ids=lambda universe: universe.kind,
)
def test_universes_come_back(tmp_path: Path, universe: Universe) -> None:
    """A resumed state finds every user where they were."""
    with DensityEstimator(universe, epsilon=1, path=tmp_path / "state", ledger=None):
        pass
    with DensityEstimator.resume(tmp_path / "state", ledger=None) as visits:
        assert universe == visits.design.universe


def test_listed_keys_are_given_again(tmp_path: Path) -> None:
    """The list is public and not copied into the state; another list is refused."""
    names, others = tmp_path / "names", tmp_path / "others"
    names.write_text("Ann\nBob\n")
    others.write_text("Ann\n")
    with DensityEstimator(Keys(key_lines(names)), epsilon=1, path=tmp_path / "state", ledger=None):
        pass
    assert b"Ann" not in (tmp_path / "state").read_bytes()
    for wrong in (None, key_lines(others)):
        with pytest.raises(UsageError, match="same file again"):
            DensityEstimator.resume(tmp_path / "state", names=wrong, ledger=None)
    with DensityEstimator.resume(tmp_path / "state", names=key_lines(names), ledger=None) as visits:
        assert 2 == visits.design.sample


def test_a_state_exists_once(tmp_path: Path) -> None:
    """What memory holds is what the file holds: a second version would be a second sight."""
    path = tmp_path / "visits.state"
    with _started(path) as visits:
        for ids in (np.arange(100), np.arange(USERS)):
            visits.update(ids)
            entries = path.read_bytes()[1024:]
            assert visits.state.tobytes() == entries[: visits.state.size]
            assert not any(path.read_bytes()[512:1024])
        assert {path.name} == {p.name for p in tmp_path.iterdir()}
    assert any(path.read_bytes()[512:1024])
    with DensityEstimator.resume(path, ledger=None):
        assert not any(path.read_bytes()[512:1024])


def test_epochs_are_kept_in_the_file(tmp_path: Path) -> None:
    """What was seen stays, and a fresh epoch follows."""
    path = tmp_path / "visits.state"
    with _started(path, intrusions=1) as visits:
        visits.update(np.arange(USERS))
        seen = visits.state.tobytes()
        visits.announce_intrusion()
        assert seen != visits.state.tobytes()
    with DensityEstimator.resume(path, ledger=None) as visits:
        assert 2 == visits.epochs
        answer = visits.answer()
        assert 6 > abs(answer.density - 1) / answer.standard_error


def test_the_size_of_a_file_tells_nothing(tmp_path: Path) -> None:
    """It is the same for no events and for many."""
    sizes = set()
    for number, events in enumerate((0, 10, 100_000)):
        with _started(tmp_path / str(number)) as visits:
            visits.update(np.random.default_rng(1).integers(0, USERS, events))
        sizes.add((tmp_path / str(number)).stat().st_size)
    assert 1 == len(sizes)


@pytest.mark.slow
def test_a_killed_process_leaves_a_state(tmp_path: Path) -> None:
    """Nothing is lost but the digest, and the next process continues."""
    path = tmp_path / "visits.state"
    code = (
        "import os, numpy, sys; from understudy.stream import DensityEstimator\n"
        f"visits = DensityEstimator({USERS}, epsilon=2, path=sys.argv[1], answers=2, ledger=None)\n"
        f"visits.update(numpy.arange({USERS})); visits.answer(); os.kill(os.getpid(), 9)"
    )
    assert -9 == subprocess.run([sys.executable, "-c", code, str(path)]).returncode
    with DensityEstimator.resume(path, ledger=None) as visits:
        answer = visits.answer()
    assert (2, 0) == (answer.number, answer.left)
    assert 6 > abs(answer.density - 1) / answer.standard_error


def test_two_processes_cannot_share_a_state(tmp_path: Path) -> None:
    """The second is refused until the first has ended."""
    with _started(tmp_path / "state"), pytest.raises(UsageError, match="another process"):
        DensityEstimator.resume(tmp_path / "state", ledger=None)
    DensityEstimator.resume(tmp_path / "state", ledger=None).close()


def test_a_closed_state_takes_nothing_in(tmp_path: Path) -> None:
    """It says so."""
    visits = _started(tmp_path / "state")
    visits.close()
    visits.close()
    with pytest.raises(UsageError, match="was closed"):
        visits.update([1])


def test_a_state_does_not_take_another_place(tmp_path: Path) -> None:
    """What is there is never overwritten, and nothing is left beside it."""
    (tmp_path / "state").write_text("mine")
    with pytest.raises(OutputError, match="is there already"):
        _started(tmp_path / "state")
    with pytest.raises(OutputError, match="cannot be written"):
        _started(tmp_path / "nowhere" / "state")
    assert ("mine", ["state"]) == ((tmp_path / "state").read_text(), os.listdir(tmp_path))


@pytest.mark.parametrize("at", [0, 5, 60, 300, 511, 1024, 1400])
def test_damage_is_noticed(tmp_path: Path, at: int) -> None:
    """A byte changed in header or entries is refused, and the file left as it is."""
    path = tmp_path / "state"
    _started(path).close()
    damaged = bytearray(path.read_bytes())
    damaged[at] ^= 0x11
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="damaged"):
        DensityEstimator.resume(path, ledger=None)
    assert bytes(damaged) == path.read_bytes()


@pytest.mark.parametrize("size", [0, 100, 512, 1024, 1200])
def test_a_file_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    """Whatever is left of it."""
    path = tmp_path / "state"
    _started(path).close()
    os.truncate(path, size)
    with pytest.raises(DataError, match=r"damaged|cut short"):
        DensityEstimator.resume(path, ledger=None)


def test_headers_that_lie_are_refused(tmp_path: Path) -> None:
    """A right check does not make a wrong header right."""
    from understudy.stream.header import check_of

    path = tmp_path / "state"
    _started(path).close()
    right = path.read_bytes()
    header = json.loads(right[:512])
    header.pop("check")
    changes: list[dict[str, object]] = [
        {"size": 0}, {"size": 10**30}, {"epsilon": "x"}, {"epochs": 0}, {"epochs": 99},
        {"kind": "moon"}, {"levels": "two"}, {"version": 2}, {"answers": 0}, {"key": None},
        {"key": "zz"}, {"sample": -1}, {"estimator": []}, {"given": "many"}, {"shards": 0},
        {"epsilon": "0"}, {"given": True}, {"first": -1},
    ]  # fmt: skip
    for change in changes:
        lie = header | change
        line = json.dumps(lie | {"check": check_of(lie)}).encode().ljust(512)
        path.write_bytes(line + right[512:])
        with pytest.raises(UnderstudyError):
            DensityEstimator.resume(path, ledger=None)


def test_a_full_disk_ends_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left behind, and the error is about the disk."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(DiskError, match="took no more bytes"):
        _started(tmp_path / "state")
    assert [] == os.listdir(tmp_path)
