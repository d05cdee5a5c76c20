"""A test of independence for someone who holds a model alone: calibrated for its noise.

Noise looks like dependence to an ordinary test on synthetic rows (AAU section 5), and what a model
leaves out looks like independence. This test asks a released table of the two columns instead, and
compares it with tables of independent columns to which noise of the same law was added.

Privacy: post-processing of released tables; costs nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.models.intervals.redrawing import RedrawnTable, redrawn_tables
from understudy.models.questions.noise import NO_TABLES, rows_counted
from understudy.system.arrays import Floats, Probabilities

if TYPE_CHECKING:
    from understudy.models.model import Model

DRAWS = 999
"""How many tables of independent columns are drawn: p-values are multiples of 1/1,000."""


def independence_chance(model: Model, pair: tuple[str, str], *, seed: int | None = None) -> float:
    """The p-value of two columns' independence, from the most precise table that holds both.

    Args:
        model: what was released.
        pair: the columns.
        seed: makes the p-value repeatable.
    """
    found = _most_precise(model, pair)
    axes = Axes(found.released.attributes)
    seen = np.asarray(axes.project(found.released.counts, pair, model.domain), float)
    sizes = np.full(seen.shape, found.released.counts.size / seen.size)
    generator = np.random.default_rng(seed)
    noise = found.noise(sizes, DRAWS, generator)
    rows, variance = max(round(rows_counted(model)), 1), found.released.variance * sizes
    null = _independent(seen)
    drawn = generator.multinomial(rows, null.ravel(), DRAWS).reshape(noise.shape) + noise
    as_far = _distances(drawn, rows, variance) >= _distances(seen, rows, variance)
    return float(1 + as_far.sum()) / (1 + DRAWS)


def _most_precise(model: Model, pair: tuple[str, str]) -> RedrawnTable:
    """The released table of both columns whose sums have the least noise."""
    if not model.tables:
        raise UsageError(f"independence cannot be tested: {NO_TABLES}")
    held = [
        table
        for table in redrawn_tables(model.tables, model.statement)
        if Axes(table.released.attributes).holds(pair, model.domain)
    ]
    if not held:
        raise UsageError(
            f"no released table holds {pair[0]!r} and {pair[1]!r}, so that their independence "
            "cannot be tested; ask top 5 pairs which were measured, or fit with a --workload"
        )
    return min(held, key=lambda table: table.released.variance * table.released.counts.size)


def _independent(table: Floats) -> Probabilities:
    """The product of a table's own shares over its last two axes, sums below 0 set to 0."""
    shares = []
    for axis in (-1, -2):
        sums = np.maximum(table.sum(axis=axis, keepdims=True), 0)
        total = sums.sum(axis=(-1, -2), keepdims=True)
        even = np.full(sums.shape, 1 / math.prod(sums.shape[-2:]))
        shares.append(np.divide(sums, total, out=even, where=total > 0))
    return np.asarray(shares[0] * shares[1])


def _distances(tables: Floats, rows: int, variance: Floats) -> Floats:
    """Squared distances from independence, each over what chance and noise leave open."""
    expected = rows * _independent(tables)
    spread = expected * (1 - expected / rows) + variance
    parts = (tables - expected) ** 2 / np.where(spread > 0, spread, math.inf)
    return np.asarray(parts.sum(axis=(-1, -2)))
