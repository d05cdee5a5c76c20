"""The job of `check`, and what `fit` and `synth` make of an owner who looks on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from support.commands import ROWS
from support.progress import RecordedProgress
from understudy.errors import DataError, UsageError
from understudy.jobs.checking import ROWS_LOST, CheckRequest, check_data
from understudy.jobs.images import ImageRequest
from understudy.jobs.learning import LearningRequest, fit, synthesize
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest
from understudy.models.model import Model
from understudy.privacy.preflight import QUESTION
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.checking import DataCheck

SCHEMA = """
[columns.name]
kind = "categorical"
values = ["Ann", "Bob"]

[columns.age]
kind = "integer"
min = 0
max = 99
"""


@dataclass
class Onlooker:
    """An owner who always gives the same answer, and remembers what was shown."""

    answer: bool
    seen: list[DataCheck] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    def agrees(self, found: DataCheck) -> bool:
        """Give the answer, whatever is lost."""
        self.seen.append(found)
        return self.answer

    def told(self, text: str) -> None:
        """Remember a sentence."""
        self.heard.append(text)


@pytest.fixture
def asked(tmp_path: Path) -> LearningRequest:
    """A request for a fit at ε = 1, of rows of which two do not fit."""
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "people.toml").write_text(SCHEMA)
    return LearningRequest(
        data=str(tmp_path / "people.csv"),
        schema=tmp_path / "people.toml",
        fit=FitRequest(epsilon="1"),
        payer=LedgerRequest(ledger=tmp_path / "ledger.jsonl"),
    )


def test_rows_are_checked(asked: LearningRequest) -> None:
    """The job reads file and schema by their names."""
    assert asked.schema is not None
    found = check_data(CheckRequest(data=asked.data, schema=asked.schema))
    assert (102, 2, 4) == (found.rows, found.lost, ROWS_LOST)


def test_an_owner_who_declines_spends_nothing(asked: LearningRequest, tmp_path: Path) -> None:
    """The run does not begin; there is no ledger yet and no output."""
    owner = Onlooker(answer=False)
    with pytest.raises(DataError, match="nothing was spent"):
        synthesize(asked, tmp_path / "out.csv", owner=owner)
    assert [2] == [found.lost for found in owner.seen]
    assert {"people.csv", "people.toml"} == {path.name for path in tmp_path.iterdir()}


def test_an_owner_who_agrees_buys_no_preflight(asked: LearningRequest, tmp_path: Path) -> None:
    """Whether the question is bought depends on who looks on, and not on the rows."""
    fit(asked, tmp_path / "seen.zip", owner=Onlooker(answer=True))
    fit(asked, tmp_path / "alone.zip")
    questions = {
        name: [c.question for c in Model.load(tmp_path / f"{name}.zip").statement.charges]
        for name in ("seen", "alone")
    }
    assert QUESTION not in questions["seen"]
    assert QUESTION == questions["alone"][0]
    assert 2 == Ledger(tmp_path / "ledger.jsonl").account("people").spent.epsilon


def test_bad_requests_are_refused_before_rows_are_read(
    asked: LearningRequest, tmp_path: Path
) -> None:
    """An owner is shown nothing for a request that could not be served."""
    owner = Onlooker(answer=True)
    wrong = replace(asked, fit=FitRequest(epsilon="0"))
    with pytest.raises(UsageError):
        fit(wrong, tmp_path / "model.zip", owner=owner)
    assert [] == owner.seen


@pytest.mark.parametrize("has_schema", [True, False])
def test_an_owner_hears_of_a_table_without_rows(
    has_schema: bool, asked: LearningRequest, tmp_path: Path
) -> None:
    """A header alone costs nothing where the owner looks on and declines."""
    (tmp_path / "people.csv").write_text(ROWS.splitlines()[0] + "\n")
    owner, fitting = Onlooker(answer=False), FitRequest(epsilon="1", delta="1e-6")
    empty = replace(asked, fit=fitting, schema=asked.schema if has_schema else None)
    with pytest.raises(DataError, match="nothing was spent"):
        fit(empty, tmp_path / "model.zip", owner=owner)
    assert [0] == [found.rows for found in owner.seen]
    assert {"people.csv", "people.toml"} == {path.name for path in tmp_path.iterdir()}


def test_a_table_without_rows_is_refused_where_their_number_is_public(
    asked: LearningRequest, tmp_path: Path
) -> None:
    """Under replace nothing is spent; under add-remove a table of one row is a neighbour."""
    (tmp_path / "people.csv").write_text(ROWS.splitlines()[0] + "\n")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    replaced = FitRequest(epsilon="1", method="independent", neighbours="replace")
    with pytest.raises(DataError, match="no rows, which is public"):
        fit(replace(asked, fit=replaced), tmp_path / "model.zip")
    assert 0 == ledger.account("people").spent.epsilon
    added = replace(replaced, neighbours="add-remove")
    fit(replace(asked, fit=added), tmp_path / "model.zip")
    assert ledger.account("people").spent.epsilon > 0


def test_unchecked_shows_nothing(asked: LearningRequest, tmp_path: Path) -> None:
    """Neither the owner nor the budget is asked."""
    owner = Onlooker(answer=False)
    fit(replace(asked, unchecked=True), tmp_path / "model.zip", owner=owner)
    assert [] == owner.seen


def test_only_an_owner_who_looks_on_hears_how_few_images_there_are(tmp_path: Path) -> None:
    """Their number is private: without an owner neither progress nor a result speaks of it."""
    np.savez(tmp_path / "few.npz", x=np.full((37, 8, 8), 9, "u1"), y=np.arange(37) % 2)
    asked = LearningRequest(
        data=str(tmp_path / "few.npz"),
        fit=FitRequest(epsilon="1", delta="1e-5"),
        images=ImageRequest(height=8, width=8, classes=2),
        payer=LedgerRequest(ledger=tmp_path / "l.jsonl"),
    )
    owner, watched = Onlooker(answer=True), RecordedProgress()
    fit(asked, tmp_path / "seen.npz", owner=owner)
    assert any("37 images" in text for text in owner.heard)
    result = fit(asked, tmp_path / "alone.npz", progress=watched)
    assert "37" not in " ".join([*watched.shown, *result.sentences, *result.remarks])
