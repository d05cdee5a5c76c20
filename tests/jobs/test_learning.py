"""What `fit` and `synth` do, asked without a terminal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.progress import RecordedProgress
from understudy.errors import DataError, UsageError
from understudy.facts.schema import Schema
from understudy.jobs.images import ImageRequest
from understudy.jobs.learning import LearningRequest, fit, synthesize
from understudy.jobs.method import FitRequest, TrainingRequest
from understudy.methods import AdaptiveMarginals
from understudy.models.model import Model
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.reading import read_rows
from understudy.rows.sources import Access


def _spent(folder: Path) -> float:
    return float(Ledger(folder / "ledger.jsonl").account("people").spent.epsilon)


def test_synthesize_writes_rows_and_their_statement(
    folder: Path, request_at_one: LearningRequest
) -> None:
    """The result describes the two files, and the ledger has paid for them."""
    result = synthesize(request_at_one, folder / "out.csv", seed=1)
    lines = (folder / "out.csv").read_text().splitlines()
    assert result.document["rows"] == len(lines) - 1
    assert f"{len(lines) - 1:,} rows × 2 columns" == result.headline
    written = json.loads((folder / "out.csv.privacy.json").read_text())
    assert result.document["statement"] == written["statement"]
    assert (written["statement"]["sentence"],) == result.sentences
    assert {"fit", "sample"} == result.seconds.keys()
    assert 1.0 == _spent(folder)


def test_fit_saves_a_model(folder: Path, request_at_one: LearningRequest) -> None:
    """The model has the statement that the result names, and a remark says which method."""
    result = fit(request_at_one, folder / "model.zip")
    model = Model.load(folder / "model.zip")
    assert (model.statement.sentence,) == result.sentences
    assert "method adaptive, the default" == result.remarks[0]


@pytest.mark.parametrize("schema", [True, False])
@pytest.mark.parametrize(("job", "name"), [(synthesize, "out.csv"), (fit, "m.zip")])
def test_no_budget_is_spent_on_a_table_without_rows(
    folder: Path, request_at_one: LearningRequest, job: Any, name: str, schema: bool
) -> None:
    """`--rows 0` is refused before anything is read or spent, with a schema and without."""
    asked = replace(request_at_one, fit=replace(request_at_one.fit, rows=0, delta="1e-6"))
    with pytest.raises(UsageError, match="rows is 0: the whole budget"):
        job(asked if schema else replace(asked, schema=None), folder / name)
    assert not (folder / "ledger.jsonl").exists()


def test_a_job_shows_its_progress(folder: Path, request_at_one: LearningRequest) -> None:
    """Whoever waits sees the stages, and how many rows have been written."""
    progress = RecordedProgress()
    result = synthesize(request_at_one, folder / "out.csv", progress=progress)
    assert ["reading and fitting", "writing rows"] == progress.shown
    assert (0, result.document["rows"]) == progress.steps[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": None}, "schema is not given"),
        ({"fit": FitRequest()}, "epsilon is not given"),
        ({"fit": FitRequest(epsilon="1", method="privbays")}, "did you mean 'privbayes'"),
        ({"fit": FitRequest(epsilon="1", training=TrainingRequest(clip=1.0))}, "--clip is for"),
        ({"images": ImageRequest(height=8)}, "--height is for images"),
    ],
)
def test_a_request_that_cannot_work_is_refused(
    folder: Path, request_at_one: LearningRequest, changes: dict[str, Any], words: str
) -> None:
    """Nothing is read, paid or written: the data need not even exist."""
    asked = replace(request_at_one, data="nowhere.csv", **changes)
    with pytest.raises(UsageError, match=words):
        synthesize(asked, folder / "out.csv")
    assert {"people.csv", "people.toml"} == {path.name for path in folder.iterdir()}


def test_the_rows_are_read_and_the_method_is_checked_once(
    folder: Path, request_at_one: LearningRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the request to the model nothing is opened or checked a second time."""
    opened: list[Any] = []
    checked: list[Any] = []
    check = AdaptiveMarginals.check

    def read(*arguments: Any, **options: Any) -> Any:
        opened.append(arguments)
        return read_rows(*arguments, **options)

    def note(synthesizer: AdaptiveMarginals) -> None:
        checked.append(synthesizer)
        check(synthesizer)

    monkeypatch.setattr("understudy.rows.sources.read_rows", read)
    monkeypatch.setattr(AdaptiveMarginals, "check", note)
    fit(request_at_one, folder / "model.zip")
    assert (1, 1) == (len(opened), len(checked))


def test_a_method_that_cannot_work_is_refused_before_rows_are_read(
    folder: Path, request_at_one: LearningRequest
) -> None:
    """The data need not even exist."""
    asked = replace(request_at_one, data="nowhere.csv", fit=FitRequest(epsilon="1", method="nist"))
    with pytest.raises(UsageError, match="nist needs a delta above 0"):
        fit(asked, folder / "model.zip")


def test_python_reads_as_the_command_line_does(folder: Path) -> None:
    """A fit from Python can ignore columns that the schema does not declare."""
    table = folder / "people.csv"
    table.write_text("".join(f"{line},1\n" for line in table.read_text().splitlines()))
    schema = Schema.load(folder / "people.toml")
    own = AdaptiveMarginals(schema, epsilon=1)
    assert own.fit(table, ledger=None, access=Access(ignore_extra=True)).model_.schema == schema
    way_out = re.escape("(in Python: access=Access(ignore_extra=True))")
    with pytest.raises(DataError, match=f"is not in the schema; .*{way_out}"):
        own.fit(table, ledger=None)
