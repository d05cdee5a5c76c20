"""Which partly drawn rows can be completed so that every constraint holds.

What constraints still ask of a row once some of its attributes are drawn is a set of nogoods over
the others: those that a drawn code rules out are gone, from the rest the attribute is gone. Rows
with the same set left are alike for all that follows. A set can be kept if one code can be drawn
after the other without ever completing a nogood: a search that divides what is independent and
remembers its answers. Codes in the same nogoods are alike, so that classes of codes are tried.

Source: nogoods and the residual problem as in Dechter 2003, Constraint Processing, chapters 4 to 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce

from understudy.errors import CapacityError, SchemaError
from understudy.facts.constraints.constraint import Constraint, Nogood
from understudy.facts.constraints.meaning import CodeSet, all_codes

Nogoods = frozenset[Nogood]

# How many different sets may be looked at before the search is given up.
_MOST_SETS = 2**16
# How many groups of constraints are taken away in turn to find out which ones clash.
_GROUPS = 32


class Completions:
    """The rows that a set of constraints allows, whatever the order of the attributes.

    It remembers what it has found, and is otherwise without a state.
    """

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        self._sizes = {n: size for c in constraints for n, size in c.sizes.items()}
        self.nogoods: Nogoods = frozenset(n for c in constraints for n in c.nogoods)
        self.parts = parts_of(self.nogoods - {()})
        self._classes: dict[str, tuple[CodeSet, ...]] = {}
        self._possible: dict[Nogoods, bool] = {}
        self._steps: dict[tuple[Nogoods, str], tuple[Nogoods | None, ...]] = {}

    def classes(self, attribute: str) -> tuple[CodeSet, ...]:
        """The codes of an attribute in classes that no constraint tells apart."""
        if attribute not in self._classes:
            told = {c for nogood in self.nogoods for a, c in nogood if a == attribute}
            every = (all_codes(self._sizes[attribute]),)
            self._classes[attribute] = reduce(_divided, sorted(told), every)
        return self._classes[attribute]

    def steps(self, left: Nogoods, attribute: str) -> tuple[Nogoods | None, ...]:
        """Return the nogoods left after each class of an attribute; None where no row fits."""
        key = (left, attribute)
        if key not in self._steps:
            after = [residual(left, attribute, codes) for codes in self.classes(attribute)]
            self._steps[key] = tuple(
                None if a is None or not self.possible(a) else a for a in after
            )
        return self._steps[key]

    def possible(self, left: Nogoods) -> bool:
        """Whether the rest of a row can be drawn so that none of these nogoods is met."""
        try:
            return self._is_possible(left)
        except RecursionError:
            raise self._too_wide(left) from None

    def _is_possible(self, left: Nogoods) -> bool:
        if () in left:
            return False
        for part in parts_of(left):
            if part not in self._possible:
                if len(self._possible) >= _MOST_SETS:
                    raise self._too_wide(part)
                self._possible[part] = self._can_be_kept(part)
            if not self._possible[part]:
                return False
        return True

    def _can_be_kept(self, part: Nogoods) -> bool:
        """Whether any class of the attribute to branch on leaves a set that can be kept."""
        attribute = _most_pressing(part)
        after = [residual(part, attribute, codes) for codes in self.classes(attribute)]
        # Those that leave the least are tried first: most often the first one does.
        for left in sorted((a for a in after if a is not None), key=len):
            if self._is_possible(left):
                return True
        return False

    def _too_wide(self, left: Nogoods) -> CapacityError:
        told = attributes_of(left)
        whole = (attributes_of(part) for part in self.parts)
        names = ", ".join(sorted(next(part for part in whole if part & told)))
        return CapacityError(
            f"the constraints on {names} depend on each other in more than {_MOST_SETS:,} ways; "
            "declare fewer, or make them speak of fewer columns together"
        )


def check_satisfiable(constraints: Sequence[Constraint]) -> None:
    """Refuse constraints that no row satisfies together, naming those that clash.

    Raises:
        SchemaError: naming a least set of them that contradict each other, or of many nearly so.
        CapacityError: if they are too entangled to decide it.
    """
    if are_satisfiable(constraints):
        return
    clash = _clash_in(list(constraints))
    named = ", ".join(repr(c.text) for c in clash)
    way_out = "change or remove it" if len(clash) == 1 else "change or remove one of them"
    raise SchemaError([f"constraints {named}: no row can satisfy all of this; {way_out}"])


def _clash_in(constraints: list[Constraint]) -> list[Constraint]:
    """Those that are left when others are taken away, group by group, while it pays."""
    clash = constraints
    step = -(-len(clash) // _GROUPS)
    for start in reversed(range(0, len(clash), step)):
        fewer = clash[:start] + clash[start + step :]
        if not are_satisfiable(fewer):
            clash = fewer
    return clash if step == 1 or len(clash) == len(constraints) else _clash_in(clash)


def are_satisfiable(constraints: Sequence[Constraint]) -> bool:
    """Whether any row keeps to all of these constraints."""
    completions = Completions(constraints)
    return completions.possible(completions.nogoods)


def residual(left: Nogoods, attribute: str, codes: CodeSet) -> Nogoods | None:
    """The nogoods that are left after an attribute takes one of some codes; None if one is met."""
    kept = set()
    for nogood in left:
        told = next((c for a, c in nogood if a == attribute), None)
        if told is None:
            kept.add(nogood)
        elif told & codes:
            kept.add(tuple(pair for pair in nogood if pair[0] != attribute))
    return None if () in kept else frozenset(kept)


def parts_of(nogoods: Nogoods) -> tuple[Nogoods, ...]:
    """The nogoods in sets that share no attribute."""
    leader: dict[str, str] = {}

    def led_by(attribute: str) -> str:
        while (above := leader.setdefault(attribute, attribute)) != attribute:
            leader[attribute] = attribute = leader[above]
        return attribute

    for nogood in nogoods:
        for attribute, _ in nogood[1:]:
            leader[led_by(attribute)] = led_by(nogood[0][0])
    parts: dict[str, list[Nogood]] = {}
    for nogood in nogoods:
        parts.setdefault(led_by(nogood[0][0]), []).append(nogood)
    return tuple(frozenset(part) for part in parts.values())


def attributes_of(nogoods: Nogoods) -> set[str]:
    """The attributes that nogoods speak of."""
    return {attribute for nogood in nogoods for attribute, _ in nogood}


def _divided(classes: tuple[CodeSet, ...], codes: CodeSet) -> tuple[CodeSet, ...]:
    parts = (part for c in classes for part in (c & codes, c & ~codes))
    return tuple(part for part in parts if part)


def _most_pressing(nogoods: Nogoods) -> str:
    """The attribute that the shortest nogoods speak of most."""
    shortest = min(len(nogood) for nogood in nogoods)
    told = Counter(a for nogood in nogoods if len(nogood) == shortest for a, _ in nogood)
    return min(told, key=lambda attribute: (-told[attribute], attribute))
