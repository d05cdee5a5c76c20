"""A tree from three streams of rows, by counters that an intruder may see while they are filled.

Source: TUC-1 section 5.2 asks for networks from distributed streams. Where each user brings one
row, a counter of a table can hold noise from the start and get further noise when it is read
(Dwork, Naor, Pitassi, Rothblum, Yekhanin 2010): one sight of all counters costs half of ε, and what
is read the other half. Users who may come again need what the density has: a randomised bit for
every user and cell, of which a row sets one in each table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from understudy.stream.response import WHOLE, optimal_bernoulli
from understudy.system.arrays import Floats
from understudy_studies import seven
from understudy_studies.averaged_trees import (
    PairTables,
    best_tree,
    beyond_entropy,
    exact_tables,
    row_chances,
)

KEPT = "tables of kept rows"
COUNTERS = "counters with noise from the start"
BITS = "bits of users and cells"
_STREAMS = 3
_ROWS = 40_000
# A replaced row moves two cells of every table.
_MOVED = 2


def bits_beyond_by_stream(epsilon: float, generator: np.random.Generator) -> dict[str, float]:
    """The bits for a row that the best tree needs beyond the entropy, for every way of counting."""
    streams = [exact_tables(_ROWS // _STREAMS, generator) for _ in range(_STREAMS)]
    found = {}
    for name, counted in WAYS.items():
        parts = [counted(tables, epsilon, generator) for tables in streams]
        summed = {pair: np.maximum(sum(p[pair] for p in parts), 0.0) for pair in parts[0]}
        found[name] = beyond_entropy(row_chances(best_tree(summed), summed))
    return found


def columns_beyond() -> float:
    """The bits that independent columns need beyond the entropy, without any noise."""
    chances, rows = seven.chances(), seven.every_row().codes
    product = np.ones_like(chances)
    for name, size in seven.SIZES.items():
        product *= np.bincount(rows[name], chances, minlength=size)[rows[name]]
    return beyond_entropy(product)


def _kept(tables: PairTables, epsilon: float, generator: np.random.Generator) -> PairTables:
    """Tables of rows that are all there when they are counted: noise once, for all of ε."""
    scale = _MOVED * len(tables) / epsilon
    return {pair: t + generator.laplace(0, scale, t.shape) for pair, t in tables.items()}


def _counters(tables: PairTables, epsilon: float, generator: np.random.Generator) -> PairTables:
    """Noise before the first row and after the last one, each for half of ε."""
    return _kept(_kept(tables, epsilon / 2, generator), epsilon / 2, generator)


def _bits(tables: PairTables, epsilon: float, generator: np.random.Generator) -> PairTables:
    """For half of ε a bit for each user and cell, for the other noise on the sums of bits."""
    moved = _MOVED * len(tables)
    response = optimal_bernoulli(Fraction(epsilon / 2 / moved).limit_denominator(10**9))
    low, high = response.initial[1] / WHOLE, response.updated[1] / WHOLE
    found = {}
    for pair, table in tables.items():
        counts = table.astype(int)
        users = int(counts.sum())
        sums = generator.binomial(counts, high) + generator.binomial(users - counts, low)
        noise = generator.laplace(0, 2 * moved / epsilon, table.shape)
        found[pair] = (sums + noise - users * low) / (high - low)
    return found


Counted = Callable[[PairTables, float, np.random.Generator], Mapping[tuple[str, str], Floats]]
WAYS: Mapping[str, Counted] = {KEPT: _kept, COUNTERS: _counters, BITS: _bits}
