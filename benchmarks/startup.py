"""From nothing to the first answer: start-up, and the demo on a machine that compiled nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import understudy
from benchmarks.scoreboard import Scoreboard


def run(board: Scoreboard) -> None:
    """Wall seconds of processes of their own."""
    help_times = [understudy("--help").wall_seconds for _ in range(board.size.pick(5, 1))]
    board.add("understudy --help, wall, best of 5", min(help_times), "s", 0.5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Compiled kernels are kept where this says: an empty folder has none.
        kernels = board.size.pick({"NUMBA_CACHE_DIR": str(folder / "kernels")}, {})
        demo = understudy("demo", "--folder", str(folder / "demo"), environment=kernels)
    board.add("demo, kernels not yet compiled, wall", demo.wall_seconds, "s", 60)
