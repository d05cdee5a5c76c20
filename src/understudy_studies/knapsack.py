"""Parents of one child as a knapsack, solved exactly: NIST section 2.1 leaves it open.

Scores of pairs add up, and sizes of attributes multiply up to a bound on the table's cells. The
greedy step takes parents in order of their score while they fit. An exact solution keeps, for
every number of cells that can be had, the best score: there are few such numbers.
"""

from __future__ import annotations

from collections.abc import Mapping


def greedy_parents(
    scores: Mapping[str, float], sizes: Mapping[str, int], most: int
) -> tuple[str, ...]:
    """Parents in order of score that fit under a product of sizes (NIST Algorithm 3)."""
    chosen: list[str] = []
    cells = 1
    for name in sorted(scores, key=lambda n: -scores[n]):
        if scores[name] > 0 and cells * sizes[name] <= most:
            chosen.append(name)
            cells *= sizes[name]
    return tuple(chosen)


def best_parents(
    scores: Mapping[str, float], sizes: Mapping[str, int], most: int
) -> tuple[str, ...]:
    """The parents of the largest sum of scores among all that fit.

    Example:
        >>> scores, sizes = {"a": 3.0, "b": 2.0, "c": 2.0}, {"a": 8, "b": 2, "c": 4}
        >>> greedy_parents(scores, sizes, 8), best_parents(scores, sizes, 8)
        (('a',), ('b', 'c'))
    """
    # For each number of cells the best score so far, and who it is of.
    reached: dict[int, tuple[float, tuple[str, ...]]] = {1: (0.0, ())}
    for name in scores:
        for cells, (score, chosen) in list(reached.items()):
            wider = cells * sizes[name]
            better = score + scores[name]
            if wider <= most and better > reached.get(wider, (0.0, ()))[0]:
                reached[wider] = (better, (*chosen, name))
    return max(reached.values())[1]
