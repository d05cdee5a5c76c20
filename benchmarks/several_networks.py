"""Several networks instead of one: rows drawn in equal parts from networks of the same scores.

The first network is that of the released scores; the others are those of the same scores with as
much noise once more, so that edges are exchanged that noise cannot tell apart. The budget is one:
the tables of all networks share it, each network is estimated from all of them, and each gives the
same number of rows. Ratios of 3-way distances compare with the same procedure and one network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.arena.tables import ENTRIES, ArenaTable, load
from benchmarks.real_tables import ADULT
from benchmarks.scoreboard import Scoreboard
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.workload import workload
from understudy.methods import Nist
from understudy.methods.estimation.consistency import best_total
from understudy.methods.estimation.learned import Learned
from understudy.methods.estimation.parameters import (
    agreeing,
    conditionals_of,
    family_tables,
    measure_one_way,
    measure_tables,
    one_way_tables,
)
from understudy.methods.structure.pairwise import (
    PairScores,
    noisy_pair_scores,
    priced_network,
)
from understudy.methods.structure.scores import score_for
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.distribution import CodedRows
from understudy.models.network import Network
from understudy.models.sampling import deal_codes
from understudy.models.weighted.pool import joined
from understudy.privacy.curator import Curator
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

TABLES = ("adult", "nltcs", "br2000")
EPSILONS = ("0.1", "1", "10")
DELTA = "1e-9"
SEVERAL = (3,)


@dataclass(kw_only=True, eq=False, repr=False)
class SeveralNetworks(Nist):
    """Networks from the same noisy scores, whose tables share one budget.

    Attributes:
        networks: how many.
        laws_: what each of them learned.
    """

    networks: int = 1
    laws_: list[BayesNet] = field(init=False, default_factory=list)

    def learn(self, curator: Curator) -> Learned:
        """Size, one-way tables and scores as `nist` asks for them; then the tables of all."""
        size, shares = self._prepared(curator)
        first = measure_one_way(curator, shares.one_way)
        cost = self.table_cost(curator.domain, shares.tables, size)
        score = score_for(curator.unit, size, curator.domain)
        pairs = noisy_pair_scores(curator, shares.structure, score, most_cells=cost.most_cells)
        found = list(dict.fromkeys(network_of(p, cost) for p in redrawn(pairs, self.networks)))
        families = (t for network in found for t in family_tables(network, curator.domain))
        tables = list(dict.fromkeys([*families, *one_way_tables(curator.domain)]))
        released = [*first, *measure_tables(curator, tables, shares.tables)]
        total = best_total(released)
        agreed = agreeing(released, total, curator.domain)
        self.laws_ = [
            BayesNet(curator.domain, conditionals_of(network, agreed, curator.domain))
            for network in found
        ]
        return Learned(self.laws_[0], max(round(total), 0), tuple(released))


def redrawn(pairs: PairScores, times: int) -> list[PairScores]:
    """The scores, and the scores with as much noise once more."""
    generator = np.random.default_rng()
    return [pairs] + [
        replace(
            pairs,
            scores={p: s + generator.normal(0.0, pairs.noise) for p, s in pairs.scores.items()},
        )
        for _ in range(times - 1)
    ]


def network_of(pairs: PairScores, cost: TableCost) -> Network:
    """The network that scores of pairs speak for."""
    return priced_network(pairs, cost, degree=len(pairs.domain))


def run(board: Scoreboard) -> None:
    """Ratios of distances, table by table."""
    if not ADULT.exists():
        board.leave_out("several networks", "the shared tables are not there")
        return
    for name in board.size.pick(TABLES, TABLES[1:2]):
        table = load(name, rows=board.size.pick(None, 2_000))
        for epsilon in board.size.pick(EPSILONS, EPSILONS[1:2]):
            compare(board, table, epsilon, runs=board.size.pick(3, 1))


def compare(board: Scoreboard, table: ArenaTable, epsilon: str, *, runs: int) -> None:
    """One table and one budget: the distance of one network, and ratios of several."""
    title = f"{ENTRIES[table.name].title}, ε = {epsilon}"
    one = np.mean([distance(table, epsilon, networks=1) for _ in range(runs)])
    board.add(f"3-way total variation of one network, {title}", float(one), "")
    for count in SEVERAL:
        several = np.mean([distance(table, epsilon, networks=count) for _ in range(runs)])
        board.add(f"{count} networks over one, {title}", float(several / one), "×")


def distance(table: ArenaTable, epsilon: str, *, networks: int) -> float:
    """The mean 3-way distance of rows that several networks give together."""
    method = SeveralNetworks(table.schema, epsilon=epsilon, delta=DELTA, networks=networks)
    method.fit(MemorySource(table.learned), ledger=None)
    made = drawn(method.laws_, table.learned.rows)
    rows = len(next(iter(made.values())))
    synthetic = Table(table.learned.domain, dict(made), rows)
    sets = workload(table.learned.domain, 3)
    return float(total_variation(table.learned, synthetic, sets).mean())


def drawn(laws: Sequence[BayesNet], rows: int) -> CodedRows:
    """Rows of all networks in equal parts, dealt without replacement."""
    parts = np.array_split(np.arange(rows), len(laws))
    generator = np.random.default_rng(0)
    return joined(
        [deal_codes(law, len(part), generator) for law, part in zip(laws, parts, strict=True)]
    )
