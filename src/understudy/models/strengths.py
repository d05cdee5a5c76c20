"""How strongly each parent and child depend on each other in a model: post-processing, at no cost.

The score of an edge is the total variation distance between the joint distribution of its two ends
and that of independent ends, in the network alone: constraints of the schema change rows and no
table, and are left out of account.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.conditional import Conditional, Probabilities
from understudy.domain import Domain
from understudy.errors import CapacityError
from understudy.infer.calibration import family_distributions
from understudy.model import Model
from understudy.sample import sample_codes
from understudy.sample.forward import configurations
from understudy.table import Codes

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
        return "exact" if self.rows is None else f"estimated from {self.rows:,} sampled rows"


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
    try:
        tables = family_distributions(model.conditionals, model.domain, most_cells=most_cells)
        return Strengths(_scores(model, tables), None)
    except CapacityError:
        return Strengths(_scores(model, _estimated(model, rows, seed)), rows)


def _estimated(model: Model, rows: int, seed: int) -> dict[str, Probabilities]:
    """Families' distributions: parents as they were sampled, children as their tables say.

    Sampled children would add errors that grow with the number of their codes.
    """
    free = replace(model, schema=replace(model.schema, constraints=()))
    codes = sample_codes(free, rows, np.random.default_rng(seed))
    return {c.family.child: _joint(c, codes, model.domain, rows) for c in model.conditionals}


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


def _scores(model: Model, tables: Mapping[str, Probabilities]) -> dict[tuple[str, str], float]:
    scores = {}
    for family in model.network:
        for axis, parent in enumerate(family.parents):
            others = tuple(i for i in range(len(family.parents)) if i != axis)
            scores[parent, family.child] = _distance(tables[family.child].sum(axis=others))
    return scores


def _distance(joint: Probabilities) -> float:
    """Half the sum of |P(a, b) − P(a)·P(b)|."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return min(float(np.abs(joint - independent).sum() / 2), 1.0)
