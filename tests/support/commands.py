"""A small private table on disk, and commands run on it in this process or another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from understudy.cli.main import run
from understudy.privacy.spending.ledger import Ledger

# It stands in cells alone, so that no output may hold it.
SECRET = "xyzzy-4711"

SCHEMA = """
[columns.name]
kind = "categorical"
values = ["Ann", "Bob"]
missing = []

[columns.age]
kind = "integer"
min = 0
max = 99
missing = []
"""
ROWS = "name,age\n" + "Ann,41\nBob,7\n" * 50 + f"{SECRET},8\nAnn,{SECRET}\n"


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Stdout as the one JSON object it must be."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


def logged_apart(*arguments: object, folder: Path) -> tuple[list[dict[str, Any]], str]:
    """The lines that `--log json` gives in a process of its own, each an object, and stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "understudy.cli.main", "--log", "json", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    return lines, done.stdout


def check_quiet(lines: list[dict[str, Any]]) -> None:
    """A run went well, and what other packages would have said is not among its messages."""
    first, *messages, last = lines
    assert ("begin", "end", 0) == (first["event"], last["event"], last["exit_code"]), messages
    assert not any("site-packages" in each["message"] for each in messages)


@dataclass(frozen=True)
class Desk:
    """A folder with a private table, its schema and a ledger, and a way to run commands there."""

    folder: Path
    capture: Callable[[], tuple[str, str]]

    @property
    def data(self) -> Path:
        """The private table."""
        return self.folder / "people.csv"

    @property
    def schema(self) -> Path:
        """Its schema."""
        return self.folder / "people.toml"

    @property
    def output(self) -> Path:
        """Where rows go."""
        return self.folder / "out.csv"

    @property
    def ledger(self) -> Ledger:
        """The ledger that commands run here write to."""
        return Ledger(self.folder / "ledger.jsonl")

    @property
    def spent(self) -> dict[str, float]:
        """The epsilon spent on every dataset."""
        return {n: float(a.spent.epsilon) for n, a in self.ledger.accounts().items()}

    @property
    def files(self) -> set[str]:
        """The names in the folder, hidden ones included."""
        return {path.name for path in self.folder.iterdir()}

    def run(self, *arguments: object) -> Result:
        """Run a command in this process."""
        self.capture()
        code = run([str(argument) for argument in arguments])
        return Result(code, *self.capture())

    def synth(self, *more: object, data: Path | None = None, output: Path | None = None) -> Result:
        """The main job on the table here."""
        # The same output again and again: what was paid for it is of no interest here.
        # Unchecked, because a preflight refuses rows that fit once in a thousand runs.
        where = ("--schema", self.schema, "-o", output or self.output, "--force", "--unchecked")
        return self.run("synth", data or self.data, *where, "--epsilon", 1, *more)

    def start(self, *arguments: object, before: str = "") -> subprocess.Popen[str]:
        """Start a command in a process of its own, after some lines of Python."""
        code = f"{before}\nfrom understudy.cli.main import main\nmain()"
        return subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(self.folder)},
        )


def desk_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A working folder with everything in it."""
    desk = Desk(folder, lambda: tuple(capsys.readouterr()))  # type: ignore[arg-type, return-value]
    desk.schema.write_text(SCHEMA)
    desk.data.write_text(ROWS)
    return desk
