"""Pools of weighted rows: their tables, their worth, and rows that are chosen of them."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.models.distribution import CodedRows
from understudy.models.weighted.pool import Pool, bounded_numbers, joined, multiply_and_add, rows_of

DOMAIN = Domain({"a": 3, "b": 2})


def _pool(weights: list[float]) -> Pool:
    random = np.random.default_rng(1)
    codes: CodedRows = {
        n: random.integers(0, DOMAIN[n], len(weights), dtype=np.uint8) for n in DOMAIN
    }
    return Pool(DOMAIN, codes, np.array(weights, float))


def test_a_table_holds_the_summed_weights_of_its_cells() -> None:
    """Cell by cell as a loop would add them."""
    pool = _pool([1.0, 2.0, 0.5, 4.0, 0.0, 1.5])
    expected = np.zeros((3, 2))
    for a, b, weight in zip(pool.codes["a"], pool.codes["b"], pool.weights, strict=True):
        expected[a, b] += weight
    assert expected.tolist() == pool.project(("a", "b")).tolist()
    assert expected.sum(axis=0).tolist() == pool.project(("b",)).tolist()
    assert 9.0 == pool.total == pool.project(()).item()


@pytest.mark.parametrize(("rows", "cells"), [(1_003, 7), (2, 7), (0, 3), (40, 39)])
def test_passing_from_table_to_table_is_multiplying_and_then_adding(rows: int, cells: int) -> None:
    """Rows are added four at a time where they are many, and one by one where they are few."""
    random = np.random.default_rng(rows)
    before, places = random.integers(0, cells, (2, rows)).astype(np.uint16)
    places[random.random(rows) < 0.8] = 0
    factors, weights = random.random(cells), random.random(rows)
    expected = weights * factors[before]
    masses = np.zeros(cells)
    multiply_and_add(before, factors, places, weights, masses)
    assert expected.tolist() == weights.tolist()
    assert np.allclose(np.bincount(places, expected, cells), masses, rtol=1e-12, atol=0)


def test_coarser_copies_are_seen_through_their_attribute() -> None:
    """The table of a copy is that of its attribute, group by group."""
    values = {"warm": ["red", "pink"], "cold": ["blue", "green"]}
    schema = Schema.parse(
        {
            "columns": {
                "colour": {
                    "kind": "categorical",
                    "values": ["red", "pink", "blue", "green"],
                    "taxonomy": values,
                    "missing": [],
                }
            }
        }
    )
    domain = Domain.of(schema)
    [copy, *_] = domain.coarser
    codes: CodedRows = {"colour": np.arange(domain["colour"], dtype=np.uint8)}
    pool = Pool(domain, codes, np.arange(domain["colour"], dtype=float) + 1)
    expected = np.bincount(domain.coarser[copy].groups, pool.weights)
    assert expected.tolist() == pool.project((copy,)).tolist()


def test_the_effective_number_of_rows() -> None:
    """Equal weights count all rows; one heavy row counts one; none count nothing."""
    assert 4.0 == _pool([2.0] * 4).effective
    assert 1.0 == _pool([0.0, 7.0, 0.0]).effective
    assert 0.0 == _pool([0.0, 0.0]).effective


def test_systematic_rows_come_as_often_as_their_weights_say() -> None:
    """Rounded up or down, in every part of the pool."""
    pool = _pool([1.0, 2.5, 0.0, 4.0, 2.5])
    counts = np.bincount(pool.resampled(20, np.random.default_rng(2)), minlength=5)
    assert (np.abs(counts - 2 * pool.weights) < 1).all()


@pytest.mark.parametrize("ordered", [True, False])
def test_no_row_is_chosen_twice_unless_it_may(ordered: bool) -> None:
    """A heavy row is certain, and others take what it would have had."""
    pool = Pool.of(DOMAIN, _pool([1.0] * 100).codes, 100.0)
    heavy = pool.with_weights(np.where(np.arange(100) == 7, 400.0, 1.0))
    chosen = heavy.chosen(50, np.random.default_rng(3), ordered=ordered)
    assert 50 == np.unique(chosen).size
    assert 7 in chosen


def test_equal_rows_share_their_bound() -> None:
    """Of all rows of the same codes together no more are expected than are allowed."""
    pool = _pool([5.0] * 60)
    most = np.where((pool.codes["a"] == 0) & (pool.codes["b"] == 0), 2.0, 1e9)
    chosen = rows_of(pool.codes, pool.chosen(600, np.random.default_rng(3), most=most))
    assert ((chosen["a"] == 0) & (chosen["b"] == 0)).sum() <= 3
    assert 600 == chosen["a"].size


def test_bounded_numbers_are_proportional_below_their_bounds() -> None:
    """They add up to what is asked for; without room for it weights stay as they are."""
    weights = np.array([8.0, 1.0, 2.0, 1.0, 0.0])
    found = bounded_numbers(weights, 3, np.ones(5))
    assert [1.0, 0.5, 1.0, 0.5, 0.0] == pytest.approx(found.tolist())
    assert weights.tolist() == bounded_numbers(weights, 9, np.ones(5)).tolist()


def test_parts_are_joined_in_order() -> None:
    """An empty part among them changes nothing."""
    pool = _pool([1.0] * 4)
    none = np.zeros(0, np.int64)
    parts = [rows_of(pool.codes, n) for n in (np.array([2, 0]), none, np.array([3]))]
    assert pool.codes["a"][[2, 0, 3]].tolist() == joined(parts)["a"].tolist()
