"""Dependence between columns: closed forms, and the numbers of scipy on the rows themselves."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sheets import coded, comparison, drawn, listed
from support.tiers import examples
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.association import associations
from understudy.evaluation.sheets import load
from understudy.facts.schema import Schema

NUMBERS = Schema.parse(
    {
        "columns": {
            "x": {"kind": "integer", "min": 0, "max": 9, "missing": []},
            "y": {"kind": "integer", "min": 0, "max": 9},
            "size": {"kind": "categorical", "values": ["S", "M", "L"], "ordered": True},
            "sex": {"kind": "categorical", "values": ["f", "m"]},
        }
    }
)


def _sheets(seed: int, rows: int = 60) -> Comparison:
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        x = generator.integers(0, 10, rows)
        columns = {
            "x": [None if i % 7 == 0 else int(v) for i, v in enumerate(x)],
            "y": np.clip(x + generator.integers(-3, 4, rows), 0, 9),
            "size": generator.choice(["S", "M", "L"], rows),
            "sex": generator.choice(["f", "m"], rows),
        }
        made.append(load(columns, NUMBERS, side="real", seed=0))
    return Comparison.of(NUMBERS, *made, seed=0)


@settings(max_examples=examples(25))
@given(st.integers(0, 10_000))
def test_correlations_are_those_of_the_rows(seed: int) -> None:
    """Whole numbers are at the middle of their bins: scipy finds the same, missing left out."""
    both = _sheets(seed)
    found = associations(both)
    x, y = both.real.numbers["x"], both.real.numbers["y"]
    known = ~np.isnan(x)
    assert ("x", "y", "size") == found["pearson"].columns == found["spearman"].columns
    assert scipy.stats.pearsonr(x[known], y[known])[0] == pytest.approx(found["pearson"].real[0][1])
    assert scipy.stats.spearmanr(x[known], y[known])[0] == pytest.approx(
        found["spearman"].real[0][1]
    )


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(2, 5))
def test_v_is_that_of_the_formula(seed: int, first: int, second: int) -> None:
    """Bergsma's correction on scipy's χ², the number of values being those that occur."""
    schema = listed(a=first, b=second)
    rows = drawn(schema, 50, seed)
    found = associations(comparison(schema, rows, rows))["cramers_v"].real[0][1]
    table = scipy.stats.contingency.crosstab(rows.codes["a"], rows.codes["b"]).count
    r, c = table.shape
    if min(r, c) < 2:
        assert found is None
        return
    squared = scipy.stats.chi2_contingency(table, correction=False).statistic / 50
    corrected = max(0.0, squared - (r - 1) * (c - 1) / 49)
    least = min(r - (r - 1) ** 2 / 49, c - (c - 1) ** 2 / 49) - 1
    assert min(1.0, math.sqrt(corrected / least)) == pytest.approx(found)


def test_equal_columns_hang_together_and_independent_ones_do_not() -> None:
    """V is 1 of a column with itself, and near 0 of noise, where without correction it is not."""
    schema = listed(a=5, b=5, c=5)
    generator = np.random.default_rng(1)
    codes, noise = generator.integers(0, 5, (2, 200))
    rows = coded(schema, {"a": codes.tolist(), "b": codes.tolist(), "c": noise.tolist()})
    matrix = associations(comparison(schema, rows, rows))["cramers_v"].real
    assert 1.0 == pytest.approx(matrix[0][1])
    assert 0.0 == pytest.approx(matrix[0][2], abs=0.12)
    assert all(matrix[i][j] == matrix[j][i] for i in range(3) for j in range(3))


def test_differences_are_of_both_tables() -> None:
    """A diagonal against noise is 1 off, and the pair is named; a resample is near 0."""
    schema = listed(a=2, b=2)
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, 2_000)
    real = coded(schema, {"a": codes.tolist(), "b": codes.tolist()})
    noise = coded(schema, {n: generator.integers(0, 2, 2_000).tolist() for n in "ab"})
    found = associations(comparison(schema, real, noise))["cramers_v"]
    assert 1.0 == pytest.approx(found.difference.value, abs=0.1)
    assert 0.0 == pytest.approx(found.difference.resampled, abs=0.01)
    assert 1.0 == pytest.approx(found.difference.independent, abs=0.1)
    assert ("a", "b") == found.worst[0][0]


def test_columns_that_do_not_vary_have_no_number() -> None:
    """They are null in the matrix and left out of the mean."""
    schema = listed(a=2, b=2, c=2)
    real = coded(schema, {"a": [0, 1, 0, 1], "b": [0, 1, 0, 1], "c": [0] * 4})
    found = associations(comparison(schema, real, real))["cramers_v"]
    assert (None, 0.0) == (found.real[0][2], found.difference.value)
    json.dumps(found.document(), allow_nan=False)


def test_too_few_columns_are_a_reason() -> None:
    """One column has no pair, and categories have no order."""
    schema = listed(a=2)
    rows = coded(schema, {"a": [0, 1]})
    found = associations(comparison(schema, rows, rows))
    assert "the schema has fewer than two columns" == found["cramers_v"].difference.reason
    assert "the schema has fewer than two columns with an order" == (
        found["pearson"].difference.reason
    )


def test_tables_without_rows_are_reasons() -> None:
    """There is nothing to hang together."""
    schema = listed(a=2, b=2)
    rows, empty = coded(schema, {"a": [0, 1], "b": [0, 1]}), coded(schema, {"a": [], "b": []})
    for pair in ((rows, empty), (empty, rows)):
        found = associations(comparison(schema, *pair))["cramers_v"]
        assert (None, "it is not defined on these rows") == (
            found.difference.value,
            found.difference.reason,
        )
