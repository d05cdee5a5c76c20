"""Outliers: extreme numbers are counted, and isolated rows that were copied are found."""

from __future__ import annotations

from functools import cache

import numpy as np

from support.stand_ins import honest, rows_of, schema_of, spoiled
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.failures.outliers import FENCE
from understudy.evaluation.report.failures import extreme_numbers, repeated_rows
from understudy.facts.schema import Schema


@cache
def _found(flaw: str | None) -> Evaluation:
    rows = honest("census") if flaw is None else spoiled("census", flaw)
    return evaluate(*rows, schema_of("census"), classifiers="none")


def test_extreme_numbers_are_beyond_the_outer_fences() -> None:
    """Three interquartile ranges beyond the quartiles of the real column, on both sides."""
    schema = Schema.parse({"columns": {"x": {"kind": "float", "min": -99.0, "max": 99.0}}})
    real = {"x": [*np.linspace(0, 10, 98), -80.0, 80.0]}
    made = {"x": [*np.linspace(0, 10, 99), 80.0]}
    found = evaluate(real, made, schema, classifiers="none").outliers
    [column] = found.extremes
    low, high = np.quantile(real["x"], (0.25, 0.75))
    reach = FENCE * (high - low)
    assert (low - reach, high + reach) == (column.low, column.high)
    assert 3 == FENCE
    assert (0.02, 0.01) == (column.real, column.synthetic) == found.extreme_rows
    assert "200 rows" in (found.reason or "")
    listing = extreme_numbers(evaluate(real, made, schema, classifiers="none"))
    assert "x" == listing.lines[0][0]
    assert "2.0\u00a0%" in listing.note


def test_copied_rows_repeat_isolated_ones() -> None:
    """Chance equals none of them, a resample and the leak made on purpose many."""
    honest_rows, copied = _found(None).outliers, _found("copied rows").outliers
    for found in (honest_rows, copied):
        assert 25 == found.isolated
        assert found.chance is not None
        assert found.leaky is not None
        assert 0.0 == found.chance.equal
        assert found.leaky.equal > 0.2
    assert honest_rows.synthetic is not None
    assert copied.synthetic is not None
    assert 0.0 == honest_rows.synthetic.equal
    assert copied.synthetic.equal > 0.1


def test_strange_rows_are_far_from_all_real_ones() -> None:
    """About one in twenty of fresh rows, and most of independent columns."""
    fresh, mixed = (_found(flaw).outliers.strange for flaw in (None, "independent columns"))
    assert fresh is not None
    assert mixed is not None
    assert fresh < 0.15
    assert mixed > 0.4


def test_the_page_shows_chance_and_the_leak_beside() -> None:
    """Three lines, and how many rows were looked at."""
    listing = repeated_rows(_found(None))
    assert ["the synthetic rows", "as many other real rows: chance"] == [
        line[0] for line in listing.lines[:2]
    ]
    assert "a leak made on purpose" in listing.lines[2][0]
    assert "25 isolated" in listing.note


def test_nothing_is_looked_at_without_rows() -> None:
    """A reason instead."""
    rows = rows_of("census", 0)
    nothing = {name: values[:0] for name, values in rows.items()}
    found = evaluate(rows, nothing, schema_of("census"), classifiers="none").outliers
    assert "no rows" in (found.reason or "")
    assert {} == found.repeated
