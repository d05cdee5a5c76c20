"""Tables made to agree as NIST section 3.2 prints it, with the variances brought up to date.

Eq. 3.1 is the weighted mean of what tables say of their common part, eq. 3.2 spreads the
difference over a table's cells, and eq. 3.3 gives each cell its new variance. The print of eq. 3.3
has w where the derivation has 1 − w, and the other tables' cells without their number: the new
cell is x − (1 − w)·T(c)/q + Σ w'·T'(c)/q, of independent cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.system.arrays import Floats


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A table over some attributes, and the variance of each of its cells."""

    attributes: tuple[str, ...]
    values: Floats
    variance: float

    def project(self, names: Sequence[str]) -> Floats:
        """Return the sums over all other attributes, axes in the order of the table."""
        others = tuple(i for i, name in enumerate(self.attributes) if name not in names)
        return np.asarray(self.values.sum(axis=others))

    def spread(self, names: Sequence[str], more: Floats) -> Floats:
        """Return what is added to every cell, from what is added to the sums."""
        shape = [
            size if name in names else 1
            for name, size in zip(self.attributes, self.values.shape, strict=True)
        ]
        return np.asarray(more.reshape(shape) / self.summed(names))

    def summed(self, names: Sequence[str]) -> int:
        """How many cells are summed up to one of the common part: q."""
        sizes = zip(self.attributes, self.values.shape, strict=True)
        return int(np.prod([size for name, size in sizes if name not in names], dtype=int))


def weights(tables: Sequence[NoisyTable], names: Sequence[str]) -> list[float]:
    """The weights of eq. 3.1: in proportion to the precision of each table's sums.

    Example:
        >>> tables = [NoisyTable(("a",), np.zeros(2), 1.0)]
        >>> tables.append(NoisyTable(("a", "b"), np.zeros((2, 2)), 1.0))
        >>> [round(weight, 2) for weight in weights(tables, ["a"])]
        [0.67, 0.33]
    """
    precise = np.array([1 / (table.variance * table.summed(names)) for table in tables])
    return [float(weight) for weight in precise / precise.sum()]


def agreeing(
    tables: Sequence[NoisyTable], names: Sequence[str], *, updated: bool
) -> list[NoisyTable]:
    """Tables that agree on a common part; those without it stay.

    Args:
        tables: with cells of equal variance each, axes in one order.
        names: the common part.
        updated: whether variances are brought up to date, as eq. 3.3 wants it.
    """
    held = [i for i, table in enumerate(tables) if set(names) <= set(table.attributes)]
    share = dict(zip(held, weights([tables[i] for i in held], names), strict=True))
    mean = sum(share[i] * tables[i].project(names) for i in held)
    found = list(tables)
    for i in held:
        table = tables[i]
        values = table.values + table.spread(names, np.asarray(mean - table.project(names)))
        variance = updated_variance(tables, i, share, names) if updated else table.variance
        found[i] = replace(table, values=values, variance=variance)
    return found


def updated_variance(
    tables: Sequence[NoisyTable], place: int, share: Mapping[int, float], names: Sequence[str]
) -> float:
    """The variance of a cell after the step, where all cells were independent before it."""
    table = tables[place]
    q, rest = table.summed(names), 1 - share[place]
    own = (1 - rest / q) ** 2 + (rest / q) ** 2 * (q - 1)
    others = sum(
        share[j] ** 2 * tables[j].summed(names) * tables[j].variance for j in share if j != place
    )
    return own * table.variance + others / q**2


def printed_variance(
    tables: Sequence[NoisyTable], place: int, share: Mapping[int, float], names: Sequence[str]
) -> float:
    """The variance as eq. 3.3 prints it."""
    table, w = tables[place], share[place]
    q = table.summed(names)
    own = (1 - w / q) ** 2 + (w / q) ** 2 * (q - 1)
    others = sum(share[j] ** 2 * tables[j].variance for j in share if j != place)
    return own * table.variance + others / q**2
