"""Bits a model needs for a held-out row, against independent columns and no privacy at all.

As in TUC-1 section 3.7, on a network of seven attributes, six of two values and one of three, with
an entropy of 5.12 bits, and on the Diabetes table. The printed network is lost: the one here has
its shape and its entropy and is fixed below.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from benchmarks.real_tables import SHARED, TABLES
from benchmarks.scoreboard import Scoreboard
from understudy.conditional import Conditional
from understudy.domain import Domain
from understudy.engines.memory import MemorySource
from understudy.evaluate.fidelity import cross_entropy
from understudy.model import Model
from understudy.network import Family
from understudy.privacy.budget import Budget
from understudy.sample import sample_codes
from understudy.schema import Schema
from understudy.synthesizers import Independent, Nist, PrivBayes, Random, Synthesizer
from understudy.table import Table

ENTROPY = 5.12
ROWS = 20_000
HELD_OUT = 20_000
PARENTS = {
    "a": (),
    "b": ("a",),
    "c": ("a",),
    "d": ("b", "c"),
    "e": ("c",),
    "f": ("d",),
    "g": ("d", "e"),
}
SIZES = {"a": 2, "b": 2, "c": 3, "d": 2, "e": 2, "f": 2, "g": 2}

EPSILONS = ("0.1", "1", "10")

Build = Callable[[Schema, str], Synthesizer]

METHODS: dict[str, Build] = {
    "privbayes": lambda schema, epsilon: PrivBayes(schema, epsilon=epsilon),
    "nist": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta="1e-9"),
    "independent": lambda schema, epsilon: Independent(schema, epsilon=epsilon),
}


def seven_attributes() -> tuple[Schema, Model]:
    """The fixed network, its conditionals sharpened until the entropy is 5.12 bits."""
    columns = {n: {"kind": "integer", "min": 0, "max": s - 1} for n, s in SIZES.items()}
    schema = Schema.parse({"columns": columns})
    low, high = 0.0, 8.0
    for _ in range(60):
        sharpness = (low + high) / 2
        low, high = (
            (sharpness, high)
            if _entropy(_network(schema, sharpness)) > ENTROPY
            else (low, sharpness)
        )
    return schema, _network(schema, high)


def _network(schema: Schema, sharpness: float) -> Model:
    generator = np.random.default_rng(7)
    conditionals = []
    for child, parents in PARENTS.items():
        weights = np.exp(sharpness * generator.random([SIZES[a] for a in (*parents, child)]))
        conditionals.append(Conditional.from_weights(Family(child, parents), weights))
    empty = Random(schema, epsilon=1, rows=ROWS).fit({name: [] for name in SIZES}).model_
    return Model(schema, tuple(conditionals), ROWS, empty.statement)


def _entropy(model: Model) -> float:
    """The exact entropy, by going through every row there can be."""
    bits = 0.0
    names = list(SIZES)
    for row in itertools.product(*(range(SIZES[name]) for name in names)):
        codes = dict(zip(names, row, strict=True))
        chance = 1.0
        for conditional in model.conditionals:
            chance *= conditional.probabilities[
                tuple(codes[a] for a in conditional.family.attributes)
            ]
        bits -= chance * np.log2(chance)
    return float(bits)


def made_up() -> tuple[Schema, Table, Table]:
    """Rows to learn from and held-out rows of the fixed network."""
    schema, truth = seven_attributes()
    generator = np.random.default_rng(11)
    drawn = [sample_codes(truth, n, generator) for n in (ROWS, HELD_OUT)]
    domain = Domain.of(schema)
    return schema, Table(domain, drawn[0], ROWS), Table(domain, drawn[1], HELD_OUT)


def diabetes() -> tuple[Schema, Table, Table]:
    """Four fifths of the Diabetes table to learn from, one fifth held out."""
    schema, table = TABLES["diabetes"]()
    held = np.random.default_rng(5).random(table.rows) < 0.2
    parts = [{n: c[keep] for n, c in table.codes.items()} for keep in (~held, held)]
    return (
        schema,
        Table(table.domain, parts[0], int((~held).sum())),
        Table(table.domain, parts[1], int(held.sum())),
    )


LOADERS = {"seven attributes": made_up, "diabetes": diabetes}


def run(board: Scoreboard) -> None:
    """The bits of every method at every budget, beside the two baselines."""
    for name in board.size.pick(("seven attributes", "diabetes"), ("seven attributes",)):
        if name == "diabetes" and not SHARED.exists():
            board.leave_out(f"bits on {name}", "the table is not there")
            continue
        schema, learn, held_out = LOADERS[name]()
        for method, synthesizer in _baselines(schema).items():
            bits = cross_entropy(synthesizer.fit(MemorySource(learn)).model_, held_out)
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
    fitted = [build(schema, epsilon).fit(MemorySource(learn)).model_ for _ in range(runs)]
    return float(np.mean([cross_entropy(model, held_out) for model in fitted]))


def _add(board: Scoreboard, table: str, method: str, epsilon: str | None, bits: float) -> None:
    about = {"table": table, "method": method, "epsilon": epsilon, "bits": bits}
    board.details.append(about)
    named = method if epsilon is None else f"{method}, ε = {epsilon}"
    board.add(f"bits of a held-out row, {table}, {named}", bits, "bits")
