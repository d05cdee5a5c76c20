"""What is done in vectors before a compiler has started is what compiled loops do, to the bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.hierarchy import Level
from understudy.models.distribution import CodedRows
from understudy.models.weighted import rounding
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, raked, weighed
from understudy.models.weighted.rounding import rounded
from understudy.system import jit

DOMAIN = Domain(
    {"a": 5, "b": 300, "c": 7, "d": 300},
    {"b/10": Level("b", np.arange(300, dtype=np.uint16) // 10)},
)
TABLES = [("a",), ("a", "c"), ("b", "c"), ("b", "d"), ("b/10", "a")]


def _pool() -> Pool:
    draw = np.random.default_rng(5)
    codes: CodedRows = {
        name: draw.integers(0, DOMAIN[name], 3001).astype(np.uint16 if name in "bd" else np.uint8)
        for name in ("a", "b", "c", "d")
    }
    return Pool(DOMAIN, codes, draw.gamma(2.0, size=3001))


def _aims(pool: Pool) -> list[Aim]:
    draw = np.random.default_rng(6)
    aims = []
    for names in TABLES:
        counts = pool.project(names) + draw.normal(0, 3, DOMAIN.shape(names))
        aim = Aim.of(names, counts, 9.0)
        aims.append(Aim(names, counts, 9.0, None, draw.normal(0, 0.3, aim.logarithms.shape)))
    return aims


def _everything() -> list[list[Any]]:
    pool = _pool()
    aims = _aims(pool)
    heavy = weighed(pool, aims)
    brought, found = raked(heavy, aims, sweeps=3, doubt=1.0)
    numbers: list[Any] = [
        heavy.weights,
        brought.weights,
        *(aim.logarithms.ravel() for aim in found),
    ]
    most = np.random.default_rng(4).uniform(1, 3, 3001)
    for limit in (None, most):
        made = rounded(brought, 400, np.random.default_rng(8), most=limit)
        numbers += made.values()
    return [each.tolist() for each in numbers]


def test_vectors_and_loops_agree_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, factors and rows are the same doubles and codes, whichever was used."""
    monkeypatch.setattr(jit, "START_SECONDS", math.inf)
    monkeypatch.setattr(jit, "has_started", lambda: False)
    in_vectors = _everything()
    monkeypatch.setattr(jit, "has_started", lambda: True)
    monkeypatch.setattr(rounding, "MOST_IN_VECTORS", 0)
    assert _everything() == in_vectors
