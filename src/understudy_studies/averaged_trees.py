"""Several trees from the same noisy tables of pairs, and the mean of their distributions.

Source: TUC-1 section 5.1 asks for Bayesian model averaging. Which tree is best is uncertain where
tables are noisy. Tables are therefore given further noise of the law that they have, and each time
the best tree is found; conditionals are those of the released tables every time, and rows have the
mean of their probabilities. All of it is made of what was released, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from understudy.system.arrays import Floats
from understudy_studies import seven

# Trees beside the best one.
_FURTHER = 20
ONE, SEVERAL = "best tree", f"mean of {_FURTHER + 1} trees"
_ROWS = 40_000
_NAMES = tuple(seven.SIZES)
_PAIRS = tuple(combinations(_NAMES, 2))

AttributePair = tuple[str, str]
PairTables = Mapping[AttributePair, Floats]


def bits_beyond_entropy(epsilon: float, generator: np.random.Generator) -> dict[str, float]:
    """The bits for a row that the best tree, and the mean of several, need beyond the entropy."""
    scale = 2 * len(_PAIRS) / epsilon
    tables = noisy_tables(scale, generator)
    again = ({p: _noised(t, scale, generator) for p, t in tables.items()} for _ in range(_FURTHER))
    trees = [best_tree(tables), *(best_tree(further) for further in again)]
    chances = [row_chances(tree, tables) for tree in trees]
    return {ONE: beyond_entropy(chances[0]), SEVERAL: beyond_entropy(np.mean(chances, axis=0))}


def noisy_tables(scale: float, generator: np.random.Generator) -> dict[AttributePair, Floats]:
    """All tables of two of the seven attributes with Laplace noise, negative counts set to zero."""
    exact = exact_tables(_ROWS, generator)
    return {pair: _noised(table, scale, generator) for pair, table in exact.items()}


def exact_tables(rows: int, generator: np.random.Generator) -> dict[AttributePair, Floats]:
    """All tables of two of the seven attributes, of this number of rows, which are drawn."""
    counts, codes = generator.multinomial(rows, seven.chances()), seven.every_row().codes
    found = {}
    for one, other in _PAIRS:
        exact = np.zeros((seven.SIZES[one], seven.SIZES[other]))
        np.add.at(exact, (codes[one], codes[other]), counts)
        found[one, other] = exact
    return found


def _noised(table: Floats, scale: float, generator: np.random.Generator) -> Floats:
    return np.maximum(table + generator.laplace(0, scale, table.shape), 0.0)


def information(table: Floats) -> float:
    """The mutual information of a table's two attributes, in bits; 0 of an empty table."""
    if not table.sum():
        return 0.0
    joint = table / table.sum()
    alone = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / alone[seen])).sum())


def best_tree(tables: PairTables) -> list[AttributePair]:
    """The tree of the most information, as pairs of parent and child from the first attribute."""
    return best_edges({pair: information(table) for pair, table in tables.items()})


def best_edges(scores: Mapping[AttributePair, float]) -> list[AttributePair]:
    """The tree of the largest sum of scores, as pairs of parent and child."""
    edges: list[AttributePair] = []
    joined, left = [_NAMES[0]], list(_NAMES[1:])
    while left:
        open_pairs = [(one, other) for one in joined for other in left]
        edge = max(open_pairs, key=lambda pair: scores[ordered(pair)])
        edges.append(edge)
        joined.append(edge[1])
        left.remove(edge[1])
    return edges


def ordered(pair: AttributePair) -> AttributePair:
    """A pair in the order in which tables have it."""
    return pair if pair in _PAIRS else (pair[1], pair[0])


def row_chances(tree: list[AttributePair], tables: PairTables) -> Floats:
    """The probability of every possible row, one row added to every cell of a table."""
    rows = seven.every_row().codes
    root = tables[_PAIRS[0]].sum(axis=1) + 1
    chances: Floats = (root / root.sum())[rows[_NAMES[0]]]
    for parent, child in tree:
        table = tables[ordered((parent, child))]
        joint = (table if (parent, child) in _PAIRS else table.T) + 1
        chances = chances * (joint / joint.sum(axis=1, keepdims=True))[rows[parent], rows[child]]
    return chances


def beyond_entropy(chances: Floats) -> float:
    """Bits by these chances less those by the true ones."""
    truth = seven.chances()
    return float((truth * np.log2(truth / chances)).sum())
