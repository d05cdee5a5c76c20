"""Made-up populations: what is assumed of them holds, for any shape."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.methods.planning.populations import (
    LADDER,
    Character,
    class_rows,
    imagine,
    in_classes,
)
from understudy.methods.planning.scene import Scene, Thinning
from understudy.models.network import Network

DOMAIN = Domain({f"a{i}": size for i, size in enumerate([2, 3, 5, 1, 8, 16, 2, 40, 4, 300])})


@pytest.mark.parametrize("character", LADDER, ids=lambda c: c.name)
def test_a_population_is_a_network_over_the_domain(character: Character) -> None:
    """Every attribute has a family, of two parents and 64 configurations at the most."""
    conditionals = imagine(DOMAIN, character, seed=1)
    network = Network(tuple(conditional.family for conditional in conditionals))
    assert set(DOMAIN) == set(network.order)
    assert 1 <= network.degree <= 2
    assert all(DOMAIN.cells(family.parents) <= 64 for family in network)


def test_a_population_can_be_had_again() -> None:
    """The same seed gives the same population, another seed another."""
    first, again, other = (imagine(DOMAIN, LADDER[1], seed=seed) for seed in (1, 1, 2))
    assert all(
        np.array_equal(a.probabilities, b.probabilities) for a, b in zip(first, again, strict=True)
    )
    assert [c.family for c in first] != [c.family for c in other]


def test_even_populations_are_more_even() -> None:
    """The likeliest value of an attribute without parents is the less likely, the more even."""
    domain = Domain({f"a{i}": 10 for i in range(60)})

    def likeliest(evenness: float) -> float:
        # Parents beyond 64 configurations are left out; there are none with one attribute each.
        alone = [
            imagine(Domain({name: 10}), Character("", evenness, 20), seed=seed)[0]
            for seed, name in enumerate(domain)
        ]
        return float(np.mean([c.probabilities.max() for c in alone]))

    assert likeliest(0.3) > likeliest(1) + 0.05 > likeliest(3) + 0.1


def test_loose_populations_depend_less() -> None:
    """How far a configuration's distribution is from the mean one falls with looseness."""
    domain = Domain({f"a{i}": 5 for i in range(40)})

    def strength(looseness: float) -> float:
        tables = [c.probabilities for c in imagine(domain, Character("", 1, looseness), seed=3)]
        rows = [table.reshape(-1, 5) for table in tables if table.ndim > 1]
        return float(np.mean([np.abs(r - r.mean(axis=0)).sum(axis=1).mean() / 2 for r in rows]))

    assert strength(6) > 1.4 * strength(20) > 1.4**2 * strength(60)


def test_huge_attributes_stay_small_in_memory() -> None:
    """The widest attribute allowed has a conditional of bounded size."""
    domain = Domain({"wide": 2**16, "other": 2**16, "narrow": 60})
    sizes = [c.probabilities.size for c in imagine(domain, LADDER[1], seed=0)]
    assert max(sizes) <= 2**18


def test_hidden_classes_make_all_pairs_dependent() -> None:
    """Columns without parents are independent in a network, and not over its hidden classes."""
    domain = Domain({"first": 6, "second": 6})
    character = LADDER[0]
    alone = [imagine(Domain({name: 6}), character, seed=at)[0] for at, name in enumerate(domain)]
    classes = in_classes(alone, character, seed=1)
    rows = class_rows(1_000, seed=1)
    assert 1_000 == sum(rows)
    tables = [np.outer(*(c.probabilities for c in each)) for each in classes]
    joint = np.average(tables, axis=0, weights=rows)
    apart = np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum() / 2
    assert apart > 0.02


def test_hidden_classes_keep_the_network() -> None:
    """Every class has the families of the network, and chances that sum to one."""
    network = imagine(DOMAIN, LADDER[1], seed=1)
    for each in in_classes(network, LADDER[1], seed=1):
        assert [c.family for c in network] == [c.family for c in each]


def test_made_up_rows_have_classes_where_the_schema_was_learned() -> None:
    """The same columns, declared and learned: the table of a declared schema has no classes."""
    columns = {f"a{i}": {"kind": "integer", "min": 1, "max": 8} for i in range(12)}
    spent = {"epsilon": 0.5, "epsilon_exact": "1/2", "delta": 1e-6, "delta_exact": "1/1000000"}
    about = {"neighbours": "add-remove", "dataset": "t", "private": True}
    inference = spent | about | {"mechanisms": ["discrete gaussian"]}
    means = []
    for document in ({"columns": columns}, {"columns": columns, "inference": inference}):
        method = Independent(Schema.parse(document), epsilon=1, delta="1e-6")
        scene = Scene(method, Thinning(20_000, 1), [])
        source, _ = scene.imagined(LADDER[0], 1)
        pairs = source.once.shares([*itertools.combinations(scene.domain, 2)])
        apart = [np.abs(p - np.outer(p.sum(1), p.sum(0))).sum() / 2 for p in pairs]
        means.append(float(np.mean(apart)))
    assert means[1] > 1.5 * means[0]
