"""Holders that share no rows: how near their joint model comes to a central one, and how fast.

Adult is split equally among holders. The centre is the same budget in the same world: PrivBayes for
pure privacy under replace, Nist for (ε, δ) under add-remove. Plain forms are those of the theses.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.real_tables import ADULT, adult, part
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.federated import Collaboration, Form, learn_together, simulated, split
from understudy.methods import Nist, PrivBayes
from understudy.models.model import Model
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

DELTA = "1e-9"
WORLDS: dict[str, dict[str, Any]] = {
    "ε = 1, replace": {"epsilon": 1},
    "ε = 1, δ = 10⁻⁹, add-remove": {"epsilon": 1, "delta": DELTA, "neighbours": "add-remove"},
}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "statistics": {"protocol": "statistics"},
    "votes": {"protocol": "votes"},
    "model": {"protocol": "model"},
    "union of models": {"protocol": "model", "gathering": "union"},
    "adaptive": {"protocol": "adaptive"},
}
# The theses have no tables that are chosen in rounds.
OURS_ALONE = ("adaptive",)
PLAIN = {"form": Form.plain(), "degree": 1}
# The best protocol may be this much further off than the centre.
_RATIO = 1.3


def run(board: Scoreboard) -> None:
    """Distances of every protocol beside the central one; seconds for fifty holders."""
    if not ADULT.exists():
        board.leave_out("federated learning on Adult", "the table is not there")
        return
    schema, whole = adult()
    table = board.size.pick(whole, part(whole, rows=2_000, columns=len(whole.domain)))
    for world, terms in WORLDS.items():
        in_one_world(board, schema, table, world, terms)
    fifty_holders(board, schema, table)


def in_one_world(
    board: Scoreboard, schema: Schema, table: Table, world: str, terms: Mapping[str, Any]
) -> None:
    """Three equal holders, every protocol, and the centre."""
    runs = board.size.pick(5, 1)
    central = float(np.mean([distance(table, _central(schema, table, terms)) for _ in range(runs)]))
    board.add(f"3-way total variation, one holder, {world}", central, "")
    found = {}
    for name, protocol in PROTOCOLS.items():
        found[name] = _mean(schema, table, {**terms, **protocol}, runs)
        board.add(f"3-way total variation, 3 holders, {name}, {world}", found[name], "")
        if name in OURS_ALONE:
            continue
        plain = _mean(schema, table, {**terms, **protocol, **PLAIN}, board.size.pick(2, 1))
        board.add(f"the same as in the theses, {name}, {world}", plain, "")
    best = min(found, key=lambda name: found[name])
    board.add(
        f"best protocol ({best}) over the centre, {world}", found[best] / central, "×", _RATIO
    )


def fifty_holders(board: Scoreboard, schema: Schema, table: Table) -> None:
    """Votes among fifty holders: 14 rounds and the tables."""
    channel = _channel(schema, table, {}, holders=50, seed=0)
    plan = Collaboration(schema, protocol="votes", epsilon=1, degree=1)
    started = time.perf_counter()
    learn_together(channel, plan)
    taken = time.perf_counter() - started
    board.add("votes among 50 holders, 14 rounds, in one process, wall", taken, "s", 10)


def distance(table: Table, model: Model) -> float:
    """The mean total variation distance of the fixed 3-way marginals."""
    codes = model.law.draw(model.rows, np.random.default_rng(0))
    made = Table(table.domain, codes, model.rows)
    return float(total_variation(table, made, workload(table.domain, 3)).mean())


def _central(schema: Schema, table: Table, terms: Mapping[str, Any]) -> Model:
    if "delta" in terms:
        return Nist(schema, epsilon=1, delta=DELTA).fit(MemorySource(table), ledger=None).model_
    central = PrivBayes(schema, epsilon=1, neighbours="replace")
    return central.fit(MemorySource(table), ledger=None).model_


def _mean(schema: Schema, table: Table, terms: Mapping[str, Any], runs: int) -> float:
    found = []
    for seed in range(runs):
        channel = _channel(schema, table, terms, holders=3, seed=seed)
        found.append(distance(table, learn_together(channel, Collaboration(schema, **terms))))
    return float(np.mean(found))


def _channel(
    schema: Schema, table: Table, terms: Mapping[str, Any], *, holders: int, seed: int
) -> Any:
    parts = split(table, "equal", holders=holders, generator=np.random.default_rng(seed))
    unit = Collaboration(
        schema, protocol="votes", epsilon=1, neighbours=terms.get("neighbours", "replace")
    )
    return simulated(parts, schema, unit.unit)
