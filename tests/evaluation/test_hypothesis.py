"""Power of tests on synthetic rows: the tests themselves, their bands, and tables of known law."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pyarrow as pa
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from support.sheets import coded, drawn, listed
from understudy.errors import DataError, UsageError
from understudy.evaluation.hypothesis import (
    Columns,
    band,
    chi_squared,
    corrected_chi_squared,
    power,
    powers,
    resamples,
    spearman,
)
from understudy.methods import Independent
from understudy.testing import seeded


def _independent(generator: np.random.Generator) -> Columns:
    return {"x": generator.random(40), "y": generator.random(40)}


def _correlated(generator: np.random.Generator) -> Columns:
    x = generator.normal(size=40)
    return {"x": x, "y": 0.5 * x + math.sqrt(0.75) * generator.normal(size=40)}


@given(st.integers(0, 10_000), st.integers(3, 60), st.integers(2, 30))
def test_spearman_is_that_of_scipy(seed: int, rows: int, values: int) -> None:
    """p-values agree, ties included."""
    first, second = np.random.default_rng(seed).integers(0, values, (2, rows))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert math.isnan(spearman(first, second))
    else:
        expected = scipy.stats.spearmanr(first, second).pvalue
        assert expected == pytest.approx(spearman(first, second), abs=1e-12)


@given(st.integers(0, 10_000), st.integers(4, 60), st.integers(2, 3))
def test_the_correction_is_rs(seed: int, rows: int, values: int) -> None:
    """On two by two cells p-values are scipy's with Yates' correction, on others without."""
    first, second = np.random.default_rng(seed).integers(0, values, (2, rows))
    assume(np.ptp(first) > 0 and np.ptp(second) > 0)
    counts = np.array(
        [[((first == a) & (second == b)).sum() for b in set(second)] for a in set(first)]
    )
    expected = scipy.stats.chi2_contingency(counts, correction=True).pvalue
    assert expected == pytest.approx(corrected_chi_squared(first, second), abs=1e-12)


@given(st.integers(0, 10_000), st.integers(5, 60), st.integers(2, 5))
def test_chi_squared_is_that_of_scipy(seed: int, rows: int, values: int) -> None:
    """p-values agree without Yates' correction, on tables of any shape."""
    first, second = np.random.default_rng(seed).integers(0, values, (2, rows))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        assert math.isnan(chi_squared(first, second))
    else:
        table = scipy.stats.contingency.crosstab(first, second).count
        expected = scipy.stats.chi2_contingency(table, correction=False).pvalue
        assert expected == pytest.approx(chi_squared(first, second), abs=1e-12)


def test_chi_squared_by_hand() -> None:
    """(10, 20; 20, 10): 60·(100 − 400)²/30⁴ = 6⅔, and texts are values too."""
    first = np.repeat(["a", "b"], 30)
    second = np.array(["u"] * 10 + ["v"] * 20 + ["u"] * 20 + ["v"] * 10)
    expected = scipy.stats.chi2.sf(20 / 3, 1)
    assert expected == pytest.approx(chi_squared(first, second))


def test_bands_hold_what_the_binomial_allows() -> None:
    """At the ends of the band, a count as high or as low has a chance of 2½ %."""
    low, high = band(7, 20, confidence=0.95)
    assert 0.025 == pytest.approx(scipy.stats.binom.sf(6, 20, low))
    assert 0.025 == pytest.approx(scipy.stats.binom.cdf(7, 20, high))
    assert (0.0, 1.0) == (band(0, 5, confidence=0.9)[0], band(5, 5, confidence=0.9)[1])


@pytest.mark.parametrize("test", ["spearman", "chi-squared"])
def test_independent_columns_are_rejected_at_the_level(test: str) -> None:
    """One time of twenty, within the band of 999 in 1,000."""

    def tables(generator: np.random.Generator) -> Columns:
        return {"x": generator.integers(0, 3, 200), "y": generator.integers(0, 3, 200)}

    found = power(tables, ("x", "y"), test=test, runs=600, confidence=0.999)
    assert found.low < 0.05 < found.high


