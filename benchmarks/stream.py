"""Pan-private streams: updates and lines a second, beside a set and HyperLogLog; errors."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.measuring import Work, in_turns
from benchmarks.scoreboard import Scoreboard
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Design
from understudy.stream.reading import line_batches
from understudy.stream.state import State
from understudy.system.extras import require

Ids = npt.NDArray[np.int64]

_BATCH = 10**5
_EPSILON = 0.25


def run(board: Scoreboard) -> None:
    """Speed from arrays and text, memory, and mean squared errors at ε = 0.25."""
    _arrays(board)
    _text(board)
    _others(board)
    _errors(board)


def _ids(users: int, events: int) -> Ids:
    return np.random.default_rng(1).integers(0, users, events)


def _taking_in(visits: DensityEstimator, ids: Ids) -> Work:
    def work() -> None:
        for start in range(0, ids.size, _BATCH):
            visits.update(ids[start : start + _BATCH])

    return work


def _arrays(board: Scoreboard) -> None:
    events = board.size.pick(2 * 10**7, 10**5)
    for users in board.size.pick((10**5, 10**7, 10**8), (10**3,)):
        visits = DensityEstimator(users, epsilon=_EPSILON, ledger=None)
        seconds = in_turns({"ours": _taking_in(visits, _ids(users, events))})["ours"]
        what = f"updates a second from arrays, {users:,} users, one core"
        board.add(what, events / seconds / 1e6, "M/s", 100, at_most=False)


def _text(board: Scoreboard) -> None:
    lines = board.size.pick(10**7, 10**4)
    visits = DensityEstimator(10**5, epsilon=_EPSILON, ledger=None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids.txt"
        path.write_text("\n".join(map(str, _ids(10**5, lines).tolist())))

        def work() -> None:
            with path.open("rb") as file:
                for batch in line_batches(file.fileno()):
                    visits.update(batch)

        seconds = in_turns({"ours": work})["ours"]
        board.add(
            "lines a second from text, one core", lines / seconds / 1e6, "M/s", 2, at_most=False
        )


def _others(board: Scoreboard) -> None:
    """The same stream through a set, np.unique and Redis's HyperLogLog, with what each holds."""
    users = board.size.pick(10**6, 10**3)
    ids = _ids(users, board.size.pick(10**6, 10**3))
    visits = DensityEstimator(users, epsilon=_EPSILON, ledger=None)
    held: set[int] = set()
    works: dict[str, Work] = {
        "ours": _taking_in(visits, ids),
        "a set of integers": lambda: held.update(ids.tolist()),
    }
    taken = in_turns(works)
    for name, seconds in taken.items():
        what = f"{users:,} users, {ids.size:,} events: {name}"
        board.add(what, ids.size / seconds / 1e6, "M/s")
    board.add("memory of our state", visits.state.nbytes / 1e3, "kB")
    size = sys.getsizeof(held) + sum(map(sys.getsizeof, held))
    board.add("memory of the set, which names everybody", size / 1e3, "kB")
    _hyperloglog(board, ids)


def _hyperloglog(board: Scoreboard, ids: Ids) -> None:
    program = shutil.which("redis-server")
    if importlib.util.find_spec("redis") is None:
        program = None
    if program is None:
        board.leave_out("Redis's HyperLogLog", "redis-server or its Python client is missing")
        return
    redis = require("redis", extra="stream")
    with _server(program) as port, redis.Redis(port=port) as client:
        started = time.perf_counter()
        for start in range(0, ids.size, 1000):
            client.pfadd("visits", *ids[start : start + 1000].tolist())
        seconds = time.perf_counter() - started
        board.add("the same through Redis PFADD, wall", ids.size / seconds / 1e6, "M/s")
        size = client.memory_usage("visits")
        board.add("memory of the HyperLogLog, which is not private", size / 1e3, "kB")
        exact = np.unique(ids).size
        counted = client.pfcount("visits")
        board.add("error of the HyperLogLog", abs(counted - exact) / exact * 100, "%")
    visits = DensityEstimator(int(ids.max()) + 1, epsilon=_EPSILON, ledger=None)
    visits.update(ids)
    answer = visits.answer()
    board.add("standard error of ours", answer.distinct_error / exact * 100, "%")


@contextmanager
def _server(program: str) -> Iterator[int]:
    """A Redis server on a free port, which keeps nothing."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        yield port
    finally:
        process.kill()
        process.wait()


def _errors(board: Scoreboard) -> None:
    """Mean squared errors of many runs against the exact variances, at m = 10⁴."""
    m, runs = board.size.pick(10**4, 100), board.size.pick(20_000, 20)
    ids, found = np.arange(m // 4), {}
    for name in ("bernoulli", "dwork"):
        design = Design.of(m, epsilon=_EPSILON, estimator=name)
        found[name] = _mean_squared_error(design, ids, runs)
        exact = design.sizing.variance(m, 0.25)
        off = abs(found[name] / exact - 1) * 100
        board.add(f"{name}: squared error of {runs:,} runs, off its exact variance", off, "%", 5)
    ratio = found["dwork"] / found["bernoulli"]
    board.add("squared error of Dwork's estimator, times ours", ratio, "×", 3.5, at_most=False)


def _mean_squared_error(design: Design, ids: Ids, runs: int) -> float:
    grant, squares = Grant(Budget.unlimited()), np.empty(runs)
    for number in range(runs):
        visits = DensityEstimator.over(State.start(design), grant)
        visits.update(ids)
        squares[number] = (visits.answer().density - ids.size / design.sample) ** 2
    return float(squares.mean())
