"""Made-up tables of a given shape: what is assumed of rows that nobody has looked at.

A population is a random Bayesian network. Every attribute has a distribution of its own, drawn
from a symmetric Dirichlet law, and up to two parents, for each configuration of which it has a
distribution drawn around its own. How even the first and how loose the second are is what tables
differ in most, so three populations stand for the range between two kinds of table: few values
that make up nearly all rows and columns that are strongly dependent, and values about equally
common in columns that hardly depend on each other. docs/guides/planning.md says how the three were
chosen.

By a schema that was learned, rows also belong to one of a few hidden classes, in each of which all
columns are distributed a little differently. In a network of few parents most pairs of columns are
independent; in real tables most pairs depend on each other a little, and what a method cannot
measure of that is its error where columns are many. Declared schemas list values that hardly any
row has, behind which such dependence does not show; learned ones list what many rows have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.facts.domain import Attributes, Domain
from understudy.models.conditional import Conditional
from understudy.models.network import Family
from understudy.system.arrays import Probabilities

# Attributes of one table differ: each has its own parameters, within half a decade of the table's.
_SPREAD = math.sqrt(10)
_MOST_PARENTS = 2
# With more configurations than this a made-up dependence would be mere noise to every learner.
_MOST_CONFIGURATIONS = 64
_MOST_CELLS = 2**18
# Hidden classes, and how far they move the logarithms of chances: this over √looseness. Both were
# chosen by the mean dependence of pairs in Adult, CMC and BR2000 (docs/guides/planning.md).
_CLASSES, _MOVED = 4, 3.0
# The parameter of the Dirichlet law of the classes' shares.
_CLASS_EVENNESS = 3.0


@dataclass(frozen=True)
class Character:
    """The kind of table that is assumed.

    Attributes:
        name: in words.
        evenness: the parameter of the Dirichlet law of an attribute's own distribution; at 1 all
            distributions are equally likely, below it most rows share few values.
        looseness: how many rows a configuration's distribution is worth of the attribute's own; the
            fewer, the stronger the dependence.
    """

    name: str
    evenness: float
    looseness: float


LADDER = (
    Character("uneven columns that are strongly dependent", 0.3, 6),
    Character("columns in between", 1, 20),
    Character("even columns that are weakly dependent", 3, 60),
)


def imagine(domain: Domain, character: Character, *, seed: int) -> tuple[Conditional, ...]:
    """A random population of a character, as conditionals in topological order."""
    generator = np.random.default_rng(seed)
    order: list[str] = generator.permutation(np.array(domain.attributes, object)).tolist()
    return tuple(
        _conditional(
            Family(child, _parents(domain, child, order[:place], generator)),
            domain,
            character,
            generator,
        )
        for place, child in enumerate(order)
    )


def in_classes(
    network: Sequence[Conditional], character: Character, *, seed: int
) -> tuple[tuple[Conditional, ...], ...]:
    """A network of each hidden class: the given one, with the chances of all values moved."""
    generator = np.random.default_rng([seed, _CLASSES])
    strengths = [
        _MOVED / math.sqrt(character.looseness) * _SPREAD ** generator.uniform(-1, 1)
        for _ in network
    ]
    return tuple(
        tuple(
            _moved(conditional, strength, generator)
            for conditional, strength in zip(network, strengths, strict=True)
        )
        for _ in range(_CLASSES)
    )


def class_rows(rows: int, *, seed: int) -> tuple[int, ...]:
    """How many of some rows belong to each hidden class."""
    generator = np.random.default_rng([seed, _CLASSES, rows])
    shares = generator.dirichlet(np.full(_CLASSES, _CLASS_EVENNESS))
    return tuple(generator.multinomial(rows, shares).tolist())


def _moved(
    conditional: Conditional, strength: float, generator: np.random.Generator
) -> Conditional:
    """The chances of a child's values, each times a factor that its parents do not change."""
    factors = np.exp(strength * generator.standard_normal(conditional.probabilities.shape[-1]))
    weights = conditional.probabilities * factors
    return Conditional(conditional.family, weights / weights.sum(axis=-1, keepdims=True))


def _parents(
    domain: Domain, child: str, placed: Sequence[str], generator: np.random.Generator
) -> Attributes:
    """Up to two attributes drawn from those placed, left out where tables would be too large."""
    most = min(_MOST_CONFIGURATIONS, _MOST_CELLS // domain[child])
    wanted = min(len(placed), _MOST_PARENTS)
    parents: Attributes = ()
    for number in generator.choice(len(placed), wanted, replace=False) if wanted else ():
        wider = (*parents, placed[number])
        parents = wider if domain.cells(wider) <= most else parents
    return parents


def _conditional(
    family: Family, domain: Domain, character: Character, generator: np.random.Generator
) -> Conditional:
    evenness, looseness = (
        centre * _SPREAD ** generator.uniform(-1, 1)
        for centre in (character.evenness, character.looseness)
    )
    own: Probabilities = generator.dirichlet(np.full(domain[family.child], evenness))
    if not family.parents:
        return Conditional(family, own)
    # Normalised gamma variables are Dirichlet; small ones may all come out as nothing.
    weights = generator.standard_gamma(looseness * own, domain.shape(family.attributes))
    return Conditional.from_weights(family, weights, fallback=own)
