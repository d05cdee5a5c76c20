"""Exact inference is enumeration, only faster."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tiers import examples
from understudy.errors import CapacityError, UsageError
from understudy.facts import capacity
from understudy.models.conditional import Conditional
from understudy.models.inference import (
    Evidence,
    conditioned,
    elimination,
    most_probable,
    posterior,
)
from understudy.models.network import Family, Network
from understudy.system.arrays import Probabilities


@st.composite
def networks(draw: st.DrawFn) -> list[Conditional]:
    """Up to six attributes of one to four values, any parents, some chances zero."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = []
    for i, size in enumerate(sizes):
        parents = draw(st.lists(st.sampled_from(range(i)), unique=True, max_size=3)) if i else []
        shape = [*(sizes[parent] for parent in parents), size]
        weights = generator.random(shape) * (generator.random(shape) < 0.8)
        family = Family(f"a{i}", tuple(f"a{parent}" for parent in parents))
        found.append(Conditional.from_weights(family, weights))
    return found


@st.composite
def evidence(draw: st.DrawFn, conditionals: list[Conditional]) -> Evidence:
    """Something is known of some attributes, certainly or not."""
    known = {}
    for conditional in conditionals:
        if draw(st.booleans()):
            size = conditional.probabilities.shape[-1]
            weights = st.sampled_from([0.0, 0.25, 1.0])
            fits = draw(st.lists(weights, min_size=size, max_size=size))
            known[conditional.family.child] = np.array(fits)
    return known


def _joint(conditionals: list[Conditional]) -> Probabilities:
    """The whole table, an axis for each attribute in order."""
    names = [c.family.child for c in conditionals]
    joint = np.ones([c.probabilities.shape[-1] for c in conditionals])
    for conditional in conditionals:
        axes = [names.index(a) for a in conditional.family.attributes]
        placed = conditional.probabilities.transpose(np.argsort(axes))
        joint = joint * placed.reshape(
            [joint.shape[i] if i in axes else 1 for i in range(len(names))]
        )
    return joint


def _weighted(conditionals: list[Conditional], known: Evidence) -> Probabilities:
    joint = _joint(conditionals)
    for i, conditional in enumerate(conditionals):
        fits = known.get(conditional.family.child)
        if fits is not None:
            joint = joint * fits.reshape([-1 if j == i else 1 for j in range(joint.ndim)])
    return joint


@settings(max_examples=examples(200))
@given(data=st.data())
def test_posteriors_are_those_of_enumeration(data: st.DataObject) -> None:
    """For every set of targets, in any order, and whatever is known."""
    conditionals = data.draw(networks())
    known = data.draw(evidence(conditionals))
    names = [c.family.child for c in conditionals]
    targets = tuple(data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3)))
    joint = _weighted(conditionals, known)
    total = joint.sum()
    if total == 0:
        with pytest.raises(UsageError, match="probability 0"):
            posterior(conditionals, targets, known)
        return
    found, chance = posterior(conditionals, targets, known)
    axes = [names.index(target) for target in targets]
    others = tuple(i for i in range(len(names)) if i not in axes)
    expected = joint.sum(axis=others).transpose(np.argsort(np.argsort(axes)))
    assert chance == pytest.approx(total)
    assert found == pytest.approx(expected / total)


@settings(max_examples=examples(200))
@given(data=st.data())
def test_the_most_probable_row_is_that_of_enumeration(data: st.DataObject) -> None:
    """Or one that is as probable."""
    conditionals = data.draw(networks())
    known = data.draw(evidence(conditionals))
    joint = _weighted(conditionals, known)
    if joint.max() == 0:
        with pytest.raises(UsageError, match="probability 0"):
            most_probable(conditionals, known)
        return
    row, chance = most_probable(conditionals, known)
    assert chance == pytest.approx(joint.max())
    assert joint[tuple(row.values())] == pytest.approx(joint.max())


@settings(max_examples=examples(200))
@given(data=st.data())
def test_conditioned_networks_have_the_law_of_enumeration(data: st.DataObject) -> None:
    """The product of the new conditionals is the old one given the evidence, cell by cell."""
    conditionals = data.draw(networks())
    known = data.draw(evidence(conditionals))
    joint = _weighted(conditionals, known)
    total = joint.sum()
    if total == 0:
        with pytest.raises(UsageError, match="probability 0"):
            conditioned(conditionals, known)
        return
    found, chance = conditioned(conditionals, known)
    order = Network(tuple(c.family for c in found)).order
    axes = [order.index(c.family.child) for c in conditionals]
    assert chance == pytest.approx(total)
    assert _joint(list(found)).transpose(axes) == pytest.approx(joint / total)


def test_what_is_no_ancestor_of_the_evidence_stays() -> None:
    """Only tables of the evidence and what it hangs from are multiplied."""
    conditionals = _dense(6)
    found, _ = conditioned(conditionals, {"a1": np.eye(10)[2]})
    assert {"a0", "a1"} == {c.family.child for c in found[:2]}
    assert conditionals[2:] == list(found[2:])


@pytest.mark.slow
def test_evidence_may_be_less_probable_than_floats_can_tell() -> None:
    """Four hundred attributes, each with a chance of 1/1000: what follows is as exact as ever."""
    line = np.array([0.999, 0.001])
    chain = [Conditional(Family("a0"), line)]
    for i in range(1, 401):
        chain.append(Conditional(Family(f"a{i}", (f"a{i - 1}",)), np.array([line, line])))
    chain[400] = Conditional(Family("a400", ("a399",)), np.array([[0.5, 0.5], [0.25, 0.75]]))
    known = {f"a{i}": np.array([0.0, 1.0]) for i in range(400)}
    found, chance = posterior(chain, ("a400",), known)
    assert [0.25, 0.75] == pytest.approx(found.tolist())
    assert 0.0 == chance
    network, _ = conditioned(chain, known)
    assert {(0.0, 1.0)} == {tuple(c.probabilities.reshape(-1, 2)[-1]) for c in network[:400]}


def _dense(count: int) -> list[Conditional]:
    generator = np.random.default_rng(0)
    return [
        Conditional(
            Family(f"a{i}", tuple(f"a{j}" for j in range(max(0, i - 3), i))),
            generator.dirichlet(np.ones(10), [10] * min(i, 3)),
        )
        for i in range(count)
    ]


def test_networks_of_degree_three_are_no_trouble() -> None:
    """Thirty attributes of ten values: the cost grows with what hangs together, not with all."""
    conditionals = _dense(30)
    known = {"a29": np.eye(10)[3], "a15": np.eye(10)[7]}
    found, chance = posterior(conditionals, ("a0",), known)
    assert found.sum() == pytest.approx(1)
    assert 0 < chance < 1


def test_networks_too_dense_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the numbers, and the way out."""
    monkeypatch.setattr(elimination, "available_bytes", lambda: 10**5)
    with pytest.raises(CapacityError, match=r"10,000 cells.*ask by samples"):
        posterior(_dense(8), ("a0",), {"a7": np.eye(10)[0]})
    with pytest.raises(CapacityError, match=r"draw by rejection or weighting"):
        conditioned(_dense(8), {"a7": np.eye(10)[0]})
    assert capacity.available_bytes() > 10**5
