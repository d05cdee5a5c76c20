"""Sentences, JSON and ledgers round what is spent up, and what is left down."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.cli.main import run
from understudy.errors import BudgetExceeded
from understudy.evaluation.report.promise import promise_facts
from understudy.facts.schema_cost import Inference
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.accounting.events import ApproximateEvent, Charge
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.limits import Spent
from understudy.privacy.statements.statement import Statement

AMOUNTS = st.fractions(min_value=Fraction(1, 10**9), max_value=50, max_denominator=10**14)
SMALL = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 10))
JUST_ABOVE_ONE = Fraction("1.0000049")


def _statement(epsilon: Fraction, delta: Fraction = Fraction(0)) -> Statement:
    event = ApproximateEvent("told", epsilon, delta)
    unit = Unit(Neighbours.REPLACE)
    return Statement("nist", Bound(PURE, epsilon, delta), unit, (Charge("q", event),))


def test_the_sentence_does_not_round_to_the_nearest() -> None:
    """A little more than 1 is not said to be 1."""
    assert "e^1.00001 times" in _statement(JUST_ABOVE_ONE).sentence
    assert "e^1 times" in _statement(Fraction(1)).sentence
    assert "1.00001" == promise_facts(_statement(JUST_ABOVE_ONE))["ε"]


@given(AMOUNTS, SMALL)
def test_a_statement_never_says_less_than_it_knows(epsilon: Fraction, delta: Fraction) -> None:
    """Sentence, numbers and the costs of single answers are not below the exact amounts."""
    statement = _statement(epsilon, delta)
    said = statement.sentence
    assert Fraction(said.split("e^")[1].split()[0]) >= epsilon
    assert Fraction(said.split("a chance of ")[1].rstrip(".")) >= delta
    document = statement.document()
    [event] = document["events"]
    for part in (document, event):
        assert Fraction(repr(part["epsilon"])) >= epsilon
        assert Fraction(repr(part["delta"])) >= delta


@given(AMOUNTS, SMALL)
def test_budgets_and_sums_in_words(epsilon: Fraction, delta: Fraction) -> None:
    """Spent or promised they are rounded up; as what is left, down."""
    for amount in (Budget.approximate(epsilon, delta), Spent(epsilon, delta)):
        above, below = (
            [Fraction(part.split(" = ")[1]) for part in text.split(", ")]
            for text in (str(amount), amount.as_remainder)
        )
        assert above[0] >= epsilon >= below[0]
        assert above[1] >= delta >= below[1]


def test_ledger_entries_and_refusals_round_apart(tmp_path: Path) -> None:
    """What is asked for is rounded up, what is left of a limit down, in file and message."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.limit("d", epsilon=Fraction("0.9999999"))
    with pytest.raises(BudgetExceeded, match=r"epsilon = 1.00001, .* epsilon = 0.999999, .* left"):
        ledger.open("d", _grant(JUST_ABOVE_ONE))
    ledger.limit("d", epsilon=JUST_ABOVE_ONE + Fraction(1, 3))
    ledger.open("d", _grant(Fraction(1, 3)))
    [run] = ledger.account("d").runs
    assert Fraction(repr(run["epsilon"])) >= Fraction(1, 3)


def _grant(epsilon: Fraction) -> Grant:
    return Grant(Budget.pure(epsilon))


def test_ledger_show_rounds_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Limit and spending in words are rounded up, and what is left is rounded down."""
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    ledger.limit("d", epsilon=Fraction(1))
    with ledger.grant("d", Budget.pure(Fraction(1, 3))) as grant:
        grant.charge([Charge("q", ApproximateEvent("told", Fraction(1, 3)))])
    assert 0 == run(["ledger", "show", "d", "--ledger", str(path)])
    told = capsys.readouterr().out
    assert "spent epsilon = 0.333334" in told
    assert "left: epsilon = 0.666666" in told


def test_learned_schemas_are_read_as_both_versions_write_them() -> None:
    """The number beside the exact text may be rounded up, or to the nearest as by 0.1.0."""
    cost = Inference(
        epsilon=Fraction(1, 3),
        delta=Fraction(0),
        neighbours=Neighbours.REPLACE,
        rows_per_person=None,
        dataset="d",
        mechanisms=(),
    )
    document = cost.document()
    assert float(Fraction(1, 3)) < document["epsilon"]
    assert cost == Inference.parse(document)
    assert cost == Inference.parse(document | {"epsilon": float(Fraction(1, 3))})
    with pytest.raises(ValueError, match="same number"):
        Inference.parse(document | {"epsilon": 0.3})
