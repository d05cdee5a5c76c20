"""The guide to federated networks can be followed: its own commands, by processes on loopback."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.documents import ROOT, blocks
from support.promised import need
from support.servers import free_port

PAGE = (ROOT / "docs" / "guides" / "federated_network.md").read_text(encoding="utf-8")
NAMES = ("north", "south", "west")
PATIENCE = 600
SCHEMA = """
columns.income = { kind = "integer", min = 0, max = 99, bins = 5 }
columns.illness = { kind = "boolean" }
columns.sex = { kind = "categorical", values = ["f", "m"] }
"""
ROWS = "income,illness,sex\n" + "31,true,f\n64,false,m\n12,false,f\n" * 200
# On a busy machine the last words to a holder may take longer.
START = """
from understudy.cli.main import main
from understudy.federated.wire import channel
channel._FAREWELL_SECONDS = 60.0
main()
"""


def _commands(*words: str) -> list[str]:
    """Return the commands of the page that begin with some words, in order."""
    bash = [body.replace("\\\n", " ") for kind, body in blocks(PAGE) if kind == "bash"]
    lines = [line for body in bash for line in body.splitlines()]
    return [line for line in lines if line.startswith(" ".join(("understudy", *words)))]


def _policy() -> str:
    [policy] = [body for kind, body in blocks(PAGE) if kind == "toml"]
    return policy


class Machines:
    """A folder for every machine of the page, and the processes that were started in them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.running: list[subprocess.Popen[str]] = []
        for name in ("analyst", *NAMES):
            (folder / name).mkdir()
            (folder / name / "ward.toml").write_text(SCHEMA)

    def start(self, line: str, machine: str) -> subprocess.Popen[str]:
        """Run a command of the page on a machine; only addresses, and a holder's name, change."""
        line = re.sub(r"(analyst\.example\.org|0\.0\.0\.0):9300", f"127.0.0.1:{self.port}", line)
        line = line.replace("192.0.2.7", "127.0.0.1")
        if machine != "analyst":
            line = re.sub(r"\bnorth\b", machine, line)
        process = subprocess.Popen(
            [sys.executable, "-c", START, *shlex.split(line)[1:]],
            cwd=self.folder / machine,
            env=os.environ | {"UNDERSTUDY_LEDGER": str(self.folder / machine / "ledger.jsonl")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(process)
        return process

    def ran(self, line: str, machine: str) -> None:
        """Run a command to its end."""
        self.ended(self.start(line, machine))

    def ended(self, process: subprocess.Popen[str]) -> None:
        """Wait for a process, which must end well."""
        said, _ = process.communicate(timeout=PATIENCE)
        assert 0 == process.returncode, said

    def together(self, analyst: str, holder: str) -> None:
        """All sides of one run."""
        holders = [self.start(holder, name) for name in NAMES]
        self.ended(self.start(analyst, "analyst"))
        for process in holders:
            self.ended(process)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    """Machines with keys, certificates and policies, made as the page says."""
    need("flwr")
    made = Machines(tmp_path)
    [key], [certificate] = _commands("keys", "holder"), _commands("keys", "analyst")
    made.ran(certificate, "analyst")
    (tmp_path / "analyst" / "holders").mkdir()
    for name in NAMES:
        made.ran(key, name)
        shutil.copy(tmp_path / name / f"{name}.pub", tmp_path / "analyst" / "holders")
        shutil.copy(tmp_path / "analyst" / "roots.crt", tmp_path / name)
        (tmp_path / name / "policy.toml").write_text(_policy())
    yield made
    for process in made.running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_table_is_learned_as_the_guide_says(machines: Machines) -> None:
    """Keys, policy, both commands and the rows in the end."""
    for name in NAMES:
        (machines.folder / name / "ward.csv").write_text(ROWS)
    machines.together(_commands("analyst")[0], _commands("holder")[0])
    assert "`understudy sample model.zip -o rows.csv`" in PAGE
    machines.ran("understudy sample model.zip -o rows.csv", "analyst")
    rows = (machines.folder / "analyst" / "rows.csv").read_text()
    assert "income,illness,sex" == rows.splitlines()[0]
    assert "`understudy ledger show`" in PAGE
    machines.ran("understudy ledger show", "north")


@pytest.mark.slow
def test_images_are_learned_as_the_guide_says(machines: Machines) -> None:
    """The same keys, a policy as the page changes it for images, and its two commands."""
    added = 'most_delta = "1e-5"'
    assert f"`{added}` and `moments` among its protocols, and no `protect`" in PAGE
    policy = f"{added}\n" + re.sub(
        "^protect = .*", "", _policy().replace('["votes"]', '["votes", "moments"]'), flags=re.M
    )
    generator = np.random.default_rng(4)
    for name in NAMES:
        folder = machines.folder / name
        (folder / "policy.toml").write_text(policy)
        pixels = generator.integers(0, 256, (60, 28, 28)).astype(np.uint8)
        np.savez(folder / "digits.npz", x=pixels, y=np.arange(60) % 10)
    machines.together(_commands("analyst")[1], _commands("holder")[1])
    assert (machines.folder / "analyst" / "model.zip").exists()


def test_every_command_of_the_guide_is_run() -> None:
    """Two commands for keys, and one for each side of both runs; nothing else is on the page."""
    bash = [body for kind, body in blocks(PAGE) if kind == "bash"]
    named = [line.split()[1] for body in bash for line in body.splitlines() if line[0] != " "]
    assert ["keys", "keys", "analyst", "holder", "analyst", "holder"] == named
