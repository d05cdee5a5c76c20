"""The command that attacks a method."""

from __future__ import annotations

import numpy as np
import pytest

from support.commands import Desk


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


def test_an_audit_that_exceeds_the_claim_ends_with_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1, and a sentence that says what to do."""
    monkeypatch.setattr(
        "understudy.privacy.noise.SystemNoise.laplace",
        lambda self, scale, size: np.zeros(size, int),
    )
    found = desk.run("audit", "random", "--epsilon", 1, "--runs", 200, "--processes", 1)
    assert 1 == found.code
    assert "random gives away epsilon" in found.err
    assert "do not release its results" in found.err


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
