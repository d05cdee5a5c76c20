"""Rows from tables as they were released, before they were made to agree: NIST section 3.3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from understudy.facts.axes import Axes
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import step_back_codes
from understudy.privacy.accounting.events import Charge
from understudy.privacy.curator import Live
from understudy.privacy.mechanisms.mechanism import Mechanism
from understudy.privacy.mechanisms.released import attributes_asked
from understudy.system.arrays import Probabilities

E = TypeVar("E")
R = TypeVar("R")

ProbabilityTables = dict[Attributes, Probabilities]


class RawTape(Live):
    """Keeps every table as it was released."""

    def __init__(self) -> None:
        self.released: list[tuple[str, Any]] = []

    def answer(
        self, charge: Charge, mechanism: Mechanism[E, R], exact: E, draw: Callable[[], R]
    ) -> R:
        """A fresh draw, kept."""
        released = draw()
        self.released.append((charge.question, released))
        return released

    def tables(self, domain: Domain) -> ProbabilityTables:
        """Cells below 0 set to 0; of a table that was asked for twice the later, better one."""
        asked = [(attributes_asked(question, domain), counts) for question, counts in self.released]
        return {
            attributes: np.maximum(counts, 0).astype(np.float64)
            for attributes, counts in asked
            if attributes
        }

    def rows(self, model: Model, rows: int, generator: np.random.Generator) -> dict[str, Codes]:
        """Rows from the released tables, which do not agree, along the model's network."""
        tables = self.tables(model.domain)
        lines = {f.child: family_weights(f, tables, model.domain) for f in model.network}
        return step_back_codes(model.network, lines, rows, generator)


def family_weights(family: Family, tables: ProbabilityTables, domain: Domain) -> Probabilities:
    """What the smallest released table that holds a family says of it, nothing coarsened.

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
