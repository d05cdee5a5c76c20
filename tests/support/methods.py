"""Every synthesizer in the settings it offers: who sits the exam.

Learners, noise, relations and bounds on tables are combined so that every two of them meet.
"""

from __future__ import annotations

from collections.abc import Callable

from support.torches import adversarial, by_noise_layer
from understudy.facts.protection import Protection
from understudy.facts.schema import Schema
from understudy.methods import (
    AdaptiveMarginals,
    Histogram,
    Independent,
    Nist,
    PrivBayes,
    Random,
    Synthesizer,
    registry,
)
from understudy.methods.structure.genetic import GeneticSearch
from understudy.methods.structure.restrict import Restrictions

Builder = Callable[[Schema], Synthesizer]

# Enough generations to have descendants, few enough for hundreds of fits.
QUICK = GeneticSearch(generations=20, population=20, selected=4)


def protecting(schema: Schema) -> Restrictions:
    """The first attribute as target, and the last that no constraint ties to others protected."""
    first, *others = schema.attributes
    tied = {name for constraint in schema.constraints for name in constraint.sizes}
    free = [name for name in others if name not in tied]
    return Restrictions(protection=Protection(first, dict.fromkeys(free[-1:])))


BUILDERS: dict[str, Builder] = {
    "random": lambda schema: Random(schema, epsilon=1),
    "random approximate": lambda schema: Random(schema, epsilon=1, delta=1e-6),
    "random replace": lambda schema: Random(schema, epsilon=1, neighbours="replace"),
    "random declared": lambda schema: Random(schema, epsilon=1, rows=50),
    "independent": lambda schema: Independent(schema, epsilon=1),
    "independent approximate": lambda schema: Independent(schema, epsilon=1, delta=1e-6),
    "independent replace": lambda schema: Independent(schema, epsilon=1, neighbours="replace"),
    "independent approximate replace": lambda schema: Independent(
        schema, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "privbayes greedy replace": lambda schema: PrivBayes(schema, epsilon=1, neighbours="replace"),
    "privbayes greedy": lambda schema: PrivBayes(schema, epsilon=1, theta=4, degree=2),
    "privbayes pairwise": lambda schema: PrivBayes(schema, epsilon=1, structure="pairwise"),
    "privbayes pairwise capped replace": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="replace", structure="pairwise", theta=4
    ),
    "privbayes tree replace": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="replace", structure="tree"
    ),
    "privbayes information replace": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="replace", score="MI"
    ),
    "privbayes shares": lambda schema: PrivBayes(
        schema, epsilon=1, size_share="0.1", one_way_share="0.2", structure_share="0.4"
    ),
    "nist shares": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, neighbours="replace", structure_share="0.3"
    ),
    "nist pairwise": lambda schema: Nist(schema, epsilon=1, delta=1e-6),
    "nist pairwise capped": lambda schema: Nist(schema, epsilon=1, delta=1e-6, theta=0.1),
    "nist pairwise replace": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "nist greedy": lambda schema: Nist(schema, epsilon=1, delta=1e-6, structure="greedy", rows=60),
    "nist greedy capped replace": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, structure="greedy", theta=0.1, neighbours="replace"
    ),
    "nist tree": lambda schema: Nist(schema, epsilon=1, delta=1e-6, structure="tree"),
    "privbayes genetic replace": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="replace", structure="genetic", search=QUICK
    ),
    "nist genetic": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, structure="genetic", search=QUICK, degree=2
    ),
    "nist genetic protected": lambda schema: Nist(
        schema,
        epsilon=1,
        delta=1e-6,
        structure="genetic",
        search=QUICK,
        restrictions=protecting(schema),
    ),
    "privbayes greedy protected": lambda schema: PrivBayes(
        schema, epsilon=1, restrictions=protecting(schema)
    ),
    "nist pairwise protected replace": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, neighbours="replace", restrictions=protecting(schema)
    ),
    "privbayes tree protected replace": lambda schema: PrivBayes(
        schema,
        epsilon=1,
        neighbours="replace",
        structure="tree",
        restrictions=protecting(schema),
    ),
    "adaptive": lambda schema: AdaptiveMarginals(schema, epsilon=1, delta=1e-6),
    "adaptive replace": lambda schema: AdaptiveMarginals(
        schema, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "adaptive declared": lambda schema: AdaptiveMarginals(schema, epsilon=1, delta=1e-6, rows=60),
    "adaptive pure": lambda schema: AdaptiveMarginals(schema, epsilon=1),
    "adaptive pure replace": lambda schema: AdaptiveMarginals(
        schema, epsilon=1, neighbours="replace"
    ),
    "adaptive protected": lambda schema: AdaptiveMarginals(
        schema, epsilon=1, delta=1e-6, restrictions=protecting(schema)
    ),
    "adaptive pure target replace": lambda schema: AdaptiveMarginals(
        schema, epsilon=1, neighbours="replace", target=list(schema.learned)[-1]
    ),
    "histogram replace": lambda schema: Histogram(schema, epsilon=1, rows=500),
    "dpgan": lambda schema: adversarial(schema, epsilon=1, delta=1e-6),
    "dpgan target": lambda schema: adversarial(
        schema, epsilon=1, delta=1e-6, target=list(schema.learned)[-1]
    ),
    "dpgan started": lambda schema: adversarial(schema, lessons=3, epsilon=1, delta=1e-6),
    "dpgan started target": lambda schema: adversarial(
        schema, lessons=3, epsilon=1, delta=1e-6, rows=60, target=list(schema.learned)[-1]
    ),
    "noise-gan replace": lambda schema: by_noise_layer(schema, epsilon=1, delta=1e-6),
    "noise-gan target replace": lambda schema: by_noise_layer(
        schema, epsilon=1, delta=1e-6, target=next(iter(schema.learned))
    ),
    "dpgan declared": lambda schema: adversarial(schema, epsilon=1, delta=1e-6, rows=60),
}

