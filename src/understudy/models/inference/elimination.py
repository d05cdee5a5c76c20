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

from understudy.errors import CapacityError, UsageError
from understudy.facts.axes import Axes
from understudy.facts.capacity import available_bytes
from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.network import Family
from understudy.system.arrays import Probabilities

# For every attribute of which something is known, how well each of its codes fits: 0 to 1.
Evidence = Mapping[str, Probabilities]

_BYTES_PER_CELL = 8
# A product, what it is made of, and its sum stand in memory together.
_COPIES = 4
# The lines of a table are numbered in 32 bits.
_MOST_CELLS = 2**32


class ImpossibleEvidence(UsageError):
    """No row of the model fits what is said to be known."""

    def __init__(self) -> None:
        super().__init__(
            "the evidence has probability 0 in this model; loosen one of the conditions"
        )


@dataclass(frozen=True)
class Factor:
    """A function of some attributes' codes, one axis for each."""

    attributes: Attributes
    values: Probabilities

    def over(self, attributes: Attributes) -> Probabilities:
        """The values with axes in this order, of length one where the factor knows nothing."""
        return Axes(self.attributes).broadcast(self.values, attributes)

    def project(self, attributes: Attributes, /) -> Probabilities:
        """The sums over all other attributes, an axis for each of these in order."""
        return Axes(self.attributes).project(self.values, attributes)


def factor_of(conditional: Conditional) -> Factor:
    """A conditional as a function of its family's codes, or of the groups they are in."""
    return Factor(conditional.family.axes, conditional.probabilities)


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
    joint, logarithm = joint_of(_relevant(conditionals, targets, evidence, domain), targets)
    return joint, math.exp(logarithm)


def joint_of(
    factors: list[Factor], targets: Attributes, *, most_cells: int | None = None
) -> tuple[Probabilities, float]:
    """The joint distribution of some attributes by a product of factors, and its logarithm.

    Args:
        factors: what is multiplied.
        targets: what is kept, an axis each.
        most_cells: how many cells the largest product may have; as many as fit unless given.

    Returns:
        Shares that add up to one, and the logarithm of the sum of the whole product.
    """
    order, tables = _order(factors, targets)
    _ensure_fits([max(tables)], "ask by samples instead", most_cells or _MOST_CELLS)
    logarithm = 0.0
    for attribute in order:
        bucket, factors = bucket_of(factors, attribute)
        rest = attributes_of(bucket, without=attribute)
        summed, scale = _summed(rest, product_of(bucket, (*rest, attribute)))
        factors.append(summed)
        logarithm += scale
    joint = product_of(factors, targets)
    total = float(joint.sum())
    if total <= 0:
        raise ImpossibleEvidence()
    return joint / total, math.log(total) + logarithm


def conditioned(
    conditionals: Sequence[Conditional], evidence: Evidence, domain: Domain | None = None
) -> tuple[tuple[Conditional, ...], float]:
    """A network of the same attributes whose rows fit the evidence, and its probability.

    What an attribute is multiplied by when it is eliminated is, line by line, its distribution
    given the attributes that are eliminated later. In the reverse of that order these conditionals
    are a network, whose law is exactly that of the given one under the evidence. Attributes that
    are not ancestors of the evidence keep their conditionals.

    Source: Koller and Friedman 2009, sections 9.3 and 12.1.
    """
    way_out = "draw by rejection or weighting instead"
    used = _ancestors(conditionals, evidence)
    if domain:
        _ensure_fits([domain.cells(c.family.attributes) for c in used], way_out)
        used = [conditional.uncoarsened(domain) for conditional in used]
    factors = [*_known(evidence), *map(factor_of, used)]
    order, tables = _order(factors, ())
    _ensure_fits(tables, way_out)
    found: list[Conditional] = []
    logarithm = 0.0
    for attribute in order:
        bucket, factors = bucket_of(factors, attribute)
        rest = attributes_of(bucket, without=attribute)
        product = product_of(bucket, (*rest, attribute))
        found.append(Conditional.from_weights(Family(attribute, rest), product))
        summed, scale = _summed(rest, product)
        factors.append(summed)
        logarithm += scale
    others = [conditional for conditional in conditionals if conditional.family.child not in order]
    return (*reversed(found), *others), math.exp(logarithm)


def most_probable(
    conditionals: Sequence[Conditional], evidence: Evidence, domain: Domain | None = None
) -> tuple[dict[str, int], float]:
    """The codes of the most probable row that fits the evidence, and its probability."""
    every = tuple(conditional.family.child for conditional in conditionals)
    row, logarithm = best_of(_relevant(conditionals, every, evidence, domain), every)
    return row, math.exp(logarithm)


def best_of(factors: list[Factor], every: Attributes) -> tuple[dict[str, int], float]:
    """The codes at which a product of factors is largest, and the logarithm of that value."""
    steps: list[tuple[str, Attributes, npt.NDArray[np.int64]]] = []
    order, tables = _order(factors, ())
    _ensure_fits(tables, "ask by samples instead")
    for attribute in order:
        bucket, factors = bucket_of(factors, attribute)
        rest = attributes_of(bucket, without=attribute)
        product = product_of(bucket, (*rest, attribute))
        steps.append((attribute, rest, product.argmax(axis=-1)))
        factors.append(Factor(rest, product.max(axis=-1)))
    chances = [float(factor.values) for factor in factors]
    if min(chances, default=1.0) <= 0:
        raise ImpossibleEvidence()
    row: dict[str, int] = {}
    for attribute, rest, best in reversed(steps):
        row[attribute] = int(best[tuple(row[other] for other in rest)])
    return {attribute: row[attribute] for attribute in every}, sum(map(math.log, chances))


