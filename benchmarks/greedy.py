"""Greedy networks without privacy on the credit card table, and on Adult beside pgmpy."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.counting import ask_pgmpy
from benchmarks.environments import Unavailable
from benchmarks.measuring import cpu_seconds
from benchmarks.real_tables import ADULT, CREDIT_CARD, adult, credit_card, part
from benchmarks.scoreboard import Scoreboard
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.scores import mutual_information
from understudy.methods.structure.table_cost import TableCost
from understudy.models.network import Network
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

_MOST_CELLS = 10**7


def run(board: Scoreboard) -> None:
    """Seconds on the clock for two and three parents, and the speed of hill climbing."""
    on_credit_card(board)
    beside_pgmpy(board)


def learn(table: Table, degree: int) -> Network:
    """The greedy network by mutual information, every family looked at, nothing noisy."""
    source = MemorySource(table)
    curator = Curator(source, Unit(Neighbours.REPLACE), Grant(Budget.unlimited()))
    score = mutual_information(source.rows_read, binary=False)
    free = TableCost(0.0, _MOST_CELLS)
    return greedy_network(curator, Budget.unlimited(), score=score, table_cost=free, degree=degree)


def on_credit_card(board: Scoreboard) -> None:
    """284,807 rows of 31 attributes, 20 bins each."""
    if not CREDIT_CARD.exists():
        board.leave_out("greedy networks on the credit card table", "the table is not there")
        return
    whole = credit_card()
    table = board.size.pick(whole, part(whole, rows=5_000, columns=8))
    shape = f"{table.rows:,} × {len(table.domain)}"
    for degree, target in board.size.pick([(2, 5), (3, 30)], [(2, 5)]):
        started = time.perf_counter()
        learn(table, degree)
        taken = time.perf_counter() - started
        board.add(f"greedy network of degree {degree}, {shape}, wall", taken, "s", target)


def beside_pgmpy(board: Scoreboard) -> None:
    """Two parents on Adult: both look for a network of at most that degree, by other scores."""
    what = "greedy network of degree 2 on Adult, speed of pgmpy's hill climbing"
    if not ADULT.exists():
        board.leave_out(what, "the table is not there")
        return
    _, whole = adult()
    table = board.size.pick(whole, part(whole, rows=2_000, columns=5))
    try:
        with tempfile.TemporaryDirectory() as folder:
            theirs = ask_pgmpy(board, table, Path(folder), "climb", "2")
    except Unavailable as unavailable:
        board.leave_out(what, str(unavailable))
        return
    board.add(what, theirs / cpu_seconds(lambda: learn(table, 2)), "×", at_most=False)
