"""The adaptive method: what it asks, what that costs, and what it finds."""

from __future__ import annotations

import inspect
import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.engines import raw_rows
from support.promised import need
from support.tiers import slow_but
from understudy.errors import CapacityError
from understudy.facts.codec import Codec
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import AdaptiveMarginals, Independent, Nist, Synthesizer
from understudy.methods.structure.round_plan import SIZE_SHARE, RoundPlan, errors_noise
from understudy.models.distribution import CodedRows
from understudy.models.log_linear import LogLinear
from understudy.models.model import Model
from understudy.models.sampling import deal_codes
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.replay import Recorder
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import CountSource
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import open_source
from understudy.rows.table import Table
from understudy.testing import seeded

COLUMNS = {f"c{i}": {"kind": "integer", "min": 0, "max": 2} for i in range(6)}
SCHEMA = Schema.parse({"columns": COLUMNS})
DOMAIN = Domain.of(SCHEMA)
ROW = Unit(Neighbours.ADD_REMOVE)
ROWS = 6_000


def _codes() -> CodedRows:
    """Rows in circles: every column depends on two others, which no tree can hold."""
    random = np.random.default_rng(7)
    found = [random.integers(0, 3, ROWS)]
    for place in range(1, 6):
        near = found[place - 1] if place < 3 else found[place - 3] + found[place - 1]
        noise = np.where(random.random(ROWS) < 0.2, random.integers(0, 3, ROWS), 0)
        found.append((near + noise) % 3)
    return {name: codes.astype(np.uint8) for name, codes in zip(DOMAIN, found, strict=True)}


def _source() -> MemorySource:
    return MemorySource(Table(DOMAIN, _codes(), ROWS))


def _fitted(kind: type[Synthesizer] = AdaptiveMarginals, **given: Any) -> Model:
    options: dict[str, Any] = {"epsilon": 2, "delta": 1e-6} | given
    return seeded(kind(SCHEMA, **options), 3).fit(_source(), ledger=None).model_


def _distance(model: Model) -> float:
    """The mean total variation distance of all pairs from those of the rows."""
    made, real = model.distribution.draw(ROWS, np.random.default_rng(1)), _codes()
    names, found = DOMAIN.attributes, []
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            tables = [
                np.bincount(3 * rows[one].astype(int) + rows[other], minlength=9)
                for rows in (made, real)
            ]
            found.append(np.abs(tables[0] - tables[1]).sum() / (2 * ROWS))
    return float(np.mean(found))


def test_learning_reads_as_its_stages() -> None:
    """At most ten lines."""
    lines = inspect.getsource(AdaptiveMarginals.learn).splitlines()
    assert len([line for line in lines if line.strip()]) <= 12


@pytest.mark.slow
@pytest.mark.parametrize("delta", [1e-6, 0])
def test_it_is_better_than_independent_columns(delta: float) -> None:
    """On a table of strong relations, by far."""
    ours, alone = _fitted(delta=delta, epsilon=4), _fitted(Independent, delta=delta, epsilon=4)
    assert isinstance(ours.distribution, LogLinear)
    assert _distance(ours) < _distance(alone) / 2


@pytest.mark.slow
def test_it_is_better_than_one_network() -> None:
    """Where relations are in circles, a network leaves some of them out."""
    assert _distance(_fitted()) < _distance(_fitted(Nist))


@pytest.mark.slow
def test_more_tables_than_columns_are_measured() -> None:
    """A network has one table for each column; here six columns have more pairs and triples."""
    sets = {frozenset(table.attributes) for table in _fitted(epsilon=8).tables}
    assert len([attributes for attributes in sets if len(attributes) > 1]) > len(DOMAIN)


@pytest.mark.slow
def test_tables_of_many_weak_relations_are_learned_where_noise_is_small() -> None:
    """Of 30 columns that are all large or small together, more pairs pay than a round may take.

    Those that wait are measured in the last round, and rows of the network can stand for all.
    """
    random = np.random.default_rng(1)
    sizes = np.exp(0.6 * random.normal(size=(20_000, 1))) * random.normal(size=(20_000, 30))
    codes = np.searchsorted(np.quantile(sizes, np.arange(1, 6) / 6), sizes).astype(np.uint8)
    names = [f"c{i}" for i in range(30)]
    schema = Schema.parse(
        {"columns": {name: {"kind": "integer", "min": 0, "max": 5} for name in names}}
    )
    real: CodedRows = {name: codes[:, i] for i, name in enumerate(names)}
    source = MemorySource(Table(Domain.of(schema), real, 20_000))
    given: dict[str, Any] = {"epsilon": 100, "delta": 1e-9}
    found = []
    for method in (AdaptiveMarginals(schema, pool_rows=20_000, **given), Nist(schema, **given)):
        law = seeded(method, 3).fit(source, ledger=None).model_.law
        made = law.draw(20_000, np.random.default_rng(1), sampler=deal_codes)
        pairs = [*itertools.combinations(names, 2)][::9]
        found.append(np.mean([_apart(made, real, pair) for pair in pairs]))
        assert max(_apart(made, real, (name,)) for name in names) < 0.01
    assert found[0] < found[1] / 2