def test_power_is_that_of_the_law() -> None:
    """ρ = ½ in 40 rows: Spearman's is about 6/π·asin(¼), and Fisher's z gives its power."""
    found = power(_correlated, ("x", "y"), runs=600, confidence=0.999)
    z, spread = math.atanh(6 / math.pi * math.asin(0.25)), math.sqrt(1.06 / 37)
    expected = scipy.stats.norm.sf(1.96 - z / spread)
    assert found.low < expected < found.high
    assert found.low > 0.05


def test_the_seed_fixes_the_tables() -> None:
    """The same seed rejects the same tables."""
    found = [power(_correlated, ("x", "y"), runs=50, seed=seed).rejections for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert 1 < len(set(found))


def test_constant_columns_are_counted_apart() -> None:
    """Where nothing can be tested nothing is rejected."""
    found = power([{"x": [1] * 9, "y": list(range(9))}] * 4, ("x", "y"), runs=4)
    assert (0, 4, 0.0) == (found.rejections, found.undefined, found.power)


def test_tables_of_every_brand_are_tested() -> None:
    """Codes, Arrow, pandas and mappings give the same p-value."""
    schema = listed(x=4, y=4)
    codes = drawn(schema, 100, 1)
    columns = {name: values.astype(np.int64) for name, values in codes.codes.items()}
    tables: list[Columns] = [codes, columns, pa.table(columns), pandas.DataFrame(columns)]
    found = {power([table], ("x", "y"), test="chi-squared", runs=1).rejections for table in tables}
    assert 1 == len(found)


def test_rows_alone_are_resampled() -> None:
    """A thousand rows of a law, drawn forty at a time, have the power of forty rows."""
    x = np.random.default_rng(0).normal(size=5_000)
    y = 0.5 * x + math.sqrt(0.75) * np.random.default_rng(1).normal(size=5_000)
    drawn_from = resamples(pa.table({"x": x, "y": y}), 40)
    anew = power(_correlated, ("x", "y"), runs=300, confidence=0.999)
    again = power(drawn_from, ("x", "y"), runs=300, confidence=0.999)
    assert anew.low < again.power < anew.high
    table = coded(listed(x=2, y=2), {"x": [0, 1], "y": [0, 1]})
    assert 5 == power(resamples(table, 60), ("x", "y"), test="chi-squared", runs=5).rejections


@pytest.mark.slow
def test_a_method_that_forgets_dependence_has_no_power() -> None:
    """Two equal columns, fitted as independent ones and sampled, are rejected at the level."""
    schema = listed(x=3, y=3)

    def tables(generator: np.random.Generator) -> Columns:
        codes = generator.integers(0, 3, 300)
        real = {"x": codes.astype(str), "y": codes.astype(str)}
        seed = int(generator.integers(2**31))
        made = seeded(Independent(schema, epsilon=10), seed).fit(real, ledger=None)
        sampled: Columns = made.sample(300, seed=seed)
        return sampled

    found = power(tables, ("x", "y"), test="chi-squared", runs=200, confidence=0.999)
    assert found.high < 0.2


def test_several_pairs_are_tested_on_the_same_tables() -> None:
    """One answer for each pair, in order."""

    def tables(generator: np.random.Generator) -> Columns:
        x = generator.random(50)
        return {"x": x, "y": x, "z": generator.random(50)}

    same, other = powers(tables, [("x", "y"), ("x", "z")], runs=40)
    assert (("x", "y"), 1.0) == (same.columns, same.power)
    assert other.power < 0.5


def test_what_cannot_be_asked_is_refused() -> None:
    """Unknown tests, no runs, too few tables, other columns and impossible levels are refused."""
    with pytest.raises(UsageError, match="test 'guess' is unknown"):
        power(_independent, ("x", "y"), test="guess")
    with pytest.raises(UsageError, match="runs is 0"):
        power(_independent, ("x", "y"), runs=0)
    with pytest.raises(UsageError, match="level is 2"):
        power(_independent, ("x", "y"), level=2)
    with pytest.raises(UsageError, match="1 tables were given and 3 runs"):
        power([{"x": [1, 2, 3], "y": [1, 2, 3]}], ("x", "y"), runs=3)
    with pytest.raises(DataError, match="no column 'w'"):
        power(_independent, ("x", "w"), runs=1)
