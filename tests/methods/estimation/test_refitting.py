"""Networks that are fitted to aims and to pools: all of it is free."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.methods.estimation.refitting import (
    fitted_tree,
    one_way_shares,
    refitted_network,
    seen_as,
    shares_within,
)
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.network import Family
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim
from understudy.system.arrays import Floats

DOMAIN = Domain({"a": 3, "b": 3, "c": 2})
TOTAL = 3000.0


def _law() -> BayesNet:
    """Column b follows a, and c is on its own."""
    near = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    return BayesNet(
        DOMAIN,
        (
            Conditional(Family("a"), np.array([0.5, 0.3, 0.2])),
            Conditional(Family("b", ("a",)), near),
            Conditional(Family("c"), np.array([0.25, 0.75])),
        ),
    )


def _aim(names: tuple[str, ...], variance: float) -> Aim:
    counts = TOTAL * _law().project(names)
    noise = np.random.default_rng(1).normal(0, np.sqrt(variance), counts.shape)
    return Aim(names, counts + noise, variance, None, np.zeros(counts.shape))


def _aims(variance: float) -> list[Aim]:
    return [_aim(n, variance) for n in [("a",), ("b",), ("c",), ("a", "b"), ("a", "c")]]


def test_single_columns_have_shares_of_their_counts() -> None:
    """Not negative, adding up to one, near to what was measured."""
    shares = one_way_shares([Aim(("a",), np.array([-9.0, 60.0, 40.0]), 1.0, None, np.zeros(3))], 91)
    assert 0.0 == shares["a"][0]
    assert 1.0 == pytest.approx(shares["a"].sum())


def test_the_tree_is_that_of_the_strong_pairs() -> None:
    """The true pair is an edge with its table; the other shows nothing but noise."""
    tree = BayesNet(DOMAIN, fitted_tree(_aims(4.0), DOMAIN, TOTAL))
    edges = {frozenset((f.child, *f.parents)) for f in tree.network if f.parents}
    assert {frozenset("ab")} == edges
    assert _law().project(("a", "b")) == pytest.approx(tree.project(("a", "b")), abs=0.02)


def test_pairs_of_noise_alone_are_not_in_the_tree() -> None:
    """With noise beyond the counts every column is on its own."""
    tree = BayesNet(DOMAIN, fitted_tree(_aims(1e7), DOMAIN, TOTAL))
    assert 0 == tree.network.degree


def _pool(weights: Floats | None = None, rows: int = 20_000) -> Pool:
    codes: CodedRows = _law().draw(rows, np.random.default_rng(2))
    pool = Pool.of(DOMAIN, codes, TOTAL)
    return pool if weights is None else pool.with_weights(weights)


def test_a_network_is_refitted_to_a_pool() -> None:
    """Parents share a table with their child and explain more than chance would."""
    net = BayesNet(DOMAIN, refitted_network(_pool(), [("a", "b"), ("a", "c"), ("b", "c")]))
    edges = {frozenset((f.child, *f.parents)) for f in net.network if f.parents}
    assert {frozenset("ab")} == edges
    assert _law().project(("a", "b")) == pytest.approx(net.project(("a", "b")), abs=0.01)


def test_a_parent_is_only_what_was_measured_with_its_child() -> None:
    """A pool may show what no table has said; that is not followed."""
    net = BayesNet(DOMAIN, refitted_network(_pool(), [("a", "c"), ("b",)]))
    assert 0 == net.network.degree


def test_a_pool_of_few_heavy_rows_leaves_every_row_possible() -> None:
    """They count as the few that they are, so that no probability is zero."""
    weights = np.zeros(20_000)
    weights[:3] = TOTAL / 3
    net = BayesNet(DOMAIN, refitted_network(_pool(weights), [("a", "b"), ("a", "c"), ("b", "c")]))
    assert all((c.probabilities > 0).all() for c in net.conditionals)


def test_an_attribute_of_few_codes_is_seen_as_it_is() -> None:
    """And shares within groups are asked for copies alone."""
    assert "a" == seen_as("a", DOMAIN)
    assert shares_within("a", np.ones(3) / 3, DOMAIN) is None
