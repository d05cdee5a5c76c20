"""Ours beside AIM, MST and PrivBayes of other tools: the same tables, budgets and metrics.

Every fit has a process of its own, of at most 15 CPU minutes for reading, fitting, sampling and
writing; "did not finish" is a result. Runs are kept one by one, and a run that is on record is not
repeated, so that a stopped arena resumes. `--only TABLE/ENTRANT/EPSILON` selects by patterns.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from benchmarks.arena.cells import chosen, full_cells, smoke_cells
from benchmarks.arena.page import ratios
from benchmarks.arena.records import Records
from benchmarks.arena.running import Runner
from benchmarks.scoreboard import Scoreboard

RATIO = "3-way distance of {} over that of the best other tool, ε = {}, geometric mean"


def run(board: Scoreboard) -> None:
    """Run what is missing, then compare ours with the best other tool on every table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = (board.folder or Path(temporary)) / "arena"
        records = Records(folder)
        measure(board, records)
        summarise(board, records)


def measure(board: Scoreboard, records: Records) -> None:
    """Run every chosen cell that is not on record."""
    runner = Runner(board, records)
    for cell in chosen(board.size.pick(full_cells, smoke_cells)(), board.only):
        runner.do(cell)


def summarise(board: Scoreboard, records: Records) -> None:
    """The geometric mean of ratios over all tables, for each method of ours and each ε."""
    found = list(records.all())
    board.add("runs on record", len(found), "")
    for (entrant, epsilon), values in ratios(found).items():
        mean = math.exp(sum(map(math.log, values.values())) / len(values))
        board.add(RATIO.format(entrant, epsilon), mean, "×")


__all__ = ["measure", "run", "summarise"]
