"""The study command: every study runs small, resumes after an interrupt, and refuses bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from support.commands import Desk
from support.tiers import full_but
from understudy_studies import STUDIES

# The quickest one.
NAME = "aau-networks"


@pytest.fixture(autouse=True)
def _without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sizes read no table."""
    monkeypatch.setenv("UNDERSTUDY_SHARED", "nowhere")


def _record(folder: Path, name: str = NAME) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return found


SMALL = [(name, "--smoke") for name in STUDIES]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), full_but(SMALL, [*SMALL, (NAME, "--quick")]))
def test_every_study_runs_small(desk: Desk, name: str, size: str) -> None:
    """A smoke run leaves a whole record, a chart and a sentence, and a page can be written."""
    result = desk.run("study", name, size, "-o", desk.folder / "out")
    record = _record(desk.folder / "out", name)
    assert (0, True) == (result.code, record["complete"])
    assert record["sentence"] == " ".join(result.out.split())
    assert f"understudy study {name} {size}" == record["command"]
    assert {"python", "understudy", "numpy"} <= record["versions"].keys()
    assert record["planned"] == len(record["cells"])
    assert record["parameters"]
    assert record["summary"]
    chart = (desk.folder / "out" / f"{name}.svg").read_text(encoding="utf-8")
    assert list(ElementTree.fromstring(chart).iter("{http://www.w3.org/2000/svg}circle"))
    page = desk.folder / "pages" / f"{name}.md"
    assert 0 == desk.run("study", name, "-o", desk.folder / "out", "--page", page).code
    assert record["sentence"] in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_record_is_printed_as_json(desk: Desk) -> None:
    """--json prints what the file contains."""
    result = desk.run("study", NAME, "--smoke", "-o", desk.folder / "out", "--json")
    assert _record(desk.folder / "out") == result.document


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_studies_are_listed(desk: Desk, options: list[str]) -> None:
    """--list names every study."""
    result = desk.run("study", "--list", *options)
    assert 0 == result.code
    assert all(name in result.out for name in STUDIES)


@pytest.mark.slow
def test_an_interrupt_loses_no_finished_cell(desk: Desk) -> None:
    """Stopped in two processes after a cell: it is there, is not measured again, none is left."""
    folder = desk.folder / "out"
    process = desk.start("study", NAME, "--quick", "-o", folder)
    _wait_for_a_cell(folder)
    members = _children(process.pid)
    assert 2 <= len(members)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    stopped = _record(folder)
    assert (130, False) == (process.returncode, stopped["complete"])
    assert "interrupted" in errors
    assert [] == _left(members)
    result = desk.run("study", NAME, "--quick", "-o", folder, "--json")
    whole = result.document
    # Seconds are those of the first measurement: the cell was not run again.
    assert all(cell in whole["cells"] for cell in stopped["cells"])
    again = desk.run("study", NAME, "--quick", "-o", desk.folder / "again", "--json").document
    expected = [cell["numbers"] for cell in again["cells"]]
    assert expected == [cell["numbers"] for cell in whole["cells"]]


def _wait_for_a_cell(folder: Path) -> None:
    until = time.monotonic() + 120
    while not (folder / f"{NAME}.json").exists():
        assert time.monotonic() < until, "no cell was finished in two minutes"
        time.sleep(0.02)


def _left(members: list[str]) -> list[str]:
    """Those that are still there after a while, which the last one needs to see the others go."""
    until = time.monotonic() + 60
    while (there := [m for m in members if Path("/proc", m).exists()]) and time.monotonic() < until:
        time.sleep(0.05)
    return there


def _children(parent: int) -> list[str]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def test_unknown_studies_are_refused(desk: Desk) -> None:
    """The known ones are listed, and no folder is made."""
    result = desk.run("study", "nonsense", "--smoke", "-o", desk.folder / "out")
    assert (2, False) == (result.code, (desk.folder / "out").exists())
    assert NAME in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--list"),
        ([NAME, "--smoke", "--quick"], "choose one"),
        ([NAME, "--page", "page.txt"], ".md"),
        ([NAME, "--processes", "0"], "processes"),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    desk: Desk, arguments: list[str], said: str
) -> None:
    """Exit 2, and the message says what to do."""
    result = desk.run("study", *arguments)
    assert 2 == result.code
    assert said in result.err


def test_absent_tables_end_with_a_data_error(desk: Desk) -> None:
    """Exit 4, and the message names the option."""
    result = desk.run("study", "tuc1-bits", "--quick", "-o", desk.folder / "out")
    assert (4, False) == (result.code, (desk.folder / "out").exists())
    assert "--data" in result.err


def test_a_folder_that_is_a_file_is_refused(desk: Desk) -> None:
    """Exit 2 before anything is measured."""
    place = desk.folder / "file"
    place.write_text("here")
    result = desk.run("study", NAME, "--smoke", "-o", place)
    assert (2, "here") == (result.code, place.read_text())
    assert "cannot be written" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(desk: Desk) -> None:
    """Exit 2 before anything is measured."""
    place = desk.folder / "closed"
    place.mkdir(mode=0o500)
    assert 2 == desk.run("study", NAME, "--smoke", "-o", place).code


def test_a_damaged_record_is_refused(desk: Desk) -> None:
    """Exit 4, and the file stays as it is."""
    folder = desk.folder / "out"
    folder.mkdir()
    (folder / f"{NAME}.json").write_text('{"cells": [')
    result = desk.run("study", NAME, "--smoke", "-o", folder)
    assert (4, '{"cells": [') == (result.code, (folder / f"{NAME}.json").read_text())
    assert "move it away" in result.err


def test_a_page_needs_a_record(desk: Desk) -> None:
    """Exit 4 where nothing was run."""
    result = desk.run("study", NAME, "-o", desk.folder, "--page", desk.folder / "page.md")
    assert 4 == result.code
    assert "run the study first" in result.err
