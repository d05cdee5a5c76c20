"""Conditionals of a network from released tables, and which tables to release for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from understudy.conditional import Conditional
from understudy.constraints import Constraint
from understudy.constraints.constraint import Nogood
from understudy.constraints.masks import forbidden_cells
from understudy.domain import Attributes, Domain
from understudy.learn.allocation import least_error_weights
from understudy.learn.consistency import Estimate, made_consistent
from understudy.marginal import NoisyMarginal
from understudy.network import Family, Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator


def measure_tables(
    curator: Curator, tables: Sequence[Attributes], budget: Budget
) -> list[NoisyMarginal]:
    """Noisy tables, the budget shared so that their summed expected error is least."""
    if not tables:
        return []
    cells = [curator.domain.cells(table) for table in tables]
    return curator.measure(tables, budget, weights=least_error_weights(cells, budget.measure))


def family_tables(network: Network) -> list[Attributes]:
    """The tables a network needs: families with parents that no other family contains."""
    families = [family.attributes for family in network if family.parents]
    return [
        table
        for place, table in enumerate(families)
        if not any(
            _covers(other, table, earlier=i < place)
            for i, other in enumerate(families)
            if i != place
        )
    ]


def _covers(other: Attributes, table: Attributes, *, earlier: bool) -> bool:
    """Whether another table makes one needless; of two over the same attributes the first stays."""
    return set(table) < set(other) or (earlier and set(table) == set(other))


def conditionals(
    network: Network,
    marginals: Sequence[NoisyMarginal],
    total: float,
    constraints: Sequence[Constraint] = (),
) -> tuple[Conditional, ...]:
    """P(child | parents) of every family, from tables that have been made to agree.

    A configuration of parents that was never seen gives the child its own distribution. Cells that
    a constraint forbids hold noise alone, unless private rows violate it, and are emptied.
    """
    nogoods = {nogood for constraint in constraints for nogood in constraint.nogoods}
    estimates = made_consistent([_emptied(m, nogoods) for m in marginals], total)
    return tuple(_conditional(family, estimates) for family in network)


def _emptied(marginal: NoisyMarginal, nogoods: Collection[Nogood]) -> NoisyMarginal:
    if not nogoods:
        return marginal
    forbidden = forbidden_cells(nogoods, marginal.attributes, marginal.counts.shape)
    return replace(marginal, counts=np.where(forbidden, 0, marginal.counts))


def _conditional(family: Family, estimates: Sequence[Estimate]) -> Conditional:
    holders = [e for e in estimates if set(family.attributes) <= set(e.attributes)]
    table = min(holders, key=lambda e: e.counts.size)
    alone = Conditional.from_weights(Family(family.child), table.project((family.child,)))
    weights = table.project(family.attributes)
    return Conditional.from_weights(family, weights, fallback=alone.probabilities)


def one_way_tables(domain: Domain) -> list[Attributes]:
    """Every attribute on its own."""
    return [(attribute,) for attribute in domain]
