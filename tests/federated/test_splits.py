"""Splits of one table among holders: exactly one of them has each row."""

from __future__ import annotations

import numpy as np
import pytest

from support.neighbours import random_rows, source_of
from understudy.errors import UsageError
from understudy.federated import SPLITS, split
from understudy.rows.table import Table


def _table(rows: int = 300) -> Table:
    return source_of(random_rows(rows)).table


def _generator() -> np.random.Generator:
    return np.random.default_rng(9)


def _lines(table: Table) -> list[tuple[int, ...]]:
    return sorted(zip(*(codes.tolist() for codes in table.codes.values()), strict=True))


@pytest.mark.parametrize("how", SPLITS)
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_no_row_is_lost_or_doubled(how: str, rows: int) -> None:
    """Together the holders have the rows of the table."""
    table = _table(rows)
    parts = split(table, how, holders=4, generator=_generator())
    assert _lines(table) == sorted(line for part in parts.values() for line in _lines(part))
    assert rows == sum(part.rows_read for part in parts.values())


def test_splits_are_what_they_say() -> None:
    """One holder; equal sizes; other sizes; one value each."""
    table = _table()
    assert 1 == len(split(table, "central", generator=_generator()))
    equal = split(table, "equal", holders=7, generator=_generator())
    assert {42, 43} == {part.rows for part in equal.values()}
    sizes = {
        part.rows for part in split(table, "random", holders=7, generator=_generator()).values()
    }
    assert len(sizes) > 3
    by_class = split(table, "class", target="size", generator=_generator())
    assert all(1 == len(set(part.codes["size"].tolist())) for part in by_class.values())
    chosen = split(table, "attribute", generator=_generator())
    names = {name.rsplit(" ", 1)[0] for name in chosen}
    assert 1 == len(names)
    [attribute] = names
    assert all(1 == len(set(part.codes[attribute].tolist())) for part in chosen.values())


def test_unknown_splits_are_refused() -> None:
    """By name, with the known ones."""
    with pytest.raises(UsageError, match="central, equal"):
        split(_table(), "thirds", generator=_generator())
    with pytest.raises(UsageError, match="unknown"):
        split(_table(), "class", target="age", generator=_generator())
    with pytest.raises(UsageError, match="one at least"):
        split(_table(), "equal", holders=0, generator=_generator())
