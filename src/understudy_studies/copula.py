"""The common part of AAU's studies of PrivBayes: rows, method, and the power of tests on both.

The rows are normal variables with correlations by distance, cut at their median. The method is
AAU's: a network of degree 3 by mutual information for a share β of ε, Laplace noise for the rest,
cells below 0 set to 0, no consistency. `printed` does it as the paper's listing does, and `mended`
like for like with noise on joint counts, which is private. `inside` draws noise that leaves every
count possible, and `freed` lets the search choose the order too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.evaluation.hypothesis import band, corrected_chi_squared
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.greedy import greedy_network
from understudy.methods.structure.scores import mutual_information
from understudy.methods.structure.table_cost import TableCost
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.network import Family, Network
from understudy.models.sampling import sample_codes
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator, Instruments
from understudy.privacy.mechanisms.selection import exponential_choice
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import Score
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Probabilities
from understudy.testing import SeededNoise
from understudy_studies.cells import Cell, Results
from understudy_studies.printed import as_printed, as_written
from understudy_studies.tables import integer_schema

NAMES = ("z1", "z2", "z3", "z4", "z5")
PAIRS = tuple((NAMES[0], other) for other in NAMES[1:])
DEGREE = 3
LEVEL, CONFIDENCE = 0.05, 0.95
# Every family may have a table: the method of the paper has no price for cells.
FREE = TableCost(0.0, 2**31)
_BY_DISTANCE = (1.0, 0.6, 0.5, 0.4, 0.3)


def correlated(rows: int, generator: np.random.Generator) -> Table:
    """Rows of AAU's copula."""
    covariance = [[_BY_DISTANCE[abs(i - j)] for j in range(5)] for i in range(5)]
    return _cut(generator.multivariate_normal(np.zeros(5), covariance, rows))


def independent(rows: int, generator: np.random.Generator) -> Table:
    """Rows of the same columns, each drawn by itself: what a test should not reject."""
    return _cut(generator.normal(size=(rows, 5)))


def _cut(normal: Probabilities) -> Table:
    codes: dict[str, Codes] = {
        name: (normal[:, i] > 0).astype(np.uint8) for i, name in enumerate(NAMES)
    }
    return Table(_domain(), codes, len(normal))


@cache
def _schema() -> Schema:
    return integer_schema(dict.fromkeys(NAMES, 2))


@cache
def _domain() -> Domain:
    return Domain.of(_schema())


def curator_of(source: Any, budget: Budget, seed: int) -> Curator:
    """A Curator of public rows, its noise drawn from a seed."""
    instruments = Instruments(noise=SeededNoise(seed))
    return Curator(source, Unit(Neighbours.REPLACE), Grant(budget), instruments)


def mended(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator
) -> Mapping[str, Codes]:
    """As many rows by the listing's own search, with noise on joint counts instead.

    A conditional of few rows moves by more than 2/n when a row is replaced; a table of counts
    moves by 2. Order, parent sets and the exponential mechanism are those of the listing.
    """
    curator, structure, tables = _parted(table, epsilon, share, generator)
    network = ordered_network(curator, structure, mutual_information(table.rows, binary=True))
    law = BayesNet.of(_schema(), _conditionals(curator, network, tables))
    return sample_codes(law, table.rows, generator)


def freed(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator
) -> Mapping[str, Codes]:
    """A network by this package's search: any order of columns, empty parent sets among others."""
    curator, structure, tables = _parted(table, epsilon, share, generator)
    score = mutual_information(table.rows, binary=True)
    network = greedy_network(curator, structure, score=score, table_cost=FREE, degree=DEGREE)
    law = BayesNet.of(_schema(), _conditionals(curator, network, tables))
    return sample_codes(law, table.rows, generator)


def inside(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator
) -> Mapping[str, Codes]:
    """As `mended`, with noise that takes no count below 0 or above n (AAU section 4.2.3 asks)."""
    curator, structure, tables = _parted(table, epsilon, share, generator)
    network = ordered_network(curator, structure, mutual_information(table.rows, binary=True))
    each = float(tables.amount) / len(network.families)
    exact = MemorySource(table).count([family.attributes for family in network])
    law = BayesNet.of(
        _schema(),
        tuple(
            Conditional.from_weights(
                family, bounded_noise(marginal.counts, each, table.rows, generator).astype(float)
            )
            for family, marginal in zip(network, exact, strict=True)
        ),
    )
    return sample_codes(law, table.rows, generator)