def _apart(made: CodedRows, real: CodedRows, names: tuple[str, ...]) -> float:
    """The total variation distance of a table of some columns of six codes."""
    tables = [
        np.bincount(np.ravel_multi_index([rows[n] for n in names], [6] * len(names)), None, 36)
        for rows in (made, real)
    ]
    return float(np.abs(tables[0] - tables[1]).sum()) / (2 * len(real[names[0]]))


def test_single_columns_come_back_within_noise() -> None:
    """Their shares in the model are those of the rows."""
    model = _fitted()
    for name, codes in _codes().items():
        real = np.bincount(codes, minlength=3) / ROWS
        assert real == pytest.approx(model.project((name,))[:3], abs=0.02)


@pytest.mark.parametrize("rows", slow_but({50}, [None, 50]))
@pytest.mark.parametrize("neighbours", slow_but({"replace"}, ["add-remove", "replace"]))
@pytest.mark.parametrize(("epsilon", "delta"), [(2, 1e-6), (2, 0), ("1e-3", 1e-6), ("1e-3", 0)])
def test_nothing_of_the_budget_remains(
    epsilon: Any, delta: float, neighbours: str, rows: int | None
) -> None:
    """Whatever the run decides, its charges add up to all that it may spend."""
    method = AdaptiveMarginals(
        SCHEMA, epsilon=epsilon, delta=delta, neighbours=neighbours, rows=rows
    )
    grant = Grant(method.budget, pricing=method.pricing)
    method.learn(Curator(_source(), method.unit, grant))
    assert 0 <= grant.remaining.amount <= grant.spendable.amount / 10**6


def test_hopeless_noise_leaves_single_columns_and_spends_all_on_them() -> None:
    """Nothing else is asked for, except for the number of rows."""
    model = _fitted(epsilon="1e-3")
    assert {0, 1} == {len(table.attributes) for table in model.tables} | {0}
    names = [charge.question for charge in model.statement.charges]
    assert not any("error" in name for name in names)


@pytest.mark.parametrize("columns", [2, 6, 40])
@pytest.mark.parametrize("size", [1e3, 1e4, 1e9])
@pytest.mark.parametrize("rho", ["1e-4", "1/50", 10])
def test_little_is_spent_before_a_decision_to_stop(columns: int, size: float, rho: Any) -> None:
    """The number of rows and the errors of all rounds cost at most four hundredths together."""
    whole = Budget.zcdp(Fraction(rho))
    count = whole * SIZE_SHARE
    left = Budget.zcdp(whole.amount - count.amount)
    plan = RoundPlan.of(Domain({f"c{i}": 3 for i in range(columns)}), left, ROW, size)
    errors = sum(each.choosing.amount for each in plan.rounds)
    assert count.amount + errors <= whole.amount * Fraction(4, 100)


def test_a_run_spends_little_on_what_it_may_not_use() -> None:
    """Its charges for the number of rows and for errors, as they stand in the statement."""
    method = AdaptiveMarginals(SCHEMA, epsilon=2, delta=1e-6)
    grant = Grant(method.budget, pricing=method.pricing)
    method.learn(Curator(_source(), method.unit, grant))
    spent = [c for c in grant.charges if "error" in c.question or "number of" in c.question]
    assert 3 == len(spent)
    paid = grant.pricing.price(spent, grant.spendable).amount
    assert 0 < paid <= grant.spendable.amount / 25


def test_pure_runs_stop_by_the_number_of_rows_alone() -> None:
    """It costs at most two hundredths; every private choice is followed by its table."""
    plan = RoundPlan.of(DOMAIN, Budget.pure(1), ROW, 1e5)
    assert SIZE_SHARE <= Fraction(2, 100)
    assert 3 * len(DOMAIN) == sum(each.picks for each in plan.rounds)
    assert all(9 * each.choosing.amount == each.measuring.amount for each in plan.rounds)


