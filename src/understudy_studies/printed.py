"""AAU's PrivBayes as its listing A.1 does it. It is NOT PRIVATE: for comparison on public rows.

What differs from the text, and from what is private: noise is put on conditional probabilities as
if one row moved them by 2/n, where it may move them by 1; scores are in nats and their sensitivity
in bits; a line of which noise takes both cells below 0 always gives 0. Attributes come in their
own order, and each but the first has at least one parent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes
from understudy.facts.domain import Attributes
from understudy.rows.table import Table
from understudy.system.arrays import Probabilities

_DEGREE = 3


def as_printed(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator
) -> Mapping[str, Codes]:
    """As many rows, a share of ε spent on the network."""
    return _drawn(table, epsilon=epsilon, share=share, generator=generator, doubled=False)


def as_written(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator
) -> Mapping[str, Codes]:
    """Conditionals with the noise of the paper's text: 2^(1 + q)·d/(n·ε₂) for q parents.

    The listing never takes it: the condition that it depends on is always true.
    """
    return _drawn(table, epsilon=epsilon, share=share, generator=generator, doubled=True)


def _drawn(
    table: Table, *, epsilon: str, share: str, generator: np.random.Generator, doubled: bool
) -> Mapping[str, Codes]:
    names, rows = table.domain.attributes, table.rows
    network, tables = (float(share) * float(epsilon), (1 - float(share)) * float(epsilon))
    scale = 2 * len(names) / (rows * tables)
    drawn: dict[str, Codes] = {}
    for place, child in enumerate(names):
        parents = (
            _parents(table, names[:place], child=child, epsilon=network, generator=generator)
            if place
            else ()
        )
        wide = scale * 2 ** len(parents) if doubled else scale
        ones = _noisy_ones(table, parents, child=child, scale=wide, generator=generator)
        chances = ones[_lines(drawn, parents, rows)]
        drawn[child] = (generator.random(rows) < chances).astype(np.uint8)
    return drawn


def _parents(
    table: Table, placed: Attributes, *, child: str, epsilon: float, generator: np.random.Generator
) -> Attributes:
    """A choice by the exponential mechanism among all sets of one to three parents."""
    rows, steps = table.rows, len(table.domain) - 1
    sizes = range(1, min(_DEGREE, len(placed)) + 1)
    sets = [s for size in sizes for s in itertools.combinations(placed, size)]
    sensitivity = math.log2(rows) / rows + (rows - 1) / rows * math.log2(rows / (rows - 1))
    scores = np.array([_information(_joint(table, parents, child)) for parents in sets])
    exponents = scores * epsilon / (2 * steps * sensitivity)
    # The largest after Gumbel noise is a draw in proportion to the exponentials.
    return sets[int((exponents + generator.gumbel(size=len(sets))).argmax())]


def _noisy_ones(
    table: Table, parents: Attributes, *, child: str, scale: float, generator: np.random.Generator
) -> Probabilities:
    """P(child = 1 | parents) after noise, a number for each configuration of the parents."""
    joint = _joint(table, parents, child)
    with np.errstate(invalid="ignore"):
        conditional = joint / joint.sum(axis=1, keepdims=True)
        noisy = np.maximum(conditional + generator.laplace(0, scale, joint.shape), 0)
        return np.asarray(np.nan_to_num(noisy[:, 1] / noisy.sum(axis=1), nan=0.0))


def _joint(table: Table, parents: Attributes, child: str) -> Probabilities:
    """Shares of rows: a line for each configuration of the parents, a column for each value."""
    cells = 2 * _lines(table.codes, parents, table.rows) + table.codes[child]
    counts = np.bincount(cells, minlength=2 ** (len(parents) + 1))
    return counts.reshape(-1, 2) / table.rows


def _lines(codes: Mapping[str, Codes], parents: Attributes, rows: int) -> npt.NDArray[np.int64]:
    """The number of every row's configuration of the parents."""
    lines = np.zeros(rows, np.int64)
    for parent in parents:
        lines = 2 * lines + codes[parent]
    return lines


def _information(joint: Probabilities) -> float:
    """Mutual information in nats, as the listing has it."""
    return _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint)


def _entropy(shares: Probabilities) -> float:
    seen = shares[shares > 0]
    return float(-(seen * np.log(seen)).sum())
