"""Exact answers from a dense network, and rows that fit evidence of one in a million."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measuring import in_turns
from benchmarks.sampling import deep_model
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference.question import read_conditions
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.query import ask
from understudy.models.sampling import sample_rows

_RARE = 1e-6
_ATTRIBUTES, _VALUES, _DEGREE = 30, 10, 3


def run(board: Scoreboard) -> None:
    """Wall seconds, warm, of one answer and of rows from their conditions to an Arrow table."""
    rows = board.size.pick(1_000_000, 10_000)
    dense, deep = dense_model(), deep_model(rows)
    where, chance = rare_conditions(deep)
    taken = in_turns(
        {
            "answer": lambda: ask(dense, "P(a0 | a29 = 3)"),
            "rows": lambda: sample_rows(deep, rows, where=where, seed=1),
            "free": lambda: sample_rows(deep, rows, seed=1),
        },
        clock=time.perf_counter,
    )
    milliseconds = taken["answer"] * 1000
    board.add("exact P(A | b), 30 attributes of degree 3, wall", milliseconds, "ms", 50)
    what = f"{rows:,} × 15 rows that fit evidence of probability {chance:.1e}, wall"
    board.add(what, taken["rows"], "s", 2)
    slower = taken["rows"] / taken["free"]
    board.add("the same, times rows without conditions", slower, "×")


def dense_model() -> Model:
    """Thirty attributes of ten values, each with the three before it as parents."""
    generator, like = np.random.default_rng(0), deep_model(1)
    names = [f"a{i}" for i in range(_ATTRIBUTES)]
    conditionals = []
    for i, name in enumerate(names):
        parents = tuple(names[max(0, i - _DEGREE) : i])
        chances = generator.dirichlet(np.ones(_VALUES), [_VALUES] * len(parents))
        conditionals.append(Conditional(Family(name, parents), chances))
    schema = integers(dict.fromkeys(names, _VALUES))
    return Model(schema, BayesNet.of(schema, conditionals), 1, like.statement)


def rare_conditions(model: Model) -> tuple[str, float]:
    """Values of six attributes, spread over the network, that meet about once in a million rows."""
    generator, names = np.random.default_rng(1), model.domain.attributes[4::2]
    found = []
    for _ in range(100):
        told = zip(names, generator.integers(0, _VALUES, len(names)), strict=True)
        text = ", ".join(f"{name} = {value}" for name, value in told)
        chance = model.chance(read_conditions(text, model.schema.columns).evidence)
        found.append((text, chance))
    return min(found, key=lambda pair: abs(np.log(max(pair[1], 1e-300) / _RARE)))
