"""Whether the default is the best of our methods, or nearly, on every table at every ε."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.arena.entrants import OURS
from benchmarks.arena.page import Result, Results, grouped
from benchmarks.arena.records import Record
from benchmarks.arena.tables import ENTRIES

DEFAULT = "adaptive"
# With a target rows are made for something else than the distance of all triples alike.
RIVALS = tuple(e.name for e in OURS if not e.name.startswith(DEFAULT))
EPSILONS = ("0.01", "0.1", "1", "10", "100")
# By so much the default may be behind, beside two standard errors of the difference.
_ALLOWED = 0.03


@dataclass(frozen=True)
class Match:
    """The 3-way distances of the default and of the best other method of ours.

    Attributes:
        error: the standard error of the difference between the two means.
    """

    table: str
    epsilon: str
    default: float
    rival: str
    distance: float
    error: float

    @property
    def ratio(self) -> float:
        """The default's distance over its rival's: below 1 it is the best."""
        return self.default / self.distance

    @property
    def holds(self) -> bool:
        """Whether the default is best, or within what is allowed."""
        return self.default <= self.distance * (1 + _ALLOWED) + 2 * self.error


def matches(found: Sequence[Record]) -> Iterator[Match]:
    """Every table and ε at which the default and another method of ours were run."""
    results = grouped(found)
    for table in ENTRIES:
        for epsilon in EPSILONS:
            yield from _match(results, table, epsilon)


def _match(results: Results, table: str, epsilon: str) -> Iterator[Match]:
    default = results.get((table, DEFAULT, epsilon), Result())
    rivals = {n: results[table, n, epsilon] for n in RIVALS if (table, n, epsilon) in results}
    means = {name: mean for name, r in rivals.items() if (mean := r.mean("3-way")) is not None}
    own = default.mean("3-way")
    if own is None or not means:
        return
    best = min(means, key=means.__getitem__)
    error = math.hypot(_error(default), _error(rivals[best]))
    yield Match(table, epsilon, own, best, means[best], error)


def _error(result: Result) -> float:
    """The standard error of a mean distance; 0 where a single run shows none."""
    values = [run["3-way"] for run in result.finished]
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def default_table(found: Sequence[Record]) -> str:
    """For each table and ε the default over the best other method of ours, and that method."""
    held = {(match.table, match.epsilon): match for match in matches(found)}
    epsilons = [e for e in EPSILONS if any(e == epsilon for _, epsilon in held)]
    rows = [f"| table | {' | '.join(f'ε = {e}' for e in epsilons)} |"]
    rows.append("|---" * (1 + len(epsilons)) + "|")
    for table in dict.fromkeys(table for table, _ in held):
        cells = [_cell(held.get((table, epsilon))) for epsilon in epsilons]
        rows.append(f"| `{table}` | {' | '.join(cells)} |")
    kept = sum(match.holds for match in held.values())
    best = sum(match.ratio <= 1 for match in held.values())
    return "\n".join(
        [
            *rows,
            "",
            f"`{DEFAULT}` is the best in {best} of {len(held)}, and in {kept} it is the best or "
            f"within {_ALLOWED:.0%} plus two standard errors of it.",
        ]
    )


def _cell(match: Match | None) -> str:
    if match is None:
        return ""
    shown = f"{match.ratio:.2f} (`{match.rival}`)"
    return shown if match.holds else f"**{shown}**"
