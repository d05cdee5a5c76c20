"""Tables in groups of codes: counted as a twin counts rows, and moved by a unit as any table is."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from support.neighbours import DOMAIN, neighbours_of, random_rows, source_of
from understudy.facts.domain import Attributes
from understudy.facts.grouping import Grouping
from understudy.facts.unit import Neighbours, Unit
from understudy.rows.counting import Counts
from understudy.rows.grouping import GroupedSource

# The coarsest copy of colour has three codes: warm, cold and missing.
GROUPING = Grouping(
    DOMAIN,
    {
        "colour": np.array([0, 1, 1], np.uint16),
        "size": np.array([0, 0, 1, 1, 2, 2, 0], np.uint16),
        "sold": np.array([0, 0], np.uint16),
    },
)
SETS: list[Attributes] = [GROUPING.seen(names) for names in itertools.combinations(DOMAIN, 2)]


def _tables(rows: list[tuple[int, ...]]) -> list[Counts]:
    return [m.counts for m in GroupedSource(source_of(rows), GROUPING).count(SETS)]


def _by_hand(rows: list[tuple[int, ...]], names: Attributes) -> Counts:
    """A twin: each row is put into its cell by itself."""
    domain, places = GROUPING.extended, {name: i for i, name in enumerate(DOMAIN)}
    counts = Counter(
        tuple(
            int(domain.coarser[n].groups[row[places[domain.base(n)]]])
            if n in domain.coarser
            else row[places[n]]
            for n in names
        )
        for row in rows
    )
    table = np.zeros(domain.shape(names), np.int64)
    for cell, count in counts.items():
        table[cell] = count
    return table


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_tables_are_those_of_a_twin(rows: int) -> None:
    """Every cell is the number of rows whose codes are in its groups."""
    table = random_rows(rows)
    for names, counts in zip(SETS, _tables(table), strict=True):
        assert _by_hand(table, names).tolist() == counts.tolist()


@pytest.mark.parametrize("relation", Neighbours)
def test_a_unit_moves_a_table_by_its_sensitivity(relation: Neighbours) -> None:
    """In L1 and in L2, over all neighbours, the bound holds and is reached."""
    rows, unit = random_rows(40), Unit(relation)
    before = _tables(rows)
    moved = [
        one - other
        for _, neighbour in neighbours_of(rows, relation)
        for one, other in zip(before, _tables(neighbour), strict=True)
    ]
    assert unit.count_l1 == max(int(np.abs(step).sum()) for step in moved)
    assert unit.count_l2_squared == max(int((step**2).sum()) for step in moved)


def test_scores_are_those_of_the_tables() -> None:
    """A score of a table in groups is computed from that table."""
    source = GroupedSource(source_of(random_rows(60)), GROUPING)
    largest = source.score(SETS, lambda marginal: float(marginal.counts.max()))
    assert [table.max() for table in _tables(random_rows(60))] == largest.tolist()
