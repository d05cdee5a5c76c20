"""The exam that every synthesizer sits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from support.bindings import in_model
from support.constraints import COLUMNS, Rule, Said, document_of
from support.joint import cells_of, joint_of
from support.methods import (
    BUILDERS,
    EVERYDAY,
    WITH_BUDGET,
    WITH_CONDITIONALS,
    WITH_PROBABILITIES,
)
from support.neighbours import SCHEMA, random_rows, source_of
from support.replay import check_same
from support.statistics import NEVER, fit_of_choices
from support.tiers import full_but, in_turns, slow_but, slow_then_full
from understudy.errors import CapacityError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes, code_type
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import (
    Independent,
    Learned,
    Nist,
    PrivBayes,
    Random,
    Synthesizer,
)
from understudy.models.model import Model
from understudy.models.network import Network
from understudy.models.sampling import deal_codes, sample_codes, sample_rows
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.statements.claim import Claim
from understudy.privacy.statements.verification import verified
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.testing import seeded

EVERY_KIND = Schema.parse(
    {
        "columns": {
            "key": {"kind": "id", "prefix": "K"},
            "colour": {"kind": "categorical", "values": ["red", "green"], "missing": ["?"]},
            "grade": {"kind": "categorical", "values": [1, 2, 3], "ordered": True, "missing": []},
            "alive": {"kind": "boolean", "missing": []},
            "age": {"kind": "integer", "min": 0, "max": 120, "missing": ["-1"]},
            "score": {"kind": "float", "min": -1.5, "max": 2.5, "bins": 8, "missing": ["n/a"]},
            "born": {"kind": "date", "min": "1900-01-01", "max": "2030-12-31", "missing": []},
            "seen": {
                "kind": "datetime",
                "min": "2020-01-01T00:00:00",
                "max": "2021-01-01T00:00:00",
            },
        }
    }
)


def _random_source(schema: Schema, rows: int, seed: int = 0) -> MemorySource:
    generator = np.random.default_rng(seed)
    domain = Domain.of(schema)
    codes: dict[str, Codes] = {
        name: generator.integers(0, size, rows, dtype=code_type(size))
        for name, size in domain.sizes.items()
    }
    return MemorySource(Table(domain, codes, rows))


# Training takes a second for each test of the exam; those of gan/ train before each commit.
QUICK = tuple(name for name in EVERYDAY if "gan" not in name)


@pytest.fixture(params=slow_but(QUICK, BUILDERS), scope="module")
def builder(request: pytest.FixtureRequest) -> str:
    """Every method in every setting."""
    return str(request.param)


@dataclass(frozen=True)
class Paid:
    """A method fitted to every kind of column, and the ledger that paid for it."""

    method: Synthesizer
    ledger: Ledger


@pytest.fixture(scope="module")
def paid(builder: str, tmp_path_factory: pytest.TempPathFactory) -> Paid:
    """One fit for all tests that only look at it."""
    ledger = Ledger(tmp_path_factory.mktemp("paid") / "ledger.jsonl")
    source = _random_source(EVERY_KIND, 200)
    fitted = BUILDERS[builder](EVERY_KIND).fit(source, ledger=ledger, dataset="exam")
    return Paid(fitted, ledger)


def test_round_trip(paid: Paid, tmp_path: Path) -> None:
    """Fit, save, load, sample: the loaded model is the fitted one."""
    fitted = paid.method
    for name in ("model.zip", "folder"):
        fitted.model_.save(tmp_path / name)
        loaded = Model.load(tmp_path / name)
        check_same(fitted.model_, loaded)
        assert fitted.sample(20, seed=5).equals(sample_rows(loaded, 20, seed=5))


def test_the_statement_equals_the_ledger(paid: Paid, tmp_path: Path) -> None:
    """What the model says it cost is what the ledger says was spent, and both verify."""
    fitted, ledger = paid.method, paid.ledger
    statement, account = fitted.model_.statement, ledger.account("exam")
    assert statement.bound.epsilon == account.spent.epsilon
    assert statement.bound.delta == account.spent.delta
    assert len(statement.charges) == account.runs[0]["charges"]
    assert account.spent.epsilon <= 1
    assert EVERY_KIND.fingerprint == account.runs[0]["schema"]
    fitted.model_.save(tmp_path / "m.zip")
    claim = Claim.of(*in_model(tmp_path / "m.zip"), path=tmp_path / "m.zip")
    checks = verified(claim, ledger=ledger.path)
    assert [] == [check for check in checks if check.fails]
    assert "no more than it promises" in checks[0].sentence
    assert statement.document()["private"] is True
    assert "NOT PRIVATE" not in statement.sentence


def test_only_declared_values_come_out(paid: Paid) -> None:
    """Every sampled row is legal: encoding it drops nothing and clips nothing."""
    rows = paid.method.sample(500)
    again = Table.of(Codec(EVERY_KIND).encode(rows))
    assert 500 == again.rows == rows.num_rows
    assert list(EVERY_KIND.columns) == rows.column_names
    ages = rows["age"].to_numpy()
    assert ((ages >= -1) & (ages <= 120)).all()


RULES = (
    Rule((Said("age in years", "<", ("18",)),), (Said("kids", "=", ("0",)),)),
    Rule((Said("colour", "missing", ()),), (Said("score", "missing", ()),)),
    Rule((Said("alive", "=", ("no",)), Said("kids", ">", ("0",))), None),
    Rule((Said("score", "not missing", ()),), (Said("grade", ">", ("3",)),)),
    Rule((Said("alive", "missing", ()),), (Said("born", "<", ("2010-01-01",)),)),
)
RULED = Schema.parse(document_of(tuple(COLUMNS), RULES))


@pytest.mark.parametrize(("builder", "rows"), in_turns(QUICK, BUILDERS, [300, 0]))
def test_no_row_is_against_a_constraint(builder: str, rows: int, tmp_path: Path) -> None:
    """Though private rows are; by either sampler, and from the model on disk too."""
    if builder not in WITH_PROBABILITIES:
        with pytest.raises(UsageError, match="keeps no constraints"):
            BUILDERS[builder](RULED).check()
        return
    fitted = BUILDERS[builder](RULED).fit(_random_source(RULED, rows), ledger=None)
    fitted.model_.save(tmp_path / "model.zip")
    loaded = Model.load(tmp_path / "model.zip")
    assert RULED == loaded.schema
    for sampler in (deal_codes, sample_codes):
        made = sample_rows(loaded, 400, sampler=sampler).to_pylist()
        assert [] == [rule.text for row in made for rule in RULES if not rule.kept(row)]
        assert 400 == len(made)


@pytest.mark.parametrize(("builder", "rows"), in_turns(QUICK, BUILDERS, [0, 1, 2]))
def test_tiny_tables(builder: str, rows: int) -> None:
    """No rows, one or two: a model all the same, and as many rows from it as asked for."""
    fitted = BUILDERS[builder](EVERY_KIND).fit(_random_source(EVERY_KIND, rows), ledger=None)
    assert fitted.model_.rows >= 0
    assert fitted.model_.rows == fitted.sample().num_rows
    assert 7 == fitted.sample(7).num_rows
    assert 0 == fitted.sample(0).num_rows


ONE_COLUMN: dict[str, dict[str, object]] = {
    "one value": {"kind": "categorical", "values": ["only"]},
    "boolean": {"kind": "boolean"},
    "one number": {"kind": "integer", "min": 3, "max": 3},
}


@pytest.mark.parametrize(("builder", "column"), in_turns(QUICK, BUILDERS, [*ONE_COLUMN]))
def test_one_column(builder: str, column: str) -> None:
    """A single column, also one that can hold a single value."""
    schema = Schema.parse({"columns": {"a": ONE_COLUMN[column]}})
    fitted = BUILDERS[builder](schema).fit(_random_source(schema, 30), ledger=None)
    assert 5 == fitted.sample(5).num_rows


# One of each learner; others ask the same tables of as wide a table.
WIDE = (
    *("independent", "privbayes greedy replace", "nist pairwise", "nist tree", "nist genetic"),
    *("adaptive", "adaptive pure"),
)


@pytest.mark.slow
@pytest.mark.parametrize("builder", full_but(WIDE, WITH_PROBABILITIES))
def test_two_hundred_columns(builder: str) -> None:
    """Wide tables fit within the same budget."""
    columns = {f"c{i}": {"kind": "integer", "min": 0, "max": 1 + i % 7} for i in range(200)}
    schema = Schema.parse({"columns": columns})
    fitted = BUILDERS[builder](schema).fit(_random_source(schema, 100), ledger=None)
    assert 200 == fitted.sample(3).num_columns
    assert (fitted.model_.statement.bound.epsilon or 0) <= 1


@pytest.mark.parametrize("delta", ["0", "1e-9"])
@pytest.mark.parametrize("epsilon", slow_but({"1e-3"}, ["1e-3", "1e3"]))
@pytest.mark.parametrize("method", slow_but(WITH_BUDGET.keys() - {"dpgan"}, WITH_BUDGET))
def test_extreme_budgets(method: str, epsilon: str, delta: str) -> None:
    """Very little and very much budget both work and are kept."""
    fitted = WITH_BUDGET[method](EVERY_KIND, epsilon, delta).fit(
        _random_source(EVERY_KIND, 300), ledger=None
    )
    assert 0 < (fitted.model_.statement.bound.epsilon or 0) <= Fraction(epsilon)
    assert 10 == fitted.sample(10).num_rows


def test_tables_beyond_memory_are_refused_before_spending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With next to no memory nothing is charged and the message says the way out."""
    monkeypatch.setattr("understudy.facts.capacity.available_bytes", lambda: 100)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    source = _random_source(EVERY_KIND, 10)
    with pytest.raises(CapacityError, match="fewer bins"):
        Independent(EVERY_KIND, epsilon=1).fit(source, ledger=ledger, dataset="table")
    assert 0 == ledger.account("table").spent.epsilon


