"""3-way tables of a wide table, beside numpy, DuckDB and pgmpy."""

from __future__ import annotations

from benchmarks.counting import Task, compare
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import skewed
from understudy.facts.workload import workload


def run(board: Scoreboard) -> None:
    """A fixed choice of 300 of the 3-way tables that scoring asks for."""
    rows, columns = board.size.pick((662_000, 98), (20_000, 12))
    table = skewed(rows, columns)
    sets = workload(table.domain, 3, most=board.size.pick(300, 20))
    task = Task(table, sets, by_numpy=60, by_duckdb=20, by_pgmpy=board.size.pick(6, 2))
    compare(board, task, f"{len(sets):,} 3-way tables of {rows:,} × {columns}", target=None)
