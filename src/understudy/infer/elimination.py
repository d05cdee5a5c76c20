"""Variable elimination: attributes are summed out one after the other, cheapest first.

Source: Koller and Friedman 2009, Probabilistic Graphical Models, chapters 9 and 13. The order is
found before anything is multiplied, so that a network too dense for it is refused with its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from understudy.conditional import Conditional, Probabilities
from understudy.domain import Attributes, Domain
from understudy.engines.capacity import available_bytes
from understudy.errors import CapacityError, UsageError

# For every attribute of which something is known, how well each of its codes fits: 0 to 1.
Evidence = Mapping[str, Probabilities]

_IMPOSSIBLE = "the evidence has probability 0 in this model; loosen one of the conditions"
_BYTES_PER_CELL = 8
# A product, what it is made of, and its sum stand in memory together.
_COPIES = 4


class ImpossibleEvidence(UsageError):
    """No row of the model fits what is said to be known."""


@dataclass(frozen=True)
class Factor:
    """A function of some attributes' codes, one axis for each."""

    attributes: Attributes
    values: Probabilities

    def over(self, attributes: Attributes) -> Probabilities:
        """The values with axes in this order, of length one where the factor knows nothing."""
        present = [attribute for attribute in attributes if attribute in self.attributes]
        turned = self.values.transpose([self.attributes.index(a) for a in present])
        sizes = dict(zip(present, turned.shape, strict=True))
        return turned.reshape([sizes.get(attribute, 1) for attribute in attributes])


def posterior(
    conditionals: Sequence[Conditional],
    targets: Attributes,
    evidence: Evidence,
    domain: Domain | None = None,
) -> tuple[Probabilities, float]:
    """The joint distribution of some attributes given evidence, and the evidence's probability.

    Args:
        conditionals: of a network, parents before children.
        targets: what is asked about, an axis each; none asks for the evidence alone.
        evidence: what is known.
        domain: knows the coarser copies of attributes, where conditionals have any.
    """
    factors = _relevant(conditionals, targets, evidence, domain)
    joint = _eliminated(factors, targets)
    chance = float(joint.sum())
    if chance <= 0:
        raise ImpossibleEvidence(_IMPOSSIBLE)
    return joint / chance, chance


def most_probable(
    conditionals: Sequence[Conditional], evidence: Evidence, domain: Domain | None = None
) -> tuple[dict[str, int], float]:
    """The codes of the most probable row that fits the evidence, and its probability."""
    every = tuple(conditional.family.child for conditional in conditionals)
    factors = _relevant(conditionals, every, evidence, domain)
    steps: list[tuple[str, Attributes, npt.NDArray[np.int64]]] = []
    for attribute in _order(factors, ()):
        bucket, factors = _bucket(factors, attribute)
        rest = _attributes_of(bucket, without=attribute)
        product = _product(bucket, (*rest, attribute))
        steps.append((attribute, rest, product.argmax(axis=-1)))
        factors.append(Factor(rest, product.max(axis=-1)))
    chance = math.prod(float(factor.values) for factor in factors)
    if chance <= 0:
        raise ImpossibleEvidence(_IMPOSSIBLE)
    row: dict[str, int] = {}
    for attribute, rest, best in reversed(steps):
        row[attribute] = int(best[tuple(row[other] for other in rest)])
    return {attribute: row[attribute] for attribute in every}, chance


def _relevant(
    conditionals: Sequence[Conditional],
    targets: Attributes,
    evidence: Evidence,
    domain: Domain | None,
) -> list[Factor]:
    """The conditionals of targets, evidence and all their ancestors; others sum to one.

    A coarser copy is an attribute of its own here, tied to the one it is a copy of.
    """
    needed, used = {*targets, *evidence}, []
    for conditional in reversed(conditionals):
        if conditional.family.child in needed:
            needed.update(conditional.family.parents)
            used.append(conditional)
    known = [Factor((attribute,), weights) for attribute, weights in evidence.items()]
    return [
        *known,
        *(Factor(c.family.axes, c.probabilities) for c in used),
        *(_ties(used, domain) if domain else ()),
    ]


def _ties(conditionals: Sequence[Conditional], domain: Domain) -> Iterator[Factor]:
    """What ties coarser copies to their attributes: which codes are in a group, and their shares.

    Shares belong to the family of the attribute itself; elsewhere a copy only follows from it.
    """
    shares = {c.family.axes[-1]: c.within for c in conditionals if c.within is not None}
    for name in dict.fromkeys(name for c in conditionals for name in c.family.copies):
        if name in domain.coarser:
            level = domain.coarser[name]
            belongs = np.eye(level.size)[:, level.groups]
            yield Factor((name, level.of), belongs * shares.get(name, 1.0))


def _eliminated(factors: list[Factor], kept: Attributes) -> Probabilities:
    """The product of all factors, summed over all attributes but the kept ones."""
    for attribute in _order(factors, kept):
        bucket, factors = _bucket(factors, attribute)
        rest = _attributes_of(bucket, without=attribute)
        factors.append(Factor(rest, _product(bucket, (*rest, attribute)).sum(axis=-1)))
    return _product(factors, kept)


def _bucket(factors: list[Factor], attribute: str) -> tuple[list[Factor], list[Factor]]:
    """The factors that know an attribute, and the others."""
    inside = [factor for factor in factors if attribute in factor.attributes]
    return inside, [factor for factor in factors if attribute not in factor.attributes]


def _attributes_of(factors: Iterable[Factor], *, without: str) -> Attributes:
    every = dict.fromkeys(a for factor in factors for a in factor.attributes)
    return tuple(attribute for attribute in every if attribute != without)


def _product(factors: Iterable[Factor], attributes: Attributes) -> Probabilities:
    ones = np.ones([1] * len(attributes))
    return reduce(np.multiply, (factor.over(attributes) for factor in factors), ones)


def _order(factors: Sequence[Factor], kept: Attributes) -> list[str]:
    """Attributes to eliminate, each time the one whose product is smallest; too much is refused."""
    sizes = {a: n for f in factors for a, n in zip(f.attributes, f.values.shape, strict=True)}
    scopes = [frozenset(factor.attributes) for factor in factors]
    left, order = sizes.keys() - set(kept), []
    largest = math.prod(sizes[attribute] for attribute in kept)
    while left:
        costs = {a: _cells(_joined(scopes, a), sizes) for a in left}
        attribute = min(sorted(left), key=costs.__getitem__)
        largest = max(largest, costs[attribute])
        joined = _joined(scopes, attribute)
        scopes = [*(s for s in scopes if attribute not in s), joined - {attribute}]
        left = left - {attribute}
        order.append(attribute)
    _ensure_fits(largest)
    return order


def _joined(scopes: Iterable[frozenset[str]], attribute: str) -> frozenset[str]:
    return frozenset().union(*(scope for scope in scopes if attribute in scope))


def _cells(scope: Iterable[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[attribute] for attribute in scope)


def _ensure_fits(cells: int) -> None:
    needed, room = cells * _BYTES_PER_CELL * _COPIES, available_bytes()
    if needed > room:
        raise CapacityError(
            f"exact inference needs a table of {cells:,} cells, {needed / 2**30:,.1f} GiB, and "
            f"{room / 2**30:,.1f} GiB is free; the network is too dense, ask by samples instead"
        )
