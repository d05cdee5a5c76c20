"""Rows without weights whose tables are as near to those of a weighted pool as can be.

Rows are first taken systematically, in the order of their codes, and none more often than the law
would repeat it: a row whose weight is that of several stands for others like it.
Then chosen rows are exchanged for
others of the pool wherever that brings small tables nearer, in the sum of squares, to those of the
weighted pool: controlled rounding (Cox 1987) by exchanges. Every row that is taken is a row of the
pool, so that nothing is made that the pool's law does not make.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes, Domain
from understudy.models.distribution import CodedRows
from understudy.models.weighted.pool import Pool, add_weights, rows_of
from understudy.system.arrays import Floats, Integers, Singles
from understudy.system.jit import kernel

_PASSES, _TRIES = 4, 8
# Tables that are compared, and their cells: as many as are looked up quickly.
_MOST_TABLES, _MOST_CELLS = 200, 2**20
_CANDIDATES_PER_ROW = 4
# Rows up to which exchanges are done before a compiler has started.
MOST_IN_VECTORS = 2_000

CodeMatrix = npt.NDArray[np.uint8 | np.uint16]
"""The codes of every row, one beside the other."""
PairCells = npt.NDArray[np.int32]
"""For every table: its two attributes, the codes of the second, the number of its first cell."""


def rounded(
    pool: Pool, rows: int, generator: np.random.Generator, *, most: Floats | None = None
) -> CodedRows:
    """Choose rows of a pool, in random order, whose tables are near to those of the whole.

    Args:
        pool: what is chosen from.
        rows: how many.
        generator: what the draws are made from.
        most: for every row of the pool, how often it and its equals together may be expected;
            each row once unless given.
    """
    if rows == 0 or len(pool) == 0:
        return rows_of(pool.codes, np.zeros(0, np.int64))
    chosen = pool.chosen(rows, generator, most=most)
    tables = _compared(pool.domain, generator)
    if tables and rows > 1:
        _exchange(pool, chosen, tables, generator, most=most)
    return rows_of(pool.codes, generator.permutation(chosen))


def _compared(domain: Domain, generator: np.random.Generator) -> list[Attributes]:
    """Pairs of attributes whose tables are compared; of very many some, each as likely."""
    pairs = list(itertools.combinations(domain.attributes, 2))
    order = generator.permutation(len(pairs)) if len(pairs) > _MOST_TABLES else range(len(pairs))
    found, cells = list[Attributes](), 0
    for number in order:
        size = domain.cells(pairs[number])
        if len(found) < _MOST_TABLES and cells + size <= _MOST_CELLS:
            found.append(pairs[number])
            cells += size
    return found


def _exchange(
    pool: Pool,
    chosen: npt.NDArray[np.int64],
    tables: Sequence[Attributes],
    generator: np.random.Generator,
    *,
    most: Floats | None,
) -> None:
    """Exchange chosen rows, in place, while that brings the tables nearer."""
    layout, excess = _against(pool, chosen, tables)
    codes = np.stack([pool.codes[name] for name in pool.domain], axis=1)
    equals = np.arange(len(pool)) if most is None else pool.equals
    room = np.zeros(int(equals.max()) + 1, np.int64)
    room[equals] = 1 if most is None else np.maximum(np.rint(most), 1)
    room -= np.bincount(equals[chosen], minlength=room.size)
    offered = generator.permutation(pool.resampled(_CANDIDATES_PER_ROW * len(pool), generator))
    start, go_through = 0, exchange_in_vectors if chosen.size <= MOST_IN_VECTORS else exchange
    for _ in range(_PASSES):
        order = generator.permutation(chosen.size)
        start = go_through(chosen, order, (equals, room), codes, layout, offered, excess, start)


def _against(
    pool: Pool, chosen: npt.NDArray[np.int64], tables: Sequence[Attributes]
) -> tuple[PairCells, Singles]:
    """Where the cells of every table are, and by how much chosen rows exceed what is wanted."""
    share, place = chosen.size / pool.total, {n: i for i, n in enumerate(pool.domain)}
    layout, excess, first = np.empty((len(tables), 4), np.int32), [], 0
    for number, (one, other) in enumerate(tables):
        places, size = pool.places((one, other)), pool.domain.cells((one, other))
        wanted, taken = np.zeros(size), np.zeros(size)
        add_weights(places, pool.weights, wanted)
        add_weights(places[chosen], np.ones(chosen.size), taken)
        excess.append(taken - wanted * share)
        layout[number] = place[one], place[other], pool.domain[other], first
        first += size
    return layout, np.concatenate(excess).astype(np.float32)


@kernel
def exchange(
    chosen: Integers,
    order: Integers,
    limits: tuple[Integers, Integers],
    codes: CodeMatrix,
    layout: PairCells,
    offered: Integers,
    excess: Singles,
    start: int,
) -> int:
    """Offer every chosen row, one after the other, a few others that have room for itself.

    Taking row j for row i changes the sum of squares by Σ 2·(excess of j − excess of i + 1) over
    the tables in which their cells differ.
    """
    equals, room = limits
    tables = layout.shape[0]
    mine, above = np.empty(tables, np.int64), np.empty(tables, np.float32)
    for number in order:
        row = chosen[number]
        for t in range(tables):
            one, two, size, first = layout[t]
            mine[t] = first + codes[row, one] * size + codes[row, two]
            above[t] = excess[mine[t]]
        best, taken = 0.0, -1
        for _ in range(_TRIES):
            other = offered[start]
            start = start + 1 if start + 1 < offered.size else 0
            if room[equals[other]] <= 0:
                continue
            gain = 0.0
            for t in range(tables):
                one, two, size, first = layout[t]
                its = first + codes[other, one] * size + codes[other, two]
                if mine[t] != its:
                    gain += above[t] - excess[its] - 1.0
            if gain > best:
                best, taken = gain, other
        if taken >= 0:
            for t in range(tables):
                one, two, size, first = layout[t]
                excess[mine[t]] -= 1.0
                excess[first + codes[taken, one] * size + codes[taken, two]] += 1.0
            room[equals[row]] += 1
            room[equals[taken]] -= 1
            chosen[number] = taken
    return start


def exchange_in_vectors(
    chosen: Integers,
    order: Integers,
    limits: tuple[Integers, Integers],
    codes: CodeMatrix,
    layout: PairCells,
    offered: Integers,
    excess: Singles,
    start: int,
) -> int:
    """Make the same exchanges, all tables and tries of a row together.

    Gains are added up table by table, as the kernel does, so that they are the same doubles.
    """
    equals, room = limits
    one, two, size, first = layout.T[:, :, None]

    def cells(rows: Integers) -> npt.NDArray[np.int64]:
        held = codes[rows].T
        return np.asarray(held[one[:, 0]] * size.astype(np.int64) + held[two[:, 0]] + first)

    tries = (start + np.arange(order.size * _TRIES)) % offered.size
    others = offered[tries].reshape(-1, _TRIES)
    for number, candidates in zip(order, others, strict=True):
        row = chosen[number]
        mine, its = cells(np.array([row])), cells(candidates)
        gained = (excess[mine] - excess[its]).astype(np.float64) - 1.0
        gains = np.where(mine == its, 0.0, gained).cumsum(axis=0)[-1]
        gains[room[equals[candidates]] <= 0] = 0.0
        best = int(gains.argmax())
        if gains[best] > 0:
            taken = candidates[best]
            excess[mine[:, 0]] -= 1.0
            excess[its[:, best]] += 1.0
            room[equals[row]] += 1
            room[equals[taken]] -= 1
            chosen[number] = taken
    return int((start + tries.size) % offered.size)
