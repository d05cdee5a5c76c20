"""How far a file in blocks has been read is shown at a terminal, and nowhere else."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time

import pytest

from support.commands import Desk
from understudy.jobs.progress import ReadingProgress


def test_readings_are_numbered_and_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows done, of how many where that is known, their speed and the time left."""
    clock = iter([0.0, 0.0, 2.0, 10.0, 10.0, 12.0, 20.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    shown: list[str] = []
    watch = ReadingProgress(shown.append)
    for done, total in [(0, None), (5000, None), (0, 80_000), (2000, 80_000), (80_000, 80_000)]:
        watch(done, total)
    assert [
        "reading 1: 0 rows",
        "reading 1: 5,000 rows, 2,500 rows/s",
        "reading 2: 0 of 80,000 rows",
        "reading 2: 2,000 of 80,000 rows, 1,000 rows/s, 1:18 left",
        "reading 2: 80,000 of 80,000 rows, 8,000 rows/s, 0:00 left",
    ] == shown


def test_no_terminal_is_told_nothing(desk: Desk) -> None:
    """Neither stdout nor a stderr that goes to a file speaks of rows that were read."""
    result = desk.synth("--memory", "100", "--json", "--rows", 5)
    assert 0 == result.code
    assert 5 == result.document["rows"]
    for text in (result.out, result.err, (desk.folder / "out.csv.privacy.json").read_text()):
        assert "reading 1" not in text
        assert "rows/s" not in text


@pytest.mark.parametrize("log", [(), ("--log", "json")])
@pytest.mark.parametrize("forced", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_a_file_that_is_taken_for_a_terminal_is_told_nothing(
    log: tuple[str, ...], forced: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scripts that force colours get no exact number of rows in their logs."""
    monkeypatch.setenv(forced, "1")
    asked = ("--schema", desk.schema, "-e", 1, "-o", desk.output, "--unchecked")
    result = desk.run(*log, "synth", desk.data, *asked, "--memory", "100")
    assert 0 == result.code
    assert "rows/s" not in result.err
    assert "reading 1" not in result.err


@pytest.mark.slow
def test_a_terminal_is_told_how_far_it_is(desk: Desk) -> None:
    """On stderr, while stdout holds the result alone."""
    terminal, stderr = pty.openpty()
    where = ("--schema", desk.schema, "-o", desk.output, "--epsilon", 1)
    asked = ("--memory", "100", "--json", "--rows", 5, "--unchecked")
    command = ("synth", desk.data, *where, *asked)
    ran = subprocess.Popen(
        [sys.executable, "-m", "understudy.cli.main", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(stderr)
    told = _read_all(terminal)
    out, _ = ran.communicate(timeout=60)
    assert 0 == ran.returncode
    assert "reading 1: 102 rows" in told or "of 102 rows" in told
    assert 5 == json.loads(out)["rows"]


def _read_all(terminal: int) -> str:
    """What was written to a terminal until its other side was closed."""
    parts = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:
        pass  # Linux reports the closed side as an error
    os.close(terminal)
    return b"".join(parts).decode(errors="replace")


def test_machines_get_their_result_and_people_its_remarks(desk: Desk) -> None:
    """With `--json`, what people must know is on stderr: a script's log keeps it."""
    result = desk.synth("--json", "--rows", 5)
    assert 5 == result.document["rows"]
    assert "ledger: epsilon = 1" in result.err
    assert "the privacy statement is in" in result.err
