"""Small pairs by bitmaps: the last row and column by subtraction, the threshold for speed alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.rows.engines import bitmaps
from understudy.rows.engines.bitmaps import count_by_bitmaps, worth_bitmaps
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

SIZES = {f"a{i}": size for i, size in enumerate((1, 2, 2, 3, 4, 5, 6, 7, 9, 10, 13, 30))}
PAIRS = list(itertools.combinations(SIZES, 2))


def _table(rows: int, *, dtype: type[np.uint8] | type[np.uint16] = np.uint8) -> Table:
    generator = np.random.default_rng(rows)
    codes: dict[str, Codes] = {
        name: np.minimum(generator.zipf(1.5, rows) - 1, size - 1).astype(dtype)
        for name, size in SIZES.items()
    }
    return Table(Domain(SIZES), codes, rows)


@pytest.mark.parametrize("rows", [0, 1, 64, 100, 16_384, 20_000])
def test_last_rows_and_columns_are_what_the_others_leave(rows: int) -> None:
    """Every cell, the subtracted ones too, is what numpy counts."""
    table = _table(rows)
    for marginal in count_by_bitmaps(table, PAIRS):
        first, second = (table.codes[a].astype(np.int64) for a in marginal.attributes)
        shape = table.domain.shape(marginal.attributes)
        expected = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1])
        assert expected.tolist() == marginal.counts.reshape(-1).tolist()


def test_wider_codes_have_bitmaps_too() -> None:
    """A table may hold few values in 16 bits."""
    narrow, wide = _table(3000), _table(3000, dtype=np.uint16)
    for ours, theirs in zip(
        count_by_bitmaps(narrow, PAIRS), count_by_bitmaps(wide, PAIRS), strict=True
    ):
        assert ours.counts.tolist() == theirs.counts.tolist()


@pytest.mark.parametrize("threshold", [0, 1, 2, 8, 12, 29, 30, 100, 350, 10**6])
def test_every_threshold_gives_the_same_tables(
    threshold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which pairs go by bitmaps decides the time, never a count."""
    source = MemorySource(_table(5000))
    expected = [m.counts.tolist() for m in source.count(PAIRS)]
    monkeypatch.setattr(bitmaps, "_MOST_CELLS", threshold)
    monkeypatch.setattr(bitmaps, "_PAIRS_PER_ATTRIBUTE", 0)
    used = len(worth_bitmaps(source.domain, PAIRS))
    assert sum(max(a - 1, 1) * max(b - 1, 1) <= threshold for a, b in _shapes()) == used
    assert expected == [m.counts.tolist() for m in source.count(PAIRS)]


def _shapes() -> list[tuple[int, int]]:
    return [(SIZES[a], SIZES[b]) for a, b in PAIRS]


def test_bitmaps_are_for_many_pairs() -> None:
    """A few pairs are counted sooner than their bitmaps are made; larger sets have none."""
    domain = Domain(SIZES)
    small = [pair for pair in PAIRS if domain.cells(pair) <= 130]
    assert [] == worth_bitmaps(domain, small[:5])
    assert small == worth_bitmaps(domain, [*small, ("a1", "a2", "a3"), ("a1",), ()])
