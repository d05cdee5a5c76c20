"""Many small pairs counted together, by the bits that the bitmaps of their values share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.rows.counting import Counts, Marginal
from understudy.rows.engines.kernels import Pairs, count_inner, fill_bitmaps, fill_last
from understudy.rows.table import Table
from understudy.system.arrays import Words

# Pairs with at most so many cells to count are worth their bitmaps. The threshold need not be
# found anew on each machine: from 96 to 320 the time of a wide table's pairs changes by a fifth.
_MOST_CELLS = 160
# Making an attribute's bitmaps takes as long as they save on so many pairs.
_PAIRS_PER_ATTRIBUTE = 4
# The bitmaps of so many rows, for a thousand values, stay in the second-level cache.
_WORDS = 256
_ROWS = 64 * _WORDS


def worth_bitmaps(domain: Domain, sets: Sequence[Attributes]) -> list[Attributes]:
    """The pairs among some sets that are best counted by bitmaps; none where they are few."""
    small: list[Attributes]
    small = [s for s in sets if len(s) == 2 and _inner_cells(domain, s) <= _MOST_CELLS]
    attributes = {attribute for pair in small for attribute in pair}
    return small if len(small) >= _PAIRS_PER_ATTRIBUTE * len(attributes) else []


def _inner_cells(domain: Domain, pair: Attributes) -> int:
    """The cells that are counted bit by bit; a value beside a single one still needs its bitmap."""
    first, second = domain.shape(pair)
    return max(first - 1, 1) * max(second - 1, 1)


def count_by_bitmaps(table: Table, pairs: Sequence[Attributes]) -> list[Marginal]:
    """The tables of many pairs; rows are gone through once, a block at a time."""
    places = _places(table.domain, pairs)
    starts = [0, *itertools.accumulate(table.domain.cells(pair) for pair in pairs)]
    domain = table.domain
    asked = np.array(
        [
            (places[a], domain[a], places[b], domain[b], start)
            for (a, b), start in zip(pairs, starts, strict=False)
        ],
        np.int64,
    )
    counts = np.zeros(starts[-1], np.int64)
    _count(table, places, asked, counts)
    parts = np.split(counts, starts[1:-1])
    shapes = map(table.domain.shape, pairs)
    return [Marginal(p, c.reshape(s)) for p, c, s in zip(pairs, parts, shapes, strict=True)]


def _places(domain: Domain, pairs: Sequence[Attributes]) -> dict[str, int]:
    """Where the bitmaps of each attribute begin; the very first one has every bit set."""
    attributes = list(dict.fromkeys(attribute for pair in pairs for attribute in pair))
    starts = itertools.accumulate((domain[a] for a in attributes), initial=1)
    return dict(zip(attributes, starts, strict=False))


def _count(table: Table, places: dict[str, int], asked: Pairs, counts: Counts) -> None:
    values = sum(table.domain[attribute] for attribute in places)
    bitmaps = np.full((1 + values, _WORDS), ~np.uint64(0))
    # Every value against the bitmap of all rows: a pair of values + 1 and 2 values, but the last.
    alone = np.array([(1, values + 1, 0, 2, 2)], np.int64)
    held = np.zeros((2 + values, 2), np.int64)
    for start in range(0, table.rows, _ROWS):
        _fill(table, places, start, bitmaps)
        count_inner(bitmaps, asked, counts)
        count_inner(bitmaps, alone, held.reshape(-1))
    fill_last(np.ascontiguousarray(held[:, 0]), asked, counts)


def _fill(table: Table, places: dict[str, int], start: int, bitmaps: Words) -> None:
    bitmaps[1:] = 0
    for attribute, place in places.items():
        codes = table.column(attribute)[start : start + _ROWS]
        fill_bitmaps(codes, bitmaps[place : place + table.domain[attribute]])
