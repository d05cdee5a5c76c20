"""`--log json`: every line on stderr is an object, and none holds a cell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.commands import ROWS, SECRET, Desk, Result
from understudy.cli.main import run
from understudy.errors import ExitCode


def _lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.err.splitlines()]


def _synth(desk: Desk, epsilon: str) -> Result:
    wanted = ("-s", desk.schema, "-e", epsilon, "-o", desk.output, "--force")
    return desk.run("--log", "json", "synth", desk.data, *wanted)


def test_every_line_is_an_object_and_no_cell_occurs(desk: Desk) -> None:
    """From the beginning to the end of a run that spends, and of one that is refused."""
    done = desk.run(
        "--log", "json", "synth", desk.data, "-s", desk.schema, "-e", "1", "-o", desk.output
    )
    first, *_, last = _lines(done)
    assert ("synth", "begin") == (first["command"], first["event"])
    assert ("end", 0) == (last["event"], last["exit_code"])
    refused = desk.run(
        "--log", "json", "synth", desk.data, "-s", desk.schema, "-e", "0", "-o", "x.csv"
    )
    assert [("error", 2)] == [
        (line["level"], line["exit_code"]) for line in _lines(refused) if line["event"] == "end"
    ]
    assert "error" in {line["event"] for line in _lines(refused)}
    assert SECRET in ROWS
    assert SECRET not in done.err + refused.err
    assert str(desk.data) not in "".join(line["command"] for line in _lines(done))


def test_rows_that_cannot_be_read_are_not_quoted(desk: Desk) -> None:
    """A ragged line, an unreadable file: the log says so without the cells."""
    desk.data.write_text(f"name,age\nAnn,{SECRET},9\n")
    refused = desk.run(
        "--log=json", "synth", desk.data, "-s", desk.schema, "-e", "1", "-o", "x.csv"
    )
    assert 4 == refused.code
    assert SECRET not in refused.err
    assert _lines(refused)[-1] | {"time": ""} == {
        "time": "",
        "command": "synth",
        "level": "error",
        "event": "end",
        "exit_code": 4,
    }


def test_another_format_is_refused(desk: Desk) -> None:
    """With the formats that there are."""
    refused = desk.run("--log", "xml", "ledger", "show")
    assert (2, True) == (refused.code, "text" in refused.err and "json" in refused.err)


def test_help_shows_the_exit_codes(capfd: pytest.CaptureFixture[str]) -> None:
    """The same sentences as the documents have."""
    assert 0 == run(["--help"])
    shown = "".join(capfd.readouterr().out.replace("│", "").split())
    for code in ExitCode:
        assert f"{code.value}:{code.meaning}".replace(" ", "") in shown
