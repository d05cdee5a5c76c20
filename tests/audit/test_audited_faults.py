"""Faults planted in a copy of the source: the audit finds each by name, and else nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.faults import FAULTS, SURE, audited, planted
from support.tiers import full_but
from understudy.methods.auditing import audit

# One of each kind: sensitivity, scale, scores, rounds, shared noise, rows, persons, empty cells.
SOON = (
    "L2 sensitivity of a replaced row is 1",
    "Laplace noise of 0.8 times its scale",
    "scores forget the rows of a person",
    "errors of many tables get the noise of one",
    "one noise for all tables of a size and scale",
    "the public number of rows counts those kept",
    "rows without a name are one person's",
    "empty cells get no noise",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but(SOON, FAULTS))
def test_a_planted_fault_is_found_by_name(name: str, tmp_path: Path) -> None:
    """The part of the audit that is meant for it says where it is."""
    fault = FAULTS[name]
    found = audited(name, planted(fault, tmp_path))
    assert found["refuted"]
    told = found["noise"]["faults"] if fault.part == "noise" else found[fault.part]
    assert any(all(word in json.dumps(one) for word in fault.words) for one in told), told


# The same audits as of every method in `tests/methods/auditing`, with more runs.
CLEAN = ("Laplace noise of 0.8 times its scale", "empty cells get no noise")


@pytest.mark.slow
@pytest.mark.parametrize("name", full_but(CLEAN, FAULTS))
def test_without_the_fault_nothing_is_found(name: str) -> None:
    """The same audit of the code as it stands."""
    fault = FAULTS[name]
    found = audit(fault.method(), runs=fault.runs, confidence=SURE, processes=1)
    assert [] == found.reasons
