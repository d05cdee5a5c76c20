"""Tests of independence on drawn tables: power and type I error, real beside synthetic."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.stand_ins import honest, rows_of, schema_of, spoiled
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.analyses.independence import LEVEL, RUNS, PairTest, p_values
from understudy.evaluation.hypothesis import chi_squared, powers, resamples
from understudy.evaluation.report import analyses as page
from understudy.facts.schema import Schema


@cache
def _found(flaw: str | None) -> Evaluation:
    rows = honest("sensor") if flaw is None else spoiled("sensor", flaw)
    return evaluate(*rows, schema_of("sensor"), classifiers="none")


def test_honest_rows_have_the_power_of_real_ones() -> None:
    """And reject what is not there about as often as the level says."""
    tests = _found(None).independence
    assert tests.power.value == pytest.approx(tests.power.resampled, abs=0.1)
    assert (tests.type_one.value or 1.0) < 0.15
    assert tests.dependent
    assert tests.unseen
    assert len(tests.pairs) >= tests.dependent + tests.unseen


def test_independent_columns_lose_all_power() -> None:
    """What is left is the level of the test."""
    tests = _found("independent columns").independence
    assert (tests.power.resampled or 0.0) > 0.8
    assert (tests.power.value or 1.0) < 0.2
    assert (tests.power.independent or 1.0) < 0.2


def test_dependence_that_was_made_up_is_a_type_one_error() -> None:
    """Two columns that are independent in the real rows and equal in the synthetic ones."""
    generator = np.random.default_rng(5)
    schema = Schema.parse({"columns": {name: {"kind": "boolean"} for name in ("a", "b", "c")}})
    real = {name: generator.random(1_000) < 0.5 for name in ("a", "b", "c")}
    real["c"] = real["a"] ^ (generator.random(1_000) < 0.1)
    made = dict(real) | {"b": real["a"]}
    tests = evaluate(real, made, schema, classifiers="none").independence
    worst = tests.pairs[0]
    assert {"a", "b"} & {*worst.columns}
    assert worst.synthetic.power > 0.9
    assert (tests.type_one.value or 0.0) > 0.9


def test_many_tables_have_the_p_values_of_each() -> None:
    """As the test for one table says, also where a group is empty or a column has one value."""
    generator = np.random.default_rng(2)
    first = generator.integers(0, 6, (20, 40))
    second = (first + generator.integers(0, 4, (20, 40))) // 2
    first[0], second[1] = 3, np.where(second[1] > 2, 5, 0)
    expected = [chi_squared(a, b) for a, b in zip(first, second, strict=True)]
    assert expected == pytest.approx(p_values(first, second).tolist(), nan_ok=True)
    assert np.isnan(expected[0])


def test_pairs_are_judged_by_all_real_rows() -> None:
    """A dependence, none, or no clear answer between the two."""
    table = {"x": np.arange(100) % 2, "y": np.arange(100) % 2}
    found = powers(resamples(table, 50), [("x", "y")], test="chi-squared", runs=5)[0]
    colours = [PairTest(("x", "y"), p, found, found) for p in (0.0001, 0.01, 0.5)]
    assert [True, False, False] == [pair.is_dependent for pair in colours]
    assert [False, False, True] == [pair.is_unseen for pair in colours]


def test_few_rows_have_a_reason_and_the_page_a_table() -> None:
    """Tables are drawn from a tenth of the rows, which must be some."""
    few = rows_of("sensor", 0, 100), rows_of("sensor", 1, 100)
    tests = evaluate(*few, schema_of("sensor"), classifiers="none").independence
    assert "too few rows" in (tests.power.reason or "")
    assert () == tests.pairs
    listing = page.tested_pairs(_found(None))
    assert listing.lines
    assert f"level {LEVEL} on {RUNS} tables" in listing.note
