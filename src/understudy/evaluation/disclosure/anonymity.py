"""k-anonymity and l-diversity of a table, by what an attacker knows of a person.

Rows that agree in all known columns are a class. k is the size of the smallest class, and l the
smallest number of different sensitive values in one. Both describe a table and promise nothing: a
stand-in may be 1-anonymous and say little of anybody, since its rows are nobody's.

Source: Samarati and Sweeney 1998; Machanavajjhala et al. 2007; named by SBA section II.

Privacy: exact functions of rows, with no mechanism between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.rows.table import Table


@dataclass(frozen=True, kw_only=True)
class Anonymity:
    """The classes of a table by one key.

    Attributes:
        key: the columns that are known.
        classes: how many there are.
        k: the rows of the smallest class; None where the table has no rows.
        l: the fewest different sensitive values in a class.
        effective_l: the same by entropy: the exponential of the least entropy of a class.
        alone: the share of rows that are a class by themselves.

    Privacy: exact functions of rows.
    """

    key: tuple[str, ...]
    classes: int
    k: int | None
    l: int | None  # noqa: E741  # the name of the measure
    effective_l: float | None
    alone: float | None

    def document(self) -> dict[str, Any]:
        """Return the classes for JSON."""
        return {
            "key": list(self.key),
            "classes": self.classes,
            "k": self.k,
            "l": self.l,
            "effective_l": self.effective_l,
            "alone": self.alone,
        }


def anonymity(table: Table, *, sensitive: str, key: Sequence[str]) -> Anonymity:
    """Measure the classes of a table by one key.

    Privacy: exact functions of rows.
    """
    if not table.rows:
        return Anonymity(key=tuple(key), classes=0, k=None, l=None, effective_l=None, alone=None)
    lines = np.column_stack([table.codes[name] for name in key])
    _, place, sizes = np.unique(lines, axis=0, return_inverse=True, return_counts=True)
    pairs = np.column_stack([place.ravel(), table.codes[sensitive].astype(np.int64)])
    found, counts = np.unique(pairs, axis=0, return_counts=True)
    shares = counts / sizes[found[:, 0]]
    entropies = np.bincount(found[:, 0], weights=-shares * np.log(shares))
    return Anonymity(
        key=tuple(key),
        classes=int(sizes.size),
        k=int(sizes.min()),
        l=int(np.bincount(found[:, 0]).min()),
        effective_l=float(np.exp(entropies.min())),
        alone=float((sizes == 1).sum() / table.rows),
    )
