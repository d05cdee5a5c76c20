"""Rows from a model's tables as they were released, before they were made to agree.

Source: NIST section 3.3.1. The released tables travel with a model, so that whoever holds it can
draw from them along its network; `step_back_codes` answers empty lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.network import Family
from understudy.models.sampling.backtracking import step_back_codes
from understudy.models.sampling.ways import Sampler
from understudy.system.arrays import Probabilities

if TYPE_CHECKING:
    from understudy.models.distribution import CodedRows
    from understudy.models.model import Model
    from understudy.models.sampling.forward import Sequential

ProbabilityTables = dict[Attributes, Probabilities]


def sampler_of_released(model: Model) -> Sampler:
    """A sampler of the tables that a network was made from, cells below 0 set to 0.

    Of a table that was asked for twice the later one is taken, which has the larger share.

    Privacy: post-processing of released tables; costs nothing.
    """
    model.distribution.require_network()
    if not model.tables:
        raise UsageError(
            "rows of inconsistent tables need a model of a network that kept its tables; fit one "
            "by nist or privbayes"
        )
    if model.completions.nogoods:
        raise UsageError(
            "released tables know no constraints, and the schema has some; draw from the "
            "consistent ones"
        )
    tables = {t.attributes: np.maximum(t.counts, 0).astype(np.float64) for t in model.tables}
    lines = {f.child: family_weights(f, tables, model.domain) for f in model.network}

    def draw(law: Sequential, rows: int, generator: np.random.Generator) -> CodedRows:
        del law
        return step_back_codes(model.network, lines, rows, generator)

    return draw


def family_weights(family: Family, tables: ProbabilityTables, domain: Domain) -> Probabilities:
    """The weights of a family by the smallest released table that holds it, nothing coarsened.

    A coarser copy of a parent stands for each of its codes, and one of the child is shared among
    its codes as the child's own table has them.
    """
    weights = _seen(family.axes, tables, domain)
    within = None
    if family.axes[-1] != family.child:
        own = _seen((family.child,), tables, domain)
        groups = domain.coarser[family.axes[-1]].groups
        sums = np.bincount(groups, own)[groups]
        alike = 1 / np.bincount(groups)[groups]
        within = np.divide(own, sums, out=alike, where=sums > 0)
    whole = Conditional.from_weights(family, weights, within=within).whole(domain)
    lines = weights.sum(axis=-1)
    for axis, name in enumerate(family.axes[:-1]):
        if name in domain.coarser:
            lines = lines.take(domain.coarser[name].groups, axis=axis)
    return np.asarray(whole * lines[..., None])


def _seen(names: Attributes, tables: ProbabilityTables, domain: Domain) -> Probabilities:
    holders = [table for table in tables if Axes(table).holds(names, domain)]
    smallest = min(holders, key=lambda table: tables[table].size)
    return Axes(smallest).project(tables[smallest], names, domain)
