"""The histogram's own facts: it releases rows themselves, a fixed number and no more."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from support.neighbours import DOMAIN, SCHEMA, last_codes, random_rows, source_of
from support.networks import records_of
from support.replay import record, replay
from understudy.errors import CapacityError, ModelError, UsageError
from understudy.evaluation.marginals.fidelity import cross_entropy
from understudy.facts.capacity import available_bytes
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods import Histogram, Synthesizer
from understudy.methods.histogram import in_words, unpacked
from understudy.models.model import Model
from understudy.models.records import ReleasedRecords
from understudy.models.sampling import deal_codes, sample_codes, sample_rows
from understudy.privacy.budget import Budget
from understudy.privacy.replay import LeakFound
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table

WIDE = Schema.parse(
    {"columns": {f"c{i}": {"kind": "integer", "min": 0, "max": 9} for i in range(40)}}
)


def _wide_source(rows: int) -> MemorySource:
    domain = Domain.of(WIDE)
    codes = {name: np.arange(rows, dtype=np.uint8) % 10 for name in domain}
    return MemorySource(Table(domain, codes, rows))


def test_a_domain_too_large_to_list_works() -> None:
    """Forty columns, 10⁴⁰ combinations: rows are drawn from the table, whole, and from anywhere."""
    fitted = Histogram(WIDE, epsilon=1100, rows=10).fit(_wide_source(100), ledger=None)
    lines = np.array(list(records_of(fitted.model_).codes.values()))
    from_table = (lines == lines[0]).all(axis=0)
    assert 10 == fitted.sample().num_rows
    assert from_table.sum() >= 8


def test_a_budget_that_buys_nothing_is_refused_unspent(tmp_path: Path) -> None:
    """Where nothing of the table would be left, nothing is paid."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(UsageError, match="nothing of the table; ask for fewer rows"):
        Histogram(WIDE, epsilon=1, rows=10).fit(_wide_source(100), ledger=ledger, dataset="table")
    assert 0 == ledger.account("table").spent.epsilon


def test_the_fewer_rows_the_more_of_them_are_true() -> None:
    """One row at a large budget is a row of the table; thousands at it are nearly all random."""
    rows = [last_codes()] * 50
    source = source_of(rows)
    [alone] = (
        Histogram(SCHEMA, epsilon=20, rows=1).fit(source, ledger=None).model_.statement.charges
    )
    [many] = (
        Histogram(SCHEMA, epsilon=20, rows=5000).fit(source, ledger=None).model_.statement.charges
    )
    assert alone.document()["smoothing"] < 0.001
    assert many.document()["smoothing"] > 0.99


def test_as_many_rows_as_the_table_unless_told() -> None:
    """The public number of rows, those dropped included."""
    source = source_of(random_rows(30))
    assert 30 == Histogram(SCHEMA, epsilon=1).fit(source, ledger=None).sample().num_rows


def test_more_rows_than_were_paid_for_are_refused(tmp_path: Path) -> None:
    """Before and after the model was saved; fewer are the first ones."""
    model = (
        Histogram(SCHEMA, epsilon=1, rows=20).fit(source_of(random_rows(30)), ledger=None).model_
    )
    model.save(tmp_path / "model.zip")
    for held in (model, Model.load(tmp_path / "model.zip")):
        with pytest.raises(UsageError, match="rows is 21; this model holds 20 released rows"):
            sample_rows(held, 21)
        colours = sample_rows(held)["colour"].to_pylist()
        assert colours[:5] == sample_rows(held, 5)["colour"].to_pylist()


def test_no_rows_cost_nothing(tmp_path: Path) -> None:
    """None asked for, or none there to be as many as."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for method, size in [(Histogram(SCHEMA, epsilon=1, rows=0), 9), (_default(), 0)]:
        fitted = method.fit(source_of(random_rows(size)), ledger=ledger, dataset="table")
        assert 0 == fitted.sample().num_rows
    assert 0 == ledger.account("table").spent.epsilon


def _default() -> Synthesizer:
    return Histogram(SCHEMA, epsilon=1)


def test_without_privacy_for_studies() -> None:
    """An unlimited budget draws from the table alone and says NOT PRIVATE."""
    fitted = Histogram(SCHEMA, epsilon=Budget.unlimited(), rows=40).fit(
        source_of([last_codes()]), ledger=None
    )
    assert {True} == set(fitted.sample()["sold"].to_pylist())
    assert "NOT PRIVATE" in fitted.model_.statement.sentence


def test_two_people_are_too_many() -> None:
    """Replay tells tables apart that differ in two rows."""
    rows = random_rows(20)
    tape, _ = record(Histogram(SCHEMA, epsilon=1), source_of(rows))
    further = [last_codes(), last_codes(), *rows[2:]]
    with pytest.raises(LeakFound, match="sensitivity"):
        replay(Histogram(SCHEMA, epsilon=1), tape, source_of(further))


class OnlyCounts:
    """A source that, as a database does, keeps its rows."""

    def __init__(self, source: MemorySource) -> None:
        self.domain, self.rows_read = source.domain, source.rows_read
        self.rows_per_person = source.rows_per_person
        self.count, self.score = source.count, source.score


def test_sources_that_only_count_are_refused_unspent(tmp_path: Path) -> None:
    """Rows that stay where they are cannot be drawn."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(UsageError, match="only counts them"):
        _default().fit(OnlyCounts(source_of(random_rows(9))), ledger=ledger, dataset="table")
    assert 0 == ledger.account("table").spent.epsilon