def bounded_noise(
    counts: npt.NDArray[np.int64], epsilon: float, most: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Counts from 0 to `most`, each drawn with P(y) in proportion to exp(−ε·|y − x|/4).

    Laplace noise cut off at the ends has a normaliser that depends on the truth, so that its scale
    must be twice as large: this is the exponential mechanism over all tables of counts from 0 to
    `most`, whose score −Σ|y − x| moves by 2 when a row is replaced.
    """
    weights = np.exp(-epsilon * np.arange(most + 1) / 4)
    below = np.concatenate([[0.0], np.cumsum(weights)])
    left, right = below[counts + 1], below[most - counts + 1] - 1
    drawn = generator.random(counts.shape) * (left + right)
    # First the side, x itself on the left; then the distance, by the sums of its weights.
    first = np.searchsorted(below[1:], np.minimum(drawn, left * (1 - 1e-15)), side="right")
    second = np.searchsorted(below[1:], 1 + np.maximum(drawn - left, 0.0), side="right")
    lower, upper = counts - np.minimum(first, counts), counts + np.minimum(second, most - counts)
    return np.asarray(np.where(drawn < left, lower, upper))


def ordered_network(curator: Curator, budget: Budget, score: Score) -> Network:
    """Attributes in their own order, each but the first with one to three parents before it.

    Privacy: each of the d − 1 choices, by the exponential mechanism, costs an equal part.
    """
    names = curator.domain.attributes
    families = [Family(names[0])]
    for place, share in enumerate(budget.split([1] * (len(names) - 1)), 1):
        sizes = range(1, min(DEGREE, place) + 1)
        candidates = [
            Family(names[place], parents)
            for size in sizes
            for parents in itertools.combinations(names[:place], size)
        ]
        families.append(
            curator.select(
                candidates, score, share, of=lambda family: family.axes, by=exponential_choice
            )
        )
    return Network(tuple(families))


def _parted(
    table: Table, epsilon: str, share: str, generator: np.random.Generator
) -> tuple[Curator, Budget, Budget]:
    """A Curator of the rows, and the budgets of the network and of its tables."""
    budget, part = Budget.pure(epsilon), Fraction(share)
    curator = curator_of(MemorySource(table), budget, int(generator.integers(2**62)))
    structure, tables = budget.split([part, 1 - part])
    return curator, structure, tables


def _conditionals(curator: Curator, network: Network, budget: Budget) -> tuple[Conditional, ...]:
    noisy = curator.measure([family.attributes for family in network], budget)
    return tuple(
        Conditional.from_weights(family, np.maximum(marginal.counts, 0).astype(np.float64))
        for family, marginal in zip(network, noisy, strict=True)
    )


PRINTED, WRITTEN, MENDED = "as printed", "as the text says", "mended"
INSIDE, FREED = "mended, noise within range", "mended, free order"
METHODS: Mapping[str, Callable[..., Mapping[str, Codes]]] = {
    PRINTED: as_printed,
    WRITTEN: as_written,
    MENDED: mended,
    INSIDE: inside,
    FREED: freed,
}


def power_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    """The power of Pearson's test on each pair of columns, its size, and its power calibrated.

    Size is how often the test rejects where the real columns are independent. Both are counted as
    the paper's program does, which leaves out every run in which a column came out constant; the
    share of runs that are left is `kept`. `of_all` counts all runs, such pairs as not rejected.
    Calibrated, the test rejects where a p-value is among the least twentieth of those of
    independent columns, over all runs. `original` is the power on the real rows themselves.
    """
    dependent, null = (_runs(setting, place) for place in range(2))
    return {
        "kept": {"dependent": float(dependent.kept.mean()), "independent": float(null.kept.mean())},
        **{
            f"{a}-{b}": {
                "power": _share(dependent.chances[dependent.kept, i] <= LEVEL),
                "size": _share(null.chances[null.kept, i] <= LEVEL),
                "of_all": _share(dependent.chances[:, i] <= LEVEL),
                "calibrated": _share(
                    calibrated(dependent.chances[:, i], null.chances[:, i]) <= LEVEL
                ),
                "original": _share(dependent.original[:, i] <= LEVEL),
            }
            for i, (a, b) in enumerate(PAIRS)
        },
    }


@dataclass(frozen=True, eq=False)
class _Runs:
    """The p-values of all pairs in every run, of synthetic rows and of the real ones.

    Kept are the runs in which no column was constant.
    """

    chances: Probabilities
    original: Probabilities
    kept: npt.NDArray[np.bool_]


def _runs(setting: Mapping[str, Any], place: int) -> _Runs:
    """Runs on dependent or on independent real columns; what cannot be tested has p-value 1."""
    runs = setting["runs"]
    chances, original = np.empty((runs, len(PAIRS))), np.empty((runs, len(PAIRS)))
    kept = np.empty(runs, bool)
    for run in range(runs):
        generator = np.random.default_rng([setting["seed"], run, place])
        table = (correlated, independent)[place](setting["rows"], generator)
        rows = METHODS[setting["method"]](
            table, epsilon=setting["epsilon"], share=setting["beta"], generator=generator
        )
        chances[run] = [corrected_chi_squared(rows[a], rows[b]) for a, b in PAIRS]
        original[run] = [corrected_chi_squared(table.codes[a], table.codes[b]) for a, b in PAIRS]
        kept[run] = all(np.ptp(rows[name]) > 0 for name in NAMES)
    return _Runs(np.nan_to_num(chances, nan=1.0), np.nan_to_num(original, nan=1.0), kept)


def calibrated(chances: Probabilities, null: Probabilities) -> Probabilities:
    """Monte Carlo p-values: how many of those under independence are as small, itself included."""
    as_small = np.searchsorted(np.sort(null), chances, side="right")
    return np.asarray((1 + as_small) / (1 + null.size))


def _share(rejected: npt.NDArray[np.bool_]) -> dict[str, float]:
    """The share of runs with its band; of no runs anything may be said."""
    successes, runs = int(rejected.sum()), rejected.size
    if not runs:
        return {"share": 0.0, "low": 0.0, "high": 1.0}
    low, high = band(successes, runs, confidence=CONFIDENCE)
    return {"share": successes / runs, "low": low, "high": high}


def mean(cell: Cell, what: str) -> float:
    """The mean of power, size or calibrated power over the four pairs."""
    return float(np.mean([cell.numbers[f"{a}-{b}"][what]["share"] for a, b in PAIRS]))


def means(results: Results, what: str) -> list[float]:
    """That mean for every cell."""
    return [mean(cell, what) for cell in results]


def half_band(cell: Cell) -> float:
    """Half the width of the widest band of power: shares nearer than this may be the same."""
    shares = [cell.numbers[f"{a}-{b}"]["power"] for a, b in PAIRS]
    return float(max(share["high"] - share["low"] for share in shares)) / 2
