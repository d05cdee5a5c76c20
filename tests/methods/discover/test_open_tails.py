"""Tails: which public cells beyond a range become bins."""

from __future__ import annotations

import numpy as np

from support.discovery import seeded_schema
from understudy.facts.column import FloatColumn, IntegerColumn
from understudy.methods.discover import Skeleton
from understudy.methods.discover.tails import (
    Declared,
    PartedCell,
    Piece,
    Tails,
    tails_of,
    variance_of,
)


def _pieces(edges: list[float], counts: list[float]) -> list[Piece]:
    return [Piece(edge, count, 100.0) for edge, count in zip(edges, counts, strict=True)]


def _above(counts: list[float], declared: Declared | None = None) -> Tails:
    edges = [2.0**k for k in range(2, 2 + len(counts))]
    above = _pieces(edges, counts)
    end = 2.0 ** (2 + len(counts))
    return tails_of([], above, inside=(0.0, 3.0), end=end, declared=declared or Declared())


def test_rows_that_show_together_lengthen_a_range() -> None:
    """Two cells of 2.1 deviations each are not noise; what lies behind them is."""
    found = _above([21, 21, 0, 0])
    assert ((4.0, 8.0), 12.0) == (found.above, found.end)
    assert Tails((), (), None) == _above([15, 0, 0, 0])
    assert Tails((), (), None) == _above([15, 15, 15, 0])
    assert Tails((), (), None) == _above([-5, -5, 8, 3])
    assert (4.0, 8.0, 16.0, 32.0) == _above([40, 0, 0, 90]).above


def test_an_open_cell_is_drawn_from_its_inner_half() -> None:
    """One cell beyond ages up to 127 gives ages up to 191, and not up to 255."""
    found = tails_of([], [Piece(128, 90.0, 100.0)], inside=(0, 127), end=256, declared=Declared())
    assert ((128,), 192) == (found.above, found.end)
    found = tails_of([Piece(8, 90.0, 100.0)], [], inside=(16, 90), end=128, declared=Declared())
    assert (12,) == found.below
    declared = Declared(low=True, high=True)
    found = tails_of([], [Piece(128, 90.0, 100.0)], inside=(0, 127), end=256, declared=declared)
    assert 256 == found.end


def test_parts_of_a_cell_end_where_rows_end() -> None:
    """Within a cell a range grows by the parts that show together, and not by the whole cell."""
    cell = PartedCell(7, parts=16, variance=400.0)
    parts = [Piece(64 + 4 * i, count, 100.0, cell) for i, count in enumerate((14, 14, 0, 0))]
    found = tails_of([], parts, inside=(0, 60), end=80, declared=Declared())
    assert ((64,), 72) == (found.above, found.end)


def test_far_cells_need_more_than_near_ones() -> None:
    """What would stand out beside a range does not, ten cells away."""
    assert () == _above([0, 0, 0, 0, 0, 0, 0, 0, 0, 95]).above
    assert (4.0,) == _above([30, 0, 0]).above


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


def test_rows_beyond_empty_parts_are_not_hidden_by_their_noise() -> None:
    """Few rows in two cells show, whatever the noise of the parts between; a tail continues."""
    cell = PartedCell(7, parts=16, variance=400.0)
    parts = [Piece(64 + 4 * i, -30.0, 900.0, cell) for i in range(16)]
    cells = [Piece(128, 30.0, 100.0), Piece(256, 20.0, 100.0), Piece(512, 9.0, 100.0)]
    found = tails_of([], [*parts, *cells], inside=(0, 60), end=1024, declared=Declared())
    assert ((64, 128, 256), 384) == (found.above, found.end)


def test_the_variance_of_parts_is_that_of_estimates_that_agree() -> None:
    """By least squares on the parts and their sum, solved as a linear system."""
    parts, own, whole = 5, 7.0, 3.0
    design = np.vstack([np.eye(parts), np.ones(parts)])
    weights = np.diag([1 / own] * parts + [1 / whole])
    covariance = np.linalg.inv(design.T @ weights @ design)
    # The cell's own estimate joins its count and the sum of its parts.
    cell = PartedCell(0, parts, 1 / (1 / whole + 1 / (parts * own)))
    for number in range(1, parts + 1):
        pieces = [Piece(i, 0.0, own, cell) for i in range(number)]
        chosen = np.arange(parts) < number
        assert np.isclose(chosen @ covariance @ chosen, variance_of(pieces))