@pytest.mark.parametrize("structure", ["greedy", "pairwise", "tree"])
def test_large_tables_are_never_asked_for(structure: str) -> None:
    """Those that would be all noise, or not fit into memory; copies of few groups are small."""
    columns = {
        f"c{i}": {"kind": "integer", "min": 0, "max": 49_999, "bins": 50_000} for i in (0, 1)
    }
    schema = Schema.parse({"columns": {**columns, "flag": {"kind": "boolean"}}})
    fitted = Nist(schema, epsilon=1, delta=1e-6, structure=structure)
    model = fitted.fit(_random_source(schema, 500), ledger=None).model_
    assert all(model.domain.cells(f.axes) < 1000 for f in model.network if f.parents)


def test_a_given_table_beyond_memory_is_refused_before_spending(tmp_path: Path) -> None:
    """The network's own tables are looked at before the first question."""
    columns = {f"c{i}": {"kind": "integer", "min": 0, "max": 49_999, "bins": 50_000} for i in "abc"}
    schema = Schema.parse({"columns": columns})
    network = Network.from_parents({"ca": [], "cb": ["ca"], "cc": ["ca", "cb"]})
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(CapacityError, match="fewer bins"):
        PrivBayes(schema, epsilon=1, structure=network).fit(
            _random_source(schema, 10),
            ledger=ledger,
            dataset="table",
        )
    assert 0 == ledger.account("table").spent.epsilon