# Of every family of methods, learner, relation and measure one, for tests before each commit.
EVERYDAY = (
    *("random", "independent approximate replace", "privbayes greedy replace", "nist pairwise"),
    *("privbayes tree protected replace", "nist genetic", "histogram replace", "noise-gan replace"),
    *("adaptive", "adaptive pure replace"),
)


def _added(name: str, neighbours: str) -> Builder:
    """A method of another distribution, in the settings that its abilities allow."""
    kind = registry.method(name)
    delta = "0" if kind.abilities.pure else "1e-6"
    return lambda schema: kind(schema, epsilon=1, delta=delta, neighbours=neighbours)


# Methods of other distributions sit the exam where they are installed, under each relation.
for _name in registry.names()[len(registry.BUILT_IN) :]:
    for _relation in registry.method(_name).relations():
        BUILDERS[f"{_name} {_relation}"] = _added(_name, str(_relation))

# Methods whose models have probabilities; others hold rows that were released, or a generator.
WITH_PROBABILITIES = [
    name for name in BUILDERS if registry.abilities(name.partition(" ")[0]).has_probabilities
]
# Of those, the methods whose law of rows is the product of conditionals, and nothing else.
WITH_CONDITIONALS = [name for name in WITH_PROBABILITIES if not name.startswith("adaptive")]

# The same methods with the budget left open, for extreme amounts.
WITH_BUDGET: dict[str, Callable[[Schema, str, str], Synthesizer]] = {
    "random": lambda schema, epsilon, delta: Random(schema, epsilon=epsilon, delta=delta),
    "independent": lambda schema, epsilon, delta: Independent(schema, epsilon=epsilon, delta=delta),
    "networks": lambda schema, epsilon, delta: (
        PrivBayes(schema, epsilon=epsilon)
        if delta == "0"
        else Nist(schema, epsilon=epsilon, delta=delta)
    ),
    "adaptive": lambda schema, epsilon, delta: AdaptiveMarginals(
        schema, epsilon=epsilon, delta=delta
    ),
    "histogram": lambda schema, epsilon, _: Histogram(schema, epsilon=epsilon, rows=10),
    "dpgan": lambda schema, epsilon, delta: adversarial(
        schema, epsilon=epsilon, delta=delta if delta != "0" else "1e-6", rows=300
    ),
}

__all__ = [
    "BUILDERS",
    "EVERYDAY",
    "QUICK",
    "WITH_BUDGET",
    "WITH_CONDITIONALS",
    "WITH_PROBABILITIES",
    "Builder",
]
