"""The method of NIST as it was published, as a baseline beside this package's own.

Differences to `Nist`: a tenth of ρ each for the number of rows and for scores, the rest evenly for
one table of the head and one of every other family; no one-way tables; cells below 0 set to 0 and
tables rescaled before they are made to agree, once, in the order of inclusion; no coarser copies.
Source: NIST Algorithms 1 to 5 and section 2.4, with the closure that Algorithm 5 leaves out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.facts.domain import Attributes
from understudy.methods.estimation.learned import Learned
from understudy.methods.nist import Nist
from understudy.methods.structure.pairwise import capped_network, noisy_pair_scores
from understudy.methods.structure.scores import total_variation
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.network import Family, Network
from understudy.privacy.curator import Curator
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy_studies.printed_consistency import NoisyTable, agreeing

_SIZE = _SCORES = Fraction(1, 10)
_THETA = 4


@dataclass(kw_only=True, eq=False, repr=False)
class PrintedNist(Nist):
    """PrivBayes of the challenge, step by step as printed; for studies on public rows."""

    def learn(self, curator: Curator) -> Learned:
        """Size, scores of all pairs, network, tables; then cut, rescaled and made to agree."""
        size, scores, tables = curator.budget.split([_SIZE, _SCORES, 1 - _SIZE - _SCORES])
        [count] = curator.measure([()], size)
        rows = max(float(count.total), 1.0)
        # τ = n*/(4σ̃), with the noise that an even share of the tables' budget leaves on a cell.
        noise = math.sqrt(len(curator.domain) / (2 * float(tables.amount)))
        cap = max(math.floor(rows / (_THETA * noise)), 1)
        pairs = noisy_pair_scores(curator, scores, total_variation(), most_cells=cap)
        network = capped_network(pairs, most_cells=cap)
        noisy = curator.measure(measured_sets(network), tables)
        found = agreed([_possible(marginal, rows) for marginal in noisy])
        conditionals = [_conditional(family, found) for family in network]
        return Learned(BayesNet(curator.domain, tuple(conditionals)), round(rows), tuple(noisy))


def measured_sets(network: Network) -> list[Attributes]:
    """One table of the head, whose families hold each other, and one of every other family."""
    sets = [frozenset(family.axes) for family in network]
    return [
        family.axes
        for place, family in enumerate(network)
        if not any(sets[place] < other for other in sets)
    ]


def _possible(marginal: NoisyMarginal, rows: float) -> NoisyTable:
    """Cells below 0 set to 0, and what is left rescaled to the number of rows; axes by name."""
    order = tuple(sorted(marginal.attributes))
    counts = np.maximum(marginal.project(order).counts, 0).astype(np.float64)
    total = counts.sum()
    even = np.full(counts.shape, rows / counts.size)
    return NoisyTable(order, counts * (rows / total) if total else even, marginal.variance)


def agreed(tables: Sequence[NoisyTable]) -> list[NoisyTable]:
    """Tables that agree on all they share, less before more (Algorithm 5), then not negative."""
    sets = [frozenset(table.attributes) for table in tables]
    shared = {a & b for a, b in itertools.combinations(sets, 2)}
    while more := {a & b for a, b in itertools.combinations(shared, 2)} - shared:
        shared |= more
    found = list(tables)
    for names in sorted(shared, key=lambda names: (len(names), sorted(names))):
        found = agreeing(found, sorted(names), updated=False)
    return [
        NoisyTable(table.attributes, np.maximum(table.values, 0), table.variance) for table in found
    ]


def _conditional(family: Family, tables: Sequence[NoisyTable]) -> Conditional:
    """The family's line of the smallest table that holds it, divided by its sums."""
    held = [table for table in tables if set(family.axes) <= set(table.attributes)]
    table = min(held, key=lambda each: each.values.size)
    order = [name for name in table.attributes if name in family.axes]
    values = np.moveaxis(
        table.project(family.axes), [order.index(name) for name in family.axes], range(len(order))
    )
    return Conditional.from_weights(family, values)
