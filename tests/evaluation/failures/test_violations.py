"""Declared constraints: how many rows of either table break each."""

from __future__ import annotations

from typing import Any

from understudy.evaluation import evaluate
from understudy.evaluation.failures.violations import Violation
from understudy.evaluation.report.failures import broken_constraints
from understudy.evaluation.verdict import judge
from understudy.facts.schema import Schema

SCHEMA = Schema.parse(
    {
        "constraints": ["if age < 18 then job = none", "not (age >= 90 and job = full)"],
        "columns": {
            "age": {"kind": "integer", "min": 0, "max": 99, "bins": 100, "missing": []},
            "job": {"kind": "categorical", "values": ["none", "part", "full"]},
        },
    }
)


def _rows(pairs: list[tuple[int | None, str]]) -> dict[str, Any]:
    return {"age": [age for age, _ in pairs], "job": [job for _, job in pairs]}


def test_rows_that_break_constraints_are_counted() -> None:
    """Where a premise holds and not its conclusion; a missing age is below nothing."""
    real = _rows([(10, "none"), (17, "part"), (40, "full"), (None, "full")])
    made = _rows([(10, "none"), (95, "full"), (95, "part"), (3, "full"), (90, "full")])
    found = evaluate(real, made, SCHEMA, classifiers="none")
    assert [(1, 1), (0, 2)] == [(each.real, each.synthetic) for each in found.violations]
    assert [(0.25, 0.2), (0.0, 0.4)] == [each.shares for each in found.violations]
    assert ["if age < 18 then job = none", "not (age >= 90 and job = full)"] == [
        each["constraint"] for each in found.document()["violations"]
    ]


def test_the_page_and_the_verdict_name_them() -> None:
    """Every constraint with its rows; the verdict those that synthetic rows break."""
    kept = _rows([(10, "none"), (40, "full")])
    found = evaluate(kept, _rows([(10, "none"), (95, "full")]), SCHEMA, classifiers="none")
    lines = broken_constraints(found).lines
    assert ["0", "1"] == [line[3] for line in lines]
    bad = [use for use in judge(found).not_good_for if "declared constraint" in use]
    assert ["(1 rows break it)"] == [use[-17:] for use in bad]
    assert (0.0, 0.0) == Violation("a", "b", real=0, synthetic=0, of=(0, 0)).shares
    good = evaluate(kept, kept, SCHEMA, classifiers="none")
    assert not any("declared constraint" in use for use in judge(good).not_good_for)
