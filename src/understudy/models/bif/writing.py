"""A network with its probabilities as BIF text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from understudy.models.bif.names import LABELS, ORIGINAL, words_for, written
from understudy.models.conditional import Conditional

_NETWORK, _MISSING = "understudy", "missing"


def bif_lines(
    conditionals: Sequence[Conditional], labels: Mapping[str, Sequence[object]]
) -> Iterator[str]:
    """The lines of a BIF file, probabilities in as many digits as they have.

    Args:
        conditionals: of a whole network, parents before children.
        labels: what each attribute's codes are called; None where cells are missing.
    """
    names = [conditional.family.child for conditional in conditionals]
    words = dict(zip(names, words_for(names), strict=True))
    states = {name: words_for([_spelled(label) for label in labels[name]]) for name in names}
    yield f"network {_NETWORK} {{\n}}\n"
    for name in names:
        yield from _variable(name, words[name], labels[name], states[name])
    for conditional in conditionals:
        yield from _probability(conditional, words, states)


def _spelled(label: object) -> str:
    return _MISSING if label is None else str(label)


def _variable(
    name: str, word: str, labels: Sequence[object], states: Sequence[str]
) -> Iterator[str]:
    yield f"variable {word} {{\n"
    yield f"  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
    if word != name:
        yield f"  property {ORIGINAL} = {written(name)} ;\n"
    if [*states] != [*labels]:
        yield f"  property {LABELS} = {written([*labels])} ;\n"
    yield "}\n"


def _probability(
    conditional: Conditional, words: Mapping[str, str], states: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    family, table = conditional.family, conditional.probabilities
    given = f" | {', '.join(words[parent] for parent in family.parents)}" if family.parents else ""
    yield f"probability ( {words[family.child]}{given} ) {{\n"
    # Of no parents there is one combination, the empty one.
    combinations = itertools.product(*(states[parent] for parent in family.parents))
    rows = table.reshape(-1, table.shape[-1]).tolist()
    for combination, row in zip(combinations, rows, strict=True):
        head = f"({', '.join(combination)})" if combination else "table"
        yield f"  {head} {', '.join(map(repr, row))};\n"
    yield "}\n"
