"""Bits a model needs for a held-out row, against independent columns and no privacy at all.

As in TUC-1 section 3.7, on a network of seven attributes, six of two values and one of three, with
an entropy of 5.12 bits, and on the Diabetes table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import cross_entropy
from understudy.facts.schema import Schema
from understudy.methods import Independent, Nist, PrivBayes, Synthesizer
from understudy.privacy.budget import Budget
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.seven import drawn, seven_attributes
from understudy_studies.tables import parted

ROWS = 20_000
HELD_OUT = 20_000
EPSILONS = ("0.1", "1", "10")

Build = Callable[[Schema, str], Synthesizer]

METHODS: dict[str, Build] = {
    "privbayes": lambda schema, epsilon: PrivBayes(schema, epsilon=epsilon),
    "nist": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta="1e-9"),
    "independent": lambda schema, epsilon: Independent(schema, epsilon=epsilon),
}


def made_up() -> tuple[Schema, Table, Table]:
    """Rows to learn from and held-out rows of the fixed network."""
    schema, _ = seven_attributes()
    generator = np.random.default_rng(11)
    return schema, drawn(ROWS, generator), drawn(HELD_OUT, generator)


def diabetes() -> tuple[Schema, Table, Table]:
    """Four fifths of the Diabetes table to learn from, one fifth held out."""
    schema, table = TABLES["diabetes"]()
    return schema, *parted(table, 0.2, 5)


LOADERS = {"seven attributes": made_up, "diabetes": diabetes}


def run(board: Scoreboard) -> None:
    """The bits of every method at every budget, beside the two baselines."""
    for name in board.size.pick(("seven attributes", "diabetes"), ("seven attributes",)):
        if name == "diabetes" and not SHARED.exists():
            board.leave_out(f"bits on {name}", "the table is not there")
            continue
        schema, learn, held_out = LOADERS[name]()
        for method, synthesizer in _baselines(schema).items():
            bits = cross_entropy(synthesizer.fit(MemorySource(learn), ledger=None).model_, held_out)
            _add(board, name, method, None, bits)
        for method, epsilon in itertools.product(METHODS, board.size.pick(EPSILONS, ("1",))):
            bits = _mean_bits(board, METHODS[method], schema, epsilon, learn, held_out)
            _add(board, name, method, epsilon, bits)


def _baselines(schema: Schema) -> dict[str, Synthesizer]:
    free = Budget.unlimited()
    return {
        "no privacy, network": Nist(schema, epsilon=free, structure="greedy", degree=2),
        "no privacy, independent": Independent(schema, epsilon=free),
    }


def _mean_bits(
    board: Scoreboard, build: Build, schema: Schema, epsilon: str, learn: Table, held_out: Table
) -> float:
    runs = board.size.pick(3, 1)
    fitted = [
        build(schema, epsilon).fit(MemorySource(learn), ledger=None).model_ for _ in range(runs)
    ]
    return float(np.mean([cross_entropy(model, held_out) for model in fitted]))


def _add(board: Scoreboard, table: str, method: str, epsilon: str | None, bits: float) -> None:
    about = {"table": table, "method": method, "epsilon": epsilon, "bits": bits}
    board.details.append(about)
    named = method if epsilon is None else f"{method}, ε = {epsilon}"
    board.add(f"bits of a held-out row, {table}, {named}", bits, "bits")
