"""How good a plan is for Diabetes as users get it, by a schema that was learned at ε = 0.5.

All 50 columns of the file are there, ids left out by their names, with the values, bins and missing
cells that `schema infer` finds. The plan knows the learned schema and the number of rows. Its 80 %
and 95 % ranges are compared with the measured distances at three budgets, and its seconds and bytes
with what a fit and its rows took.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.plan import DEFAULT_FACTOR, WAYS, compared_with
from benchmarks.real_tables import SHARED
from benchmarks.schema_inference import bodies_of, learned, made_up_table, parquet_table
from benchmarks.scoreboard import Scoreboard
from benchmarks.utility import DEFAULT, EPSILONS, measure, method_of
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods.planning import Plan, plan_fit
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading.files import read_rows
from understudy.rows.table import Table

_WITHIN = 2.0


def run(board: Scoreboard) -> None:
    """Learn a schema, plan with it, and fit; a made-up table where Diabetes is not there."""
    if not SHARED.exists() or board.size.pick(False, True):
        board.leave_out("plans for Diabetes by a learned schema", "it is not there, or too large")
        name, rows = "made-up", made_up_table()
    else:
        name, rows = "Diabetes", parquet_table("diabetes_130us")
    schema = learned(rows, bodies_of(rows))
    codec = Codec(schema)
    table = Table.of(codec.encode(read_rows(rows, codec, ignore_extra=True)))
    for epsilon in board.size.pick(EPSILONS, ("1",)):
        board.details.append(compared(schema, table, epsilon, runs=board.size.pick(3, 1)))
    _ranges(board, name)
    _costs(board, schema, table, name)


def compared(schema: Schema, table: Table, epsilon: str, *, runs: int) -> dict[str, Any]:
    """Planned and measured distances at one ε."""
    plan = plan_fit(method_of(DEFAULT, schema, epsilon), table.rows, epsilons=())
    found = measure(schema, table, DEFAULT, epsilon, runs)
    bands = zip(WAYS, plan.expected.distances, strict=True)
    return {
        "rows": table.rows,
        "columns": len(table.domain),
        "epsilon": epsilon,
        "fit CPU s": found["fit CPU s"],
        "planned fit s": plan.cost.fit_seconds,
        **{way: compared_with(band, found[way]) for way, band in bands if band is not None},
    }


def _ranges(board: Scoreboard, name: str) -> None:
    found = [(line, way) for line in board.details for way in WAYS if way in line]
    of = len(found)
    for line, way in found:
        mine = line[way]
        what = f"{name}, learned schema, ε = {line['epsilon']}: {way} distance"
        board.add(f"{what}, planned", mine["expected"], "")
        board.add(f"{what}, measured", mine["measured"], "")
    for key, words in (("in band", "80 %"), ("in outer band", "95 %")):
        held = sum(line[way][key] for line, way in found)
        what = f"{name}, learned schema: errors inside the {words} range of the plan, of {of}"
        least = round(of * (0.8 if key == "in band" else 0.95))
        board.add(what, held, "", least, at_most=False)
    near = sum(_ratio(line[way]["ratio"]) <= DEFAULT_FACTOR for line, way in found)
    what = f"{name}, learned schema: errors planned within a factor of {DEFAULT_FACTOR}, of {of}"
    board.add(what, near, "")


def _ratio(ratio: float) -> float:
    """How far apart two numbers are, whichever is larger."""
    return max(ratio, 1 / ratio)


def _costs(board: Scoreboard, schema: Schema, table: Table, name: str) -> None:
    """The plan's own time with its curve over ε, and its forecasts of seconds and bytes."""
    started, wall = time.process_time(), time.perf_counter()
    plan = plan_fit(method_of(DEFAULT, schema, "1"), table.rows)
    seconds, walls = time.process_time() - started, time.perf_counter() - wall
    what = f"{name}, learned schema, {len(table.domain)} columns: a plan with its curve"
    board.add(f"{what}, CPU", seconds, "s", 10)
    board.add(f"{what}, wall on the machine as it was", walls, "s")
    taken, peak = _fit_and_rows(schema, table)
    _forecast(board, f"{name}: seconds of a fit", plan.cost.fit_seconds, taken[0], "s")
    _forecast(board, f"{name}: seconds of its rows", plan.cost.sample_seconds, taken[1], "s")
    _forecast(board, f"{name}: memory of both", _planned_bytes(plan) / 2**20, peak / 2**20, "MiB")


def _planned_bytes(plan: Plan) -> int:
    return plan.cost.row_bytes + plan.cost.table_bytes + plan.cost.pool_bytes


def _forecast(board: Scoreboard, what: str, planned: float, measured: float, unit: str) -> None:
    board.add(f"{what}, planned", planned, unit)
    board.add(f"{what}, measured", measured, unit)
    board.add(f"{what}, measured over planned", measured / max(planned, 1e-9), "×", _WITHIN)


def _fit_and_rows(schema: Schema, table: Table) -> tuple[Sequence[float], int]:
    """CPU seconds of a fit and of its rows, and the most bytes that a second fit held at once."""
    times = [time.process_time()]
    model = method_of(DEFAULT, schema, "1").fit(MemorySource(table), ledger=None).model_
    times.append(time.process_time())
    model.law.draw(max(model.rows, 1), np.random.default_rng(1))
    times.append(time.process_time())
    tracemalloc.start()
    model = method_of(DEFAULT, schema, "1").fit(MemorySource(table), ledger=None).model_
    model.law.draw(max(model.rows, 1), np.random.default_rng(1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return np.diff(times).tolist(), peak + sum(held.nbytes for held in table.codes.values())
