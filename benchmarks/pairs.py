"""All pairs of a wide table, beside numpy, DuckDB and pgmpy."""

from __future__ import annotations

import itertools
from functools import partial

from benchmarks.counting import Task, by_bincount, by_understudy, compare
from benchmarks.measuring import Work, speed
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import skewed

TARGET = 10
# What continuous integration insists on, on a small table and any machine.
FLOOR = 3


def run(board: Scoreboard) -> None:
    """At least ten times the speed of numpy's bincount on 662,000 × 98."""
    rows, columns = board.size.pick((662_000, 98), (20_000, 12))
    table = skewed(rows, columns)
    sets = list(itertools.combinations(table.domain.attributes, 2))
    task = Task(table, sets, by_numpy=120, by_duckdb=40, by_pgmpy=board.size.pick(12, 2))
    compare(board, task, f"all {len(sets):,} pairs of {rows:,} × {columns}", target=TARGET)


def small_speed(*, ours: Work | None = None) -> float:
    """The speed of numpy's bincount on a table of some milliseconds: the best of many turns."""
    table = skewed(150_000, 20)
    sets = list(itertools.combinations(table.domain.attributes, 2))
    task = Task(table, sets, by_numpy=len(sets), by_duckdb=1, by_pgmpy=1)
    return speed(ours or partial(by_understudy, task), partial(by_bincount, table, sets), rounds=7)