@pytest.mark.parametrize("size", [1.0, 50.0, 1e4, 1e9])
@pytest.mark.parametrize("whole", [Budget.zcdp(Fraction(1, 50)), Budget.pure(1)])
def test_a_plan_divides_all_of_the_budget(whole: Budget, size: float) -> None:
    """Exactly, whatever the number of rows; the fewer rows, the more single columns get."""
    plan = RoundPlan.of(DOMAIN, whole, ROW, size)
    parts = [plan.one_way, *(each.budget for each in plan.rounds)]
    assert whole.amount == sum(part.amount for part in parts)
    assert all(part.amount > 0 for part in parts)
    larger = RoundPlan.of(DOMAIN, whole, ROW, 10 * size)
    assert larger.one_way.amount <= plan.one_way.amount


@pytest.mark.parametrize("whole", [Budget.zcdp(1), Budget.pure(1)])
def test_columns_of_many_codes_are_planned(whole: Budget) -> None:
    """Though no pair of them is small enough to be asked about."""
    domain = Domain({"a": 60, "b": 60})
    plan = RoundPlan.of(domain, whole, ROW, 1e6)
    assert whole.amount == plan.one_way.amount + sum(each.budget.amount for each in plan.rounds)


def test_noise_of_nothing_is_infinite() -> None:
    """A budget of zero buys no errors; without privacy they are exact."""
    assert np.inf == errors_noise(Budget.zcdp(0), ROW, 3)
    assert 0.0 == errors_noise(Budget.unlimited(), ROW, 3)


def test_wide_pure_columns_are_learned() -> None:
    """Two columns of sixty codes have no table that is small enough to be chosen."""
    wide = {"kind": "integer", "min": 0, "max": 59, "bins": 60, "missing": []}
    schema = Schema.parse({"columns": {"a": wide, "b": wide}})
    random = np.random.default_rng(1)
    rows = {name: random.integers(0, 60, 500).tolist() for name in "ab"}
    for delta in (0, 1e-6):
        model = AdaptiveMarginals(schema, epsilon=1000, delta=delta).fit(rows, ledger=None).model_
        assert 10 == model.sample(10, seed=1).num_rows


@pytest.mark.parametrize("epsilon", slow_but({"1e-3"}, ["1e-3", 1, "1e9"]))
@pytest.mark.parametrize("delta", [1e-9, 0])
def test_tiny_and_huge_budgets(epsilon: Any, delta: float) -> None:
    """All of them make rows."""
    assert 7 == _fitted(epsilon=epsilon, delta=delta).sample(7).num_rows


@pytest.mark.slow
def test_without_privacy_tables_are_exact() -> None:
    """An unlimited budget gives the rows' own tables, and says NOT PRIVATE."""
    model = AdaptiveMarginals(SCHEMA, epsilon=Budget.unlimited()).fit(_source(), ledger=None).model_
    assert "NOT PRIVATE" in model.statement.sentence
    assert _distance(model) < 0.02


def test_a_declared_number_of_rows_is_not_measured() -> None:
    """And it is the number of rows that the model makes."""
    model = _fitted(rows=50)
    assert 50 == model.rows
    assert not any(charge.question == "number of rows" for charge in model.statement.charges)


def _questions(source: CountSource) -> list[tuple[str, object]]:
    """What a seeded run asks, in order, with its answers."""
    tape = Recorder()
    method = seeded(AdaptiveMarginals(SCHEMA, epsilon=3, delta=1e-6), 5).with_tape(tape)
    method.fit(tape.guard(source), ledger=None)
    return [(each.charge.question, np.asarray(each.released).tolist()) for each in tape.exchanges]


@pytest.mark.slow
def test_engines_are_asked_the_same_questions() -> None:
    """In memory, in blocks and in DuckDB, with the same answers under one seed."""
    ibis = need("ibis")
    table = Table(DOMAIN, _codes(), ROWS)
    expected = _questions(MemorySource(table))
    _, rows = raw_rows(table)
    parts = lambda: (rows.slice(s, 2_500) for s in range(0, ROWS, 2_500))  # noqa: E731
    assert expected == _questions(ChunkedSource(parts, Codec(SCHEMA), memory=10**9, kept=1000))
    with open_source(ibis.duckdb.connect().create_table("t", rows), SCHEMA) as source:
        assert expected == _questions(source)
    assert any("error" in name for name, _ in expected)


@pytest.mark.parametrize("delta", [1e-6, 0])
def test_a_pool_beyond_memory_is_refused_unspent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delta: float
) -> None:
    """The pool's size is public, so that it is looked at before rows are read or charged for."""
    monkeypatch.setattr("understudy.facts.capacity.available_bytes", lambda: 10**6)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    method = AdaptiveMarginals(SCHEMA, epsilon=1, delta=delta)
    with pytest.raises(CapacityError, match=r"pool of 100,000 rows of 6 columns.*or the method"):
        method.fit(_source(), ledger=ledger, dataset="table")
    assert {} == ledger.accounts()
