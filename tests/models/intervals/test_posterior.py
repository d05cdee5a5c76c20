"""Draws of true tables given released ones: possible, agreeing, and spread as the noise is."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals
from understudy.models.estimation.consistency import Estimate
from understudy.models.intervals.posterior import CellPosterior, TablePosterior
from understudy.models.intervals.redrawing import RedrawnTable
from understudy.models.weighted.pool import Pool
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats
from understudy.testing import seeded

DOMAIN = Domain({"a": 2, "b": 3})
TRUE = np.array([[400.0, 80.0, 20.0], [20.0, 80.0, 400.0]])
VARIANCE = 25.0


def pool_of(counts: Floats) -> Pool:
    """A pool that has every combination once, with these weights."""
    grid = np.indices(counts.shape).reshape(2, -1).astype(np.uint8)
    return Pool(DOMAIN, dict(zip(DOMAIN, grid, strict=True)), counts.ravel())


def posterior(variance: float, model: Floats = TRUE) -> TablePosterior:
    """What a released pair and one of its columns leave open."""
    noise = np.random.default_rng(1).normal(0, variance**0.5, TRUE.shape)
    tables = (
        NoisyMarginal(("a", "b"), TRUE + noise, variance),
        NoisyMarginal(("b",), TRUE.sum(axis=0), variance),
    )
    return TablePosterior.of([RedrawnTable(t, laplace=False) for t in tables], pool_of(model))


def drawn(found: TablePosterior, number: int) -> list[dict[tuple[str, ...], Floats]]:
    """Several draws, by the attributes of their tables."""
    generators = map(np.random.default_rng, range(number))
    return [{t.attributes: t.counts for t in found.draw(each)} for each in generators]


def test_draws_are_possible_and_agree() -> None:
    """Nothing is negative, and the pair has the sums that its columns have."""
    for tables in drawn(posterior(900.0), 50):
        assert all((counts >= 0).all() for counts in tables.values())
        assert [1000.0] * 3 == pytest.approx([float(c.sum()) for c in tables.values()])
        # Columns are raked in turn, the last one exactly.
        assert tables["b",] == pytest.approx(tables["a", "b"].sum(axis=0), rel=1e-9)
        assert tables["a",] == pytest.approx(tables["a", "b"].sum(axis=1), rel=0.05)


def test_draws_spread_as_the_noise_does() -> None:
    """A cell of many rows strays by nearly the noise, and an empty one of the model by nothing."""
    found = np.array([tables["a", "b"] for tables in drawn(posterior(VARIANCE), 400)])
    assert 0.6 < found[:, 0, 0].std() / VARIANCE**0.5 < 1.1
    empty = TRUE.copy()
    empty[0, 2] = 0.0
    found = np.array([tables["a", "b"] for tables in drawn(posterior(VARIANCE, empty), 20)])
    assert 0.0 == float(np.abs(found[:, 0, 2]).max())


def test_tables_without_noise_are_drawn_as_they_are() -> None:
    """Whatever the model says."""
    exact = posterior(1e-12, np.full(TRUE.shape, 1000 / 6))
    for tables in drawn(exact, 3):
        assert TRUE == pytest.approx(tables["a", "b"], abs=1e-3)


def test_a_posterior_lies_between_what_was_released_and_the_model() -> None:
    """By hand: κ = (20² + 20² − 2·100)/200 = 3, so that s = 3·100/(3·100 + 100) = 3/4."""
    released = Estimate(("a",), np.array([120.0, 80.0]), 100.0)
    found = CellPosterior.of(released, np.array([100.0, 100.0]), np.array([100.0, 100.0]))
    assert [0.75, 0.75] == pytest.approx(found.kept.tolist())
    assert [115.0, 85.0] == pytest.approx(found.table.counts.tolist())
    moved = found.moved(np.array([10.0, -10.0])).counts
    assert [115 + 10 * 0.75**0.5, 85 - 10 * 0.75**0.5] == pytest.approx(moved.tolist())


@pytest.mark.slow
def test_replicates_are_not_shrunk_to_the_model_that_was_fitted() -> None:
    """The strongest cell of a measured pair strays by about what the tables leave open.

    Factors that shrink to the fitted network spread a third of it.
    """
    generator = np.random.default_rng(5)
    a = generator.integers(0, 4, 4_000)
    b = np.clip(a + generator.integers(-1, 2, 4_000), 0, 5)
    columns = {"a": {"kind": "integer", "min": 0, "max": 3}}
    schema = Schema.parse({"columns": columns | {"b": {"kind": "integer", "min": 0, "max": 5}}})
    method = seeded(AdaptiveMarginals(schema, epsilon=1, delta=1e-6), 7)
    model = method.fit({"a": a.tolist(), "b": b.tolist()}, ledger=None).model_
    pairs = [t for t in model.tables if {*t.attributes} == {"a", "b"}]
    variance = 1 / sum(1 / table.variance for table in pairs)
    found = np.array([each.project(("a", "b"))[0, 0] for each in model.replicates(40, seed=1)])
    assert 0.6 < 4_000 * found.std() / variance**0.5 < 1.4
