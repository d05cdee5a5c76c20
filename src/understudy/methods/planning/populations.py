"""Made-up tables of a given shape: what is assumed of rows that nobody has looked at.

A population is a random Bayesian network. Every attribute has a distribution of its own, drawn
from a symmetric Dirichlet law, and up to two parents, for each configuration of which it has a
distribution drawn around its own. How even the first and how loose the second are is what tables
differ in most, so three populations stand for the range between two kinds of table: few values
that make up nearly all rows and columns that are strongly dependent, and values about equally
common in columns that tell little. docs/guides/planning.md says how the three were chosen.
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
