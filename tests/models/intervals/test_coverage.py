"""What answers say about their coverage is what the benchmark has measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.models.intervals.coverage import MODELLED_COVERAGE, PAIRS_COVERAGE

RECORD = Path(__file__).parents[3] / "benchmarks" / "results" / "coverage.json"


def test_coverage_is_that_of_the_record() -> None:
    """To a hundredth, for every method."""
    lines = {line["what"]: line["measured"] for line in json.loads(RECORD.read_text())["lines"]}
    for method, coverage in MODELLED_COVERAGE.items():
        measured = lines[f"{method}: intervals that rest on the model hold the truth"]
        assert measured / 100 == pytest.approx(coverage, abs=0.0051)
    for method, coverage in PAIRS_COVERAGE.items():
        measured = lines[f"{method}: intervals of the distances of top 5 pairs hold the truth"]
        assert measured / 100 == pytest.approx(coverage, abs=0.0051)


def test_measured_answers_hold_the_truth_as_often_as_they_say() -> None:
    """Every line about cells of released tables met its target of 93 to 97 %."""
    lines = json.loads(RECORD.read_text())["lines"]
    cells = [line for line in lines if "cells of released tables" in line["what"]]
    assert cells
    assert all(line["met"] for line in cells)
