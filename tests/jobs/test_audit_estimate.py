"""An audit shows how far it is, and says once how long the rest will take."""

from __future__ import annotations

import pytest

from support.progress import RecordedProgress
from understudy.jobs import auditing
from understudy.jobs.auditing import AuditRequest, audit


def _audited(monkeypatch: pytest.MonkeyPatch, seconds: float) -> RecordedProgress:
    """An audit of the fastest method, which says its estimate after some seconds."""
    monkeypatch.setattr(auditing, "_SECONDS_BEFORE_ESTIMATE", seconds)
    shown = RecordedProgress()
    audit(AuditRequest(method="random", epsilon="1", runs=20, processes=1), progress=shown)
    return shown


def test_an_audit_says_how_long_it_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar ends at the number of fits, and one sentence estimates the time that is left."""
    shown = _audited(monkeypatch, seconds=0)
    total = shown.steps[0][1]
    assert (0, total) == shown.steps[0]
    assert (total, total) == shown.steps[-1]
    assert sorted(shown.steps) == shown.steps
    [said] = [text for text in shown.shown if "minutes more" in text]
    assert said.startswith(f"{total:,} fits, ")
    assert "fewer --runs take less" in said


def test_a_short_audit_needs_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before some seconds are over nothing is said."""
    shown = _audited(monkeypatch, seconds=1e9)
    assert [] == [text for text in shown.shown if "minutes more" in text]
