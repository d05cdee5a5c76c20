"""Made-up populations: what is assumed of them holds, for any shape."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.domain import Domain
from understudy.methods.planning.populations import LADDER, Character, imagine
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
