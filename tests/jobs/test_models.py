"""What `inspect`, `query` and `verify` do, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import DataError, UsageError
from understudy.jobs.inspection import ModelInspection, inspect
from understudy.jobs.learning import LearningRequest, synthesize
from understudy.jobs.querying import query
from understudy.jobs.verification import VerifyRequest, verify


def test_a_model_is_described(folder: Path, model: Path) -> None:
    """Its network has every column, and its tables are those that were paid for."""
    found = inspect(model)
    assert isinstance(found, ModelInspection)
    document = found.document()
    assert {"name", "age"} == document["network"].keys()
    assert len(document["tables"]) == sum(table is not None for table in found.tables)


def test_a_network_is_drawn(folder: Path, network_model: Path) -> None:
    """As a picture, or for other programs."""
    inspect(network_model, output=folder / "network.svg")
    inspect(network_model, output=folder / "network.bif")
    assert (folder / "network.svg").read_text().startswith("<svg")
    assert "variable" in (folder / "network.bif").read_text()


def test_an_unknown_picture_is_refused(folder: Path, model: Path) -> None:
    """The known suffixes are named."""
    with pytest.raises(UsageError, match=r"use \.svg, \.png, \.bif"):
        inspect(model, output=folder / "network.gif")


def test_a_question_is_answered(folder: Path, model: Path) -> None:
    """The probabilities of all values add up to one."""
    found = query(model, "P(name)")
    assert 3 == len(found.lines)
    assert 1 == pytest.approx(sum(line["probability"] for line in found.lines))
    assert found.lines == found.document()["answers"]


def test_a_file_and_its_statement_belong_together(
    folder: Path, request_at_one: LearningRequest
) -> None:
    """As long as neither is changed, and the ledger agrees."""
    rows = synthesize(request_at_one, folder / "out.csv").output
    asked = VerifyRequest(file=rows, ledger=folder / "ledger.jsonl")
    assert not verify(asked).fails
    rows.write_text(rows.read_text() + "Ann,3\n")
    assert verify(asked).fails
    assert verify(asked).document()["belongs_together"] is False


def test_a_file_that_does_not_exist_is_refused(folder: Path) -> None:
    """And so is a ledger that does not."""
    with pytest.raises(DataError, match="does not exist"):
        verify(VerifyRequest(file=folder / "none.csv"))
    with pytest.raises(UsageError, match="does not exist"):
        verify(VerifyRequest(file=folder / "people.csv", ledger=folder / "none.jsonl"))


def test_a_table_that_was_asked_again_is_one_question(model: Path) -> None:
    """Its costs are added up, and its noise is that of the best average."""
    found = inspect(model)
    questions = [asked.question for asked in found.answers if asked.table]
    assert len(questions) == len(set(questions))
    assert sum(len(asked.events) for asked in found.answers) == len(found.tables)
    for asked in found.answers:
        assert sum(e["epsilon"] for e in asked.events) == pytest.approx(asked.cost["epsilon"])
        if asked.table:
            precisions = sum(table.noise**-2 for table in asked.tables if table)
            assert asked.table.noise == pytest.approx(precisions**-0.5)
