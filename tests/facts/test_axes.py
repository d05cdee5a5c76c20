"""Arrays with named axes: every view of one agrees with sums cell by cell."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.constraints import STATEMENT
from understudy.facts.axes import Axes, Projectable, projections, sum_groups
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.hierarchy import Level
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.estimation.consistency import Estimate
from understudy.models.inference.elimination import Factor
from understudy.models.log_linear import LogLinear
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.weighted.pool import Pool
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.rows.counting import Marginal
from understudy.system.arrays import Array

GROUPS = np.array([1, 0, 1, 2, 0], np.uint16)
FINE = np.array([0, 1, 0, 2, 1], np.uint16)
SIZES = {"a": 2, "b": 5, "c": 3}
COARSER = {"b / fine": Level("b", FINE), "b / 3": Level("b", GROUPS)}
DOMAIN = Domain(SIZES, COARSER)
NAMES = ("a", "b", "c")


def _by_hand(values: Array, held: Sequence[str], names: Sequence[str]) -> Array:
    """The sum, cell by cell, of all cells that have the codes of a cell of the view."""
    seen = np.zeros(DOMAIN.shape(names), values.dtype)
    for cell in itertools.product(*map(range, values.shape)):
        codes = dict(zip(held, cell, strict=True))
        seen[tuple(_code(codes, name) for name in names)] += values[cell]
    return seen


def _code(codes: dict[str, int], name: str) -> int:
    level = DOMAIN.coarser.get(name)
    return codes[name] if level is None else int(level.groups[codes[level.of]])


@st.composite
def _views(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The axes of an array in some order, and names that it can be seen through."""
    held = tuple(draw(st.permutations(NAMES)))
    chosen = draw(st.lists(st.sampled_from(NAMES), unique=True))
    return held, tuple(draw(st.sampled_from(DOMAIN.levels(name))) for name in chosen)


@given(_views(), st.integers(0, 2**32 - 1))
def test_a_view_adds_up_cell_by_cell(
    view: tuple[tuple[str, ...], tuple[str, ...]], seed: int
) -> None:
    """Fewer, coarser and reordered axes hold what a loop over all cells finds."""
    held, names = view
    values = np.random.default_rng(seed).integers(-9, 9, DOMAIN.shape(held))
    found = Axes(held).project(values, names, DOMAIN)
    assert _by_hand(values, held, names).tolist() == found.tolist()


@given(_views())
def test_sums_in_place_have_the_numbers_of_the_view(
    view: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    """In place or turned, the cells of a reduction are the same numbers."""
    held, names = view
    values = np.arange(30).reshape(DOMAIN.shape(held))
    reduction = Axes(held).reduction(names, DOMAIN)
    in_place, turned = reduction.in_place(values), reduction.of(values)
    assert values.ndim == in_place.ndim
    assert sorted(in_place.ravel().tolist()) == sorted(turned.ravel().tolist())


def test_what_is_spread_is_what_each_cell_was_added_to() -> None:
    """Every code of a coarsened axis gets the sum of its group."""
    reduction = Axes(("b",)).reduction(("b / 3",), DOMAIN)
    assert [20, 10, 20, 30, 10] == reduction.spread(np.array([10, 20, 30])).tolist()


def test_axes_hold_what_is_as_coarse_or_coarser() -> None:
    """A finer copy answers for a coarser one, never the reverse."""
    assert Axes(("a", "b")).holds(("b / 3",), DOMAIN)
    assert Axes(("b / fine",)).holds(("b / fine",), DOMAIN)
    assert not Axes(("a", "b / 3")).holds(("b",), DOMAIN)
    assert not Axes(("a",)).holds(("c",), DOMAIN)


def test_broadcast_axes_multiply() -> None:
    """An axis that an array does not have has length one in it."""
    values = np.arange(6).reshape(2, 3)
    turned = Axes(("a", "c")).broadcast(values, ("c", "b", "a"))
    assert (3, 1, 2) == turned.shape
    assert values.T.tolist() == turned[:, 0, :].tolist()


def test_groups_need_no_order() -> None:
    """Codes of one group may lie anywhere."""
    assert [5, 3, 2] == sum_groups(np.array([1, 2, 2, 2, 3]), 0, GROUPS).tolist()


COUNTS = np.arange(6).reshape(2, 3)
SMALL = Domain({"a": 2, "c": 3})
ROWS: dict[str, Codes] = {
    "a": np.repeat(np.arange(2, dtype=np.uint8), 3),
    "c": np.tile(np.arange(3, dtype=np.uint8), 2),
}
SCHEMA = Schema.parse(
    {"columns": {n: {"kind": "integer", "min": 0, "max": k - 1} for n, k in SMALL.sizes.items()}}
)
NETWORK = BayesNet(
    SMALL,
    (
        Conditional(Family("a", ()), COUNTS.sum(axis=1) / 15),
        Conditional.from_weights(Family("c", ("a",)), COUNTS.astype(float)),
    ),
)
# Whatever has counts or probabilities of a and c together, by its name. mypy reads the type.
SEEN: dict[str, Projectable[Any]] = {
    "exact": Marginal(("a", "c"), COUNTS),
    "released": NoisyMarginal(("a", "c"), COUNTS, 1.0),
    "estimate": Estimate(("a", "c"), COUNTS.astype(float), 1.0),
    "factor": Factor(("a", "c"), COUNTS.astype(float)),
    "pool": Pool(SMALL, ROWS, COUNTS.ravel().astype(float)),
    "network": NETWORK,
    "log-linear": LogLinear(NETWORK, (), total=15.0),
    "model": Model(SCHEMA, NETWORK, 15, STATEMENT),
}


@pytest.mark.parametrize("name", SEEN)
def test_tables_models_and_pools_are_projectable(name: str) -> None:
    """Each answers the same question in the same way: by counts, or by shares of them."""
    sets = [("c",), ("c", "a"), ("a", "c")]
    found = [getattr(each, "counts", each) for each in projections(SEEN[name], sets).values()]
    shares = [np.asarray(each) / np.asarray(each).sum() for each in found]
    expected = [COUNTS.sum(axis=0) / 15, COUNTS.T / 15, COUNTS / 15]
    for one, other in zip(expected, shares, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_sum_of_cells_has_the_sum_of_their_variances() -> None:
    """Two cells of noise are twice as uncertain, in a release and in an estimate."""
    for table in (SEEN["released"], SEEN["estimate"]):
        assert (2.0, 1.0) == tuple(table.project(s).variance for s in (("c",), ("c", "a")))


def test_exact_and_estimated_tables_are_seen_coarser() -> None:
    """A coarser copy of an attribute is a sum of its codes, as a domain has it."""
    counts = np.arange(10).reshape(2, 5)
    for table in (Marginal(("a", "b"), counts), Estimate(("a", "b"), counts.astype(float), 1.0)):
        seen = table.project(("b / 3",), DOMAIN).counts
        assert sum_groups(counts.sum(axis=0), 0, GROUPS).tolist() == seen.tolist()
