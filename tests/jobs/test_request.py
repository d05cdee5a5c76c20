"""Requests: which fields were given, and by which options."""

from __future__ import annotations

from pathlib import Path

from understudy.jobs.evaluation import EvaluationRequest
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.reading import PersonRequest
from understudy.jobs.release import ReleaseRequest
from understudy.jobs.request import option_name


def test_fields_are_named_by_their_options() -> None:
    """Underscores become dashes."""
    assert "--rows-per-person" == option_name("rows_per_person")


def test_only_what_differs_from_its_default_was_given() -> None:
    """Defaults and empty lists are not listed, fields of inner requests are."""
    assert [] == ReleaseRequest().given
    asked = ReleaseRequest(
        delta="0",
        people=PersonRequest(rows_per_person=2),
        payer=LedgerRequest(ledger=Path("x")),
    )
    assert ["--delta", "--rows-per-person", "--ledger"] == asked.given


def test_requests_are_values() -> None:
    """Two that ask for the same are equal, and can be keys."""
    one, two = (
        EvaluationRequest(real=Path("r"), synthetic=Path("s"), schema=Path("t"), output=Path("o"))
        for _ in range(2)
    )
    assert {one: 1} == {two: 1}
