"""Range queries: counts of rows within random ranges of three columns, real beside synthetic.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.association import is_ordered
from understudy.evaluation.metric import Goal, Metric, Result, without
from understudy.evaluation.prediction.prediction import at_most
from understudy.evaluation.sheets import EvaluationTable
from understudy.system.arrays import Array, Floats

QUERIES = 300
COLUMNS = 3
_MOST_ROWS = 100_000

ERROR = Metric(
    name="range queries, mean error",
    about="The mean difference of the shares of rows within random ranges of three columns.",
    goal=Goal.LESS,
    low=0.0,
    high=1.0,
    perfect=0.0,
    useless="the value for independent columns, or more",
)
LARGEST = Metric(
    name="range queries, 95 % error",
    about="The difference of shares that 95 of 100 random ranges of three columns keep.",
    goal=Goal.LESS,
    low=0.0,
    high=1.0,
    perfect=0.0,
    useless="the value for independent columns, or more",
)

_Query = Mapping[str, Array]


def range_queries(comparison: Comparison) -> tuple[Result, Result]:
    """The mean error of random range queries, and the error that most of them keep."""
    if not comparison.real.rows or not comparison.synthetic.rows:
        reason = "there are no rows to count"
        return without(ERROR, reason), without(LARGEST, reason)
    queries = _queries(comparison)
    sheets = [at_most(sheet, _MOST_ROWS, comparison.seed) for sheet in comparison.sheets]
    shares = [_shares(sheet, queries) for sheet in sheets]
    errors = [np.abs(each - shares[0]) for each in shares[1:]]
    mean = comparison.result(ERROR, [float(each.mean()) for each in errors])
    most = comparison.result(LARGEST, [float(np.quantile(each, 0.95)) for each in errors])
    return mean, most


def _queries(comparison: Comparison) -> list[_Query]:
    """Codes that are allowed in each of three columns: an interval of them, or half of them."""
    generator = np.random.default_rng([comparison.seed, 41])
    columns = list(comparison.schema.learned.items())
    queries: list[_Query] = []
    for _ in range(QUERIES):
        chosen = generator.permutation(len(columns))[:COLUMNS]
        allowed = {}
        for name, column in (columns[place] for place in chosen):
            codes = np.zeros(column.size, bool)
            if is_ordered(column):
                low, high = np.sort(generator.integers(0, column.size, 2))
                codes[low : high + 1] = True
            else:
                codes[generator.permutation(column.size)[: (column.size + 1) // 2]] = True
            allowed[name] = codes
        queries.append(allowed)
    return queries


def _shares(sheet: EvaluationTable, queries: list[_Query]) -> Floats:
    """The share of rows within each query."""
    found = np.empty(len(queries))
    for place, query in enumerate(queries):
        inside = np.ones(sheet.rows, bool)
        for name, allowed in query.items():
            inside &= allowed[sheet.table.codes[name]]
        found[place] = inside.mean()
    return found
