"""Parents beyond the first: each adds what it says beyond the others, and pays for its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.facts.workload import workload
from understudy.methods import Nist
from understudy.methods.structure.extension import Extension
from understudy.methods.structure.gains import conditional_total_variation
from understudy.methods.structure.pairwise import PairScores
from understudy.methods.structure.restrict import Restrictions
from understudy.methods.structure.table_cost import TableCost
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import deal_codes
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded


def _table(codes: dict[str, Codes], sizes: dict[str, int]) -> tuple[Schema, Table]:
    columns = {name: {"kind": "integer", "min": 0, "max": sizes[name] - 1} for name in codes}
    schema = Schema.parse({"columns": columns})
    return schema, Table(Domain.of(schema), codes, len(next(iter(codes.values()))))


def _copies(rows: int, copies: int) -> tuple[Schema, Table]:
    """A column, noisy copies of it, and one that depends on it alone."""
    generator = np.random.default_rng(0)
    first = generator.integers(0, 6, rows)
    codes: dict[str, Codes] = {"first": first.astype(np.uint8)}
    for number in range(copies):
        kept = generator.random(rows) < 0.9
        noise = generator.integers(0, 6, rows)
        codes[f"copy{number}"] = np.where(kept, first, noise).astype(np.uint8)
    kept = generator.random(rows) < 0.7
    codes["child"] = np.where(kept, first, generator.integers(0, 6, rows)).astype(np.uint8)
    return _table(codes, dict.fromkeys(codes, 6))


def _chain(rows: int, columns: int) -> tuple[Schema, Table]:
    """Each column is half of the time a function of one before it."""
    generator = np.random.default_rng(1)
    codes: dict[str, Codes] = {}
    for place in range(columns):
        own = np.minimum(generator.zipf(1.7, rows) - 1, 7)
        earlier = list(codes.values())[int(generator.integers(0, place))] if place else own
        copied = (earlier.astype(np.int64) * 5 + place) % 8
        codes[f"a{place}"] = np.where(generator.random(rows) < 0.5, copied, own).astype(np.uint8)
    return _table(codes, dict.fromkeys(codes, 8))


def _fit(schema: Schema, table: Table, epsilon: str, seed: int, **options: object) -> Model:
    method = Nist(schema, epsilon=epsilon, delta=1e-9, **options)  # type: ignore[arg-type]
    return seeded(method, seed).fit(MemorySource(table), ledger=None).model_


def _distance(model: Model, table: Table) -> float:
    rows = deal_codes(model, table.rows, np.random.default_rng(0))
    made = Table(table.domain, rows, table.rows)
    return float(total_variation(table, made, workload(table.domain, 3)).mean())


def _extension(degree: int = 3, most_cells: int = 100, price: float = 1.0) -> Extension:
    domain = Domain({"a": 2, "b": 2, "c": 3, "d": 2})
    values = {("a", "d"): 50.0, ("b", "d"): 20.0, ("c", "d"): 6.0, ("a", "b"): 1.0}
    pairs = PairScores(domain, {frozenset(pair): v for pair, v in values.items()}, 0.0)
    cost = TableCost(price, most_cells)
    gain = conditional_total_variation()
    return Extension(pairs, gain, cost, degree=degree, most_cells=most_cells)


def test_candidates_are_those_whose_pairs_may_be_worth_their_cells() -> None:
    """The best first; none beyond the degree or the most cells, and none for a child alone."""
    family, placed = Family("d", ("a",)), ("a", "b", "c")
    wider = [("a", "b", "d"), ("a", "c", "d")]
    assert wider == _extension().candidates(family, placed)
    assert wider[:1] == _extension(most_cells=8).candidates(family, placed)
    assert wider[:1] == _extension(price=2.0).candidates(family, placed)
    assert [] == _extension(price=20.0).candidates(family, placed)
    assert [] == _extension(degree=1).candidates(family, placed)
    assert [] == _extension().candidates(Family("d"), placed)
    no_b = replace(_extension(), restrictions=Restrictions(forbidden=(("b", "d"),)))
    assert wider[1:] == no_b.candidates(family, placed)


def test_a_parent_is_judged_by_its_pair_where_its_own_score_is_noise() -> None:
    """Under much noise a tenth of the pair's score counts; without noise, the score alone."""
    extension, asked = _extension(), [("d", ("a", "b", "d"))]
    lost = extension.believed(asked, np.array([-700.0]), 1e6)
    assert 2.0 == pytest.approx(float(lost[0]), abs=0.01)
    assert 7.0 == float(extension.believed(asked, np.array([7.0]), 0.0)[0])


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_one_column_do_not_all_become_parents(seed: int) -> None:
    """All six copies show the same dependence: the child has two parents at most."""
    schema, table = _copies(20_000, 6)
    network = _fit(schema, table, "1", seed).network
    parents = {family.child: family.parents for family in network}
    assert len(parents["child"]) <= 2
    assert len(network.edges) <= len(table.domain) + 5


def test_two_columns_that_decide_together_both_become_parents() -> None:
    """A sum of two dice that are there before it needs both of them."""
    generator = np.random.default_rng(0)
    dice = [generator.integers(0, 6, 20_000) for _ in range(2)]
    codes: dict[str, Codes] = {f"die{i}": d.astype(np.uint8) for i, d in enumerate(dice)}
    codes["sum"] = sum(dice[1:], dice[0]).astype(np.uint8)
    schema, table = _table(codes, {"die0": 6, "die1": 6, "sum": 11})
    later = Restrictions(tiers=(("die0", "die1"), ("sum",)))
    assert 2 == _fit(schema, table, "1", 0, restrictions=later).network.degree


@pytest.mark.slow
def test_more_budget_is_not_worse_and_the_tree_is_not_better() -> None:
    """On a table where every column depends on one other, whose pairs show it many times."""
    schema, table = _chain(30_000, 24)
    found = [
        np.mean([_distance(_fit(schema, table, epsilon, seed), table) for seed in range(2)])
        for epsilon in ("0.1", "1", "10", "100")
    ]
    assert found == sorted(found, reverse=True)
    for epsilon, ours in zip(("1", "10"), found[1:3], strict=True):
        tree = [
            _distance(_fit(schema, table, epsilon, seed, structure="tree"), table)
            for seed in range(2)
        ]
        assert ours <= 1.06 * np.mean(tree)


def test_what_further_parents_leave_is_spent_on_tables() -> None:
    """The whole budget is spent whether or not there was a parent to ask about."""
    schema, table = _copies(2_000, 3)
    for rho in ("1/100", "10"):
        grant = Grant(Budget.zcdp(rho))
        curator = Curator(MemorySource(table), Unit(Neighbours.ADD_REMOVE), grant)
        Nist(schema, epsilon=1, delta=1e-9).learn(curator)
        assert 0 == grant.remaining.amount
