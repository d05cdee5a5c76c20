"""Exact answers are those of pgmpy, an independent program."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from support.promised import need
from support.tiers import full_but
from understudy.models.conditional import Conditional
from understudy.models.inference import conditioned, posterior
from understudy.models.network import Family
from understudy.system.arrays import Probabilities

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def pgmpy() -> Any:
    """The package, where it is installed."""
    found = need("pgmpy")
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    return found


def random_network(generator: np.random.Generator) -> list[Conditional]:
    """Eight attributes of two to four values, at most three parents, a few chances zero."""
    sizes = generator.integers(2, 5, 8).tolist()
    found = []
    for i, size in enumerate(sizes):
        count = int(generator.integers(0, min(i, 3) + 1))
        parents = generator.choice(i, count, replace=False).tolist() if i else []
        shape = [*(sizes[parent] for parent in parents), size]
        weights = generator.random(shape) * (generator.random(shape) < 0.9)
        family = Family(f"a{i}", tuple(f"a{parent}" for parent in parents))
        found.append(Conditional.from_weights(family, weights))
    return found


def _theirs(conditionals: list[Conditional]) -> Any:
    """The same network as pgmpy writes it: the child's values down, configurations across."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_nodes_from([c.family.child for c in conditionals])
    network.add_edges_from([(p, c.family.child) for c in conditionals for p in c.family.parents])
    for conditional in conditionals:
        *above, size = conditional.probabilities.shape
        table = conditional.probabilities.reshape(-1, size).T
        parents = list(conditional.family.parents)
        child = conditional.family.child
        network.add_cpds(TabularCPD(child, size, table, evidence=parents, evidence_card=above))
    assert network.check_model()
    return VariableElimination(network)


def _query(referee: Any, targets: tuple[str, ...], known: dict[str, int]) -> Probabilities:
    answer = referee.query(list(targets), evidence=known, show_progress=False)
    axes = [answer.variables.index(target) for target in targets]
    return np.asarray(answer.values.transpose(axes))


@pytest.mark.parametrize("seed", full_but(range(6), range(20)))
def test_posteriors_are_those_of_pgmpy(seed: int, pgmpy: Any) -> None:
    """Of one attribute and of two, given values of others that can be."""
    del pgmpy
    generator = np.random.default_rng(seed)
    conditionals = random_network(generator)
    sizes = {c.family.child: c.probabilities.shape[-1] for c in conditionals}
    # A row that the network can give, so that evidence from it is possible.
    row: dict[str, int] = {}
    for conditional in conditionals:
        line = conditional.probabilities[tuple(row[p] for p in conditional.family.parents)]
        row[conditional.family.child] = int(generator.choice(line.size, p=line))
    first, second, *told = generator.permutation(list(sizes)).tolist()[:5]
    known = {name: row[name] for name in told}
    evidence = {name: np.eye(sizes[name])[code] for name, code in known.items()}
    referee = _theirs(conditionals)
    both, _ = posterior(conditionals, (first, second), evidence)
    assert _query(referee, (first, second), known) == pytest.approx(both)
    again, _ = posterior(conditioned(conditionals, evidence)[0], (first,), {})
    assert _query(referee, (first,), known) == pytest.approx(again)