# Each learner, and each noise; options change what is asked, and not how it is drawn.
SEEDED = (
    *(*QUICK, *WIDE, "privbayes pairwise", "nist greedy", "dpgan", "dpgan started target"),
    *("noise-gan replace", "privbayes information replace"),
)


@pytest.mark.parametrize("builder", slow_then_full(QUICK, SEEDED, BUILDERS))
def test_repeatable_under_the_testing_seed(builder: str) -> None:
    """A seeded fit repeats, and says NOT PRIVATE."""
    source = _random_source(EVERY_KIND, 100)
    first, second = (
        seeded(BUILDERS[builder](EVERY_KIND), 3).fit(source, ledger=None) for _ in range(2)
    )
    check_same(first.model_, second.model_)
    assert "NOT PRIVATE" in first.model_.statement.sentence
    assert first.model_.statement.document()["private"] is False


@cache
def _seeded_model(builder: str) -> Model:
    """One fit for both samplers."""
    method = seeded(BUILDERS[builder](SCHEMA), 1)
    return method.fit(source_of(random_rows(400)), ledger=None).model_


@pytest.mark.parametrize("builder", slow_but(EVERYDAY, WITH_CONDITIONALS))
def test_the_sampled_distribution_is_the_models(builder: str) -> None:
    """Rows come as often as the product of the conditionals says."""
    model = _seeded_model(builder)
    codes = sample_codes(model, 20_000, np.random.default_rng(2))
    assert fit_of_choices(cells_of(model, codes), joint_of(model)) > NEVER


