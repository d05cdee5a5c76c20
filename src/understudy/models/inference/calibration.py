"""The joint distribution of every family at once, by elimination down and back up.

Source: Koller and Friedman 2009, Probabilistic Graphical Models, chapter 10: the products that
elimination makes are the cliques of a tree; messages sent back calibrate them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.errors import CapacityError
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.inference.elimination import (
    Factor,
    attributes_of,
    bucket_of,
    elimination_steps,
    factor_of,
    product_of,
    ties_of,
)
from understudy.system.arrays import Probabilities


@dataclass(frozen=True)
class _Clique:
    """The product that eliminated an attribute, its last axis, and the message that left."""

    rest: Attributes
    attribute: str
    product: Probabilities
    message: Probabilities


def family_distributions(
    conditionals: Sequence[Conditional], domain: Domain, *, most_cells: int
) -> dict[str, Probabilities]:
    """The joint distribution of each child with its parents, axes as in the family's table.

    Args:
        conditionals: of a whole network.
        domain: knows the coarser copies of attributes.
        most_cells: how many cells all products together may have; more is refused.
    """
    factors = [*map(factor_of, conditionals), *ties_of(conditionals, domain)]
    steps = elimination_steps(factors, ())
    needed = sum(steps.values())
    if needed > most_cells:
        raise CapacityError(
            f"exact scores need {needed:,} cells, and {most_cells:,} are allowed; "
            "the network is too dense, estimate from rows instead"
        )
    place = {attribute: number for number, attribute in enumerate(steps)}
    beliefs = _calibrated(_cliques(factors, [*steps]), place)
    return {
        c.family.child: beliefs[min(place[a] for a in c.family.axes)].project(c.family.axes)
        for c in conditionals
    }


def _cliques(factors: list[Factor], order: Sequence[str]) -> list[_Clique]:
    cliques = []
    for attribute in order:
        bucket, factors = bucket_of(factors, attribute)
        rest = attributes_of(bucket, without=attribute)
        product = product_of(bucket, (*rest, attribute))
        message = product.sum(axis=-1)
        cliques.append(_Clique(rest, attribute, product, message))
        factors.append(Factor(rest, message))
    return cliques


def _calibrated(cliques: Sequence[_Clique], place: dict[str, int]) -> dict[int, Factor]:
    """The joint distribution of every clique, the last one first."""
    beliefs: dict[int, Factor] = {}
    for clique in reversed(cliques):
        values = clique.product
        if clique.rest:
            receiver = beliefs[min(place[attribute] for attribute in clique.rest)]
            known, sent = receiver.project(clique.rest), clique.message
            ratio = np.divide(known, sent, out=np.zeros_like(sent), where=sent > 0)
            values = values * ratio[..., None]
        scope = (*clique.rest, clique.attribute)
        beliefs[place[clique.attribute]] = Factor(scope, values)
    return beliefs