def _relevant(
    conditionals: Sequence[Conditional],
    targets: Attributes,
    evidence: Evidence,
    domain: Domain | None,
) -> list[Factor]:
    """The conditionals of targets, evidence and all their ancestors; others sum to one.

    A coarser copy is an attribute of its own here, tied to the one it is a copy of.
    """
    used = _ancestors(conditionals, {*targets, *evidence})
    ties = ties_of(used, domain) if domain else ()
    return [*_known(evidence), *map(factor_of, used), *ties]


def _known(evidence: Evidence) -> list[Factor]:
    return [Factor((attribute,), weights) for attribute, weights in evidence.items()]


def _ancestors(conditionals: Sequence[Conditional], attributes: Iterable[str]) -> list[Conditional]:
    """The conditionals of some attributes and all their ancestors, children first."""
    needed, used = {*attributes}, []
    for conditional in reversed(conditionals):
        if conditional.family.child in needed:
            needed.update(conditional.family.parents)
            used.append(conditional)
    return used


def ties_of(conditionals: Sequence[Conditional], domain: Domain) -> Iterator[Factor]:
    """Yield the factors that tie coarser copies to attributes: codes of a group, and their shares.

    Shares belong to the family of the attribute itself; elsewhere a copy only follows from it.
    """
    shares = {c.family.axes[-1]: c.within for c in conditionals if c.within is not None}
    for name in dict.fromkeys(name for c in conditionals for name in c.family.copies):
        if name in domain.coarser:
            tie = membership(domain, name)
            yield Factor(tie.attributes, tie.values * shares.get(name, 1.0))


def membership(domain: Domain, name: str) -> Factor:
    """Which codes of an attribute are in which group of a coarser copy."""
    level = domain.coarser[name]
    return Factor((name, level.of), np.eye(level.size)[:, level.groups])


def _summed(rest: Attributes, product: Probabilities) -> tuple[Factor, float]:
    """A product without its last attribute, its largest value one, and the logarithm of that.

    What is known of many attributes may be less probable than the least number that floats have.
    """
    values = product.sum(axis=-1)
    largest = float(values.max())
    if largest <= 0:
        raise ImpossibleEvidence()
    return Factor(rest, values / largest), math.log(largest)


def bucket_of(factors: list[Factor], attribute: str) -> tuple[list[Factor], list[Factor]]:
    """The factors that know an attribute, and the others."""
    inside = [factor for factor in factors if attribute in factor.attributes]
    return inside, [factor for factor in factors if attribute not in factor.attributes]


def attributes_of(factors: Iterable[Factor], *, without: str) -> Attributes:
    """All attributes of some factors but one."""
    every = dict.fromkeys(a for factor in factors for a in factor.attributes)
    return tuple(attribute for attribute in every if attribute != without)


def product_of(factors: Iterable[Factor], attributes: Attributes) -> Probabilities:
    """The product of some factors, an axis for each attribute."""
    ones = np.ones([1] * len(attributes))
    return reduce(np.multiply, (factor.over(attributes) for factor in factors), ones)


def elimination_steps(factors: Sequence[Factor], kept: Attributes) -> dict[str, int]:
    """Attributes to eliminate, each time the one whose product is smallest, and its cells."""
    sizes, steps = _sizes(factors), dict[str, int]()
    scopes = [frozenset(factor.attributes) for factor in factors]
    left = sizes.keys() - set(kept)
    while left:
        costs = {a: _cells(_joined(scopes, a), sizes) for a in left}
        attribute = min(sorted(left), key=costs.__getitem__)
        steps[attribute] = costs[attribute]
        joined = _joined(scopes, attribute)
        scopes = [*(s for s in scopes if attribute not in s), joined - {attribute}]
        left = left - {attribute}
    return steps


def _order(factors: Sequence[Factor], kept: Attributes) -> tuple[list[str], list[int]]:
    """Attributes to eliminate, and the cells of all products: the last is that of the kept."""
    steps = elimination_steps(factors, kept)
    return [*steps], [*steps.values(), _cells(kept, _sizes(factors))]


def _sizes(factors: Sequence[Factor]) -> dict[str, int]:
    return {a: n for f in factors for a, n in zip(f.attributes, f.values.shape, strict=True)}


def _joined(scopes: Iterable[frozenset[str]], attribute: str) -> frozenset[str]:
    return frozenset().union(*(scope for scope in scopes if attribute in scope))


def _cells(scope: Iterable[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[attribute] for attribute in scope)


def _ensure_fits(tables: Sequence[int], way_out: str, most_cells: int = _MOST_CELLS) -> None:
    """Refuse tables that, kept together, exceed the free memory or the largest number of cells."""
    largest, room = max(tables), available_bytes()
    needed = _BYTES_PER_CELL * (largest * (_COPIES - 1) + sum(tables))
    if needed > room or largest > most_cells:
        raise CapacityError(
            f"exact inference needs a table of {largest:,} cells, {needed / 2**30:,.1f} GiB, and "
            f"{room / 2**30:,.1f} GiB is free; the network is too dense, {way_out}"
        )
