"""Constraints kept while drawing: codes after which a row could not be completed have no chance.

The law of a row is sequential. Each attribute, in the network's order, is drawn from its
conditional given its parents, restricted to the codes after which some completion satisfies every
constraint, and renormalised. Where the conditional leaves these codes no chance, its mean over all
configurations of parents takes its place, and where that does not either, all of them are alike.
No row is ever drawn again.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes
from understudy.facts.constraints import Completions, Nogoods
from understudy.facts.constraints.completion import attributes_of
from understudy.facts.constraints.masks import Masks, flags
from understudy.facts.constraints.meaning import CodeSet
from understudy.system.arrays import Integers, Probabilities
from understudy.system.jit import kernel

StateNumbers = npt.NDArray[np.uint32]

# With fewer rows for each line of a table, lines are made only for what occurs in rows.
_ROWS_PER_LINE = 16


@kernel
def _combine(
    given: StateNumbers, standing: StateNumbers, mask_of: Integers, masks: int, keys: Integers
) -> None:
    """For every row, its configuration of parents and its mask as one number."""
    for i in range(given.size):
        keys[i] = np.int64(given[i]) * masks + mask_of[standing[i]]


@kernel
def _follow(
    standing: StateNumbers, codes: Codes, class_of: Integers, after: Integers, reached: Integers
) -> None:
    """Find for every row its state after a code of its class."""
    for i in range(codes.size):
        reached[i] = after[standing[i], class_of[codes[i]]]


@dataclass
class _Standing:
    """The demands that one set of connected constraints still has: of every row, a set left."""

    lefts: list[Nogoods]
    of_rows: StateNumbers


class Standings:
    """The state of a block's rows under the constraints, as attribute after attribute is drawn.

    Args:
        completions: what the constraints allow.
        rows: how many rows are drawn.
    """

    def __init__(self, completions: Completions, rows: int) -> None:
        self._completions = completions
        parts = completions.parts if rows else ()
        standings = [_Standing([part], np.zeros(rows, np.uint32)) for part in parts]
        self._of = {a: s for s in standings for a in attributes_of(s.lefts[0])}

    def concern(self, attribute: str) -> bool:
        """Whether a constraint speaks of an attribute."""
        return attribute in self._of

    def masked(
        self, attribute: str, table: Probabilities, given: StateNumbers
    ) -> tuple[Probabilities, StateNumbers]:
        """The chances of an attribute without the codes that a row could not be completed with.

        Args:
            attribute: what is to be drawn next.
            table: its chances, one line for each configuration of parents.
            given: for every row, which line holds.

        Returns:
            The same, with a line for each configuration and each different set of codes left.
        """
        standing = self._of.get(attribute)
        if standing is None:
            return table, given
        allowed = [self._allowed(left, attribute) for left in standing.lefts]
        masks, mask_of = _different(allowed, table.shape[1])
        if masks.all():
            return table, given
        keys = np.empty(given.size, np.int64)
        _combine(given, standing.of_rows, mask_of, len(masks), keys)
        lines, numbers = _numbered(keys, table.shape[0] * len(masks))
        configurations, which = np.divmod(lines, len(masks))
        return _restricted(table, configurations, masks[which]), numbers

    def _allowed(self, left: Nogoods, attribute: str) -> CodeSet:
        classes = self._completions.classes(attribute)
        steps = zip(classes, self._completions.steps(left, attribute), strict=True)
        return reduce(operator.or_, (codes for codes, after in steps if after is not None), 0)

    def advance(self, attribute: str, codes: Codes) -> None:
        """Note which codes of an attribute the rows have drawn."""
        standing = self._of.get(attribute)
        if standing is None:
            return
        found, after = self._followed(standing.lefts, attribute)
        if len(found) == 1:
            standing.lefts, standing.of_rows = found, np.zeros_like(standing.of_rows)
            return
        reached = np.empty(codes.size, np.int64)
        _follow(standing.of_rows, codes, self._class_of(attribute), after, reached)
        present, standing.of_rows = _numbered(reached, len(found))
        standing.lefts = [found[number] for number in present]

    def _followed(self, lefts: list[Nogoods], attribute: str) -> tuple[list[Nogoods], Integers]:
        """The sets left after this attribute, and for each set before and class, which of them."""
        steps = [self._completions.steps(left, attribute) for left in lefts]
        found = list(dict.fromkeys(left for step in steps for left in step if left is not None))
        numbers = {left: number for number, left in enumerate(found)}
        # A class that cannot be drawn leads nowhere: its number is never looked up.
        after = [[0 if left is None else numbers[left] for left in step] for step in steps]
        return found, np.array(after)

    def _class_of(self, attribute: str) -> Integers:
        """For every code, the number of its class."""
        classes = self._completions.classes(attribute)
        size = reduce(operator.or_, classes).bit_length()
        return np.asarray(np.argmax([flags(codes, size) for codes in classes], axis=0))


def _different(sets: Sequence[CodeSet], size: int) -> tuple[Masks, Integers]:
    """The different sets of codes as masks, and which of them each set is."""
    numbers = {codes: number for number, codes in enumerate(dict.fromkeys(sets))}
    masks = np.array([flags(codes, size) for codes in numbers])
    return masks, np.array([numbers[codes] for codes in sets])


def _numbered(keys: Integers, bound: int) -> tuple[Integers, StateNumbers]:
    """The keys to make lines for, and for every row the number of its line."""
    if bound * _ROWS_PER_LINE <= keys.size:
        return np.arange(bound), keys.astype(np.uint32)
    lines, numbers = np.unique(keys, return_inverse=True)
    return lines, numbers.astype(np.uint32)


def _restricted(table: Probabilities, lines: Integers, masks: Masks) -> Probabilities:
    """Lines of a table, what is masked without a chance; with substitutes for lines left empty."""
    weights = table[lines] * masks
    for substitute in (table.mean(axis=0) * masks, masks):
        empty = weights.sum(axis=1) == 0
        weights[empty] = substitute[empty]
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
