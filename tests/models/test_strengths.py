"""Edges are scored by the distance of their ends from independence, in the model alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.joint import joint_of
from support.networks import model_of, random_network
from support.tiers import examples
from understudy.models.bayes_net import BayesNet
from understudy.models.model import Model
from understudy.models.network import Family, Network
from understudy.models.strengths import strengths_of


def _by_enumeration(model: Model, parent: str, child: str) -> float:
    order = model.domain.attributes
    joint = joint_of(model).reshape(model.domain.shape(order))
    ends = [order.index(parent), order.index(child)]
    others = tuple(axis for axis in range(len(order)) if axis not in ends)
    pair = joint.sum(axis=others)
    return float(np.abs(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))).sum() / 2)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 2**32))
def test_scores_are_those_of_enumeration(count: int, degree: int, seed: int) -> None:
    """Exactly, for every edge."""
    model = model_of(random_network("abcdefg"[:count], degree, seed), seed=seed)
    found = strengths_of(model)
    assert (None, "exact in the model, whose tables are noisy") == (found.rows, found.basis)
    assert set(model.network.edges) == found.scores.keys()
    for edge, score in found.scores.items():
        assert pytest.approx(_by_enumeration(model, *edge), abs=1e-9) == score


def test_dense_networks_are_estimated_from_rows() -> None:
    """Near the exact scores, the same each time, and it is said."""
    model = model_of(random_network("abcdefgh", 3, 4))
    exact, found = strengths_of(model), strengths_of(model, most_cells=0)
    assert (131_072, "estimated from 131,072 sampled rows") == (found.rows, found.basis)
    assert exact.scores.keys() == found.scores.keys()
    for edge, score in exact.scores.items():
        assert pytest.approx(score, abs=0.01) == found.scores[edge]
    assert found == strengths_of(model, most_cells=0)


def test_estimates_do_not_grow_with_the_number_of_codes() -> None:
    """Independent ends of a thousand codes score 0, where counts of few rows would score high."""
    wide = {"kind": "integer", "min": 0, "max": 999, "bins": 1000}
    columns = {"a": wide, "b": wide}
    model = model_of(Network((Family("a"), Family("b"))), columns)
    alone, chances = model.conditionals[0], model.conditionals[1].probabilities
    joined = type(alone)(Family("b", ("a",)), np.tile(chances, (1000, 1)))
    dependent = replace(model, distribution=BayesNet(model.domain, (alone, joined)))
    found = strengths_of(dependent, most_cells=0, rows=500)
    assert pytest.approx(0, abs=1e-9) == found.scores["a", "b"]


def test_constraints_do_not_count() -> None:
    """The network is scored, not the rows that constraints shape."""
    network = Network((Family("a"), Family("b", ("a",))))
    free, ruled = model_of(network), model_of(network, constraints=["not (a = 0)"])
    assert strengths_of(free) == strengths_of(ruled)
    assert strengths_of(free, most_cells=0) == strengths_of(ruled, most_cells=0)
