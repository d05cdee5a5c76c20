"""The law of all released tables: its pool, its factors, and what a fixed seed makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods.estimation.law import Estimation
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats

COLUMNS = {name: {"kind": "integer", "min": 0, "max": 2} for name in "abc"}
SCHEMA = Schema.parse({"columns": COLUMNS})
DOMAIN = Domain.of(SCHEMA)
ROWS = 4000


def _truth() -> Floats:
    """A table of three columns in which every pair is dependent."""
    weights = np.random.default_rng(3).gamma(1.0, size=DOMAIN.shape(("a", "b", "c")))
    return np.asarray(ROWS * weights / weights.sum())


def _released(*names: tuple[str, ...], variance: float = 1.0) -> list[NoisyMarginal]:
    random, truth = np.random.default_rng(5), _truth()
    found = []
    for each in names:
        other = tuple(i for i, name in enumerate("abc") if name not in each)
        counts = truth.sum(axis=other)
        noisy = np.rint(counts + random.normal(0, np.sqrt(variance), counts.shape))
        found.append(NoisyMarginal(each, noisy.astype(np.int64), variance))
    return found


SINGLE, PAIRS = (("a",), ("b",), ("c",)), (("a", "b"), ("b", "c"), ("a", "c"))


def test_the_pool_has_the_released_total() -> None:
    """By all tables together, or the number that is public; never another."""
    released = _released(*SINGLE)
    assert ROWS == pytest.approx(Estimation.of(released, DOMAIN, SCHEMA).pool.total, rel=0.01)
    assert 77.0 == pytest.approx(Estimation.of(released, DOMAIN, SCHEMA, rows=77).pool.total)


def test_the_pool_is_a_function_of_the_releases() -> None:
    """To the last bit: what is asked next depends on nothing else."""
    one, other = (Estimation.of(_released(*SINGLE, *PAIRS), DOMAIN, SCHEMA) for _ in range(2))
    assert one.pool.weights.tobytes() == other.pool.weights.tobytes()
    assert one.law().members() == other.law().members()


def test_tables_come_back() -> None:
    """Those of single columns within their noise, and pairs that no tree has together."""
    law = Estimation.of(_released(*SINGLE, *PAIRS), DOMAIN, SCHEMA).law()
    for names in (*SINGLE, *PAIRS):
        other = tuple(i for i, name in enumerate("abc") if name not in names)
        distance = np.abs(law.project(names) - _truth().sum(axis=other) / ROWS).sum() / 2
        assert distance < 0.02
    drawn = law.draw(2_000, np.random.default_rng(1))
    shares = np.bincount(drawn["a"], minlength=DOMAIN["a"]) / 2_000
    assert _truth().sum(axis=(1, 2)) / ROWS == pytest.approx(shares, abs=0.01)


def test_the_law_knows_what_its_rows_are_worth() -> None:
    """Rows of a network that is near to all tables are worth nearly all of themselves."""
    law = Estimation.of(_released(*SINGLE, *PAIRS), DOMAIN, SCHEMA).law()
    assert 0.5 < law.effective <= 1
    assert not law.base.completions.nogoods


@pytest.mark.parametrize("rows", [None, 0])
def test_tables_of_nothing_have_a_law_too(rows: int | None) -> None:
    """Counts at or below zero, as noise makes them of empty tables."""
    zero = [NoisyMarginal(n, np.full(DOMAIN.shape(n), -3), 4.0) for n in (*SINGLE, ("a", "b"))]
    law = Estimation.of(zero, DOMAIN, SCHEMA, rows=rows).law()
    assert (5,) == law.draw(5, np.random.default_rng(1))["a"].shape
    assert np.isfinite(law.project(("a", "b"))).all()


def test_the_noise_of_single_columns_is_known() -> None:
    """The mean L1 noise that their tables have."""
    found = Estimation.of(_released(*SINGLE, variance=9.0), DOMAIN, SCHEMA).one_way_noise
    assert dict.fromkeys("abc", pytest.approx(DOMAIN["a"] * 3 * np.sqrt(2 / np.pi))) == found
