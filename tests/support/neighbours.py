"""Small tables and their neighbours, for replay and likelihood tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

SCHEMA = Schema.parse(
    {
        "columns": {
            "colour": {
                "kind": "categorical",
                "values": ["red", "green", "blue"],
                "taxonomy": {"warm": ["red"], "cold": ["green", "blue"]},
                "missing": [],
            },
            "size": {"kind": "integer", "min": 0, "max": 99, "bins": 7},
            "sold": {"kind": "boolean"},
            "one": {"kind": "categorical", "values": ["always"]},
        }
    }
)
DOMAIN = Domain.of(SCHEMA)


def source_of(rows: list[tuple[int, ...]]) -> MemorySource:
    """Rows of codes behind the memory engine."""
    codes = {name: np.array([row[i] for row in rows], np.uint8) for i, name in enumerate(DOMAIN)}
    return MemorySource(Table(DOMAIN, codes, len(rows)))


def random_rows(count: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Rows drawn uniformly, with every value of the first attribute's last level left out."""
    generator = np.random.default_rng(seed)
    sizes = DOMAIN.shape(DOMAIN.attributes)
    return [
        tuple(int(generator.integers(0, max(size - 1, 1))) for size in sizes) for _ in range(count)
    ]


def last_codes() -> tuple[int, ...]:
    """The row of a person unlike anybody else: a level that no other row has."""
    return tuple(size - 1 for size in DOMAIN.shape(DOMAIN.attributes))


def neighbours_of(
    rows: list[tuple[int, ...]], relation: Neighbours
) -> Iterator[tuple[str, list[tuple[int, ...]]]]:
    """Neighbouring tables, the worst ones among them, each with its name."""
    alone = last_codes()
    if relation is Neighbours.REPLACE:
        if rows:
            yield "replaced by one unlike all others", [alone, *rows[1:]]
            yield "replaced by a copy of another", [rows[-1], *rows[1:]]
            yield "the last replaced", [*rows[:-1], alone]
        return
    yield "one unlike all others added", [*rows, alone]
    yield "a copy added", [*rows, rows[0] if rows else alone]
    if rows:
        yield "the first removed", rows[1:]
        yield "the last removed", rows[:-1]