def test_rows_beyond_memory_are_refused_unspent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory that numbering all rows takes is looked at first."""
    monkeypatch.setattr("understudy.facts.capacity.available_bytes", lambda: 100)
    assert available_bytes() > 100
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(CapacityError, match="fewer rows"):
        _default().fit(source_of(random_rows(90)), ledger=ledger, dataset="table")
    assert 0 == ledger.account("table").spent.epsilon


def test_more_rows_than_memory_holds_are_refused_unspent(tmp_path: Path) -> None:
    """The number of rows asked for is public, so that it is looked at before the charge."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    asked = Histogram(SCHEMA, epsilon=1, rows=10**13)
    with pytest.raises(CapacityError, match=r"10,000,000,000,000 rows .* ask for fewer rows"):
        asked.fit(source_of(random_rows(90)), ledger=ledger, dataset="table")
    assert {} == ledger.accounts()


@pytest.mark.parametrize(
    ("synthesizer", "message"),
    [
        (Histogram(SCHEMA, epsilon=1, delta=1e-6), "takes no delta"),
        (Histogram(SCHEMA, epsilon=1, neighbours="add-remove"), "no bound for a row under add-"),
        (Histogram(SCHEMA, epsilon=1, rows=-1), "rows is -1"),
        (Histogram(SCHEMA, epsilon=0), "epsilon is 0"),
    ],
)
def test_impossible_parameters_are_refused(synthesizer: Synthesizer, message: str) -> None:
    """Refused by name before anything is read."""
    with pytest.raises(UsageError, match=message):
        synthesizer.fit("nowhere.csv", ledger=None)


def test_rows_are_no_probabilities() -> None:
    """What needs conditionals says that there are none."""
    model = _default().fit(source_of(random_rows(5)), ledger=None).model_
    generator, table = np.random.default_rng(1), source_of(random_rows(5)).table
    for ask in (
        lambda: sample_codes(model, 1, generator),
        lambda: deal_codes(model, 1, generator),
        lambda: cross_entropy(model, table),
    ):
        with pytest.raises(UsageError, match="no probabilities"):
            ask()


def test_words_hold_every_attribute_in_order() -> None:
    """Packing and unpacking lose nothing, also where sizes fill a word exactly."""
    domain = Domain({"a": 2**16, "b": 2**16, "c": 2**16, "d": 2**14, "e": 2, "f": 65_535})
    sets = in_words(domain)
    expected: list[Attributes] = [("a", "b", "c", "d"), ("e", "f")]
    assert expected == sets
    generator = np.random.default_rng(5)
    codes = {a: generator.integers(0, n, 50).astype(np.uint16) for a, n in domain.sizes.items()}
    dropped = np.isin(np.arange(52), [7, 30])
    numbered = MemorySource(Table(domain, codes, 52, dropped=dropped)).number_rows(sets)
    assert [[-1, -1]] * 2 == numbered[dropped].tolist()
    again = unpacked(numbered[~dropped], sets, domain)
    assert {a: c.tolist() for a, c in codes.items()} == {a: c.tolist() for a, c in again.items()}


def test_records_must_fit_the_schema() -> None:
    """A model of rows that the schema does not know, or of another number, cannot be built."""
    good = Histogram(SCHEMA, epsilon=1, rows=3).fit(source_of(random_rows(5)), ledger=None).model_
    held = records_of(good).codes
    beyond = held | {"size": np.full(3, DOMAIN["size"], np.uint8)}
    for rows, codes in [(2, held), (3, beyond), (3, {})]:
        with pytest.raises(UsageError, match="not rows of the schema"):
            Model(SCHEMA, ReleasedRecords(DOMAIN, codes), rows, good.statement)


def test_damaged_records_are_refused(tmp_path: Path) -> None:
    """A changed member, or one that the manifest does not name, is refused."""
    model = Histogram(SCHEMA, epsilon=1, rows=3).fit(source_of(random_rows(5)), ledger=None).model_
    model.save(tmp_path / "folder")
    (tmp_path / "folder" / "records.arrow").write_bytes(b"")
    with pytest.raises(ModelError, match=r"records\.arrow was changed"):
        Model.load(tmp_path / "folder")
    assert Fraction(1) == model.statement.bound.epsilon
