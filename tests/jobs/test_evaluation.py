"""What `evaluate` does, asked without a terminal."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from understudy.errors import OutputError, UsageError
from understudy.facts.file_format import DECLARED
from understudy.facts.schema import Schema
from understudy.jobs.evaluation import (
    ComparisonRequest,
    EvaluationRequest,
    OwnerEvaluation,
    ReleasedEvaluation,
    evaluate,
)
from understudy.jobs.learning import LearningRequest, synthesize
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.owner_rows import owner_rows
from understudy.jobs.release import ReleaseRequest


@pytest.fixture
def asked(folder: Path, request_at_one: LearningRequest) -> EvaluationRequest:
    """The request to compare a stand-in with its table, without classifiers."""
    synthetic = synthesize(request_at_one, folder / "out.csv").output
    return EvaluationRequest(
        real=folder / "people.csv",
        synthetic=synthetic,
        schema=folder / "people.toml",
        output=folder / "page.html",
        compare=ComparisonRequest(classifiers="none"),
    )


def test_the_owners_page_is_private(asked: EvaluationRequest) -> None:
    """It is written, and its document says that it must not be released."""
    found = evaluate(asked)
    assert isinstance(found, OwnerEvaluation)
    assert found.document()["private"] is True
    assert asked.output.read_text().startswith("<!doctype html>")


def test_a_page_that_may_be_released_is_paid_for(asked: EvaluationRequest) -> None:
    """Its statement is written beside it, and the ledger holds the run."""
    payer = LedgerRequest(ledger=asked.output.with_name("ledger.jsonl"))
    paid = ReleaseRequest(release_epsilon="0.5", payer=payer)
    found = evaluate(replace(asked, compare=ComparisonRequest(), release=paid))
    assert isinstance(found, ReleasedEvaluation)
    assert Path(f"{asked.output}.privacy.json").exists()
    assert 1.5 == float(payer.opened().account("people").spent.epsilon)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"release": ReleaseRequest(delta="1e-6")}, "--delta is for released distances"),
        ({"release": ReleaseRequest(release_epsilon="1")}, "--classifiers is for the owner's page"),
        ({"compare": ComparisonRequest(sensitive="name")}, "--known is not given"),
        ({"compare": ComparisonRequest(known="age")}, "--sensitive is not given"),
    ],
)
def test_options_of_the_other_page_are_refused(
    asked: EvaluationRequest, changes: dict[str, Any], words: str
) -> None:
    """No page is written."""
    with pytest.raises(UsageError, match=words):
        evaluate(replace(asked, **changes))
    assert not asked.output.exists()


def test_a_page_is_html(asked: EvaluationRequest) -> None:
    """Another suffix is refused."""
    with pytest.raises(OutputError, match=r"must end in \.html"):
        evaluate(replace(asked, output=asked.output.with_suffix(".pdf")))


def test_files_stay_where_they_are_and_tables_are_held(tmp_path: Path) -> None:
    """A file is read again by each part; a table of a database once, in its declared columns."""
    schema = Schema.parse({"columns": {"a": {"kind": "boolean"}}})
    path = tmp_path / "rows.csv"
    assert path == owner_rows(path, schema, table=None, file_format=DECLARED)
    database = tmp_path / "rows.db"
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("create table people (a text, b text)")
        connection.execute("insert into people values ('yes', 'x')")
        connection.commit()
    held = owner_rows(database, schema, table="people", file_format=DECLARED)
    assert isinstance(held, pa.Table)
    assert {"a": ["yes"]} == held.to_pydict()
