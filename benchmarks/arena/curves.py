"""Tables of the explaining pages: what ε buys, and how near each method is, from the arena."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.arena.default import DEFAULT, EPSILONS
from benchmarks.arena.entrants import OURS
from benchmarks.arena.page import Result, Results, grouped
from benchmarks.arena.records import Record
from benchmarks.arena.tables import ENTRIES

_MEASURE = "3-way"
_ONE = "1"
_NO_EPSILON = "none"


def _mean(results: Results, table: str, entrant: str, epsilon: str) -> float | None:
    return results.get((table, entrant, epsilon), Result()).mean(_MEASURE)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _lines(heads: Sequence[str], rows: dict[str, list[float | None]]) -> str:
    """A table with a line for each table of the arena that has a number."""
    shown = {table: cells for table, cells in rows.items() if any(c is not None for c in cells)}
    lines = [f"| table | rows × columns | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for table, cells in shown.items():
        entry = ENTRIES[table]
        size = f"{entry.shape[0]:,} × {entry.shape[1]}"
        lines.append(f"| {entry.title} | {size} | {' | '.join(map(_cell, cells))} |")
    return "\n".join(lines)


def epsilon_table(found: Sequence[Record]) -> str:
    """The 3-way distance of the default at every ε, and of real rows that were drawn again."""
    results = grouped(found)
    heads = [*(f"ε = {epsilon}" for epsilon in EPSILONS), "real rows, drawn again"]
    places = [*((DEFAULT, epsilon) for epsilon in EPSILONS), ("resampled", _NO_EPSILON)]
    return _lines(heads, {t: [_mean(results, t, *place) for place in places] for t in ENTRIES})


def methods_table(found: Sequence[Record]) -> str:
    """The 3-way distance of each method of ours at ε = 1."""
    results = grouped(found)
    heads = [method.title for method in OURS]
    return _lines(heads, {t: [_mean(results, t, m.name, _ONE) for m in OURS] for t in ENTRIES})


def gain_sentence(found: Sequence[Record]) -> str:
    """Compare the default of this version with the one before it, at the same ε."""
    results = grouped(found)
    before, now = (_mean(results, "adult", name, _ONE) for name in ("nist", DEFAULT))
    return (
        f"On Adult at ε = 1 the mean 3-way distance falls from {before:.3f} (`nist`) to {now:.3f} "
        "([arena](../arena.md))."
    )