@pytest.mark.parametrize("builder", slow_but(EVERYDAY, WITH_CONDITIONALS))
def test_rows_without_replacement_keep_to_the_model(builder: str) -> None:
    """Of every configuration of parents, codes come within one of the numbers expected."""
    model = _seeded_model(builder)
    codes = deal_codes(model, 5_000, np.random.default_rng(2))
    source = MemorySource(Table(model.domain, codes, 5_000))
    for conditional in model.conditionals:
        [table] = source.count([conditional.family.axes])
        expected = table.counts.sum(axis=-1, keepdims=True) * conditional.probabilities
        assert np.abs(table.counts - expected).max() < 1 + 1e-6


def test_fitting_twice_spends_twice(tmp_path: Path) -> None:
    """There is no free second look."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    synthesizer = Independent(EVERY_KIND, epsilon="0.3")
    for _ in range(2):
        synthesizer.fit(_random_source(EVERY_KIND, 10), ledger=ledger, dataset="table")
    assert Fraction(6, 10) == ledger.account("table").spent.epsilon


def test_frames_go_out_in_the_brand_they_came_in() -> None:
    """Pandas in, pandas out; Polars in, Polars out; Arrow else."""
    schema = Schema.parse({"columns": {"a": {"kind": "boolean"}}})
    cells = {"a": [True, False, True]}
    frames = [pd.DataFrame(cells), pl.DataFrame(cells), pa.table(cells)]
    for frame in frames:
        assert type(frame) is type(Random(schema, epsilon=1).fit(frame, ledger=None).sample(2))
    assert pa.Table is type(Random(schema, epsilon=1).fit(cells, ledger=None).sample(2))


def test_parameters_are_stored_unchanged() -> None:
    """What was given can be read back."""
    synthesizer = Independent(SCHEMA, epsilon="1/3", delta=0.25, neighbours="replace")
    assert ("1/3", 0.25, "replace") == (
        synthesizer.epsilon,
        synthesizer.delta,
        synthesizer.neighbours,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0}, "epsilon is 0"),
        ({"epsilon": -1}, "not possible"),
        ({"epsilon": "much"}, "finite number"),
        ({"epsilon": 1, "delta": 1}, "not possible"),
        ({"epsilon": 1, "neighbours": "friends"}, "add-remove or replace"),
        ({"epsilon": Budget.zcdp(1)}, "give those instead of rho"),
    ],
)
def test_impossible_parameters_are_refused(options: dict[str, object], message: str) -> None:
    """Refused by name before anything is read."""
    with pytest.raises(UsageError, match=message):
        Independent(SCHEMA, **options).fit("nowhere.csv", ledger=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("synthesizer", "message"),
    [
        (PrivBayes(SCHEMA, epsilon=1, delta=1e-6), "takes no delta; use nist"),
        (Nist(SCHEMA, epsilon=1), "needs a delta above 0"),
        (PrivBayes(SCHEMA, epsilon=1, structure="forest"), "'forest' is unknown"),
        (PrivBayes(SCHEMA, epsilon=1, degree=-1), "degree is -1"),
        (PrivBayes(SCHEMA, epsilon=1, theta=0), "theta is 0"),
        (
            PrivBayes(SCHEMA, epsilon=1, neighbours="replace", score="TVD"),
            "no sensitivity under replace; use R or MI",
        ),
        (Nist(SCHEMA, epsilon=1, delta=1e-6, score="R"), "under add-remove; use TVD"),
        (
            PrivBayes(SCHEMA, epsilon=1, neighbours="replace", score="F"),
            "two-valued columns only; use R",
        ),
        (
            PrivBayes(SCHEMA, epsilon=1, structure=Network.without_edges(["size", "what"])),
            "'what' is unknown; known are colour",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_impossible_networks_are_refused(synthesizer: Synthesizer, message: str) -> None:
    """Refused by name before anything is read."""
    with pytest.raises(UsageError, match=message):
        synthesizer.fit("nowhere.csv", ledger=None)


@pytest.mark.parametrize("theta", [None, 0.01])
@pytest.mark.parametrize("structure", ["greedy", "pairwise", "tree"])
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_no_learner_exceeds_the_degree(structure: str, degree: int, theta: float | None) -> None:
    """Whatever bounds the tables, no attribute gets more parents than were allowed."""
    rows: list[tuple[int, ...]] = [(i % 4, i % 4, i % 2, 0) for i in range(400)]
    fitted = PrivBayes(SCHEMA, epsilon=100, structure=structure, degree=degree, theta=theta).fit(
        source_of(rows),
        ledger=None,
    )
    assert fitted.model_.network.degree <= degree


def test_random_rows_of_a_declared_number_are_free_with_a_delta_too() -> None:
    """Nothing is read, so nothing is spent."""
    fitted = Random(SCHEMA, epsilon=1, delta=1e-6, rows=5).fit(
        source_of(random_rows(9)), ledger=None
    )
    assert (Fraction(0), 5) == (fitted.model_.statement.bound.epsilon, fitted.model_.rows)


def test_binary_tables_may_be_scored_by_f() -> None:
    """F finds the one strong relation of a table of two-valued columns."""
    schema = Schema.parse({"columns": {name: {"kind": "boolean"} for name in "abc"}})
    generator = np.random.default_rng(1)
    a, c = generator.random(2000) < 0.5, generator.random(2000) < 0.5
    rows = {"a": a, "b": a ^ (generator.random(2000) < 0.02), "c": c}
    method = PrivBayes(schema, epsilon=20, neighbours="replace", score="F", degree=1)
    fitted = method.fit(rows, ledger=None)
    assert ("a",) == next(f.parents for f in fitted.model_.network if f.child == "b")


def test_sampling_needs_a_fit() -> None:
    """The message says what to call first."""
    with pytest.raises(UsageError, match="call fit"):
        Random(SCHEMA, epsilon=1).sample(1)


def test_without_privacy_for_studies(tmp_path: Path) -> None:
    """An unlimited budget gives exact marginals, says NOT PRIVATE, and keeps no ledger."""
    source = source_of(random_rows(1000))
    ledger = Ledger(tmp_path / "ledger.jsonl")
    exact_method = Independent(SCHEMA, epsilon=Budget.unlimited())
    for method in (exact_method, seeded(Independent(SCHEMA, epsilon=1), 1)):
        with pytest.raises(UsageError, match="must not be recorded in a ledger"):
            method.fit(source, ledger=ledger, dataset="table")
    model = exact_method.fit(source, ledger=None).model_
    exact = source.count([("size",)])[0].counts / 1000
    assert exact.tolist() == pytest.approx(model.conditionals[1].probabilities.tolist())
    assert "NOT PRIVATE" in model.statement.sentence
    assert {} == ledger.accounts()


def test_a_method_of_ones_own() -> None:
    """A new method is one function from a Curator to conditionals."""

    class Coin(Synthesizer):
        method = "coin"

        def learn(self, curator: Curator) -> Learned:
            [count] = curator.measure([()], curator.budget)
            learned = Random(self.schema, epsilon=1, rows=1).learn(curator)
            return Learned(learned.distribution, count.total)

    assert (
        abs(Coin(SCHEMA, epsilon=50).fit(source_of(random_rows(90)), ledger=None).model_.rows - 90)
        < 5
    )
