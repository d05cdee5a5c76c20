"""Accuracy lost and bits diverged among holders, as TUC-2 draws them: curves over ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from understudy.federated import SPLITS
from understudy_studies.accuracy import difference
from understudy_studies.cells import Cell, Results, SettingValue, Spread

PROTOCOLS = ("statistics", "votes", "model")
PRINTED, IMPROVED = "as printed", "improved"
REAL = "real rows"
# The ε that the thesis finds right for each table (tables 13 to 15).
CHOSEN = {"heart": "0.5", "poker": "0.1", "adult": "0.02", "small": "1"}

# The lines of tables 11 to 13, each case once: split, structure learning and degree as numbered
# there, and points lost. Table 10 does not say which split a line is of; table 13 does.
_CASES = {
    ("heart", "0.5"): "311 2.59, 112 5.17, 312 6.32, 111 7.19, 211 8.91, 411 10.35",
    ("poker", "0.01"): "211 11.40, 411 11.67, 312 22.85, 111 26.93, 311 30.64, 412 32.35",
    ("poker", "0.02"): "111 8.94, 411 9.79, 211 12.30",
    ("poker", "0.05"): "411 6.66, 211 7.57, 112 8.71, 111 9.93, 311 11.83, 412 12.68",
    ("poker", "0.1"): "212 5.76, 211 6.59, 412 6.76, 421 7.39, 411 7.61, 111 7.63",
    ("poker", "0.2"): "221 6.27, 111 6.32, 121 6.86, 321 6.88, 412 7.27",
    ("poker", "0.5"): "412 3.43, 212 4.07, 112 5.54, 211 6.31, 312 6.43, 311 6.59",
    ("poker", "1"): "112 3.22, 212 3.54, 412 3.65, 312 4.66, 111 5.55, 211 6.05",
    ("adult", "0.01"): "411 5.17, 412 5.30, 211 7.92, 111 8.34, 212 9.52, 311 10.72",
    ("adult", "0.02"): "212 4.65, 112 5.39, 121 7.03, 221 7.72",
    ("adult", "0.05"): "212 3.09, 412 7.56, 111 7.70, 311 7.89, 411 8.33, 112 10.65",
    ("adult", "0.1"): "212 3.97, 121 4.76, 112 4.92, 221 6.43, 312 6.81, 412 7.04",
    ("adult", "0.2"): "212 2.99, 222 5.84, 112 6.82, 311 6.84",
    ("adult", "0.5"): "311 3.84, 121 5.45, 212 6.73, 411 6.88, 321 6.91",
    ("adult", "1"): "111 3.32, 311 3.75, 222 3.94, 331 4.95, 122 5.31, 431 6.06",
}
# The least and the largest points lost of the six best cases of table 10, by ε.
_HEART = "0.01 15.8 37.9, 0.02 18.4 30.2, 0.05 13.8 41.1, 0.1 8.6 16.7, 0.2 4.6 17.8, "
_HEART += "0.5 2.6 10.3, 1 -3.4 4.9"


class DrawnNumber(NamedTuple):
    """One of the two numbers that the thesis draws.

    Attributes:
        title: of an axis.
        of: a number of a cell, by the cell of real rows that it is compared with.
    """

    title: str
    of: Callable[[Cell, Cell], float]


POINTS = DrawnNumber("points lost", lambda real, cell: 100 * difference(real.numbers, cell.numbers))
BITS = DrawnNumber("bits diverged", lambda real, cell: float(cell.numbers["divergence"]))

OverEpsilon = dict[float, float]


def epsilons(results: Results) -> list[str]:
    """Every ε of some cells, the smallest first."""
    return sorted((str(e) for e in results.values("epsilon") if e != "none"), key=float)


def number(results: Results, measure: DrawnNumber, **wanted: SettingValue) -> Spread:
    """The mean of a number over some cells of one table, and how far they scatter."""
    real = {cell.setting["repeat"]: cell for cell in results.where(protocol=REAL)}
    cells = (cell for cell in results.where(**wanted) if cell.setting["protocol"] != REAL)
    return Spread.of([measure.of(real[cell.setting["repeat"]], cell) for cell in cells])


def curve(results: Results, measure: DrawnNumber, **wanted: SettingValue) -> OverEpsilon:
    """A number of one table over ε, in the thesis' form."""
    own = results.where(form=PRINTED, **wanted)
    real = results.where(protocol=REAL)
    return {
        float(e): number(Results((*real, *own.where(epsilon=e))), measure).mean
        for e in epsilons(own)
    }


def baseline_lost(results: Results) -> float:
    """Return the points that naming the most frequent class loses."""
    real = next(iter(results.where(protocol=REAL))).numbers
    return float(100 * (real["mean"] - real["baseline"]))


def difference_over_epsilon(first: Sequence[OverEpsilon], second: Sequence[OverEpsilon]) -> Spread:
    """The second curves less the first, point by point."""
    pairs = zip(first, second, strict=True)
    return Spread.of([other[e] - one[e] for one, other in pairs for e in one])


def printed(
    table: str, *, epsilon: str, split_name: str, protocol: str, degree: int
) -> float | None:
    """The points lost that the thesis prints for one case, where it prints them."""
    lines = dict(line.split() for line in _CASES.get((table, epsilon), "").split(", ") if line)
    key = f"{SPLITS.index(split_name)}{PROTOCOLS.index(protocol) + 1}{degree}"
    return float(lines[key]) if key in lines else None


def printed_range(table: str, epsilon: str) -> tuple[float, float] | None:
    """The least and the largest loss among the thesis' best cases at one ε.

    Example:
        >>> printed_range("heart", "1"), printed_range("poker", "0.1"), printed_range("adult", "5")
        ((-3.4, 4.9), (5.76, 7.63), None)
    """
    if table == "heart":
        found = {
            e: (float(low), float(high)) for e, low, high in map(str.split, _HEART.split(", "))
        }
        return found.get(epsilon)
    lines = _CASES.get((table, epsilon), "")
    losses = [float(line.split()[1]) for line in lines.split(", ") if line]
    return (min(losses), max(losses)) if losses else None
