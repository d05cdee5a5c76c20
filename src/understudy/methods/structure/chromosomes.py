"""Mutations and crossings of individuals in a genetic search, all of a generation at once.

An individual is a line of three arrays: the attributes in their order, the place of each of them in
that order, and for each a set of possible parents, filled up with −1, the required ones first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.system.arrays import Floats
from understudy.system.jit import kernel

Genes = npt.NDArray[np.int32]
Truths = npt.NDArray[np.bool_]


def places_in(orders: Genes) -> Genes:
    """The place of every attribute in orders."""
    return np.argsort(orders, axis=1).astype(np.int32)


@kernel
def flip(
    orders: Genes, places: Genes, before: Truths, rate: float, generator: np.random.Generator
) -> None:
    """Order Flip, in place: attributes swap places with others, where restrictions allow it.

    Only what is between the two, and they themselves, change sides.
    """

    def allowed(order: Genes, low: int, high: int) -> bool:
        early, late = order[low], order[high]
        for place in range(low, high + 1):
            if before[early, order[place]] or before[order[place], late]:
                return False
        return True

    attributes = orders.shape[1]
    for i in range(orders.shape[0]):
        for place in range(attributes):
            if generator.random() < rate:
                other = places[i, int(generator.random() * attributes)]
                low, high = min(place, other), max(place, other)
                if allowed(orders[i], low, high):
                    early, late = orders[i, low], orders[i, high]
                    orders[i, low], orders[i, high] = late, early
                    places[i, late], places[i, early] = low, high


@kernel
def swap(
    sets: Genes,
    places: Genes,
    fixed: Genes,
    choices: Genes,
    rate: float,
    generator: np.random.Generator,
) -> None:
    """Swap, in place: parents that come too late make room, and some others by chance.

    A random candidate takes the place of each, of those that come before the child and are not in
    its set, if there is any.
    """

    def fits(held: Genes, place: Genes, child: int, parent: int) -> bool:
        new = place[parent] < place[child]
        for other in held:
            new = new and other != parent
        return bool(new)

    def replace(held: Genes, slot: int, place: Genes, child: int) -> None:
        count = 0
        for parent in choices[child]:
            if parent < 0:
                break
            count += fits(held, place, child, parent)
        left = int(generator.random() * count)
        for parent in choices[child]:
            if count == 0 or parent < 0:
                break
            if fits(held, place, child, parent):
                if left == 0:
                    held[slot] = parent
                    break
                left -= 1

    for i in range(sets.shape[0]):
        place = places[i]
        for child in range(sets.shape[1]):
            held = sets[i, child]
            for slot in range(fixed[child], held.size):
                if held[slot] >= 0 and place[held[slot]] > place[child]:
                    replace(held, slot, place, child)
            for slot in range(fixed[child], held.size):
                if generator.random() < rate and held[slot] >= 0:
                    replace(held, slot, place, child)


@kernel
def evaluate(
    sets: Genes,
    places: Genes,
    fixed: Genes,
    gains: Floats,
    sizes: Floats,
    most: float,
    price: float,
    kept: Truths,
) -> Floats:
    """The fitness of every individual; `kept` receives which parents count.

    Required parents first; then, while one fits and is worth its cells, the one that gains most.
    """
    fitness = np.zeros(sets.shape[0])
    for i in range(sets.shape[0]):
        for child in range(sets.shape[1]):
            held, counts = sets[i, child], kept[i, child]
            cells, spent = sizes[child], 0.0
            for slot in range(fixed[child]):
                counts[slot] = True
                cells *= sizes[held[slot]]
                fitness[i] += gains[held[slot], child]
                spent = price * cells
            best = 0
            while best >= 0:
                best, surplus = -1, 0.0
                for slot in range(fixed[child], held.size):
                    parent = held[slot]
                    if parent < 0 or counts[slot] or places[i, parent] > places[i, child]:
                        continue
                    wider = cells * sizes[parent]
                    gained = gains[parent, child] - price * wider + spent
                    if wider <= most and gained > surplus:
                        best, surplus = slot, gained
                if best >= 0:
                    counts[best] = True
                    cells *= sizes[held[best]]
                    spent = price * cells
                    fitness[i] += gains[held[best], child]
            fitness[i] -= spent
    return fitness
