"""One-way tables come back: in the conditionals, and in rows that are made of them."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.estimation.calibration import calibrated
from understudy.models.estimation.conditionals import conditionals
from understudy.models.estimation.consistency import made_consistent
from understudy.models.network import Family, Network
from understudy.models.sampling import deal_codes
from understudy.privacy.noisy_marginal import NoisyMarginal

DOMAIN = Domain({"a": 4, "b": 4, "c": 3, "d": 5})
# b and c are parents of d, and no table holds them together with what ties them: a.
NETWORK = Network.from_parents({"a": (), "b": ("a",), "c": (), "d": ("b", "c")})


def _exact(rows: int) -> list[NoisyMarginal]:
    """Exact tables of rows in which b and c are strongly tied, though the network says not."""
    generator = np.random.default_rng(0)
    joint = generator.dirichlet(np.full(4 * 4 * 3 * 5, 0.05)).reshape(4, 4, 3, 5)
    counts = np.rint(rows * joint).astype(np.int64)
    sets = [("a",), ("b",), ("c",), ("d",), ("a", "b"), ("b", "c", "d")]
    return [
        NoisyMarginal(s, counts.sum(axis=tuple(i for i, n in enumerate("abcd") if n not in s)), 1.0)
        for s in sets
    ]


def test_rows_have_the_one_way_tables() -> None:
    """Of exact tables, to three thousandths of the rows, though the parents' joint is another."""
    tables = _exact(100_000)
    total = float(tables[0].total)
    law = BayesNet(DOMAIN, conditionals(NETWORK, tables, total=total, domain=DOMAIN))
    rows = deal_codes(law, 100_000, np.random.default_rng(1))
    for table in tables[:4]:
        [name] = table.attributes
        made = np.bincount(rows[name], minlength=DOMAIN[name]) / 100_000
        assert np.abs(made - table.counts / total).sum() / 2 < 3e-3


def test_without_calibration_the_child_drifts() -> None:
    """The same conditionals as the tables say them: the last column is far from its own table."""
    tables = _exact(100_000)
    total = float(tables[0].total)
    family = tables[-1].counts.astype(float)
    joint = np.einsum("b,c->bc", tables[1].counts / total, tables[2].counts / total)
    sums = family.sum(axis=-1, keepdims=True)
    own = tables[3].counts / total
    lines = np.divide(family, sums, out=np.broadcast_to(own, family.shape).copy(), where=sums > 0)
    drifted = np.einsum("bc,bcd->d", joint, lines)
    assert np.abs(drifted - own).sum() / 2 > 0.01


def test_a_tree_stays_as_it_is() -> None:
    """Families of one parent have no drift, and unseen parents keep their lines."""
    first = Conditional(Family("a"), np.array([1.0, 0.0, 0.0, 0.0]))
    second = Conditional(Family("b", ("a",)), np.full((4, 4), 0.25))
    lines = np.random.default_rng(0).dirichlet(np.ones(3), (4, 4))
    third = Conditional(Family("c", ("a", "b")), lines)
    wanted = {"a": np.ones(4), "b": np.ones(4), "c": np.array([5.0, 3.0, 2.0])}
    domain = Domain({"a": 4, "b": 4, "c": 3})
    found = calibrated([first, second, third], wanted, domain)
    assert (found[0] is first, found[1] is second) == (True, True)
    assert np.array_equal(lines[1:], found[2].probabilities[1:])
    mean = found[2].probabilities[0].mean(axis=0)
    assert [0.5, 0.3, 0.2] == pytest.approx(mean.tolist(), abs=1e-4)


def test_the_mixture_keeps_one_way_tables() -> None:
    """Tables with many negative cells return the one-way tables that all releases agree on.

    Mixed with uniform tables, the rare values would hold more than was measured.
    """
    generator = np.random.default_rng(0)
    share = np.array([0.9, 0.09, 0.009, 0.001])
    wide = np.multiply.outer(np.multiply.outer(share, share), share) * 10_000
    noisy = np.rint(wide + 40 * generator.standard_normal(wide.shape)).astype(np.int64)
    one_way = [
        NoisyMarginal((name,), np.rint(10_000 * share).astype(np.int64), 1e-6) for name in "abc"
    ]
    estimates = made_consistent([*one_way, NoisyMarginal(("a", "b", "c"), noisy, 1600.0)], 10_000.0)
    assert (estimates[3].counts >= 0).all()
    for axis in range(3):
        seen = estimates[3].counts.sum(axis=tuple(i for i in range(3) if i != axis))
        assert (10_000 * share).tolist() == pytest.approx(seen.tolist(), abs=0.01)
