"""The tables of the arena's page, made from the runs on record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.arena.entrants import (
    CONTROLS,
    ENTRANTS,
    OURS,
    PEER_EPSILONS,
    PEERS,
    OurMethod,
    PeerMethod,
)
from benchmarks.arena.processes import DID_NOT_FINISH, FAILED, FINISHED
from benchmarks.arena.records import Record
from benchmarks.arena.tables import ENTRIES, XOR_GROUPS

_SHOWN_EPSILONS = ("0.01", "0.1", "1", "10", "100")
_COLUMNS = {
    "1-way": ".3f",
    "2-way": ".3f",
    "3-way": ".3f",
    "range": ".4f",
    "accuracy": ".3f",
    "AUROC": ".3f",
    "k-marginal": ".0f",
    "cpu_seconds": ",.1f",
    "peak_mb": ",.0f",
}
_HEADS = {"range": "ranges", "cpu_seconds": "CPU s", "peak_mb": "MB"}


@dataclass
class Result:
    """All runs of one entrant on one table at one ε."""

    runs: list[Record] = field(default_factory=list)

    @property
    def finished(self) -> list[Record]:
        """The runs that left rows."""
        return [run for run in self.runs if run["status"] == FINISHED]

    def mean(self, measure: str) -> float | None:
        """The mean of a measure over the runs that have it; None where none has."""
        values = [run[measure] for run in self.runs if measure in run]
        return sum(values) / len(values) if values else None

    @property
    def status(self) -> str:
        """Say how it ended, where no run left rows."""
        return str(self.runs[0]["status"])


Results = dict[tuple[str, str, str], Result]


def grouped(found: Iterable[Record]) -> Results:
    """Runs by table, entrant and ε."""
    results: Results = {}
    for record in found:
        place = (record["table"], record["entrant"], record["epsilon"])
        results.setdefault(place, Result()).runs.append(record)
    return results


def ratios(found: Sequence[Record]) -> dict[tuple[str, str], dict[str, float]]:
    """3-way distances of ours over that of the best other tool, by method and ε, for each table."""
    results = grouped(found)
    ratio: dict[tuple[str, str], dict[str, float]] = {}
    for method in OURS:
        for epsilon in PEER_EPSILONS:
            for table in ENTRIES:
                ours = results.get((table, method.name, epsilon), Result()).mean("3-way")
                best = _best(results, table, epsilon)
                if ours is not None and best is not None:
                    ratio.setdefault((method.name, epsilon), {})[table] = ours / best
    return ratio


def _best(results: Results, table: str, epsilon: str) -> float | None:
    """The least 3-way distance of another tool that finished."""
    theirs = [results.get((table, peer.name, epsilon), Result()).mean("3-way") for peer in PEERS]
    return min((distance for distance in theirs if distance is not None), default=None)


def summary_table(found: Sequence[Record]) -> str:
    """Geometric means of the ratios over tables that were looked at, and over held-out ones."""
    epsilons = sorted(PEER_EPSILONS, key=float)
    heads = [f"{kind} ε = {e}" for kind in ("seen,", "held-out,") for e in epsilons]
    rows = [f"| method | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    every = ratios(found)
    for method in OURS:
        cells = []
        for held_out in (False, True):
            for epsilon in epsilons:
                values = every.get((method.name, epsilon), {})
                kept = [v for t, v in values.items() if ENTRIES[t].held_out is held_out]
                cells.append(f"{_geometric(kept):.2f} ({len(kept)})" if kept else "")
        if any(cells):
            rows.append(f"| {method.title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _geometric(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def counts_table(found: Sequence[Record]) -> str:
    """How many fits of each other tool finished, did not, failed, or were not run."""
    results = grouped(found)
    rows = ["| tool | finished | did not finish | failed | not run |", "|---" * 5 + "|"]
    for peer in PEERS:
        places = [(table, peer.name, epsilon) for table in ENTRIES for epsilon in peer.epsilons]
        states = [results[place].status if place in results else "" for place in places]
        counts = [states.count(each) for each in (FINISHED, DID_NOT_FINISH, FAILED, "")]
        rows.append(f"| {peer.title} | {' | '.join(map(str, counts))} |")
    return "\n".join(rows)


def results_tables(found: Sequence[Record]) -> str:
    """A table of every measure for each table of the arena."""
    results = grouped(found)
    parts = [_table(results, table) for table in ENTRIES if any(p[0] == table for p in results)]
    return "\n\n".join(parts)


def _table(results: Results, table: str) -> str:
    entry = ENTRIES[table]
    shown = [name for name in _COLUMNS if _has(results, table, name)]
    heads = " | ".join(_HEADS.get(name, name) for name in shown)
    target = f", target `{entry.target}`" if entry.target else ""
    note = " A held-out table." if entry.held_out else ""
    shape = "{:,} × {}".format(*entry.shape)
    lines = [f"### {entry.title}", "", f"`{table}`, {shape}{target}.{note}", ""]
    lines += [f"| ε | method | {heads} | runs |", "|---" * (3 + len(shown)) + "|"]
    for control in CONTROLS:
        lines += _line(results, (table, control.name, "none"), shown)
    for epsilon in _SHOWN_EPSILONS:
        for entrant in (*OURS, *PEERS):
            lines += _line(results, (table, entrant.name, epsilon), shown)
    return "\n".join(lines)


def _has(results: Results, table: str, measure: str) -> bool:
    return any(result.mean(measure) is not None for p, result in results.items() if p[0] == table)


def _line(results: Results, place: tuple[str, str, str], shown: Sequence[str]) -> list[str]:
    """The line of an entrant, or none where it was not run."""
    result = results.get(place)
    if result is None:
        return []
    table, name, epsilon = place
    cells = [_cell(result.mean(measure), _COLUMNS[measure]) for measure in shown]
    if not result.finished:
        why = str(result.runs[0]["why"]).replace("more than", "stopped at the limit of")
        cells[0] = f"{result.status}: {why}"
    cells.append(str(len(result.runs)))
    about = "" if epsilon == "none" else epsilon
    title = f"{ENTRANTS[name].title}{_named(result.runs[0]['facts'], name, table)}"
    return [f"| {about} | {title} | {' | '.join(cells)} |"]


def _named(facts: dict[str, Any], name: str, table: str) -> str:
    """The reduced settings of another tool, or that ours makes other rows now, beside its name."""
    entrant = ENTRANTS[name]
    if isinstance(entrant, OurMethod):
        now = entrant.revision_on(table)
        return " (older code)" if facts["settings"].get("revision", now) != now else ""
    if not isinstance(entrant, PeerMethod):
        return ""
    said = [f"{key} {value}" for key, value in facts["settings"].items()]
    said += [entrant.remark] if entrant.remark else []
    return f" ({', '.join(said)})" if said else ""


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def parity_table(found: Sequence[Record]) -> str:
    """The share of rows of the XOR table whose parities hold, for each size of group."""
    results = {p: r for p, r in grouped(found).items() if p[0] == "xor" and r.finished}
    heads = " | ".join(f"{size}-way" for size in XOR_GROUPS)
    rows = [f"| ε | method | {heads} |", "|---" * (2 + len(XOR_GROUPS)) + "|"]
    order = [e.name for e in (*CONTROLS, *OURS, *PEERS)]
    for epsilon in ("none", *_SHOWN_EPSILONS):
        for name in order:
            if (result := results.get(("xor", name, epsilon))) is not None:
                cells = [_cell(result.mean(f"parity {size}"), ".3f") for size in XOR_GROUPS]
                about = "" if epsilon == "none" else epsilon
                rows.append(f"| {about} | {ENTRANTS[name].title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def settings_table(found: Sequence[Record]) -> str:
    """The versions and settings of every other tool, as its records name them."""
    rows = ["| tool | versions | settings that are not its defaults | remark |", "|---" * 4 + "|"]
    for peer in PEERS:
        seen: dict[str, list[str]] = {}
        for record in found:
            if record["entrant"] == peer.name:
                said = ", ".join(f"{k} {v}" for k, v in record["facts"]["settings"].items())
                tables = seen.setdefault(said or "none", [])
                tables += [] if record["table"] in tables else [record["table"]]
        said = "; ".join(_on(each, tables, len(seen)) for each, tables in seen.items())
        versions = ", ".join(peer.peer.pins).replace("==", " ")
        rows.append(f"| {peer.title} | {versions} | {said or 'not run'} | {peer.remark} |")
    return "\n".join(rows)


def _on(said: str, tables: Sequence[str], kinds: int) -> str:
    return said if kinds == 1 else f"{said} on {', '.join(tables)}"


def referee_sentence(found: Sequence[Record]) -> str:
    """On how many runs SDNist's own function gave the score."""
    count = sum("by SDNist" in record for record in found)
    return (
        f"SDNist's own function gave the k-marginal score of {count:,} of {len(found):,} runs, the "
        "first of each cell, and agrees with its formula, which gives that of the others."
    )
