"""Ways to split one table among holders, for studies.

Source: TUC-2 section 3.6.2: one holder, equal parts, parts of random sizes, by class, by a random
attribute. Which rows go where depends on the rows, so these are for public data and studies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from understudy.errors import UsageError
from understudy.facts.codes import Codes
from understudy.rows.table import Table
from understudy.system.arrays import Indices

SPLITS = ("central", "equal", "random", "class", "attribute")


def split(
    table: Table,
    how: str,
    *,
    holders: int = 3,
    target: str | None = None,
    generator: np.random.Generator,
) -> dict[str, Table]:
    """A table as the tables of several holders, every row at exactly one.

    Args:
        table: the rows.
        how: one of `SPLITS`.
        holders: how many, for equal parts and parts of random sizes.
        target: the attribute that is the class; the last unless given.
        generator: shuffles rows, and draws sizes or an attribute.
    """
    if holders < 1:
        raise UsageError(f"holders is {holders}; there is one at least")
    ways: Mapping[str, Callable[[], dict[str, Indices]]] = {
        "central": lambda: _numbered([np.arange(table.rows)]),
        "equal": lambda: _numbered(_equal(table.rows, holders, generator)),
        "random": lambda: _numbered(_random(table.rows, holders, generator)),
        "class": lambda: _by_value(table, target or table.domain.attributes[-1]),
        "attribute": lambda: _by_value(table, str(generator.choice(table.domain.attributes))),
    }
    if how not in ways:
        raise UsageError(f"split {how!r} is unknown; use {', '.join(SPLITS)}")
    return {name: _taken(table, places) for name, places in ways[how]().items()}


def _numbered(parts: list[Indices]) -> dict[str, Indices]:
    width = len(str(len(parts)))
    return {f"holder {number:0{width}}": part for number, part in enumerate(parts, 1)}


def _equal(rows: int, holders: int, generator: np.random.Generator) -> list[Indices]:
    """Parts that differ by one row at most."""
    return list(np.array_split(generator.permutation(rows), holders))


def _random(rows: int, holders: int, generator: np.random.Generator) -> list[Indices]:
    """Parts cut at places that are drawn uniformly; some may be empty."""
    cuts = np.sort(generator.integers(0, rows + 1, holders - 1))
    return list(np.split(generator.permutation(rows), cuts))


def _by_value(table: Table, attribute: str) -> dict[str, Indices]:
    """One holder for each value that occurs."""
    codes = table.codes.get(attribute)
    if codes is None:
        raise UsageError(f"attribute {attribute!r} is unknown; name one of the table's")
    present = np.unique(codes) if codes.size else np.zeros(1, np.int64)
    return {f"{attribute} {code}": np.flatnonzero(codes == code) for code in present.tolist()}


def _taken(table: Table, places: Indices) -> Table:
    codes: dict[str, Codes] = {name: column[places] for name, column in table.codes.items()}
    return Table(table.domain, codes, places.size, table.rows_per_person)
