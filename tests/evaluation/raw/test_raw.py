"""Raw columns: what the schema lost is seen, counted whole, and never quoted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.evaluation import evaluate
from understudy.evaluation.raw import cells as raw_cells
from understudy.evaluation.raw.columns import RawColumn, kolmogorov, raw_columns
from understudy.facts.schema import Schema

SCHEMA = Schema.parse(
    {
        "columns": {
            "age": {"kind": "integer", "min": 20, "max": 59, "bins": 4},
            "code": {"kind": "categorical", "values": ["a", "b", "other"], "outside": "other"},
            "pay": {"kind": "float", "min": 0.0, "max": 10.0, "bins": 5, "missing": []},
        }
    }
)
REAL = {
    "age": [10, 20, 25, 30, 45, 59, 70, 90],
    "code": ["a", "a", "b", "secret-1", "secret-2", "secret-2", "a", "b"],
    "pay": [1.0, 2.0, 3.0, None, 5.0, 99.0, 7.0, 8.0],
}
MADE = {
    "age": [20, 25, 35, 45, 50, 55, 59, 59],
    "code": ["a", "a", "a", "a", "other", "other", "a", "a"],
    "pay": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, None],
}


@pytest.fixture(scope="module")
def found() -> dict[str, RawColumn]:
    """Both tables, column by column."""
    return {column.column: column for column in raw_columns(REAL, MADE, SCHEMA)}


def test_losses_are_counted(found: dict[str, RawColumn]) -> None:
    """Cells beyond the bounds, values that are not listed, and missing ones."""
    age, code, pay = found["age"], found["code"], found["pay"]
    assert (3, 0, 3 / 8) == (age.clipped, age.undeclared, age.changed)
    assert (3, 3 / 8) == (code.undeclared, code.changed)
    assert (1, 1, 1 / 7) == (pay.missing, pay.clipped, pay.changed)
    assert "37.5 % clipped at the bounds" == age.sentence
    assert "37.5 % not a listed value" == code.sentence


def test_raw_numbers_are_not_clipped(found: dict[str, RawColumn]) -> None:
    """Quantiles, ends and tails are of the file's own numbers."""
    age = found["age"]
    assert age.real is not None
    assert age.synthetic is not None
    assert (10, 90) == (age.real.least, age.real.most)
    assert (20, 59) == (age.synthetic.least, age.synthetic.most)
    assert 37.5 == age.real.quantiles[3]
    assert (0.0, 0.0) == age.tails
    assert age.distance == pytest.approx(2 / 8)


def test_values_that_are_not_listed_count_and_are_not_named(found: dict[str, RawColumn]) -> None:
    """The distance sees them, and no text of them is anywhere."""
    code = found["code"]
    assert (4, 3) == code.values
    # Real: a 3/8, b 2/8, three others; synthetic: a 6/8, the catch-all 2/8.
    assert code.distance == pytest.approx(0.5 * (3 / 8 + 2 / 8 + 2 / 8 + 3 / 8))
    assert (("b", 2 / 8),) == code.lost
    assert "secret" not in json.dumps([column.document() for column in found.values()])
    assert "private" in repr(code)


def test_a_coded_comparison_would_not_have_seen_it() -> None:
    """Clipped to the bounds, two columns are alike; as they are in the files, they are not."""
    real = {**MADE, "age": [20] * 4 + [59] * 4}
    wide = {**MADE, "age": [0] * 4 + [99] * 4}
    seen = evaluate(wide, real, SCHEMA, classifiers="none")
    coded = {column.column: column.distance for column in seen.distributions}
    raw = {column.column: column.distance for column in seen.raw}
    assert 0.0 == coded["age"]
    assert 0.5 == raw["age"]
    assert any("age (100.0 % clipped" in use for use in seen.verdict().not_good_for)


def test_the_part_inside_bins() -> None:
    """Nothing where every value has its own bin, and most of it where one bin holds all."""
    for bins, low, high in ((40, 0.0, 0.0), (1, 0.99, 1.3)):
        columns = {"age": {"kind": "integer", "min": 20, "max": 59, "bins": bins}}
        schema = Schema.parse({"columns": columns})
        rows = {"age": np.arange(20, 60)}
        [column] = raw_columns(rows, rows, schema)
        assert column.within_bins is not None
        assert low <= column.within_bins <= high


def test_long_columns_are_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are of all cells; quantiles of every second or fourth value."""
    monkeypatch.setattr(raw_cells, "MOST_VALUES", 500)
    columns = {"age": {"kind": "integer", "min": 0, "max": 9_999, "bins": 4}}
    schema = Schema.parse({"columns": columns})
    rows = {"age": np.random.default_rng(1).permutation(10_000)}
    [column] = raw_columns(rows, rows, schema)
    assert 10_000 == column.cells
    assert column.real is not None
    assert 5_000 == pytest.approx(column.real.quantiles[3], rel=0.15)


_SOME = st.lists(st.integers(0, 5), min_size=1, max_size=20)


@given(_SOME, _SOME)
def test_distances_of_numbers_agree_with_brute_force(first: list[int], second: list[int]) -> None:
    """The largest difference of the shares of values up to a number."""
    ours, theirs = (np.sort(np.array(values, np.float64)) for values in (first, second))
    expected = max(abs(float((ours <= x).mean()) - float((theirs <= x).mean())) for x in range(6))
    assert kolmogorov(ours, theirs) == pytest.approx(expected)


def test_distances_of_no_numbers() -> None:
    """As far as can be where one side has none, and unknown where both have."""
    none, some = np.empty(0), np.ones(1)
    assert 1.0 == kolmogorov(none, some) == kolmogorov(some, none)
    assert kolmogorov(none, none) is None
