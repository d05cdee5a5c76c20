"""Whether a dependence is still found in synthetic rows: the power of tests, by Monte Carlo.

Tables are made, a test of independence is run on two columns of each, and the share of rejections
is the power, with an exact (Clopper–Pearson) band. As AAU sections 3.2 and 4.2 do it, every table
may come of new real rows, fitted and sampled again. Power alone can mislead: noise that a method
adds may look like dependence. The same should be done with columns that are independent, where the
share of rejections should be the level of the test.

Privacy: power over tables that a private method made is a function of what it released. Where real
rows are drawn from directly, it is private.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import DataError, UsageError
from understudy.evaluation.metric import Goal, Metric
from understudy.rows.table import Table
from understudy.system.arrays import Array
from understudy.system.frames import ArrowStream, arrow_table

Columns = Table | ArrowStream | Mapping[str, Any]
Test = Callable[[Array, Array], float]


POWER = Metric(
    name="power",
    about="The share of synthetic tables in which a test of independence rejects.",
    goal=Goal.MORE,
    low=0.0,
    high=1.0,
    perfect=1.0,
    useless="the level of the test, as often as it rejects where there is nothing",
)


def spearman(first: Array, second: Array) -> float:
    """The p-value of Spearman's rank test of no correlation, two-sided, by Student's t.

    Equal values share their mean rank. NaN for a column of one value, or fewer than three rows.

    Example:
        >>> round(spearman(np.arange(10), np.arange(10) ** 2), 6)
        0.0
    """
    from scipy.stats import rankdata, t

    rows = len(first)
    ranks = [rankdata(values) for values in (first, second)]
    if rows < 3 or any(np.ptp(rank) == 0 for rank in ranks):
        return math.nan
    correlation = float(np.corrcoef(*ranks)[0, 1])
    left = max(1 - correlation**2, 0.0)
    if left == 0:
        return 0.0
    return float(2 * t.sf(abs(correlation) * math.sqrt((rows - 2) / left), rows - 2))


def chi_squared(first: Array, second: Array) -> float:
    """The p-value of Pearson's χ² test of independence, without correction for continuity.

    NaN where a column has one value.
    """
    return _chi_squared(first, second, correction=0.0)


def corrected_chi_squared(first: Array, second: Array) -> float:
    """The p-value of Pearson's test with Yates' correction on tables of two by two, as R has it.

    Each difference of a count to its expectation is half a row smaller, but not below 0.

    Example:
        >>> yes = np.array([0, 0, 1, 1] * 5)
        >>> corrected_chi_squared(yes, yes) > chi_squared(yes, yes)
        True
    """
    return _chi_squared(first, second, correction=0.5)


def _chi_squared(first: Array, second: Array, *, correction: float) -> float:
    from scipy.stats import chi2

    (rows, _), (columns, _) = codes = [_numbered(values) for values in (first, second)]
    if rows < 2 or columns < 2:
        return math.nan
    cells = codes[0][1] * columns + codes[1][1]
    counts = np.bincount(cells, minlength=rows * columns).reshape(rows, columns)
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    off = np.abs(counts - expected)
    if rows == columns == 2:
        off = off - min(correction, float(off.min()))
    return float(chi2.sf(float((off**2 / expected).sum()), (rows - 1) * (columns - 1)))


def _numbered(values: Array) -> tuple[int, npt.NDArray[np.int64]]:
    """How many different values there are, and the number of each."""
    different, numbers = np.unique(values, return_inverse=True)
    return different.size, numbers


TESTS: Mapping[str, Test] = {
    "spearman": spearman,
    "chi-squared": chi_squared,
    "corrected-chi-squared": corrected_chi_squared,
}


@dataclass(frozen=True, kw_only=True)
class Power:
    """How often a test of independence rejected.

    Attributes:
        rejections: of `runs` tables.
        undefined: tables on which the test could not be made, a column having one value; they are
            counted as not rejected.
        low, high: the band that holds the true power at the stated confidence.
    """

    test: str
    columns: tuple[str, str]
    runs: int
    rejections: int
    undefined: int
    level: float
    confidence: float
    low: float
    high: float

    @property
    def power(self) -> float:
        """The share of tables in which independence was rejected."""
        return self.rejections / self.runs

    def document(self) -> dict[str, Any]:
        """Return the power for JSON."""
        return {
            "test": self.test,
            "columns": list(self.columns),
            "power": self.power,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "level": self.level,
            "runs": self.runs,
            "rejections": self.rejections,
            "undefined": self.undefined,
            "metric": POWER.document(),
        }


def power(
    tables: Callable[[np.random.Generator], Columns] | Iterable[Columns],
    columns: tuple[str, str],
    *,
    test: str = "spearman",
    runs: int = 500,
    level: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
) -> Power:
    """The power of a test of independence on synthetic tables.

    Args:
        tables: a function that makes a table from a seeded generator, such as one that draws real
            rows, fits a method and samples; or the tables themselves, of which `runs` are taken.
        columns: the two columns that are tested.
        test: `spearman`, `chi-squared` or `corrected-chi-squared`.
        level: p-values up to this one reject.
        confidence: of the band.

    Example:
        >>> def diagonal(generator):
        ...     values = generator.random(50)
        ...     return {"x": values, "y": values}
        >>> power(diagonal, ("x", "y"), runs=20).rejections
        20
    """
    found = powers(
        tables, [columns], test=test, runs=runs, level=level, confidence=confidence, seed=seed
    )
    return found[0]


def powers(
    tables: Callable[[np.random.Generator], Columns] | Iterable[Columns],
    pairs: Iterable[tuple[str, str]],
    *,
    test: str = "spearman",
    runs: int = 500,
    level: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[Power, ...]:
    """The power of one test on several pairs of columns of the same tables."""
    _check(test, runs, level, confidence)
    asked = list(pairs)
    chances = np.array(
        [
            [TESTS[test](_column(table, a), _column(table, b)) for a, b in asked]
            for table in itertools.islice(_made(tables, seed), runs)
        ]
    )
    if len(chances) < runs:
        raise UsageError(
            f"{len(chances)} tables were given and {runs} runs asked for; ask for less"
        )
    return tuple(
        _power(chances[:, place], test, columns=pair, level=level, confidence=confidence)
        for place, pair in enumerate(asked)
    )


def _power(
    chances: Array, test: str, *, columns: tuple[str, str], level: float, confidence: float
) -> Power:
    runs, rejections = chances.size, int((chances <= level).sum())
    low, high = band(rejections, runs, confidence=confidence)
    undefined = int(np.isnan(chances).sum())
    return Power(
        test=test,
        columns=columns,
        runs=runs,
        rejections=rejections,
        undefined=undefined,
        level=level,
        confidence=confidence,
        low=low,
        high=high,
    )


def band(successes: int, trials: int, *, confidence: float) -> tuple[float, float]:
    """Clopper–Pearson: an interval that holds the chance of success at least so often.

    Example:
        >>> [round(end, 4) for end in band(0, 10, confidence=0.95)]
        [0.0, 0.3085]
    """
    from scipy.special import betaincinv

    error = (1 - confidence) / 2
    low = betaincinv(successes, trials - successes + 1, error) if successes else 0.0
    high = betaincinv(successes + 1, trials - successes, 1 - error) if successes < trials else 1.0
    return float(low), float(high)


def resamples(rows: Columns, size: int) -> Callable[[np.random.Generator], Columns]:
    """Return a maker of tables for `power` that draws `size` rows of a table, with replacement.

    Privacy: of real rows, what comes of it is private.
    """

    names = rows.domain if isinstance(rows, Table) else arrow_table(rows).column_names
    columns = {name: _column(rows, name) for name in names}
    available = len(next(iter(columns.values())))

    def draw(generator: np.random.Generator) -> Columns:
        places = generator.integers(0, available, size)
        return {name: values[places] for name, values in columns.items()}

    return draw


def _made(
    tables: Callable[[np.random.Generator], Columns] | Iterable[Columns], seed: int
) -> Iterator[Columns]:
    """Tables one after another, each of a generator of its own."""
    if not callable(tables):
        yield from tables
        return
    for run in itertools.count():
        yield tables(np.random.default_rng([seed, run]))


def _column(table: Columns, name: str) -> Array:
    if isinstance(table, Table):
        table.domain[name]
        return table.codes[name]
    columns = table if isinstance(table, Mapping) else arrow_table(table)
    names = columns.keys() if isinstance(columns, Mapping) else columns.column_names
    if name not in names:
        raise DataError(f"a synthetic table has no column {name!r}; make tables that have it")
    values = columns[name]
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def _check(test: str, runs: int, level: float, confidence: float) -> None:
    if test not in TESTS:
        raise UsageError(f"test {test!r} is unknown; known are {', '.join(TESTS)}")
    if runs < 1:
        raise UsageError(f"runs is {runs}; ask for one at least")
    if not 0 < level < 1 or not 0 < confidence < 1:
        raise UsageError(f"level is {level} and confidence {confidence}; both are between 0 and 1")
