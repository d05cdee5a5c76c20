"""The three tasks of the NIST challenge of 2018, for any schema.

Each is a score from 0 to 10⁶ as in the challenge, and from 0 to 1,000 beside it.

Source: NIST section 4. The formula printed there for the classification task comes out negative;
taken as 10⁶ · max(0, 1 + RMS / ln(1/1000)) it is 10⁶ where nothing differs.

Privacy: exact functions of real rows; for the owner's eyes and for public data only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.evaluation.comparison import Comparison
from understudy.evaluation.marginals.marginals import joints
from understudy.evaluation.metric import Goal, Metric, Result, without
from understudy.evaluation.sheets import EvaluationTable
from understudy.facts.codes import Mask
from understudy.facts.column import BooleanColumn, CategoricalColumn
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.rows.counting import Counts
from understudy.rows.table import Table
from understudy.system.arrays import Floats, Words
from understudy.system.jit import kernel

MARGINALS = 100
CONJUNCTIONS = 300
FULL = 1_000_000.0
# What happens less often than once in a million rows, or never, counts as that.
FLOOR = 1e-6
_BITS = 64
# A block of words stays in the second-level cache.
_BLOCK = 32_768
_ROLES = ("city", "gender", "income")


CLUSTERING = Metric(
    name="NIST clustering",
    about=f"{MARGINALS} random 3-way marginals: one minus the total variation distance, on "
    "average.",
    goal=Goal.MORE,
    low=0.0,
    high=FULL,
    perfect=FULL,
    useless="the value for independent columns; 0 where no cell is shared",
)
CLASSIFICATION = Metric(
    name="NIST classification",
    about=f"{CONJUNCTIONS} random conjunctions, each of a subset or range of values of a third of "
    "the "
    "columns: how far the logarithms of their frequencies are apart, frequencies below 10⁻⁶ "
    "counting as 10⁻⁶.",
    goal=Goal.MORE,
    low=0.0,
    high=FULL,
    perfect=FULL,
    useless="the value for independent columns; 0 where frequencies are off by a factor of 1,000",
)
REGRESSION = Metric(
    name="NIST regression",
    about="Half for the mean squared error of each city's Gini coefficient of income, half for "
    "the mean "
    "squared difference of the cities' ranks by gender pay gap.",
    goal=Goal.MORE,
    low=0.0,
    high=FULL,
    perfect=FULL,
    useless="about 750,000, where ranks are random and incomes of the right spread",
)


@dataclass(frozen=True)
class Tasks:
    """The results of the three tasks, and the parts of the third."""

    clustering: Result
    classification: Result
    regression: Result
    gini: float | None = None
    ranks: float | None = None

    def document(self) -> dict[str, Any]:
        """The tasks for JSON, on both scales."""
        found = {
            "clustering": self.clustering,
            "classification": self.classification,
            "regression": self.regression,
        }
        parts = {"gini_error": self.gini, "rank_error": self.ranks}
        documents = {name: _on_both_scales(result) for name, result in found.items()}
        documents["regression"] |= parts
        return documents


def _on_both_scales(result: Result) -> dict[str, Any]:
    thousands = None if result.value is None else result.value / 1_000
    return {**result.document(), "value_of_1000": thousands}


def tasks(comparison: Comparison, roles: Mapping[str, str] | None = None) -> Tasks:
    """All three tasks.

    Args:
        roles: the columns that are `city`, `gender` and `income`; the schema's free key `roles`
            unless given.
    """
    found = regression(comparison, roles_of(comparison.schema, roles))
    return Tasks(clustering(comparison), classification(comparison), *found)


def clustering(comparison: Comparison) -> Result:
    """Random marginals of three columns."""
    attributes = comparison.real.table.domain.attributes
    if len(attributes) < 3:
        return without(CLUSTERING, "the schema has fewer than 3 columns")
    generator = np.random.default_rng([comparison.seed, 4])
    sets = [_some(attributes, 3, generator) for _ in range(MARGINALS)]
    # The same three columns may come again; they are counted once and weigh as often.
    distances = {j.attributes: j.variation() for j in joints(comparison.tables, _different(sets))}
    nearness = 1 - np.mean([distances[chosen] for chosen in sets], axis=0)
    return comparison.result(CLUSTERING, FULL * nearness)


def _different(sets: list[Attributes]) -> list[Attributes]:
    return list(dict.fromkeys(sets))


def _some(attributes: Attributes, count: int, generator: np.random.Generator) -> Attributes:
    """Return `count` attributes at random, in their order."""
    chosen = generator.choice(len(attributes), count, replace=False)
    return tuple(attributes[place] for place in sorted(chosen))


def classification(comparison: Comparison) -> Result:
    """Random conjunctions over a third of the columns."""
    generator = np.random.default_rng([comparison.seed, 5])
    drawn = [conjunction(comparison.schema, generator) for _ in range(CONJUNCTIONS)]
    shares = np.array([frequencies(table, drawn) for table in comparison.tables])
    logarithms = np.log(np.maximum(shares, FLOOR))
    apart = np.sqrt(((logarithms[1:] - logarithms[0]) ** 2).mean(axis=1))
    return comparison.result(CLASSIFICATION, classification_score(apart))


def classification_score(apart: Any) -> Any:
    """10⁶ · max(0, 1 + RMS / ln(1/1000)) of a root mean squared difference of logarithms."""
    return FULL * np.maximum(0.0, 1 + apart / math.log(1 / 1_000))


def conjunction(schema: Schema, generator: np.random.Generator) -> dict[str, Mask]:
    """A random third of the columns, and which of the codes of each are allowed."""
    attributes = tuple(schema.learned)
    chosen = _some(attributes, max(1, round(len(attributes) / 3)), generator)
    return {name: _allowed(schema, name, generator) for name in chosen}


def _allowed(schema: Schema, name: str, generator: np.random.Generator) -> Mask:
    """A random subset of listed values, not empty; of others a random range, missing or not."""
    column = schema.learned[name]
    if isinstance(column, CategoricalColumn | BooleanColumn) and not getattr(
        column, "ordered", False
    ):
        return next(subset for subset in _subsets(column.size, generator) if subset.any())
    low, high = sorted(generator.integers(0, column.levels, 2).tolist())
    allowed = np.zeros(column.size, bool)
    allowed[low : high + 1] = True
    if column.missing_code is not None:
        allowed[column.missing_code] = generator.random() < 0.5
    return allowed


def _subsets(size: int, generator: np.random.Generator) -> Iterator[Mask]:
    while True:
        yield generator.random(size) < 0.5


def frequencies(table: Table, conjunctions: Sequence[Mapping[str, Mask]]) -> Floats:
    """The share of rows that each conjunction allows.

    A row's word has a bit for each of 64 conjunctions; what the words of its codes share is left.
    """
    counts = np.zeros(len(conjunctions), np.int64)
    for start in range(0, len(conjunctions), _BITS):
        some = conjunctions[start : start + _BITS]
        words = {name: _words(some, name, size) for name, size in table.domain.sizes.items()}
        for first in range(0, table.rows, _BLOCK):
            left = np.full(min(_BLOCK, table.rows - first), ~np.uint64(0))
            for name, word_of in words.items():
                left &= word_of[table.codes[name][first : first + _BLOCK]]
            count_bits(left, counts[start : start + _BITS])
    return counts / max(table.rows, 1)


def _words(conjunctions: Sequence[Mapping[str, Mask]], name: str, size: int) -> Words:
    """For each code the conjunctions that allow it; one that does not ask allows all."""
    words = np.zeros(size, np.uint64)
    everything = np.ones(size, bool)
    for bit, asked in enumerate(conjunctions):
        words |= asked.get(name, everything).astype(np.uint64) << np.uint64(bit)
    return words


@kernel
def count_bits(words: Words, counts: Counts) -> None:
    """Add to each count how many words have its bit."""
    for i in range(words.size):
        word = words[i]
        for bit in range(counts.size):
            counts[bit] += np.int64((word >> np.uint64(bit)) & np.uint64(1))


def roles_of(schema: Schema, given: Mapping[str, str] | None) -> Mapping[str, str]:
    """Which column plays which role: what was given, else the schema's free key `roles`."""
    declared = schema.extras.get("roles", {}) if given is None else given
    if not isinstance(declared, Mapping):
        raise UsageError(f"roles is {declared!r}; write a table: roles = {{city = 'NAME', ...}}")
    roles = {role: declared[role] for role in _ROLES if role in declared}
    unknown = [name for name in roles.values() if name not in schema.learned]
    if unknown:
        raise UsageError(f"roles: column {unknown[0]!r} is not in the schema; name one that is")
    return roles


