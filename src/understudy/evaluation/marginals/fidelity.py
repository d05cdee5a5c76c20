"""How near synthetic rows, or a model, come to real ones.

Privacy: the results are exact functions of real rows, without a mechanism: for the owner's eyes and
for public data only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from understudy.facts.domain import Attributes
from understudy.facts.workload import distances
from understudy.models.model import Model
from understudy.models.sampling.forward import configurations
from understudy.rows.counting import Scores
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table


def total_variation(real: Table, synthetic: Table, sets: Sequence[Attributes]) -> Scores:
    """The total variation distance of each marginal: 0 is the same, 1 has nothing in common.

    An empty table is as far as can be from one with rows.
    """
    if (real.rows == 0) != (synthetic.rows == 0):
        return np.ones(len(sets))
    return distances(shares(real, sets), shares(synthetic, sets))


def shares(table: Table, sets: Sequence[Attributes]) -> list[Scores]:
    """The share of rows in each cell of each marginal."""
    counted = MemorySource(table).count(sets)
    return [marginal.counts / max(table.rows, 1) for marginal in counted]


def cross_entropy(model: Model, held_out: Table) -> float:
    """The bits a model needs for a held-out row, on average; the entropy itself is the least.

    Every row of a conditional is smoothed as if it stood for all rows of the model and one more
    of every value had been seen, so that what the model thought impossible costs much and not
    infinitely much. TUC-1 section 3.7.1 adds one in this way to every cell of the whole domain.
    """
    return float(row_bits(model, held_out).mean()) if held_out.rows else math.nan


def row_bits(model: Model, rows: Table) -> Scores:
    """The bits a model needs for each of some rows, smoothed as for the cross entropy."""
    bits = np.zeros(rows.rows)
    for child, likely in _chances(model, rows):
        bits -= np.log2((likely * model.rows + 1) / (model.rows + model.domain[child]))
    return bits


def row_probabilities(model: Model, rows: Table) -> Scores:
    """The probability that a model gives each of some rows."""
    probabilities = np.ones(rows.rows)
    for _, likely in _chances(model, rows):
        probabilities *= likely
    return probabilities


def _chances(model: Model, rows: Table) -> Iterator[tuple[str, Scores]]:
    """For every attribute, the chance of each row's code given the row's other codes."""
    for conditional in model.conditionals:
        family = conditional.family
        given = configurations(family.axes[:-1], rows.codes, model.domain, rows.rows)
        yield family.child, conditional.chances(given, rows.codes[family.child], model.domain)
