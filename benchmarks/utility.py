"""How near the synthetic rows come: four real tables and a generated one, worst first.

Distances are means over all 1- and 2-way marginals and up to 300 fixed 3-way ones.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import AdaptiveMarginals, Independent, Nist, PrivBayes, Synthesizer
from understudy.privacy.budget import exact
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

EPSILONS = ("0.1", "1", "10")
DELTA = "1e-9"

METHODS: dict[str, Callable[[Schema, str], Synthesizer]] = {
    "nist": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta=DELTA),
    "privbayes": lambda schema, epsilon: PrivBayes(schema, epsilon=epsilon),
    "independent": lambda schema, epsilon: Independent(schema, epsilon=epsilon, delta=DELTA),
}
# A promise about added rows at ε implies one about replaced rows at 2ε.
RELATIONS: dict[str, Callable[[Schema, str], Synthesizer]] = {
    "privbayes, replace": lambda schema, epsilon: PrivBayes(
        schema, epsilon=epsilon, neighbours="replace"
    ),
    "privbayes, replace at 2ε": lambda schema, epsilon: PrivBayes(
        schema, epsilon=2 * exact(epsilon), neighbours="replace"
    ),
}
DEFAULT = "adaptive"
_ALL: dict[str, Callable[[Schema, str], Synthesizer]] = {
    DEFAULT: lambda schema, epsilon: AdaptiveMarginals(schema, epsilon=epsilon, delta=DELTA),
    **METHODS,
    **RELATIONS,
}
# What Adult must reach with nist, and the best PrivBayes among other tools.
TARGETS = {
    ("nist", "0.1"): 0.165,
    ("nist", "1"): 0.082,
    ("nist", "10"): 0.050,
    ("privbayes", "0.1"): 0.2735,
    ("privbayes", "1"): 0.1183,
    ("privbayes", "10"): 0.0869,
}


def run(board: Scoreboard) -> None:
    """Every table, method and budget; the mean of five runs each."""
    epsilons = board.size.pick(EPSILONS, ("1",))
    for name in board.size.pick(tuple(TABLES), ("cmc",)):
        if name != "generated" and not SHARED.exists():
            board.leave_out(f"distances on {name}", "the table is not there")
            continue
        schema, table = TABLES[name]()
        for method, epsilon in itertools.product(METHODS | RELATIONS, epsilons):
            found = measure(schema, table, method, epsilon, board.size.pick(5, 1))
            about = {"table": name, "rows": table.rows, "columns": len(table.domain)}
            board.details.append({**about, "method": method, "epsilon": epsilon, **found})
            target = TARGETS.get((method, epsilon)) if name == "adult" else None
            what = f"3-way total variation, {name}, {method}, ε = {epsilon}"
            board.add(what, found["3-way"], "", target)


def method_of(name: str, schema: Schema, epsilon: str) -> Synthesizer:
    """A method of the benchmarks, by its name."""
    return _ALL[name](schema, epsilon)


def measure(schema: Schema, table: Table, method: str, epsilon: str, runs: int) -> dict[str, Any]:
    """Mean distances and CPU seconds of several runs."""
    distances, fit_seconds = [], []
    for run in range(runs):
        started = time.process_time()
        model = method_of(method, schema, epsilon).fit(MemorySource(table), ledger=None).model_
        fit_seconds.append(time.process_time() - started)
        codes = model.law.draw(max(model.rows, 1), np.random.default_rng(run))
        made = Table(table.domain, codes, max(model.rows, 1))
        ways = [total_variation(table, made, workload(table.domain, k)).mean() for k in (1, 2, 3)]
        distances.append(ways)
    mean, spread = np.mean(distances, axis=0), np.std(distances, axis=0)
    named = zip(("1-way", "2-way", "3-way"), mean, strict=True)
    return {
        **{name: float(value) for name, value in named},
        "3-way spread": float(spread[2]),
        "fit CPU s": float(np.median(fit_seconds)),
    }