def regression(
    comparison: Comparison, roles: Mapping[str, str]
) -> tuple[Result, float | None, float | None]:
    """Incomes by city and gender; the two parts of the score beside it, of the synthetic rows."""
    reason = _cannot(comparison, roles)
    if reason is not None:
        return without(REGRESSION, reason), None, None
    reference = _cities(comparison.real, comparison.schema, roles)
    parts = [
        _parts(reference, _cities(sheet, comparison.schema, roles))
        for sheet in comparison.sheets[1:]
    ]
    scores = [FULL * (1 - (gini + ranks) / 2) for gini, ranks in parts]
    return comparison.result(REGRESSION, scores), *parts[0]


def _cannot(comparison: Comparison, roles: Mapping[str, str]) -> str | None:
    absent = [role for role in _ROLES if role not in roles]
    if absent:
        return f"no column is named for {', '.join(absent)}; name them in roles"
    if roles["income"] not in comparison.real.numbers:
        return f"income, column {roles['income']!r}, holds no numbers"
    if comparison.schema.learned[roles["gender"]].levels != 2:
        return f"gender, column {roles['gender']!r}, has not two values"
    if _cities(comparison.real, comparison.schema, roles).compared.size < 2:
        return f"fewer than two cities, column {roles['city']!r}, have incomes of both genders"
    return None


