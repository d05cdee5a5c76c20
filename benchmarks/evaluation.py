"""An evaluation: marginals of two tables compared, and predictions on Adult.

Distances are those of all 1- and 2-way marginals and of 300 3-way ones, first of two tables alone,
then with a resample of the real rows and with independent columns beside them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.measuring import in_turns
from benchmarks.real_tables import SHARED
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import adult_shaped
from understudy.evaluation import evaluate
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.marginals import joints
from understudy.evaluation.marginals.variation import WAYS, variation
from understudy.evaluation.sheets import load
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import Nist
from understudy.rows.table import Table
from understudy_studies.census import dependent

SECONDS = 10.0
MODEL_SECONDS = 120.0


def run(board: Scoreboard) -> None:
    """Distances of large tables, then three models learnt twice."""
    _marginals(board, board.size.pick(1_000_000, 20_000))
    if SHARED.exists():
        _predictions(board)
    else:
        board.leave_out("predictions on Adult", "the table is not there")


def _marginals(board: Scoreboard, rows: int) -> None:
    schema = adult_shaped()
    real = dependent(Domain.of(schema), rows)
    places = np.random.default_rng(1).integers(0, rows, rows)
    codes: dict[str, Codes] = {name: column[places] for name, column in real.codes.items()}
    synthetic = Table(real.domain, codes, rows)
    sets = [s for ways in WAYS for s in workload(real.domain, ways)]
    sheets = [load(table, schema, side="either", seed=0) for table in (real, synthetic)]

    def everything() -> None:
        both = Comparison.of(schema, *sheets, seed=0)
        for ways in WAYS:
            variation(both, ways)

    works = {
        "alone": lambda: [joint.variation() for joint in joints([real, synthetic], sets)],
        "beside": everything,
    }
    least = in_turns(works, rounds=3, clock=time.perf_counter)
    what = f"{len(sets)} marginals of two tables of {rows:,} × {len(real.domain)} compared"
    board.add(f"{what}, wall", least["alone"], "s", SECONDS)
    board.add(f"{what}, floor and ceiling too, wall", least["beside"], "s", SECONDS)


def _predictions(board: Scoreboard) -> None:
    """A whole evaluation of Adult, the child processes of its models included."""
    rows = board.size.pick(32_561, 1_000)
    schema = Schema.load(SHARED / "benchmark" / "adult.json")
    real, held_out = (
        _first(f"adult_{part}.parquet", count) for part, count in (("train", rows), ("test", rows))
    )
    synthetic = Nist(schema, epsilon=1, delta="1e-9").fit(real, ledger=None).sample(seed=0)
    started = time.perf_counter()
    found = evaluate(real, synthetic, schema, target="income", holdout=held_out)
    what = "evaluation of Adult, three models learnt from either table, wall"
    board.add(what, time.perf_counter() - started, "s", MODEL_SECONDS)
    board.details += [
        {"model": model["name"], "learnt from": side, **model[side]}
        for model in found.prediction.document()["models"]
        for side in ("synthetic", "real")
    ]


def _first(name: str, rows: int) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(SHARED / "data" / name).slice(0, rows)
