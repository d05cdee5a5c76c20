"""Measures of synthetic rows: one piece of code for all tools, on codes.

Codes outside the declared domain are counted in a cell of their own, so that a tool that invents
values is further away. On Adult the distances and predictions equal those of the shared referee.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.arena.tables import XOR_GROUPS, ArenaTable, xor_group
from benchmarks.peers import with_outside
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.domain import Domain
from understudy.facts.workload import workload
from understudy.rows.table import Table

RANGE_QUERIES = 1_000
RANGE_SEED = 20_261_118
RANGE_ATTRIBUTES = 3
_ALL_PAIRS = 10**6

Values = Mapping[str, npt.NDArray[Any]]
Found = dict[str, float]


def measured(table: ArenaTable, made: Values) -> Found:
    """Every measure that the table allows."""
    domain = table.learned.domain
    real = with_outside(domain, table.learned.codes)
    synthetic = with_outside(domain, {name: made[name] for name in domain.attributes})
    found = distances(domain, real, synthetic)
    if len(table.ordered) >= RANGE_ATTRIBUTES:
        found["range"] = range_error(table, real, synthetic)
    if table.test is not None and table.target is not None:
        found |= prediction(table, synthetic)
    if table.name == "xor":
        found |= parities(synthetic)
    return found


def distances(domain: Domain, real: Table, synthetic: Table) -> Found:
    """Mean total variation distances, and SDNist's k-marginal score by its published formula.

    All 1- and 2-way marginals are taken, and 300 fixed 3-way ones where there are more. SDNist's
    score is 500 times 2 less the mean L1 distance of all 2-way marginals.
    """
    sets = {ways: workload(domain, ways, most=_ALL_PAIRS) for ways in (1, 2)}
    sets[3] = workload(domain, 3)
    found = {
        f"{ways}-way": float(total_variation(real, synthetic, marginals).mean())
        for ways, marginals in sets.items()
    }
    return found | {"k-marginal": 1000 * (1 - found["2-way"])}


@dataclass(frozen=True)
class RangeQuery:
    """A conjunction of ranges of codes, both ends included."""

    ranges: dict[str, tuple[int, int]]

    def share(self, table: Table) -> float:
        """The share of rows in all ranges."""
        inside = np.ones(table.rows, bool)
        for name, (low, high) in self.ranges.items():
            inside &= (table.codes[name] >= low) & (table.codes[name] <= high)
        return float(inside.mean()) if table.rows else 0.0


def range_queries(table: ArenaTable) -> Iterator[RangeQuery]:
    """Fixed random queries: three ordered attributes each, and a range of codes of each.

    A range is two codes drawn uniformly and put in order.
    """
    generator = np.random.default_rng(RANGE_SEED)
    for _ in range(RANGE_QUERIES):
        chosen = generator.choice(len(table.ordered), RANGE_ATTRIBUTES, replace=False)
        ranges = {}
        for attribute in (table.ordered[place] for place in sorted(chosen)):
            low, high = sorted(generator.integers(0, table.levels(attribute), 2).tolist())
            ranges[attribute] = (low, high)
        yield RangeQuery(ranges)


def range_error(table: ArenaTable, real: Table, synthetic: Table) -> float:
    """The mean absolute difference between the shares of rows that queries find."""
    errors = [abs(each.share(real) - each.share(synthetic)) for each in range_queries(table)]
    return float(np.mean(errors))


def prediction(table: ArenaTable, synthetic: Table) -> Found:
    """Accuracy and AUROC of boosted trees learned from synthetic rows, on held-out real rows.

    Of more than two classes, AUROC is the mean over the classes of the held-out rows, each against
    all others. Rows that have one class only teach nothing: accuracy and AUROC are left out. A
    class of a single row is not learned: the trees would hold it out and learn of it at once.
    """
    assert table.test is not None
    assert table.target is not None
    size = table.learned.domain[table.target]
    features = [name for name in table.learned.domain.attributes if name != table.target]
    labels = synthetic.codes[table.target]
    known = (np.bincount(labels, minlength=size + 1)[labels] > 1) & (labels < size)
    if np.unique(labels[known]).size < 2:
        return {}
    matrix = np.column_stack([synthetic.codes[name] for name in features])[known]
    # As the shared referee: ordinal codes, those without an order flagged as categories.
    boosting: Any = importlib.import_module("sklearn.ensemble")
    model = boosting.HistGradientBoostingClassifier(
        random_state=0, categorical_features=[name not in table.ordered for name in features]
    ).fit(matrix, labels[known])
    chances = np.zeros((table.test.rows, size))
    tested = np.column_stack([table.test.codes[name] for name in features])
    chances[:, model.classes_] = model.predict_proba(tested)
    return scored(table.test.codes[table.target], chances)


def scored(actual: npt.NDArray[Any], chances: npt.NDArray[np.float64]) -> Found:
    """Accuracy and AUROC of the chances of each class."""
    metrics: Any = importlib.import_module("sklearn.metrics")
    classes = chances.shape[1]
    guessed = chances[:, 1] > 0.5 if classes == 2 else chances.argmax(axis=1)
    found = {"accuracy": float((guessed == actual).mean())}
    seen = [1] if classes == 2 else np.unique(actual).tolist()
    if np.unique(actual).size > 1:
        areas = [metrics.roc_auc_score(actual == each, chances[:, each]) for each in seen]
        found["AUROC"] = float(np.mean(areas))
    return found


def parities(synthetic: Table) -> Found:
    """The share of rows in which the parity of each group of the XOR table holds; chance is 0.5."""
    found = {}
    for size in XOR_GROUPS:
        bits = np.array([synthetic.codes[name] for name in xor_group(size)])
        found[f"parity {size}"] = float((np.bitwise_xor.reduce(bits) == 0).mean())
    return found
