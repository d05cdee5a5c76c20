"""What a schema cost: counted in ε and δ, written down, and added to every later statement."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.bindings import in_model
from understudy.errors import BudgetExceeded, SchemaError, UsageError
from understudy.facts.schema import Schema
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.methods import Independent, Nist, PrivBayes, Random
from understudy.models.model import Model
from understudy.privacy.accounting.composition import BASIC, Bound
from understudy.privacy.accounting.events import (
    Charge,
    GaussianEvent,
    KeyReleaseEvent,
    LaplaceEvent,
)
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.pricing import BasicSums
from understudy.privacy.statements.claim import Claim
from understudy.privacy.statements.statement import Statement, inherited
from understudy.privacy.statements.verification import verified

KEYS = Charge(
    "values of a", KeyReleaseEvent(Fraction(4), Fraction(1), Fraction(70), Fraction("1e-7"))
)
COUNTS = Charge("counts of b", LaplaceEvent(Fraction(4), Fraction(1)))
ADD_REMOVE, REPLACE = Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE)
COST = Inference(
    epsilon=Fraction(1, 2),
    delta=Fraction("1e-6"),
    neighbours=Neighbours.ADD_REMOVE,
    rows_per_person=None,
    dataset="people",
    mechanisms=("key release",),
)


def _schema(inference: Inference) -> Schema:
    column = {"kind": "boolean"}
    return Schema.parse({"inference": inference.document(), "columns": {"smoker": column}})


ROWS = {"smoker": [True, False, True] * 100}


def test_a_basic_grant_counts_both() -> None:
    """ε and δ add up; what exceeds either is refused."""
    grant = Grant(Budget.approximate("1/2", "1e-7"), pricing=BasicSums())
    assert Bound(BASIC, Fraction(0), Fraction(0)) == grant.bound()
    grant.charge([KEYS])
    assert Budget.approximate("1/4", 0).amount == grant.remaining.amount
    assert 0 == grant.remaining.delta
    with pytest.raises(BudgetExceeded, match="delta = 1e-07"):
        grant.charge([KEYS])
    grant.charge([COUNTS])
    with pytest.raises(BudgetExceeded, match="epsilon"):
        grant.charge([COUNTS])
    assert [KEYS, COUNTS] == grant.charges
    assert Bound(BASIC, Fraction(1, 2), Fraction("1e-7")) == grant.bound()


def test_a_basic_grant_refuses_what_has_no_epsilon() -> None:
    """Gaussian noise has a ρ; plans gain nothing here."""
    grant = Grant(Budget.approximate(1, "1e-6"), pricing=BasicSums())
    with pytest.raises(UsageError, match="cannot be paid"):
        grant.charge([Charge("x", GaussianEvent(Fraction(1), Fraction(1)))])
    with pytest.raises(UsageError, match="no plan"):
        grant.announce(lambda budget: [KEYS])


def test_a_ledger_grants_by_basic_composition(tmp_path: Path) -> None:
    """The close states the whole grant once anything was drawn."""
    ledger = Ledger(tmp_path / "l.jsonl")
    with ledger.grant("people", Budget.approximate(1, "1e-6"), pricing=BasicSums()) as grant:
        grant.charge([KEYS])
    with ledger.grant("people", Budget.approximate(1, "1e-6"), pricing=BasicSums()):
        pass
    assert "epsilon = 1, delta = 1e-06" == str(ledger.account("people").spent)


def test_an_inference_survives_being_written_down() -> None:
    """Also through the two formats of a schema."""
    assert COST == Inference.parse(COST.document())
    assert COST == _schema(COST).inference


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("epsilon", 0.4),
        ("epsilon_exact", "1/3"),
        ("delta", None),
        ("delta_exact", "x"),
        ("neighbours", "none"),
        ("rows_per_person", 0),
        ("rows_per_person", True),
        ("dataset", 3),
        ("mechanisms", "key release"),
        ("private", "yes"),
    ],
)
def test_a_damaged_inference_is_refused(key: str, value: Any) -> None:
    """The schema is refused with the key that is wrong."""
    document = {"inference": COST.document() | {key: value}, "columns": {"a": {"kind": "boolean"}}}
    with pytest.raises(SchemaError, match=f"inference: {key.removesuffix('_exact')}"):
        Schema.parse(document)


def test_an_inference_that_is_no_table_is_refused() -> None:
    """The name is taken."""
    with pytest.raises(SchemaError, match="inference is not a table"):
        Schema.parse({"inference": 3, "columns": {"a": {"kind": "boolean"}}})


def test_the_fingerprint_includes_the_inference() -> None:
    """The same columns at another cost are another schema; without a cost nothing changed."""
    more = replace(COST, epsilon=Fraction(1))
    bare = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
    prints = {_schema(COST).fingerprint, _schema(more).fingerprint, bare.fingerprint}
    assert 3 == len(prints)
    assert bare.fingerprint == Schema(bare.columns, {"note": "x"}).fingerprint


@pytest.mark.parametrize("method", [Independent, PrivBayes])
def test_a_pure_fit_becomes_approximate(method: type[Independent | PrivBayes]) -> None:
    """Statement, sentence and JSON hold the sum, and say which part is the schema's."""
    fit = method(_schema(COST), epsilon=1, neighbours="add-remove").fit(ROWS, ledger=None)
    statement = fit.model_.statement
    assert (Fraction(3, 2), Fraction("1e-6")) == (statement.bound.epsilon, statement.bound.delta)
    assert "e^1.5 times" in statement.sentence
    assert "up to a chance of 1e-06" in statement.sentence
    assert "epsilon = 0.5, delta = 1e-06 went into learning the schema" in statement.sentence
    document = statement.document()
    assert (1.5, 1e-6) == (document["epsilon"], document["delta"])
    assert ("1/2", "1/1000000") == tuple(
        document["inference"][key] for key in ("epsilon_exact", "delta_exact")
    )
    assert statement == Statement.parse(document)


