"""Controlled rounding: rows without weights whose tables are near to those of the pool."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.models.distribution import CodedRows
from understudy.models.weighted.pool import Pool, rows_of
from understudy.models.weighted.rounding import rounded

DOMAIN = Domain({"a": 5, "b": 4, "c": 6, "d": 3})


def _pool(rows: int = 8000, seed: int = 1) -> Pool:
    random = np.random.default_rng(seed)
    codes: CodedRows = {n: random.integers(0, DOMAIN[n], rows, dtype=np.uint8) for n in DOMAIN}
    codes["b"] = np.minimum(codes["a"], 3).astype(np.uint8)
    return Pool(DOMAIN, codes, random.gamma(2.0, size=rows))


def _distance(pool: Pool, made: CodedRows) -> float:
    """The L1 distance of all tables of pairs."""
    rows = made["a"].size
    drawn = Pool.of(DOMAIN, made, rows)
    return sum(
        float(np.abs(drawn.project(pair) - pool.project(pair) * (rows / pool.total)).sum())
        for pair in itertools.combinations(DOMAIN, 2)
    )


def test_tables_are_nearer_than_those_of_other_draws() -> None:
    """Half as far as systematic rows at the most, and a fifth of independent ones."""
    pool, random = _pool(), np.random.default_rng(2)
    ours = _distance(pool, rounded(pool, 500, random))
    systematic = _distance(pool, rows_of(pool.codes, pool.resampled(500, random)))
    chances = pool.weights / pool.total
    drawn = rows_of(pool.codes, random.choice(len(pool), 500, p=chances))
    assert ours < systematic / 2
    assert ours < _distance(pool, drawn) / 5


def test_every_row_is_a_row_of_the_pool() -> None:
    """Nothing is made that the pool does not have; without a weight a row never comes."""
    pool = _pool(300)
    pool = pool.with_weights(np.where(pool.codes["c"] == 2, 0.0, pool.weights))
    made = rounded(pool, 100, np.random.default_rng(3))
    there = set(zip(*pool.codes.values(), strict=True))
    assert {*zip(*made.values(), strict=True)} <= there
    assert not (made["c"] == 2).any()


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows(rows: int) -> None:
    """As many as were asked for, in the types of the pool."""
    made = rounded(_pool(), rows, np.random.default_rng(1))
    assert [(rows,)] * 4 == [codes.shape for codes in made.values()]
    assert {np.dtype(np.uint8)} == {codes.dtype for codes in made.values()}


def test_more_rows_than_the_pool_has() -> None:
    """Then rows repeat as their weights say."""
    assert 100 == rounded(_pool(30), 100, np.random.default_rng(1))["a"].size


def test_one_attribute_and_one_code() -> None:
    """There are no pairs to compare, and nothing to choose."""
    domain = Domain({"a": 1})
    pool = Pool.of(domain, {"a": np.zeros(50, np.uint8)}, 10.0)
    assert [0] * 7 == rounded(pool, 7, np.random.default_rng(1))["a"].tolist()
