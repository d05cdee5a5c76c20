"""Networks put parents before children; conditionals hold probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from understudy.errors import UsageError
from understudy.models.conditional import Conditional
from understudy.models.network import Family, Network


@st.composite
def parent_sets(draw: st.DrawFn) -> dict[str, list[str]]:
    """Every attribute's parents without a cycle, in an order that need not put parents first."""
    order = draw(st.permutations("abcdef"))
    parents = {
        child: draw(st.lists(st.sampled_from(order[:i]), unique=True)) if i else []
        for i, child in enumerate(order)
    }
    return {child: parents[child] for child in draw(st.permutations(order))}


@given(parent_sets())
def test_parents_come_before_their_children(parents: dict[str, list[str]]) -> None:
    """Whatever order the parents are given in, the network's order puts them first."""
    network = Network.from_parents(parents)
    place = {attribute: i for i, attribute in enumerate(network.order)}
    assert set(parents) == set(place)
    assert parents == {family.child: list(family.parents) for family in network}
    assert all(place[p] < place[f.child] for f in network for p in f.parents)
    assert max(map(len, parents.values())) == network.degree


@pytest.mark.parametrize(
    "parents",
    [{"a": ["a"]}, {"a": ["b"], "b": ["a"]}, {"a": [], "b": ["c"]}],
    ids=["itself", "cycle", "unknown"],
)
def test_a_cycle_has_no_order(parents: dict[str, list[str]]) -> None:
    """A cycle or a parent without a family is refused."""
    with pytest.raises(UsageError, match=r"no order puts parents first for .*; break the cycle"):
        Network.from_parents(parents)


def test_families_out_of_order_cannot_be_built() -> None:
    """A child before its parent, and a child with two families, are refused by name."""
    with pytest.raises(UsageError, match="'b' comes before its parent 'a'"):
        Network((Family("b", ("a",)), Family("a")))
    with pytest.raises(UsageError, match="'a' has two families; keep one"):
        Network((Family("a"), Family("a")))


def test_without_edges_everybody_stands_alone() -> None:
    """Degree zero, order as given; the empty network too."""
    network = Network.without_edges(["x", "y"])
    assert (("x", "y"), 0) == (network.order, network.degree)
    assert ((), 0) == (Network(()).order, Network(()).degree)


def test_a_familys_axes_are_parents_then_child() -> None:
    """The child's axis is the last one."""
    assert ("p", "q", "c") == Family("c", ("p", "q")).attributes


@given(
    arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=4), elements=st.floats(0, 1e6))
)
def test_weights_are_normalised_row_by_row(
    weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    """Rows sum to one in proportion to their weights; a row of zeros is uniform."""
    family = Family("c", tuple(f"p{i}" for i in range(weights.ndim - 1)))
    probabilities = Conditional.from_weights(family, weights).probabilities
    sums = weights.sum(axis=-1, keepdims=True)
    share = np.where(sums > 0, weights / np.where(sums > 0, sums, 1), 1 / weights.shape[-1])
    np.testing.assert_allclose(probabilities, share, atol=1e-12)


@pytest.mark.parametrize(
    "rows", [[0.5, 0.4], [1.5, -0.5], [float("nan"), 1.0], [float("inf"), 0.0], [0.0, 0.0]]
)
def test_what_is_no_probability_is_refused(rows: list[float]) -> None:
    """A row sums to one and holds nothing negative or infinite."""
    with pytest.raises(UsageError, match="conditional of 'c': rows are not probabilities"):
        Conditional(Family("c"), np.array(rows))


def test_axes_match_the_family() -> None:
    """One axis for each parent and one for the child."""
    with pytest.raises(UsageError, match="conditional of 'c': axes do not match its family"):
        Conditional(Family("c", ("p",)), np.array([0.5, 0.5]))
