"""Rows put children below their parents, and few lines cross."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings

from support.networks import named, networks, random_network
from support.tiers import examples
from understudy.models.network import Family, Network
from understudy.models.pictures.layers import Layers, _Joined, components, layered


def _crossings(layers: Layers) -> int:
    """Pairs of segments that cross, counted one by one."""
    place = {point: number for row in layers.rows for number, point in enumerate(row)}
    return sum(
        a[1] == c[1] and (place[a] - place[c]) * (place[b] - place[d]) < 0
        for (a, b), (c, d) in combinations(layers.segments, 2)
    )


@settings(max_examples=examples(60), deadline=None)
@given(networks())
def test_children_stand_below_their_parents(network: Network) -> None:
    """Every point is in one row, and every edge goes down row by row to its child."""
    layers = layered(network, widest=5)
    points = [point for row in layers.rows for point in row]
    assert len(points) == len(set(points))
    for parent, child in network.edges:
        way = layers.pieces(parent, child)
        assert ((parent, layers.levels[parent]), (child, layers.levels[child])) == (
            way[0][0],
            way[-1][1],
        )
        assert all(b[1] == a[1] + 1 and {a, b} <= set(points) for a, b in way)


@settings(max_examples=examples(40), deadline=None)
@given(networks())
def test_crossings_are_counted_right(network: Network) -> None:
    """As many as there are when each pair of segments is looked at."""
    layers = layered(network, widest=5)
    assert _crossings(layers) == _Joined.of(layers.segments).crossings(layers.rows)


@settings(max_examples=examples(40), deadline=None)
@given(networks())
def test_no_swap_of_neighbours_would_take_a_crossing_away(network: Network) -> None:
    """The order that is kept cannot be mended in so simple a way."""
    layers = layered(network, widest=5)
    for number, row in enumerate(layers.rows):
        for i in range(len(row) - 1):
            swapped = (*row[:i], row[i + 1], row[i], *row[i + 2 :])
            rows = (*layers.rows[:number], swapped, *layers.rows[number + 1 :])
            assert _crossings(Layers(layers.levels, rows, network)) >= _crossings(layers)


@pytest.mark.parametrize(
    "network",
    [
        Network.from_parents({"r": [], **{f"c{i}": ["r"] for i in range(20)}}),
        Network.from_parents({"0": [], **{f"{i}": [f"{(i - 1) // 2}"] for i in range(1, 31)}}),
        Network.from_parents({"a": [], "b": [], "d": ["a"], "c": ["b"], "e": ["c", "d"]}),
        Network.from_parents({"a": [], **{f"{i}": ["a"] for i in range(9)}, "z": ["0", "8"]}),
    ],
    ids=["star", "tree", "ladder", "loop"],
)
def test_what_can_be_drawn_without_crossings_is(network: Network) -> None:
    """Stars, trees and the like."""
    assert 0 == _crossings(layered(network, widest=40))


def test_sweeps_take_most_crossings_away() -> None:
    """Of a tangle of rows at random, less than a third is left."""
    network = random_network(named(40), 3, seed=5)
    layers = layered(network, widest=8)
    draw = Random(1)
    tangled = tuple(tuple(draw.sample(row, len(row))) for row in layers.rows)
    before = _Joined.of(layers.segments).crossings(tangled)
    assert _crossings(layers) < before / 3


def test_rows_hold_no_more_boxes_than_allowed() -> None:
    """Children of one parent go into several rows."""
    network = Network.from_parents({"r": [], **{f"c{i}": ["r"] for i in range(99)}})
    levels = [*layered(network, widest=10).levels.values()]
    assert 10 >= max(levels.count(level) for level in levels)


def test_parts_that_no_edge_joins_are_told_apart() -> None:
    """The largest first, each with its own families."""
    network = Network((Family("a"), Family("b"), Family("c", ("b",)), Family("d", ("c",))))
    assert [("b", "c", "d"), ("a",)] == [part.order for part in components(network)]


def test_a_chain_of_any_length_is_layered() -> None:
    """Depth is bounded by no stack."""
    names = [f"c{i}" for i in range(1500)]
    families = [Family(n, tuple(names[i - 1 : i])) for i, n in enumerate(names)]
    assert 1500 == len(layered(Network(tuple(families)), widest=6).rows)
