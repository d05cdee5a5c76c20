"""The machine below, and calls that systems do not share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from understudy.cli.commands.doctor import doctor
from understudy.cli.logs import wanted_log
from understudy.system.files.descriptors import (
    flush,
    flush_folder,
    make_room,
    read_at,
    write_at,
)
from understudy.system.machine import cores, free_memory, whole_memory


def test_memory_and_cores_are_counted() -> None:
    """What is free is a part of all."""
    assert 1 <= cores() <= (os.cpu_count() or 1)
    assert 0 < free_memory() <= whole_memory()


@pytest.mark.parametrize("missing", [(), ("pread", "pwrite", "posix_fallocate")])
def test_files_are_written_in_place(
    missing: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the calls of POSIX and without them."""
    for name in missing:
        monkeypatch.delattr(os, name)
    descriptor = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT)
    make_room(descriptor, 3_000_000)
    assert 3 == write_at(descriptor, b"abc", 2_000_000)
    flush(descriptor)
    flush_folder(tmp_path)
    assert b"\0abc\0" == read_at(descriptor, 5, 1_999_999)
    assert 3_000_000 == os.fstat(descriptor).st_size
    os.close(descriptor)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--log", "json", "synth"], "json"),
        (["--log=json"], "json"),
        (["synth", "--log", "json"], "text"),
        ([], "text"),
        (["--log"], ""),
    ],
)
def test_the_log_is_asked_for_before_the_command(arguments: list[str], wanted: str) -> None:
    """What follows a command is its own."""
    assert wanted == wanted_log(arguments)
    assert doctor.__doc__
