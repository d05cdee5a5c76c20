"""The same contingency tables counted by understudy, numpy, DuckDB and pgmpy in one run.

Each way counts as many of the sets as it can in seconds; what is compared is CPU seconds for each
table. The tables are compared cell by cell first. Loading is not counted, except for what ours
prepares from the encoded rows, which is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.environments import PGMPY, Unavailable, run_peer
from benchmarks.measuring import Work, in_turns
from benchmarks.scoreboard import Scoreboard
from understudy.facts.domain import Attributes
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

Counted = dict[Attributes, npt.NDArray[np.int64]]

_GROUPING_SETS = 10


@dataclass(frozen=True)
class Task:
    """Some sets of a table to count, and how many of them the slower ways are given."""

    table: Table
    sets: Sequence[Attributes]
    by_numpy: int
    by_duckdb: int
    by_pgmpy: int

    def spread(self, count: int) -> list[Attributes]:
        """Return a number of the sets, spread over all of them."""
        return list(self.sets[:: max(len(self.sets) // count, 1)][:count])


def by_understudy(task: Task) -> Counted:
    """All sets, from encoded rows."""
    marginals = MemorySource(task.table).count(task.sets)
    return {marginal.attributes: marginal.counts for marginal in marginals}


def by_bincount(table: Table, sets: Sequence[Attributes]) -> Counted:
    """Sets by numpy: one number for each row's cell, then bincount."""
    counted = {}
    for attributes in sets:
        cells = np.zeros(table.rows, np.int64)
        for attribute in attributes:
            cells *= table.domain[attribute]
            cells += table.codes[attribute]
        counts = np.bincount(cells, minlength=table.domain.cells(attributes))
        counted[attributes] = counts.reshape(table.domain.shape(attributes))
    return counted


def by_duckdb(connection: Any, table: Table, sets: Sequence[Attributes]) -> Counted:
    """Sets by DuckDB: ten GROUPING SETS a query over a table of its own."""
    counted = {}
    for start in range(0, len(sets), _GROUPING_SETS):
        for attributes in sets[start : start + _GROUPING_SETS]:
            counted[attributes] = np.zeros(table.domain.shape(attributes), np.int64)
        _query(connection, sets[start : start + _GROUPING_SETS], counted)
    return counted


def _query(connection: Any, sets: Sequence[Attributes], counted: Counted) -> None:
    columns = sorted({attribute for attributes in sets for attribute in attributes})
    grouped = ", ".join(f"({', '.join(attributes)})" for attributes in sets)
    listed = ", ".join(columns)
    found = connection.execute(
        f"SELECT {listed}, GROUPING({listed}) AS missing, COUNT(*) AS rows "
        f"FROM codes GROUP BY GROUPING SETS ({grouped})"
    ).fetchnumpy()
    for attributes in sets:
        # GROUPING has a bit for each column, the first one highest, set where it is left out.
        left_out = sum(1 << i for i, c in enumerate(reversed(columns)) if c not in attributes)
        mine = found["missing"] == left_out
        places = tuple(np.asarray(found[a][mine], np.int64) for a in attributes)
        counted[attributes][places] = found["rows"][mine]


@contextmanager
def _loaded(table: Table) -> Iterator[Any]:
    """A DuckDB connection that holds a table's codes."""
    import duckdb
    import pyarrow as pa

    with duckdb.connect() as connection:
        connection.register("arrow", pa.table(dict(table.codes)))
        connection.execute("CREATE TABLE codes AS SELECT * FROM arrow")
        yield connection


def compare(board: Scoreboard, task: Task, what: str, *, target: float | None) -> None:
    """Add a line for each other way: how many times faster ours is."""
    table, few = task.table, task.spread(task.by_numpy)
    expected = by_understudy(task)
    works: dict[str, Work] = {
        "ours": partial(by_understudy, task),
        "numpy": partial(by_bincount, table, few),
    }
    agree(expected, by_bincount(table, few))
    per_table = {"ours": len(task.sets), "numpy": len(few)}
    least = in_turns(works)
    taken = {name: least[name] / per_table[name] for name in works}
    _add(board, f"{what}, speed of numpy's bincount", taken["numpy"], taken["ours"], target)
    _compare_duckdb(board, task, what, expected)
    _compare_pgmpy(board, task, what, expected, ours=taken["ours"])


def _compare_duckdb(board: Scoreboard, task: Task, what: str, expected: Counted) -> None:
    sets = task.spread(task.by_duckdb)
    try:
        with _loaded(task.table) as connection:
            agree(expected, by_duckdb(connection, task.table, sets))
            theirs = partial(by_duckdb, connection, task.table, sets)
            least = in_turns({"ours": partial(by_understudy, task), "duckdb": theirs}, rounds=2)
    except ImportError:
        board.leave_out(f"{what}, DuckDB", "duckdb is not installed")
        return
    per_table = least["duckdb"] / len(sets), least["ours"] / len(task.sets)
    _add(board, f"{what}, speed of DuckDB's grouping sets", *per_table)


def _compare_pgmpy(
    board: Scoreboard, task: Task, what: str, expected: Counted, *, ours: float
) -> None:
    sets = task.spread(task.by_pgmpy)
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "counts.npz"
            theirs = ask_pgmpy(board, task.table, Path(folder), "count", json.dumps(sets), str(out))
            found = np.load(out)
            agree(expected, {a: found[str(i)] for i, a in enumerate(sets)})
    except Unavailable as unavailable:
        board.leave_out(f"{what}, pgmpy", str(unavailable))
        return
    _add(board, f"{what}, speed of pgmpy's state counts", theirs / len(sets), ours)


def ask_pgmpy(board: Scoreboard, table: Table, folder: Path, what: str, *arguments: str) -> float:
    """The CPU seconds of what pgmpy is asked to do with a table, loading not counted."""
    rows = folder / "rows.npz"
    columns: dict[str, Any] = dict(table.codes)
    np.savez(rows, **columns)
    (folder / "sizes.json").write_text(json.dumps(dict(table.domain.sizes)))
    may_make = board.size.pick(True, False)
    ran = run_peer(PGMPY, "run_pgmpy.py", what, str(rows), *arguments, may_make=may_make)
    board.peers |= PGMPY.recorded
    return float(json.loads(ran.output.splitlines()[-1])["cpu_seconds"])


def _add(
    board: Scoreboard, what: str, theirs: float, ours: float, target: float | None = None
) -> None:
    board.details.append({"what": what, "theirs, CPU s a table": theirs, "ours": ours})
    board.add(what, theirs / ours, "×", target, at_most=False)


def agree(expected: Counted, counted: Counted) -> None:
    """Refuse to compare the speed of ways that do not give the same tables."""
    for attributes, counts in counted.items():
        if not np.array_equal(expected[attributes], counts):
            raise AssertionError(f"{', '.join(attributes)}: two ways of counting disagree")
