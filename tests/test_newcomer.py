"""A newcomer's first minutes: from the README to a page about a table of their own."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.documents import ROOT, blocks, write_patients
from support.summaries import SHOWN
from support.wheels import environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
START = "import sys; from understudy.cli.main import main; sys.argv[0] = 'understudy'; main()"
# Processor time of all commands together, on one core; a newcomer has five minutes.
MOST_SECONDS = 150
# Packages of extras, and of tests, which a newcomer does not have.
EXTRAS = ("sklearn", "ibis", "duckdb", "faker", "dask", "redis", "pandas", "pytest")


def _commands() -> list[str]:
    """Return the demo, and the commands of the README for one's own table, to the page."""
    lines = [
        line
        for language, body in blocks(README)
        if language == "bash" and "pip install" not in body
        for line in body.splitlines()
    ]
    wanted = ("schema init", "plan", "synth", "evaluate", "verify")
    own = [line for line in lines if line.startswith(tuple(f"understudy {w}" for w in wanted))]
    assert 5 == len(own)
    return ["understudy demo", *own]


def _ran(python: Path, line: str, *, folder: Path) -> tuple[float, float]:
    """Run one command in a process of its own; return its seconds by clock and processor."""
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    arguments = [str(python), "-c", START, *shlex.split(line)[1:]]
    ran = subprocess.run(
        arguments, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert 0 == ran.returncode, f"{line}: {ran.stderr}"
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, spent


def _imports(python: Path, name: str) -> bool:
    """Whether the environment of a Python has a package."""
    command = [str(python), "-c", f"import {name}"]
    return 0 == subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.slow
def test_a_newcomer_has_a_page_in_minutes(
    tmp_path: Path, built: Path, record_property: Callable[[str, object], None]
) -> None:
    """README, demo, own CSV, page: with the wheel, no extra and an empty home; times are shown."""
    [wheel] = built.glob("*.whl")
    python = environment(wheel, tmp_path / "venv")
    assert [] == [extra for extra in EXTRAS if _imports(python, extra)]
    folder = tmp_path / "newcomer"
    (folder / "home").mkdir(parents=True)
    write_patients(folder / "patients.csv")
    spent = {}
    for line in _commands():
        spent[line] = _ran(python, line, folder=folder)
        if line.startswith("understudy schema init"):
            schema = next(body for language, body in blocks(README) if language == "toml")
            (folder / "patients.toml").write_text(schema, encoding="utf-8")
    for line, (clock, processor) in spent.items():
        record_property(SHOWN, f"{clock:6.1f} s, {processor:5.1f} s of processor: {line}")
    assert (folder / "report.html").stat().st_size > 10_000
    assert sum(processor for _, processor in spent.values()) < MOST_SECONDS
