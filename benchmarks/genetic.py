"""Genetic networks of degree 3: the credit card table with its pair scores, and 200 attributes."""

from __future__ import annotations

import time

from benchmarks.real_tables import CREDIT_CARD, credit_card, part
from benchmarks.scoreboard import Scoreboard
from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.genetic import GeneticSearch, genetic_network
from understudy.methods.structure.pairwise import (
    PairScores,
    noisy_pair_scores,
    priced_network,
)
from understudy.methods.structure.scores import mutual_information
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.census import dependent

_FREE = TableCost(0.0, 2**31)
_GENERATIONS = 2000
_WIDE = 200


def run(board: Scoreboard) -> None:
    """Measure seconds on the clock for all generations, and the fitness beside greedy growth."""
    generations = board.size.pick(_GENERATIONS, 20)
    # Every generation is bred: no population is given up, and nothing is grown.
    whole = GeneticSearch(generations=generations, patience=generations, starts=1, rival=False)
    _warm()
    if CREDIT_CARD.exists():
        table = board.size.pick(credit_card(), part(credit_card(), rows=5_000, columns=8))
        _timed(board, table, whole, 10)
    else:
        board.leave_out("genetic network on the credit card table", "the table is not there")
    sizes = {f"a{i}": 2 + i % 15 for i in range(board.size.pick(_WIDE, 12))}
    _timed(board, dependent(Domain(sizes), board.size.pick(50_000, 2_000)), whole, 60)


def _timed(board: Scoreboard, table: Table, search: GeneticSearch, target: float) -> None:
    shape = f"{table.rows:,} × {len(table.domain)}"
    started = time.perf_counter()
    pairs = scored(table)
    network = genetic_network(pairs, _FREE, degree=3, search=search)
    taken = time.perf_counter() - started
    bred = f"{search.generations:,} generations"
    board.add(f"genetic network, {shape}, with pair scores, {bred}, wall", taken, "s", target)
    grown = fitness(priced_network(pairs, _FREE, degree=3), pairs)
    descent = fitness(network, pairs) / grown
    found = f"fitness of the network that the search finds, times that of greedy growth, {shape}"
    board.add(found, descent, "×")


def scored(table: Table) -> PairScores:
    """The exact mutual information of all pairs."""
    source = MemorySource(table)
    curator = Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.unlimited()))
    score = mutual_information(source.rows_read, binary=False)
    return noisy_pair_scores(curator, Budget.unlimited(), score, most_cells=2**31)


def fitness(network: Network, pairs: PairScores) -> float:
    """Add up the scores of all edges."""
    return sum(pairs.between(family.child, family.parents) for family in network)


def _warm() -> None:
    """Compile what is compiled once on a machine, and cached there."""
    table = dependent(Domain({"a": 2, "b": 3, "c": 4}), 100)
    genetic_network(scored(table), _FREE, degree=1, search=GeneticSearch(generations=1))
