"""On a real table greedy search finds exactly the network that trying everything finds."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

from support.shared import shared_file
from support.tiers import full_but
from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.scores import mutual_information
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Family
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

BINS = 20
BOUNDS = {"Time": (0.0, 172_800.0), "Amount": (0.0, 500.0)}


def _credit_card(most: int | None = None) -> Table:
    """The credit card table, or some of its rows, its numbers in 20 equal bins."""
    rows = pq.read_table(shared_file("data", "creditcard_fraud.parquet")).slice(0, most)
    codes: dict[str, Codes] = {"Class": rows["Class"].to_numpy().astype(np.uint8)}
    for name in rows.column_names:
        low, high = BOUNDS.get(name, (-5.0, 5.0))
        places = (rows[name].to_numpy().astype(float) - low) / (high - low) * BINS
        codes.setdefault(name, np.clip(places, 0, BINS - 1).astype(np.uint8))
    ordered = {name: codes[name] for name in rows.column_names}
    sizes = {name: 2 if name == "Class" else BINS for name in ordered}
    return Table(Domain(sizes), ordered, len(codes["Class"]))


class _BruteForce:
    """Greedy search that scores every family at every step, by numpy and textbook entropies."""

    def __init__(self, table: Table, degree: int) -> None:
        self._table = table
        self._degree = degree
        self._entropies: dict[frozenset[str], float] = {}

    def families(self) -> list[Family]:
        """One after another the family of the highest information, the first of equals."""
        names = list(self._table.domain)
        chosen = [Family(names[0])]
        while len(chosen) < len(names):
            placed = [family.child for family in chosen]
            possible = [
                Family(child, parents)
                for child in names
                if child not in placed
                for size in range(self._degree + 1)
                for parents in itertools.combinations(placed, size)
            ]
            chosen.append(max(possible, key=self._information))
        return chosen

    def _information(self, family: Family) -> float:
        child, parents = frozenset({family.child}), frozenset(family.parents)
        return self._entropy(child) + self._entropy(parents) - self._entropy(child | parents)

    def _entropy(self, attributes: frozenset[str]) -> float:
        if attributes not in self._entropies:
            counts = np.bincount(self._cells(tuple(sorted(attributes))))
            shares = counts[counts > 0] / counts.sum()
            self._entropies[attributes] = float(-(shares * np.log2(shares)).sum())
        return self._entropies[attributes]

    def _cells(self, attributes: Attributes) -> npt.NDArray[np.int32]:
        cells = np.zeros(self._table.rows, np.int32)
        for attribute in attributes:
            cells = cells * self._table.domain[attribute] + self._table.codes[attribute]
        return cells


@pytest.mark.slow
@pytest.mark.parametrize(
    ("degree", "rows"), full_but({(2, None), (3, 50_000)}, [(2, None), (3, 50_000), (3, None)])
)
def test_greedy_search_finds_the_network_of_brute_force(degree: int, rows: int | None) -> None:
    """Credit cards, 284,807 rows of 31 columns, every table of three and four counted by numpy.

    Tables of four are counted over a part of the rows first: all of them take over a minute.
    """
    table = _credit_card(rows)
    curator = Curator(MemorySource(table), Unit(Neighbours.REPLACE), Grant(Budget.unlimited()))
    found = greedy_network(
        curator,
        Budget.unlimited(),
        score=mutual_information(table.rows, binary=False),
        table_cost=TableCost(0.0, 10**7),
        degree=degree,
    )
    assert _BruteForce(table, degree).families() == list(found.families)
