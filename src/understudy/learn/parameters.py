"""Conditionals from released tables."""

from __future__ import annotations

from understudy.conditional import Conditional
from understudy.learn.consistency import onto_simplex
from understudy.marginal import NoisyMarginal
from understudy.network import Family


def conditional(family: Family, marginal: NoisyMarginal, total: float) -> Conditional:
    """P(child | parents) from a released joint table; parents never seen give a uniform child."""
    table = marginal.project(family.attributes)
    return Conditional.from_weights(family, onto_simplex(table.counts, total))
