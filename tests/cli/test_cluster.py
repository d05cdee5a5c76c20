"""Folders of partitions on the command line, counted here or by a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pytest

from support.cluster import write_partitions
from support.commands import Desk
from understudy.rows.engines.cluster_connection import Cluster
from understudy.system.extras import require


@pytest.fixture
def folder(desk: Desk) -> Path:
    """The private table as a folder of partitions."""
    return write_partitions(pc.read_csv(desk.data), desk.folder / "patients", [10, 40, 40])


def _with_children(process: subprocess.Popen[str], least: int) -> list[Any]:
    """The processes below another one, when there are as many."""
    parent = require("psutil", extra="cluster").Process(process.pid)
    for _ in range(6000):
        children: list[Any] = parent.children(recursive=True)
        if len(children) >= least:
            return children
        time.sleep(0.01)
    raise AssertionError("it did not start them within a minute")


def test_a_folder_of_partitions_is_one_table(desk: Desk, folder: Path) -> None:
    """Read at once or in blocks; the ledger knows it by the folder's name."""
    assert 0 == desk.synth(data=folder).code
    assert 0 == desk.synth("--memory", "1kB", data=folder).code
    assert {"patients": 2.0} == desk.spent


def _foreign(said: str) -> list[str]:
    """The lines on stderr that are not our own remarks."""
    ours = ("Whatever is computed", "method ", "the privacy statement", "fit ", "ledger: ")
    return [line for line in said.splitlines() if line and not line.startswith(ours)]


@pytest.mark.slow
def test_a_cluster_counts_a_folder(desk: Desk, folder: Path, cluster: Cluster) -> None:
    """The same command with the address of a scheduler."""
    arguments = ["--cluster", cluster.address, "--method", "independent", "--json"]
    result = desk.synth(*arguments, data=folder)
    assert (0, []) == (result.code, _foreign(result.err))
    assert {"patients": 1.0} == desk.spent


def test_a_cluster_out_of_reach_costs_nothing(desk: Desk, folder: Path) -> None:
    """Exit 4 within the time allowed, and one sentence."""
    result = desk.synth("--cluster", "tcp://127.0.0.1:1", "--cluster-timeout", "0.5", data=folder)
    assert (4, {}) == (result.code, desk.spent)
    assert result.err.startswith("error: cluster tcp://127.0.0.1:1: no Dask scheduler answered")
    assert 1 == result.err.count("\n")


def test_an_address_that_is_none_is_a_usage_error(desk: Desk, folder: Path) -> None:
    """Exit 2 before anything is read."""
    result = desk.synth("--cluster", "somewhere", data=folder)
    assert (2, {}) == (result.code, desk.spent)


def test_output_stays_out_of_the_folder_that_is_read(desk: Desk, folder: Path) -> None:
    """It would be a partition of the private table the next time."""
    before = sorted(folder.iterdir())
    result = desk.synth(data=folder, output=folder / "out.parquet")
    assert (2, {}, before) == (result.code, desk.spent, sorted(folder.iterdir()))
    assert "is inside the input" in result.err


def test_a_skeleton_comes_from_the_first_partition(desk: Desk, folder: Path) -> None:
    """Names and types, as of one Parquet file."""
    result = desk.run("schema", "init", folder)
    assert 0 == result.code
    assert "[columns.name]" in result.out


@pytest.mark.slow
def test_a_local_cluster_is_started_and_ended(desk: Desk, folder: Path) -> None:
    """The rows come, nothing but our own words is said, and no process is left."""
    arguments = ["synth", folder, "-s", desk.schema, "-e", 1, "-o", desk.output, "--json"]
    process = desk.start(*arguments, "--unchecked", "-m", "independent", "--cluster", "local")
    children = _with_children(process, 2)
    out, err = process.communicate(timeout=120)
    assert (0, []) == (process.returncode, _foreign(err))
    assert json.loads(out)["rows"] > 0
    assert [] == [child for child in children if _is_alive(child)]
    assert not [name for name in desk.files if name.startswith("understudy-")]


@pytest.mark.slow
def test_ctrl_c_ends_a_local_cluster(desk: Desk, folder: Path) -> None:
    """A terminal sends it to all processes; one of them answers, and none is left."""
    arguments = ["synth", folder, "-s", desk.schema, "-e", 1, "-o", desk.output]
    process = desk.start(*arguments, "--cluster", "local")
    children = _with_children(process, 3)
    for pid in [process.pid, *(child.pid for child in children)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    said = "error: interrupted; nothing was left half-written, and the ledger is true\n"
    assert (130, "", said) == (process.returncode, out, err)
    assert [] == [child for child in children if _is_alive(child)]
    assert {"people.csv", "people.toml", "patients"} == desk.files - {
        "ledger.jsonl",
        "ledger.jsonl.secret",
    }


def _is_alive(process: Any) -> bool:
    """Whether a process still runs a moment later."""
    for _ in range(6000):
        if not process.is_running() or process.status() == "zombie":
            return False
        time.sleep(0.01)
    return True
