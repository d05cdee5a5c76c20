"""Cells a second of both samplers, and what constraints cost."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.measuring import in_turns
from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import deal_codes, sample_codes
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement

_ATTRIBUTES, _VALUES = 15, 10
_CONSTRAINTS = (
    "if a0 < 3 then a2 = 0",
    "if a9 = 9 then a1 in {0, 1}",
    "not (a14 > 5 and a5 >= 3)",
    "if a3 = 0 then a4 = 0 and a6 = 0",
    "if a2 = 0 then a13 != 7",
)


def run(board: Scoreboard) -> None:
    """Forward sampling against a rate, sampling without replacement against forward sampling."""
    rows = board.size.pick(1 << 20, 1 << 14)
    model, generator = deep_model(rows), np.random.default_rng(1)
    ruled = deep_model(rows, _CONSTRAINTS)
    taken = in_turns(
        {
            "forward": lambda: sample_codes(model, rows, generator),
            "dealt": lambda: deal_codes(model, rows, generator),
            "ruled": lambda: sample_codes(ruled, rows, generator),
        }
    )
    rate = rows * _ATTRIBUTES / 1e6 / taken["forward"]
    board.add("forward sampling, million cells a CPU second", rate, "M/s", 100, at_most=False)
    slower = taken["dealt"] / taken["forward"]
    board.add("sampling without replacement, times slower than forward", slower, "×", 10)
    slower = taken["ruled"] / taken["forward"]
    board.add("forward sampling under five constraints, times slower", slower, "×", 3)


def deep_model(rows: int, constraints: tuple[str, ...] = ()) -> Model:
    """Fifteen attributes of ten values with two parents each."""
    generator = np.random.default_rng(0)
    names = [f"a{i}" for i in range(_ATTRIBUTES)]
    conditionals = []
    for i, name in enumerate(names):
        parents = tuple(names[max(0, i - 2) : i])
        chances = generator.dirichlet(np.ones(_VALUES), [_VALUES] * len(parents))
        conditionals.append(Conditional(Family(name, parents), chances))
    bound = Bound(PURE, Fraction(0), Fraction(0))
    statement = Statement("none", bound, Unit(Neighbours.ADD_REMOVE), ())
    columns = integers(dict.fromkeys(names, _VALUES)).document()
    schema = Schema.parse(columns | {"constraints": constraints})
    return Model(schema, BayesNet.of(schema, conditionals), rows, statement)
