"""How long 200 refitted models take, which intervals of answers rest on where no table holds them.

Adult and a wide table, made for the first question and read from the cache for the next.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.coverage import METHODS
from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.jobs.refit_cache import read_refits, write_refits
from understudy.models.model import Model
from understudy.rows.engines.memory import MemorySource

MOST_SECONDS = 30.0


def run(board: Scoreboard) -> None:
    """Adult and Diabetes by three methods; a generated table where they are not there."""
    large = SHARED.exists() and board.size.pick(True, False)
    for name in ("adult", "diabetes") if large else ("generated",):
        schema, table = TABLES[name]()
        for method in board.size.pick(("adaptive", "nist", "privbayes"), ("nist",)):
            model = METHODS[method](schema).fit(MemorySource(table), ledger=None).model_
            _timed(board, f"{name}, {len(table.domain)} columns, {method}: 200 refits", model)


def _timed(board: Scoreboard, what: str, model: Model) -> None:
    started, wall = time.process_time(), time.perf_counter()
    refits = model.refits
    board.add(f"{what}, CPU", time.process_time() - started, "s", MOST_SECONDS)
    board.add(f"{what}, wall on the machine as it was", time.perf_counter() - wall, "s")
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "refits.arrow"
        write_refits(kept, model, refits)
        started = time.process_time()
        read_refits(kept, model)
        board.add(f"{what}, read from the cache, CPU", time.process_time() - started, "s")