@dataclass(frozen=True, repr=False, eq=False)
class _Cities:
    """For each city the Gini coefficient of incomes and the pay gap; NaN where there are none."""

    gini: Floats
    gap: Floats

    @property
    def compared(self) -> npt.NDArray[np.intp]:
        """The cities where both genders have incomes."""
        return np.flatnonzero(~np.isnan(self.gap))


def _cities(sheet: EvaluationTable, schema: Schema, roles: Mapping[str, str]) -> _Cities:
    income = sheet.numbers[roles["income"]]
    cities = schema.learned[roles["city"]].levels
    city, gender = (sheet.table.codes[roles[role]].astype(np.int64) for role in ("city", "gender"))
    known = ~np.isnan(income) & (city < cities)
    city, gender, income = city[known], gender[known], income[known]
    means = [_means(city[gender == g], income[gender == g], cities) for g in (0, 1)]
    return _Cities(gini_of_groups(city, income, cities), means[0] - means[1])


def _means(groups: npt.NDArray[np.int64], values: Floats, count: int) -> Floats:
    """The mean of each group; NaN of an empty one."""
    held = np.bincount(groups, minlength=count)
    sums = np.bincount(groups, values, count)
    return np.where(held > 0, sums / np.maximum(held, 1), np.nan)


def gini_of_groups(groups: npt.NDArray[np.int64], incomes: Floats, count: int) -> Floats:
    """The Gini coefficient of each group: half the mean difference of two incomes, over their mean.

    Incomes below 0 count as 0. NaN of an empty group; 0 where all incomes are 0.

    Example:
        >>> gini_of_groups(np.zeros(4, np.int64), np.array([0.0, 0.0, 0.0, 1.0]), 1).tolist()
        [0.75]
    """
    values = np.maximum(incomes, 0.0)
    order = np.lexsort((values, groups))
    groups, values = groups[order], values[order]
    held = np.bincount(groups, minlength=count)
    rank = np.arange(1, groups.size + 1) - (np.cumsum(held) - held)[groups]
    # Σ (2i − n − 1)·xᵢ / (n · Σ xᵢ) over incomes in order.
    above = np.bincount(groups, (2 * rank - held[groups] - 1) * values, count)
    total = held * np.bincount(groups, values, count)
    shares = np.divide(above, total, out=np.zeros(count), where=total > 0)
    return np.where(held > 0, shares, np.nan)


def _parts(real: _Cities, other: _Cities) -> tuple[float, float]:
    """The mean squared error of Gini coefficients, and that of ranks as a part of the most.

    Ranks of c cities differ by (c² − 1)/3 in the mean square where one order is the other reversed.
    A city without incomes in the other table is off by 1, and has the last rank.
    """
    from scipy.stats import rankdata

    lived = ~np.isnan(real.gini)
    errors = np.nan_to_num(other.gini[lived] - real.gini[lived], nan=1.0)
    compared = real.compared
    gaps = np.nan_to_num(other.gap[compared], nan=np.inf)
    differences = rankdata(real.gap[compared]) - rankdata(gaps)
    most = (compared.size**2 - 1) / 3
    return float((errors**2).mean()), float((differences**2).mean() / most)
