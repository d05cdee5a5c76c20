"""The command that attacks a method."""

from __future__ import annotations

import numpy as np
import pytest

from support.commands import Desk
from support.deadly import Deadly


@pytest.mark.slow
def test_an_audit_tells_claim_bound_and_curve(desk: Desk) -> None:
    """For people and for machines; nothing is read and no ledger written."""
    asked = ("audit", "histogram", "--epsilon", 1, "--runs", 40, "--processes", 1)
    told, document = desk.run(*asked), desk.run(*asked, "--json").document
    assert 0 == told.code
    assert "claimed      epsilon 1" in told.out
    assert "░" in told.out
    assert "●" in told.out
    assert ("histogram", "replace", 1.0, 40) == tuple(
        document[name] for name in ("method", "neighbours", "epsilon", "runs")
    )
    assert document["lower_bound"] <= document["largest_provable"]
    assert {} == desk.spent


@pytest.mark.slow
def test_an_audit_that_refutes_a_claim_ends_with_five(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 5 and sentences that say what was found and what to do; 1 would be a fault."""
    monkeypatch.setattr(
        "understudy.privacy.noise.system.SystemNoise.laplace",
        lambda self, scale, size: np.zeros(size, int),
    )
    found = desk.run("audit", "random", "--epsilon", 1, "--runs", 200, "--processes", 1)
    assert 5 == found.code
    assert "the likelihood attack shows epsilon" in found.err
    assert "the noise on number of rows: its scale is not the one" in found.err
    assert "random leaks epsilon" in found.err
    assert "do not release its results" in found.err


@pytest.mark.slow
def test_an_audit_that_loses_a_process_ends_with_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault is not a refuted claim, and not a kept one."""
    monkeypatch.setattr(
        "understudy.jobs.auditing.build", lambda request, schema: Deadly(schema, epsilon=1)
    )
    lost = desk.run("audit", "random", "--epsilon", 1, "--runs", 100, "--processes", 2)
    assert (1, "") == (lost.code, lost.out)
    assert "a process of the audit ended before its fits were done" in lost.err


@pytest.mark.slow
def test_persons_are_audited(desk: Desk) -> None:
    """Made up, as their rows are."""
    asked = ("audit", "independent", "--epsilon", 1, "--rows-per-person", 2)
    document = desk.run(*asked, "--runs", 8, "--processes", 1, "--json").document
    assert ("person with at most 2 rows", False) == (document["unit"], document["refuted"])
    assert "rows without a name" in [box["case"] for box in document["black_box"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("auto", "--epsilon", 1), "name the one to audit"),
        (("magic", "--epsilon", 1), "'magic' is unknown"),
        (("nist", "--epsilon", 1), "needs a delta"),
        (("random",), "epsilon is not given"),
        (("random", "--epsilon", 1, "--confidence", 1), "confidence is 1"),
        (("random", "--epsilon", 1, "--structure", "tree"), "--structure is for nist"),
    ],
)
def test_audits_that_cannot_be_made_are_refused(
    desk: Desk, arguments: tuple[object, ...], message: str
) -> None:
    """By name, with exit code 2."""
    refused = desk.run("audit", *arguments)
    assert (2, True) == (refused.code, message in refused.err)
