"""How strongly each parent and child depend on each other in a model: post-processing, at no cost.

The score of an edge is the total variation distance between the joint distribution of its two ends
and that of independent ends, in the network alone: constraints of the schema change rows and no
table, and are left out of account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.errors import CapacityError
from understudy.facts.codes import Codes
from understudy.facts.domain import Domain
from understudy.models.conditional import Conditional
from understudy.models.inference.calibration import family_distributions
from understudy.models.network import Network
from understudy.models.sampling import sample_codes
from understudy.models.sampling.forward import configurations
from understudy.system.arrays import Probabilities

if TYPE_CHECKING:
    from understudy.models.bayes_net import BayesNet
    from understudy.models.model import Model

MEASURE = "total variation distance from independence"

# About a second of work; the rest is estimated.
_MOST_CELLS = 2**24
_ROWS = 2**17


@dataclass(frozen=True)
class Strengths:
    """The score of every edge, parent and child.

    Attributes:
        scores: from 0, where the ends are independent, to 1.
        rows: how many sampled rows they were estimated from; None where they are exact.
    """

    scores: Mapping[tuple[str, str], float]
    rows: int | None

    @property
    def basis(self) -> str:
        """How the scores came about, in words."""
        if self.rows is None:
            return "exact in the model, whose tables are noisy"
        return f"estimated from {self.rows:,} sampled rows"


def strengths_of(
    model: Model, *, most_cells: int = _MOST_CELLS, rows: int = _ROWS, seed: int = 0
) -> Strengths:
    """The scores of a model's edges, exact where the network is sparse enough.

    Args:
        model: whose edges.
        most_cells: the work that exact inference may be, in cells.
        rows: how many rows to sample where it would be more.
        seed: makes estimates, and so pictures, repeatable.

    Privacy: post-processing of the model; costs nothing.
    """
    if not model.network.families:
        return Strengths({}, None)
    law = model.distribution.sampling_network()
    try:
        tables = family_distributions(law.conditionals, law.domain, most_cells=most_cells)
        return Strengths(_scores(law.network, tables), None)
    except CapacityError:
        return Strengths(_scores(law.network, _estimated(law, rows, seed)), rows)


def _estimated(law: BayesNet, rows: int, seed: int) -> dict[str, Probabilities]:
    """Families' distributions: parents as they were sampled, children as their tables say.

    Sampled children would add errors that grow with the number of their codes.
    """
    codes = sample_codes(law, rows, np.random.default_rng(seed))
    return {c.family.child: _joint(c, codes, law.domain, rows) for c in law.conditionals}


def _joint(
    conditional: Conditional, codes: Mapping[str, Codes], domain: Domain, rows: int
) -> Probabilities:
    table, parents = conditional.probabilities, conditional.family.axes[:-1]
    if not parents:
        return table
    shape = table.shape[:-1]
    cells = configurations(parents, codes, domain, rows)
    met = np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape) / rows
    return np.asarray(met[..., None] * table)


def _scores(network: Network, tables: Mapping[str, Probabilities]) -> dict[tuple[str, str], float]:
    scores = {}
    for family in network:
        for axis, parent in enumerate(family.parents):
            others = tuple(i for i in range(len(family.parents)) if i != axis)
            scores[parent, family.child] = distance_from_independence(
                tables[family.child].sum(axis=others)
            )
    return scores


def distance_from_independence(joint: Probabilities) -> float:
    """Half the sum of |P(a, b) − P(a)·P(b)|."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return min(float(np.abs(joint - independent).sum() / 2), 1.0)
