"""Rows by `dpgan` with a start and without one, beside `adaptive`: which tables the start helps.

A start is paid for with half of ε and δ. Distances are means over pairs of columns, at ε = 1.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks.real_tables import SHARED, TABLES, described
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.gan.backend import one_thread
from understudy.gan.tables import DPGAN, TABLE_SETTINGS
from understudy.methods import AdaptiveMarginals, Synthesizer
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.tables import Coded

EPSILON, DELTA = "1", "1e-5"
_PASSES = 10
_RUNS = 1
_PAIRS = 2

LOADERS: dict[str, Callable[[], Coded]] = {
    "cmc": TABLES["cmc"],
    "heart": lambda: described("heart_cleveland", "heart_cleveland.csv"),
}


def _dpgan(schema: Schema, *, lessons: int, passes: float) -> Synthesizer:
    settings = replace(TABLE_SETTINGS, lessons=lessons, epochs=passes)
    return DPGAN(schema, epsilon=EPSILON, delta=DELTA, settings=settings)


ADAPTIVE, STARTED, PLAIN = "adaptive", "dpgan", "dpgan without a start"
METHODS: dict[str, Callable[[Schema, int], Synthesizer]] = {
    ADAPTIVE: lambda schema, lessons: AdaptiveMarginals(schema, epsilon=EPSILON, delta=DELTA),
    STARTED: lambda schema, lessons: _dpgan(schema, lessons=lessons, passes=_PASSES),
    PLAIN: lambda schema, lessons: _dpgan(schema, lessons=0, passes=_PASSES),
}


def run(board: Scoreboard) -> None:
    """Every table and method."""
    lessons = board.size.pick(TABLE_SETTINGS.lessons, 2)
    for name in board.size.pick(tuple(LOADERS), ("cmc",)):
        if not SHARED.exists():
            board.leave_out(f"rows of {name}", "the table is not there")
            continue
        schema, table = LOADERS[name]()
        for method, build in METHODS.items():
            with one_thread():
                _measure(board, name, table, method, partial(build, schema, lessons))


def _measure(
    board: Scoreboard, name: str, table: Table, method: str, build: Callable[[], Synthesizer]
) -> None:
    distances, seconds = [], []
    for seed in range(board.size.pick(_RUNS, 1)):
        started = time.process_time()
        model = build().fit(MemorySource(table), ledger=None).model_
        seconds.append(time.process_time() - started)
        count = max(model.rows, 1)
        made = Table(table.domain, model.law.draw(count, np.random.default_rng(seed)), count)
        found = total_variation(table, made, workload(table.domain, _PAIRS))
        distances.append(float(found.mean()))
    about = {"table": name, "rows": table.rows, "columns": len(table.domain), "method": method}
    board.details.append(about | {"distances": distances, "seconds": max(seconds)})
    what = f"mean distance of pairs, {name}, {method}, ε = {EPSILON}"
    board.add(what, float(np.mean(distances)), "")
