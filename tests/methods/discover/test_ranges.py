"""Ranges and bins: exact ratios of the two counts, estimates that agree, and what comes of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.discovery import seeded_schema
from understudy.facts.column import (
    BinnedColumn,
    DateColumn,
    FloatColumn,
    IntegerColumn,
)
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.discover import Discovery, Skeleton, infer_schema
from understudy.methods.discover.bins import LearnedRange, _starts, agreeing, fitted
from understudy.methods.discover.cells import Intervals, Tree
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.system.arrays import Integers

UNITS = [Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE), Unit(Neighbours.ADD_REMOVE, 3)]


def _integers(low: int, high: int) -> BinnedColumn:
    return IntegerColumn(min=low, max=high)


def _answer(tree: Tree, values: list[int]) -> Integers:
    codes = np.searchsorted(tree.edges, np.array(values, np.int64), side="right") - 1
    return tree.answer(np.bincount(codes, minlength=len(tree.edges)))


def _worst_loss(mechanism: DiscreteLaplace, here: Integers, there: Integers) -> float:
    """ln of the largest ratio over all outputs: cells are independent, so the worst ones add up."""
    loss = 0.0
    for a, b in zip(here.tolist(), there.tolist(), strict=True):
        around = range(min(a, b) - 3, max(a, b) + 4)
        ratios = [mechanism.probability(z - a) / mechanism.probability(z - b) for z in around]
        loss += math.log(max(ratios))
    return loss


@pytest.mark.parametrize("unit", UNITS, ids=lambda u: f"{u.neighbours} {u.rows_per_person}")
@pytest.mark.parametrize("span", [(0, 9), (0, 300), (8, 70)])
def test_exact_likelihood_ratios_of_the_second_count(unit: Unit, span: tuple[int, int]) -> None:
    """No output is more than e^ε times likelier on a neighbour, and the bound is reached."""
    cells = Intervals.over(_integers(*span))
    first, last = 1, len(cells.edges) - 2
    tree = Tree(cells, first, last, (first, last))
    epsilon = Fraction(1, 2)
    mechanism = DiscreteLaplace.costing(epsilon, sensitivity=tree.levels * unit.count_l1)
    inside, rows = int(tree.leaves[0][-1]), [span[0], span[1], int(tree.leaves[0][0])]
    worst = 0.0
    for value in (*span, inside, int(tree.leaves[0][0])):
        more = [value] * unit.new_rows
        other = [*rows[:-1], *more] if unit.neighbours is Neighbours.REPLACE else [*rows, *more]
        worst = max(worst, _worst_loss(mechanism, _answer(tree, rows), _answer(tree, other)))
    assert worst == pytest.approx(float(epsilon))


def test_one_level_of_noise_for_two_levels_of_counts_is_too_little() -> None:
    """The exact ratio can fail: a row is in a part and in a leaf."""
    cells = Intervals.over(_integers(0, 300))
    last = len(cells.edges) - 1
    tree = Tree(cells, 0, last, (0, last))
    careless = DiscreteLaplace.costing(Fraction(1, 2), sensitivity=Fraction(1))
    assert 2 == tree.levels
    assert _worst_loss(careless, _answer(tree, [200]), _answer(tree, [])) > 0.9


columns = st.one_of(
    st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 2**62)).map(
        lambda pair: _integers(pair[0], min(pair[0] + pair[1], 2**62))
    ),
    st.tuples(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300)).map(
        lambda pair: FloatColumn.model_construct(
            min=min(pair), max=max(pair), edges=None, bins=None, outside="clip", missing=None
        )
    ),
    st.tuples(st.dates(), st.dates()).map(
        lambda pair: DateColumn(min=min(pair), max=max(pair), bins=1)
    ),
)


@given(columns, st.data())
def test_cells_cover_the_range_and_can_be_numbered(column: BinnedColumn, data: Any) -> None:
    """From the lower bound to the upper one, increasing, parts inside cells, in 16-bit codes."""
    cells = Intervals.over(column)
    low, high = column.bounds
    assert (low, high) == (cells.edges[0], cells.high)
    first = data.draw(st.integers(0, len(cells.edges) - 1))
    last = data.draw(st.integers(first, len(cells.edges) - 1))
    tree = Tree(cells, first, last, data.draw(st.sampled_from([None, (first, last)])))
    assert all(a < b for a, b in zip(tree.edges, tree.edges[1:], strict=False))
    assert len(tree.edges) < 2**16
    assert set(cells.edges[first : tree.last + 1]) <= set(tree.parts[0]) <= set(tree.leaves[0])
    assert low <= tree.edges[0]
    assert tree.edges[-1] <= high


def test_zero_has_a_cell_of_its_own() -> None:
    """What most columns of amounts are full of."""
    whole, real = Intervals.over(_integers(-9, 9)), Intervals.over(FloatColumn(min=-1.0, max=1.0))
    assert (-9, -7, -3, -1, 0, 1, 2, 4, 8) == whole.edges
    zero = real.edges.index(0.0)
    assert 5e-324 == real.edges[zero + 1]


def test_estimates_agree_and_are_the_least_squares() -> None:
    """The two passes give what solving the whole system gives."""
    generator = np.random.default_rng(3)
    parents = [np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 2, 2, 3, 4, 4])]
    levels = [generator.integers(-50, 50, size) for size in (2, 5, 9)]
    variances = [4.0, 9.0, 9.0]
    design = [np.zeros((2, 9)), np.zeros((5, 9)), np.eye(9)]
    for leaf, part in enumerate(parents[1]):
        design[1][part, leaf] = 1
        design[0][parents[0][part], leaf] = 1
    weights = np.concatenate(
        [np.full(len(d), v**-0.5) for d, v in zip(design, variances, strict=True)]
    )
    system, target = np.vstack(design) * weights[:, None], np.concatenate(levels) * weights
    expected = np.linalg.lstsq(system, target, rcond=None)[0]
    found = agreeing(levels, variances, parents)
    assert found[2] == pytest.approx(expected)
    assert found[0] == pytest.approx(design[0] @ expected)


def test_bins_have_equal_counts_and_full_leaves_stand_alone() -> None:
    """A leaf that would fill a bin is one; the others share what is left."""
    even = np.full(64, 10.0)
    assert [0, 16, 32, 48] == _starts(even, 1.0, 4)
    assert [0] == _starts(even, 700.0, 4)
    full = np.array([5.0, 5.0, 900.0, *[5.0] * 20])
    assert {2, 3} <= set(_starts(full, 1.0, 4))
    assert len(_starts(full, 1.0, 4)) <= 4


@pytest.mark.parametrize("epsilon", ["0.3", "1"])
@pytest.mark.parametrize("rows", [3_000, 100_000])
def test_ranges_hold_nearly_all_rows(rows: int, epsilon: str) -> None:
    """A few per cent may be clipped; no bin has more than its share; nothing far away is kept."""
    values = np.random.default_rng(0).normal(50, 10, rows)
    found = seeded_schema({"x": values}, _skeleton({"kind": "float"}), epsilon=epsilon)
    column = found.schema.columns["x"]
    assert isinstance(column, FloatColumn)
    low, high = column.bounds
    assert ((values < low) | (values > high)).mean() < 0.06
    assert 0 <= low < 40 < 60 < high <= 256
    codes = np.searchsorted(column.left_edges, np.clip(values, low, high), side="right") - 1
    assert np.bincount(codes).max() / rows < 4 / column.levels


def _skeleton(body: dict[str, Any]) -> Skeleton:
    return Skeleton.parse({"columns": {"x": body}})


def _found(values: Any, body: dict[str, Any], epsilon: int = 100) -> dict[str, Any]:
    return (
        seeded_schema({"x": values}, _skeleton(body), epsilon=epsilon)
        .schema.columns["x"]
        .document()
    )


def test_whole_numbers_in_a_small_range_are_kept_apart() -> None:
    """As the schema does with a declared range; a declared number of bins is kept to."""
    values = np.arange(4000) % 16 + 1
    assert {"kind": "integer", "min": 1, "max": 16} == _found(values, {"kind": "integer"})
    assert 4 >= len(_found(values, {"kind": "integer", "bins": 4})["edges"])


def test_declared_bounds_are_kept_to() -> None:
    """`edges = []` asks for bins inside them; what lies beyond is clipped there."""
    values = np.arange(8000) % 1000
    found = _found(values, {"kind": "integer", "min": 100, "max": 499, "edges": []})
    assert (100, 499) == (found["edges"][0], found["max"])
    assert 10 < len(found["edges"]) <= 32


def test_days_and_moments_are_found() -> None:
    """In their own types."""
    days = np.datetime64("2021-03-01") + np.arange(3000) % 365
    found = _found(days, {"kind": "date"})
    assert "2021-02-1" < found["edges"][0].isoformat() <= "2021-03-01"
    assert "2022-02-28" <= found["max"].isoformat() < "2022-03-15"
    moments = np.datetime64("2021-03-01T00:00:00") + 3600 * (np.arange(3000) % 100)
    found = _found(moments, {"kind": "datetime"})
    assert 2021 == found["edges"][0].year == found["max"].year


def test_markers_stay_outside_and_stand_ins_inside() -> None:
    """What the schema would refuse cannot come out, wherever the marker lies."""
    values = [*(np.arange(3000) % 500).tolist(), *[999] * 3000]
    found = _found(values, {"kind": "integer", "missing": ["999"]})
    assert 499 <= found["max"] < 999
    found = _found(values, {"kind": "integer", "missing": ["999", "-1"], "outside": -5})
    assert (-5, -2) == (found["edges"][0], found["max"])
    found = _found(values, {"kind": "integer", "missing": ["250"]})
    assert not found["edges"][0] <= 250 <= found["max"]
    assert "clip" not in found.values()


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-25, 25).map(str), max_size=4),
    st.integers(0, 8),
    st.sampled_from(["clip", "drop", 3, -7]),
)
def test_any_range_can_be_made_to_fit(
    edges: list[int], markers: list[str], more: int, outside: Any
) -> None:
    """Whatever markers and stand-in were declared, the column is legal in the end."""
    assume(str(outside) not in markers)
    column = IntegerColumn.model_construct(
        min=-100, max=100, edges=None, bins=None, outside=outside, missing=tuple(markers)
    )
    edges = sorted(edges)
    found = fitted(column, LearnedRange(tuple(edges), edges[-1] + more, edges[0], found=True))
    IntegerColumn(missing=tuple(markers), outside=outside, **found.document(column))


@pytest.mark.parametrize("rows", [0, 1])
def test_next_to_no_rows_give_the_public_range(rows: int) -> None:
    """A legal schema, and the column is named as one of which nothing was seen."""
    inferred = seeded_schema({"x": np.full(rows, 5.0)}, _skeleton({"kind": "float"}), epsilon=1)
    assert ("x",) == inferred.unseen
    column = inferred.schema.columns["x"]
    assert isinstance(column, FloatColumn)
    assert (-1e12, 1e12) == column.bounds


def test_ranges_alone_are_pure() -> None:
    """Without categories no δ is spent, even where one was allowed."""
    discovery = Discovery(_skeleton({"kind": "float"}), 1, "1e-6")
    assert 0 == discovery.budget.delta
    statement = infer_schema(
        {"x": [1.0]}, discovery.skeleton, epsilon=1, delta="1e-6", ledger=None
    ).statement
    assert (Fraction(1), Fraction(0)) == (statement.bound.epsilon, statement.bound.delta)
    assert 2 == len(statement.charges)


def test_next_to_no_noise_gives_next_to_exact_ranges() -> None:
    """An enormous budget divides by nothing, and finds what there is, to a part of a cell."""
    values = np.arange(1000) % 500
    found = _found(values, {"kind": "integer"}, epsilon=10**6)
    assert (0, 511) == (found["edges"][0], found["max"])