def test_other_fits_add_it_too(tmp_path: Path) -> None:
    """(ε, δ) fits, and fits that read nothing at all; the model on disk keeps it."""
    nist = Nist(_schema(COST), epsilon=1, delta="1e-6").fit(ROWS, ledger=None).model_
    bound = nist.statement.bound
    assert (Fraction(3, 2), Fraction("2e-6")) == (bound.epsilon, bound.delta)
    free = Random(_schema(COST), epsilon=1, rows=5).fit(ROWS, ledger=None).model_.statement.bound
    assert (Fraction(1, 2), Fraction("1e-6")) == (free.epsilon, free.delta)
    nist.save(tmp_path / "m.zip")
    assert nist.statement == Model.load(tmp_path / "m.zip").statement


def test_the_ledger_holds_the_fit_alone(tmp_path: Path) -> None:
    """The inference was entered when it was made, and is not entered twice."""
    ledger = Ledger(tmp_path / "l.jsonl")
    Independent(_schema(COST), epsilon=1).fit(ROWS, ledger=ledger, dataset="people")
    assert "epsilon = 1, delta = 0" == str(ledger.account("people").spent)


def test_added_rows_imply_replaced_ones_at_twice_the_cost() -> None:
    """(2ε, δ·(1 + e^ε)), never rounded down."""
    part = inherited(COST, REPLACE)
    expected = 1e-6 * (1 + math.exp(0.5))
    assert 1 == part.epsilon
    assert float(part.delta) == pytest.approx(expected, rel=1e-11)
    assert part.delta >= Fraction("1e-6") * (1 + Fraction("1.6487212707001281468"))
    method = PrivBayes(_schema(COST), epsilon=1, neighbours="replace")
    fit = method.fit(ROWS, ledger=None)
    assert 2 == fit.model_.statement.bound.epsilon


def test_a_pure_inference_stays_pure() -> None:
    """Without categories there is no δ, under either relation."""
    pure = replace(COST, delta=Fraction(0))
    assert Bound(BASIC, Fraction(1), Fraction(0)) == inherited(pure, REPLACE)


def test_replaced_rows_imply_nothing_for_added_ones() -> None:
    """Refused before anything is read, with the way out."""
    schema = _schema(replace(COST, neighbours=Neighbours.REPLACE))
    with pytest.raises(UsageError, match="ask for neighbours replace, or learn the schema"):
        Independent(schema, epsilon=1).fit("no such file", ledger=None)
    fit = Independent(schema, epsilon=1, neighbours="replace").fit(ROWS, ledger=None)
    assert Fraction(3, 2) == fit.model_.statement.bound.epsilon


def test_other_units_are_refused() -> None:
    """A schema learned for persons does not go with a promise for rows."""
    with pytest.raises(UsageError, match="person with at most 3 rows"):
        inherited(replace(COST, rows_per_person=3), ADD_REMOVE)


def test_a_schema_from_predictable_noise_makes_nothing_private() -> None:
    """Whatever rests on it says so."""
    fit = Independent(_schema(replace(COST, private=False)), epsilon=1).fit(ROWS, ledger=None)
    assert fit.model_.statement.sentence.startswith("NOT PRIVATE")


def test_a_large_inference_promises_nothing_more_than_certainty() -> None:
    """δ never exceeds one, whatever ε was."""
    part = inherited(replace(COST, epsilon=Fraction(900)), REPLACE)
    assert Bound(BASIC, Fraction(1800), Fraction(1)) == part


def test_a_fit_under_a_learned_schema_verifies(tmp_path: Path) -> None:
    """The ledger holds the fit's own part, the statement the sum; verify takes them apart."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    fit = Nist(_schema(COST), epsilon=1, delta="1e-6").fit(ROWS, ledger=ledger, dataset="d")
    fit.model_.save(tmp_path / "m.zip")
    claim = Claim.of(*in_model(tmp_path / "m.zip"), path=tmp_path)
    assert [] == [check for check in verified(claim, ledger=ledger.path) if check.fails]


def test_persons_of_two_columns_do_not_add_up() -> None:
    """Whoever one column names may be many persons by another: refused before anything is read."""
    learned = replace(COST, rows_per_person=1, person_id="visit")
    method = Independent(_schema(learned), epsilon=1, person_id="patient", rows_per_person=1)
    with pytest.raises(UsageError, match="named by column 'visit', and this run protects those"):
        method.fit("no such file", ledger=None)
    nameless = replace(COST, rows_per_person=1)
    method = Independent(_schema(nameless), epsilon=1, person_id="visit", rows_per_person=1)
    with pytest.raises(UsageError, match=r"version 0\.1\.0 did not write it"):
        method.fit("no such file", ledger=None)
    assert learned == Inference.parse(learned.document())


@pytest.mark.parametrize("most", [None, 2])
def test_a_statement_says_that_no_person_has_several_rows(most: int | None) -> None:
    """Where persons had several real rows, the panel is gone, and the promise says so."""
    schema = Schema.parse({"columns": {"who": {"kind": "id"}, "x": {"kind": "boolean"}}})
    person = None if most is None else "who"
    method = Independent(schema, epsilon=1, person_id=person, rows_per_person=most)
    rows = {"who": ["a", "a", "b"], "x": [True, False, True]}
    sentence = method.fit(rows, ledger=None).model_.statement.sentence
    assert (most is not None) == ("no person has several" in sentence)
