"""What `plan`, `audit`, `study`, `demo` and `keys` do, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.progress import RecordedProgress
from support.promised import need
from understudy.errors import OutputError, UsageError
from understudy.jobs.auditing import AuditRequest, audit
from understudy.jobs.demo import demonstrate
from understudy.jobs.keys import make_holder_key
from understudy.jobs.method import MethodRequest
from understudy.jobs.planning import PlanRequest, plan
from understudy.jobs.studies import StudyRequest, available_studies, run_study, write_study_page
from understudy.models.strengths import strengths_of


def test_a_fit_is_planned(folder: Path) -> None:
    """Nothing is read or paid for, and whoever waits sees the rehearsals."""
    (folder / "people.csv").unlink()
    progress = RecordedProgress()
    method = MethodRequest(epsilon="1", method="independent")
    found = plan(
        PlanRequest(schema=folder / "people.toml", rows=900, method=method), progress=progress
    )
    assert ("independent", 900) == (found.method, found.rows)
    assert ["rehearsing"] == progress.shown
    assert progress.steps
    assert not (folder / "ledger.jsonl").exists()


@pytest.mark.parametrize("method", ["dpgan", "histogram"])
def test_some_methods_cannot_be_planned(folder: Path, method: str) -> None:
    """They are refused by name."""
    asked = MethodRequest(epsilon="1", delta="1e-6", method=method)
    with pytest.raises(UsageError, match=method):
        plan(PlanRequest(schema=folder / "people.toml", rows=900, method=asked))


def test_a_method_is_attacked(folder: Path) -> None:
    """The audit counts its fits, and a method that keeps its promise passes."""
    progress = RecordedProgress()
    result = audit(
        AuditRequest(method="random", epsilon="1", runs=4, processes=1), progress=progress
    )
    result.check()
    done, total = progress.steps[-1]
    assert done == total
    assert {"audit"} == result.seconds.keys()


def test_the_automatic_method_cannot_be_attacked(folder: Path) -> None:
    """It is a choice among methods."""
    with pytest.raises(UsageError, match="name the one to audit"):
        audit(AuditRequest(method="auto", epsilon="1"))


def test_studies_have_names_titles_and_sources(folder: Path) -> None:
    """An unknown name is refused, and so is a page that is not Markdown."""
    studies = available_studies()
    assert all({"name", "title", "source"} == study.keys() for study in studies)
    with pytest.raises(UsageError, match="unknown"):
        run_study(StudyRequest(name="nothing", folder=folder))
    with pytest.raises(UsageError, match=r"must end in \.md"):
        write_study_page(studies[0]["name"], folder, folder / "page.html")


def test_the_example_is_demonstrated(folder: Path) -> None:
    """Its files are written, and the stand-in is near its table."""
    found = demonstrate(folder / "demo")
    # The strongest is twenty times stronger than noise; weak edges are not shown.
    assert {"diagnosis", "visits"} == {*found.dependences[0]}
    scores = strengths_of(found.model).scores
    assert {edge for edge, score in scores.items() if score >= 0.06} == {*found.dependences}
    assert all(path.exists() for path in (found.data, found.schema, found.output, found.ledger))
    alone, pairs = found.distances()
    assert set(found.model.domain) == alone.keys()
    assert pairs < 0.3
    assert 1.0 == float(found.spent.epsilon)


def test_a_holders_key_is_made_once(folder: Path) -> None:
    """It is never replaced."""
    need("cryptography")
    assert folder / "north.pub" == make_holder_key(folder / "north")
    with pytest.raises(OutputError):
        make_holder_key(folder / "north")
