"""Raking: weights come near to tables, as near as the tables can be trusted."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.models.distribution import CodedRows
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim, log_weights, raked, spread_out, weighed
from understudy.system.arrays import Floats

DOMAIN = Domain({"a": 3, "b": 2, "c": 4})
SIZES = tuple(DOMAIN.sizes.items())
TOTAL = 1000.0


def _grid() -> Pool:
    """Every combination once."""
    grid = np.indices(DOMAIN.shape(DOMAIN.attributes)).reshape(3, -1).astype(np.uint8)
    return Pool.of(DOMAIN, dict(zip(DOMAIN, grid, strict=True)), TOTAL)


def _truth() -> Pool:
    pool, random = _grid(), np.random.default_rng(4)
    weights = random.random(len(pool)) + 0.2
    return pool.with_weights(weights * (TOTAL / weights.sum()))


def _aim(names: tuple[str, ...], counts: Floats, variance: float = 0.0) -> Aim:
    return Aim(names, counts, variance, None, np.zeros(counts.shape))


TABLES = (("a", "b"), ("b", "c"), ("a",), ("c",))


def _fitted(pool: Pool, sweeps: int) -> Floats:
    """Iterative proportional fitting as it is written in textbooks."""
    weights = pool.weights.copy()
    for _ in range(sweeps):
        for names in TABLES:
            wanted, places = _truth().project(names).ravel(), pool.places(names)
            weights *= (wanted / np.bincount(places, weights, wanted.size))[places]
    return weights


def test_without_noise_it_is_iterative_proportional_fitting() -> None:
    """Tables measured exactly are met, and the weights are those of the textbook."""
    aims = [_aim(names, _truth().project(names)) for names in TABLES]
    pool, _ = raked(_grid(), aims, sweeps=60, loose=True)
    for aim in aims:
        assert aim.counts.ravel() == pytest.approx(pool.project(aim.attributes).ravel(), abs=0.05)
    assert _fitted(_grid(), 60) == pytest.approx(pool.weights, abs=0.2)


def test_the_weights_are_products_of_the_factors() -> None:
    """What is kept of a raked pool, its factors, gives the weights again."""
    aims = [_aim(names, _truth().project(names), 4.0) for names in TABLES]
    pool, found = raked(_grid(), aims, sweeps=30)
    again = np.exp(log_weights(_grid(), found))
    assert pool.weights / pool.total == pytest.approx(again / again.sum(), rel=1e-6)
    assert TOTAL == pytest.approx(pool.total)


def test_a_noisy_table_moves_less() -> None:
    """The larger the noise, the less weights follow a table; hopeless ones are not followed."""
    counts = _truth().project(("a", "b"))
    moved = []
    for variance in (1.0, 1e4, 1e8):
        pool, _ = raked(_grid(), [_aim(("a", "b"), counts, variance)], sweeps=20)
        moved.append(float(np.abs(pool.project(("a", "b")) - _grid().project(("a", "b"))).sum()))
    assert moved[0] > moved[1] > moved[2]
    assert moved[2] < 1.0


@pytest.mark.parametrize("doubt", [0.0, 1.0])
def test_doubt_leaves_what_is_accidental_in_a_pool(doubt: float) -> None:
    """Rows of a uniform law are not re-weighted by what their sample lacks, given doubt."""
    random, aims = np.random.default_rng(5), []
    codes: CodedRows = {n: random.integers(0, DOMAIN[n], 200, dtype=np.uint8) for n in DOMAIN}
    sample = Pool.of(DOMAIN, codes, 1e5)
    aims = [_aim(("a", "c"), np.full((3, 4), 1e5 / 12), 1.0)]
    _, [found] = raked(sample, aims, sweeps=10, doubt=doubt)
    assert (np.abs(found.logarithms).max() > 0.25) == (doubt == 0.0)


def test_cells_without_rows_stay_empty() -> None:
    """No factor makes rows that the pool does not have, and none is infinite."""
    grid = _grid()
    pool = grid.with_weights(np.where(grid.codes["a"] == 0, 0.0, grid.weights))
    pool, [found] = raked(pool, [_aim(("a",), np.array([500.0, 300.0, 200.0]), 1.0)], sweeps=20)
    assert 0.0 == pool.project(("a",))[0]
    assert np.isfinite(found.logarithms).all()
    assert np.isfinite(pool.weights).all()


@pytest.mark.parametrize("count", [0.0, -50.0])
def test_a_count_of_nothing_empties_its_cell(count: float) -> None:
    """Negative counts, which noise makes, are read as none."""
    pool, _ = raked(_grid(), [_aim(("a",), np.array([count, 600.0, 400.0]), 1.0)], sweeps=30)
    shares = pool.project(("a",)) / pool.total
    assert [0.0, 0.6, 0.4] == pytest.approx(shares.tolist(), abs=0.02)


def test_no_row_weighs_more_than_twenty_others() -> None:
    """Weights by factors are cut; the total stays."""
    logarithms = np.array([9.0, 0.0, 0.0])
    random = np.random.default_rng(1)
    codes: CodedRows = {n: random.integers(0, DOMAIN[n], 5000, dtype=np.uint8) for n in DOMAIN}
    codes["a"] = np.minimum(np.arange(5000), 1).astype(np.uint8)
    pool = Pool.of(DOMAIN, codes, TOTAL)
    found = weighed(pool, [replace(_aim(("a",), np.zeros(3)), logarithms=logarithms, spread=1.0)])
    others = found.weights[1]
    assert TOTAL == pytest.approx(found.total)
    assert found.weights[0] < 60 * others


def test_huge_factors_stay_numbers() -> None:
    """Factors of several hundred in logarithms, together beyond all floats, give weights."""
    logs = np.array([599.0, 0.0, -599.0])
    aims = [replace(_aim(("a",), np.zeros(3), 1.0), logarithms=logs, spread=1.0)] * 4
    assert np.isfinite(weighed(_grid(), aims).weights).all()
    assert TOTAL == pytest.approx(weighed(_grid(), aims).total)


def test_the_chance_of_a_pool_is_not_a_difference_of_a_table() -> None:
    """A table that the law itself has says nothing against it, however few rows were drawn."""
    even, generator = np.full((3, 2), TOTAL * 100 / 6), np.random.default_rng(1)
    codes: CodedRows = {n: generator.integers(0, s, 2_000).astype(np.uint8) for n, s in SIZES}
    pool = Pool.of(DOMAIN, codes, TOTAL * 100)
    masses = pool.project(("a", "b"))
    assert ((masses - even) ** 2).sum() / pool.total > 10
    [aim] = raked(pool, [Aim.of(("a", "b"), even, 1.0)], sweeps=1)[1]
    assert 0.5 == aim.spread


def test_factors_are_multiplied_once_between_tables() -> None:
    """A sweep over two tables has the weights of a sweep over each, one after the other."""
    aims = [replace(_aim(n, np.zeros(s), 9.0), spread=1.0) for n, s in ((("a",), 3), (("c",), 4))]
    both, _ = raked(_grid(), aims, sweeps=1)
    alone = _grid()
    for aim in aims:
        alone, _ = raked(alone, [aim], sweeps=1)
    assert both.weights == pytest.approx(alone.weights)


def _dense(columns: int, rows: int) -> tuple[Pool, list[Aim]]:
    """Rows of even columns, and exact tables of columns that are all large or small together."""
    random, names = np.random.default_rng(6), [f"c{i}" for i in range(columns)]
    domain = Domain(dict.fromkeys(names, 5))
    spread = np.exp(random.normal(0, 1.5, (20_000, 1))) * random.normal(size=(20_000, columns))
    found = np.searchsorted(np.quantile(spread, [0.2, 0.4, 0.6, 0.8]), spread).astype(np.uint8)
    real = Pool.of(domain, {name: found[:, i] for i, name in enumerate(names)}, 20_000.0)
    tables = [*((name,) for name in names), *itertools.combinations(names, 2)]
    aims = [Aim.of(names, real.project(names), 1.0) for names in tables]
    codes: CodedRows = {n: random.integers(0, 5, rows, dtype=np.uint8) for n in names}
    return Pool.of(domain, codes, 20_000.0), aims


def _farthest(pool: Pool, aims: list[Aim]) -> float:
    """The largest L1 distance of a table of the pool from its counts, in parts of the rows."""
    distances = [np.abs(pool.project(aim.attributes) - aim.counts).sum() for aim in aims]
    return float(max(distances)) / pool.total


@pytest.mark.parametrize(("doubt", "least"), [(0.0, 0.05), (1.0, 0.2)])
def test_many_tables_leave_a_pool_its_rows(doubt: float, least: float) -> None:
    """Weights that would move to a few rows stay spread out, and single columns are exact."""
    pool, aims = _dense(16, 4_000)
    collapsed, _ = raked(pool, aims, sweeps=10, doubt=doubt)
    found, factors = spread_out(pool, aims, sweeps=10, doubt=doubt)
    assert collapsed.effective < 0.1 * len(pool)
    assert found.effective >= least * len(pool)
    assert [aim.attributes for aim in aims] == [aim.attributes for aim in factors]
    assert log_weights(pool, factors) - np.log(found.weights) == pytest.approx(
        float(log_weights(pool, factors)[0] - np.log(found.weights[0])), abs=1e-6
    )
    assert _farthest(collapsed, aims[:16]) > 0.1
    assert _farthest(found, aims[:16]) < 0.01


def test_a_pool_that_can_stand_for_its_tables_is_raked_as_ever() -> None:
    """To the last bit."""
    pool, aims = _dense(3, 4_000)
    once, again = (how(pool, aims, sweeps=10)[0] for how in (raked, spread_out))
    assert once.effective > 0.1 * len(pool)
    assert once.weights.tobytes() == again.weights.tobytes()
