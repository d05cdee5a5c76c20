"""Tails: which public cells beyond a range become bins."""

from __future__ import annotations

import numpy as np

from support.discovery import seeded_schema
from understudy.facts.column import FloatColumn, IntegerColumn
from understudy.methods.discover import Skeleton
from understudy.methods.discover.tails import Declared, Piece, Tails, tails_of


def _pieces(edges: list[float], counts: list[float]) -> list[Piece]:
    return [Piece(edge, count, 100.0) for edge, count in zip(edges, counts, strict=True)]


def _above(counts: list[float], declared: Declared | None = None) -> Tails:
    edges = [2.0**k for k in range(2, 2 + len(counts))]
    above = _pieces(edges, counts)
    end = 2.0 ** (2 + len(counts))
    return tails_of([], above, inside=(0.0, 3.0), end=end, declared=declared or Declared())


def test_rows_that_show_together_lengthen_a_range() -> None:
    """Three cells of 1.5 deviations each are not noise; what lies behind them is."""
    assert ((4.0, 8.0, 16.0), 32.0) == (_above([15, 15, 15, 0]).above, _above([15, 15, 15, 0]).end)
    assert Tails((), (), None) == _above([15, 0, 0, 0])
    assert Tails((), (), None) == _above([-5, -5, 8, 3])
    assert (4.0, 8.0, 16.0, 32.0) == _above([40, 0, 0, 90]).above


def test_zero_is_crossed_only_where_it_is_sure() -> None:
    """Ages do not become negative because of a little noise."""
    inside, end = (0, 90), 128
    for count, below in ((25.0, ()), (40.0, (-1,))):
        pieces = [Piece(-1, count, 100.0)]
        found = tails_of(pieces, [], inside=inside, end=end, declared=Declared())
        assert below == found.below


def test_a_declared_bound_is_the_outermost_edge() -> None:
    """Cells up to it are joined to bins of one, two and four of them."""
    found = _above([0, 0, 0, 0, 0, 0, 0, 0], Declared(high=True))
    assert ((4.0, 8.0, 32.0, 512.0), 1024.0) == (found.above, found.end)
    below = _pieces([0, 1, 2, 4, 8], [0, 0, 0, 0, 0])
    found = tails_of(below, [], inside=(16, 90), end=128, declared=Declared(low=True))
    assert (0, 2, 8) == found.below


def test_declared_ages_stay_as_declared() -> None:
    """0 to 120 is public; no age of the rows moves it."""
    ages = np.random.default_rng(1).integers(26, 91, 5000)
    body = {"kind": "integer", "min": 0, "max": 120, "edges": []}
    skeleton = Skeleton.parse({"columns": {"age": body, "weight": {"kind": "float", "min": 0.0}}})
    rows = {"age": ages, "weight": np.random.default_rng(2).normal(70, 9, 5000)}
    for seed in range(3):
        schema = seeded_schema(rows, skeleton, epsilon="0.3", delta="1e-6", seed=seed).schema
        age, weight = schema.columns["age"], schema.columns["weight"]
        assert isinstance(age, IntegerColumn)
        assert isinstance(weight, FloatColumn)
        assert (0, 120) == age.bounds
        assert weight.bounds[0] == 0


def test_a_thin_tail_is_kept() -> None:
    """Five hundred of a hundred thousand rows far below are not clipped to the others."""
    generator = np.random.default_rng(3)
    values = np.concatenate([generator.normal(0, 1, 99_500), generator.uniform(-30, -4, 500)])
    skeleton = Skeleton.parse({"columns": {"x": {"kind": "float"}}})
    for seed in range(3):
        schema = seeded_schema({"x": values}, skeleton, epsilon="0.5", seed=seed).schema
        column = schema.columns["x"]
        assert isinstance(column, FloatColumn)
        assert -512 <= column.bounds[0] <= -16
        assert np.isin([-16.0, -8.0], column.left_edges).all()
