"""Federated learning over a network: start, rounds of three holders, and whole runs; loopback."""

from __future__ import annotations

import importlib.util
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet

from benchmarks.measuring import ROOT, understudy
from benchmarks.real_tables import ADULT, SHARED
from benchmarks.scoreboard import Scoreboard
from understudy.federated.wire import hub, keys
from understudy.federated.wire.channel import FlowerChannel

_NAMES = ("north", "south", "west")
_BYTES = 80_000


def run(board: Scoreboard) -> None:
    """Wall seconds of processes of their own, with TLS and keys."""
    if importlib.util.find_spec("flwr") is None:
        board.leave_out("everything", "Flower is missing: pip install 'understudy[federated]'")
        return
    board.peers["flwr"] = version("flwr")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys.make_certificate(folder, ["127.0.0.1"])
        (folder / "keys").mkdir()
        for holder in _NAMES:
            keys.make_holder_key(folder / "keys" / holder)
        _rounds(board, folder)
        _runs(board, folder)


def _rounds(board: Scoreboard, folder: Path) -> None:
    started = time.perf_counter()
    place = hub.Listening("127.0.0.1", 0, folder / "analyst.crt", folder / "analyst.key")
    known = {name: folder / "keys" / f"{name}.pub" for name in _NAMES}
    with hub.opened(place, known) as channel:
        board.add("SuperLink started, wall", time.perf_counter() - started, "s")
        started = time.perf_counter()
        with _echoing(folder, channel):
            channel.wait_for(len(_NAMES), seconds=120)
            board.add("three holders started and joined, wall", time.perf_counter() - started, "s")
            seconds = [_round(channel) for _ in range(board.size.pick(21, 3))]
            what = f"a round of three holders, {_BYTES // 1000} kB each way"
            board.add(f"{what}, median, wall", statistics.median(seconds), "s", 3)
            board.add(f"{what}, largest, wall", max(seconds), "s")
            channel.send_closing()


def _round(channel: FlowerChannel) -> float:
    requests = {name: os.urandom(_BYTES) for name in channel.holders}
    started = time.perf_counter()
    replies = channel.ask(requests, deadline=60)
    assert requests == replies
    return time.perf_counter() - started


@contextmanager
def _echoing(folder: Path, channel: FlowerChannel) -> Iterator[None]:
    roots = str(folder / "roots.crt")
    commands = [
        ["-m", "benchmarks.network_holder", channel.address, str(folder / "keys" / name), roots]
        for name in _NAMES
    ]
    with _processes(commands):
        yield


@contextmanager
def _processes(commands: Sequence[Sequence[str]]) -> Iterator[None]:
    """Processes that end by themselves, or are ended."""
    running = [
        subprocess.Popen([sys.executable, *command], cwd=ROOT, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        yield
    finally:
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _runs(board: Scoreboard, folder: Path) -> None:
    """Whole runs on a third of Adult each, from the commands' start to the model's file."""
    if importlib.util.find_spec("understudy.federated.holder.holder") is None or not ADULT.exists():
        board.leave_out("whole runs", "the protocols, or the Adult table, are missing")
        return
    rows = pyarrow.parquet.read_table(ADULT)
    part = rows.num_rows // len(_NAMES)
    for number, name in enumerate(_NAMES):
        pyarrow.parquet.write_table(rows.slice(number * part, part), folder / f"{name}.parquet")
    (folder / "policy.toml").write_text("most_epsilon = 1\n")
    targets = {"votes": 60, "statistics": 20, "model": 20}
    for protocol in board.size.pick(tuple(targets), ("statistics",)):
        before = _children_seconds()
        seconds = _whole(folder, protocol)
        what = f"three holders, Adult, 15 attributes, {protocol}: all processes"
        board.add(f"{what}, wall", seconds, "s", targets[protocol])
        # What an idle machine would need at the least, shared by its cores.
        board.add(f"{what}, CPU", _children_seconds() - before, "s")


def _children_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def _whole(folder: Path, protocol: str) -> float:
    port, schema = _free_port(), str(SHARED / "benchmark" / "adult.json")
    holding = [
        [
            *("-m", "understudy.cli.main", "holder", "--data", str(folder / f"{name}.parquet")),
            *("--schema", schema, "--epsilon-limit", "1", "--superlink", f"127.0.0.1:{port}"),
            *("--key", str(folder / "keys" / name)),
            *("--root-certificates", str(folder / "roots.crt")),
            *("--policy", str(folder / "policy.toml")),
            *("--ledger", str(folder / f"{name}-{protocol}.jsonl")),
        ]
        for name in _NAMES
    ]
    started = time.perf_counter()
    with _processes(holding):
        understudy(
            *("analyst", "--schema", schema, "--holders", "3", "--protocol", protocol),
            *("--epsilon", "1", "-o", str(folder / f"{protocol}.zip")),
            *("--listen", f"127.0.0.1:{port}", "--holder-keys", str(folder / "keys")),
            *("--certificate", str(folder / "analyst.crt")),
            *("--certificate-key", str(folder / "analyst.key")),
        )
    return time.perf_counter() - started


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
