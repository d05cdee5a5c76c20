"""Ranges of large ordered columns: groups of neighbours are measured beside single codes."""

from __future__ import annotations

import numpy as np
import pytest

from support.replay import audit
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import AdaptiveMarginals
from understudy.methods.estimation.law import Estimation
from understudy.methods.estimation.parameters import (
    measure_tables,
    one_way_tables,
    range_tables,
)
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import SeededNoise

CODES, ROWS = 512, 20_000
SCHEMA = Schema.parse(
    {
        "columns": {
            "income": {"kind": "integer", "min": 0, "max": CODES - 1, "bins": CODES},
            "town": {"kind": "categorical", "values": [f"town {n}" for n in range(100)]},
            "age": {"kind": "integer", "min": 0, "max": 59, "bins": 60},
            "smoker": {"kind": "boolean"},
        }
    }
)
DOMAIN = Domain.of(SCHEMA)
ROW = Unit(Neighbours.ADD_REMOVE)


def _table(rows: int = ROWS) -> Table:
    random = np.random.default_rng(3)
    income = np.minimum(random.exponential(90.0, rows), CODES - 1).astype(np.uint16)
    sizes = {name: size for name, size in DOMAIN.sizes.items() if name != "income"}
    others = {n: random.integers(0, size, rows).astype(np.uint8) for n, size in sizes.items()}
    return Table(DOMAIN, {"income": income, **others}, rows)


def _range_error(table: Table, tables: list[Attributes], seed: int) -> float:
    """The mean error of all ranges of incomes, by what some tables say at the same budget."""
    instruments = Instruments(noise=SeededNoise(seed))
    curator = Curator(MemorySource(table), ROW, Grant(Budget.zcdp("1/200")), instruments)
    released = measure_tables(curator, tables, curator.budget)
    pool = Estimation.of(released, DOMAIN, SCHEMA).pool
    real = np.bincount(table.codes["income"], minlength=CODES)
    apart = np.concatenate([[0.0], (pool.project(("income",)) - real).cumsum()])
    return float(np.abs(apart[:, None] - apart[None, :]).mean())


def test_large_ordered_columns_are_seen_in_groups_too() -> None:
    """Numbers of more than 64 codes are; smaller ones, and categories without an order, are not."""
    extra = [names for names in range_tables(DOMAIN, SCHEMA) if names[0] not in DOMAIN.sizes]
    assert ["income"] == [DOMAIN.base(name) for (name,) in extra]
    assert ("income", "age") == SCHEMA.ordered


@pytest.mark.slow
def test_groups_make_ranges_better() -> None:
    """At the same budget, beside single codes alone: by a fifth at least, over a few draws."""
    table = _table()
    cells = [_range_error(table, one_way_tables(DOMAIN), seed) for seed in range(6)]
    groups = [_range_error(table, range_tables(DOMAIN, SCHEMA), seed) for seed in range(6)]
    assert sum(groups) < 0.8 * sum(cells)


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_groups_are_audited(neighbours: str, delta: float) -> None:
    """Each table is charged by itself: a row moves it by its sensitivity and no more."""
    table = _table(60)
    method = AdaptiveMarginals(SCHEMA, epsilon=200, delta=delta, neighbours=neighbours)
    changed = {name: codes.copy() for name, codes in table.codes.items()}
    if neighbours == "replace":
        for name, codes in changed.items():
            codes[0] = (codes[0] + DOMAIN[name] // 2) % DOMAIN[name]
    else:
        changed = {name: codes[1:] for name, codes in changed.items()}
    other = Table(DOMAIN, changed, len(changed["age"]))
    audit(method, MemorySource(table), MemorySource(other))
