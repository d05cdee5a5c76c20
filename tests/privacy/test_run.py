"""One paid run: what can be refused costs nothing, and the statement says what the ledger says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from understudy.errors import DataError, UsageError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Instruments
from understudy.privacy.run import PaidRun, UnopenedRows
from understudy.privacy.spending.ledger import Ledger
from understudy.privacy.spending.record import Kept
from understudy.rows.sources import open_source
from understudy.testing import SeededNoise

SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
ROWS = {"smoker": [True, False] * 50}
RUN = PaidRun(
    method="count", budget=Budget.pure(1), unit=Unit(Neighbours.ADD_REMOVE), schema=SCHEMA
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger of its own for every test."""
    return Ledger(tmp_path / "ledger.jsonl")


def test_the_statement_says_what_the_ledger_says(ledger: Ledger) -> None:
    """A run that spent a half of its budget is closed at a half, in both places."""
    with RUN.open(ROWS, ledger=ledger, dataset="clinic") as run:
        run.curator.measure([()], Budget.pure(Fraction(1, 2)))
    statement = run.statement()
    account = ledger.account("clinic")
    assert Fraction(1, 2) == statement.bound.epsilon == account.spent.epsilon
    [entry] = account.runs
    assert ("count", SCHEMA.fingerprint) == (entry["method"], entry["schema"])
    assert statement.record is not None
    assert Kept.LEDGER is statement.record.kept
    assert ["number of rows"] == [charge.question for charge in statement.charges]


def test_rows_that_cannot_be_read_cost_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """The rows are opened first, and a grant is set aside only then."""
    run = RUN.open(tmp_path / "missing.csv", ledger=ledger, dataset=None)
    with pytest.raises(DataError), run:
        pass
    assert not ledger.path.exists()


def test_noise_that_is_not_private_is_refused_before_rows_are_read(
    ledger: Ledger, tmp_path: Path
) -> None:
    """A ledger keeps private runs alone, and the rows are not even looked for."""
    seeded = replace(RUN, instruments=Instruments(noise=SeededNoise(1)))
    run = seeded.open(tmp_path / "missing.csv", ledger=ledger, dataset=None)
    with pytest.raises(UsageError, match="seeded or no noise"), run:
        pass
    assert not ledger.path.exists()


def test_rows_opened_for_another_unit_are_refused(ledger: Ledger) -> None:
    """Rows of persons that were not bounded cannot carry a promise for persons."""
    persons = replace(RUN, unit=Unit(Neighbours.ADD_REMOVE, 3), person_id="who")
    with (
        open_source(ROWS, SCHEMA) as source,
        pytest.raises(UsageError, match="the rows were not opened so"),
        persons.open(source, ledger=ledger, dataset="clinic"),
    ):
        pass
    assert not ledger.path.exists()


def test_private_rows_are_not_shown() -> None:
    """The rows stay out of tracebacks and logs."""
    assert "UnopenedRows(private)" == repr(UnopenedRows(ROWS))
