"""Jobs run in a folder of their own, with a ledger of their own, and without a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.commands import ROWS, SCHEMA
from understudy.jobs.learning import LearningRequest, fit
from understudy.jobs.ledgers import LedgerRequest
from understudy.jobs.method import FitRequest


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Path]:
    """A folder with a private table and its schema; at the end nothing has been printed."""
    monkeypatch.setenv("UNDERSTUDY_LEDGER", str(tmp_path / "ledger.jsonl"))
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "people.toml").write_text(SCHEMA)
    yield tmp_path
    assert ("", "") == tuple(capsys.readouterr())


@pytest.fixture
def request_at_one(folder: Path) -> LearningRequest:
    """The request to learn the table by the automatic method at epsilon = 1."""
    return LearningRequest(
        data=str(folder / "people.csv"),
        schema=folder / "people.toml",
        fit=FitRequest(epsilon="1"),
        payer=LedgerRequest(ledger=folder / "ledger.jsonl"),
    )


@pytest.fixture
def network_model(folder: Path, request_at_one: LearningRequest) -> Path:
    """A Bayesian network of the table."""
    by_name = replace(request_at_one, fit=FitRequest(epsilon="1", method="privbayes"))
    return fit(by_name, folder / "network.zip").output


@pytest.fixture
def model(folder: Path, request_at_one: LearningRequest) -> Path:
    """A model of the table."""
    return fit(request_at_one, folder / "model.zip").output
