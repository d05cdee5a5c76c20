"""Conditionals of a network from released tables that have been made to agree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.constraints import Constraint
from understudy.facts.constraints.constraint import Nogood
from understudy.facts.constraints.masks import forbidden_cells
from understudy.facts.domain import Attributes, Domain
from understudy.facts.hierarchy import Groups
from understudy.models.conditional import Conditional
from understudy.models.estimation.calibration import CALIBRATING_ROWS, calibrated
from understudy.models.estimation.consistency import AGREED, Estimate, made_consistent
from understudy.models.network import Family, Network
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats


def conditionals(
    network: Network,
    marginals: Sequence[NoisyMarginal],
    *,
    total: float,
    domain: Domain,
    constraints: Sequence[Constraint] = (),
    agreed: float = AGREED,
    rows: int = CALIBRATING_ROWS,
) -> tuple[Conditional, ...]:
    """P(child | parents) of every family, from tables that have been made to agree.

    A configuration of parents that was never seen gives the child its own distribution. Cells that
    a constraint forbids hold noise alone, unless private rows violate it, and are emptied.
    """
    tables = agreeing(marginals, total, domain, constraints, agreed=agreed)
    return conditionals_of(network, tables, domain, rows=rows)


def agreeing(
    marginals: Sequence[NoisyMarginal],
    total: float,
    domain: Domain,
    constraints: Sequence[Constraint] = (),
    *,
    agreed: float = AGREED,
) -> list[Estimate]:
    """Tables that have been made to agree, empty where a constraint forbids."""
    nogoods = {nogood for constraint in constraints for nogood in constraint.nogoods}
    emptied = [_emptied(m, nogoods) for m in marginals]
    return made_consistent(emptied, total, domain, agreed=agreed)


def conditionals_of(
    network: Network,
    estimates: Sequence[Estimate],
    domain: Domain,
    *,
    rows: int = CALIBRATING_ROWS,
) -> tuple[Conditional, ...]:
    """P(child | parents) of every family, from tables that agree.

    Rows of these conditionals have the one-way tables that all tables agree on.
    """
    found = tuple(_conditional(family, estimates, domain) for family in network)
    if network.degree < 2:
        return found
    names = [family.axes[-1] for family in network]
    one_way = {name: _seen((name,), estimates, domain) for name in names}
    return calibrated(found, one_way, domain, rows=rows)


def _emptied(marginal: NoisyMarginal, nogoods: Collection[Nogood]) -> NoisyMarginal:
    if not nogoods:
        return marginal
    forbidden = forbidden_cells(nogoods, marginal.attributes, marginal.counts.shape)
    return replace(marginal, counts=np.where(forbidden, 0, marginal.counts))


def _conditional(family: Family, estimates: Sequence[Estimate], domain: Domain) -> Conditional:
    weights = _seen(family.axes, estimates, domain)
    alone = weights.sum(axis=tuple(range(weights.ndim - 1)))
    fallback = Conditional.from_weights(Family(family.child), alone).probabilities
    within = None
    if family.axes[-1] != family.child:
        own = _seen((family.child,), estimates, domain)
        within = _shares(own, domain.coarser[family.axes[-1]].groups)
    return Conditional.from_weights(family, weights, fallback=fallback, within=within)


def _seen(names: Attributes, estimates: Sequence[Estimate], domain: Domain) -> Floats:
    """Estimate the table of some names, from the smallest table that holds them."""
    holders = [e for e in estimates if Axes(e.attributes).holds(names, domain)]
    table = min(holders, key=lambda e: e.counts.size)
    return table.project(names, domain).counts


def _shares(counts: Floats, groups: Groups) -> Floats:
    """The share of every code in its group; all alike where the group is empty."""
    sums = np.bincount(groups, counts)[groups]
    alike = 1 / np.bincount(groups)[groups]
    return np.divide(counts, sums, out=alike, where=sums > 0)
