"""The tables of the README and of pages in docs, made from the results on record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.arena import curves, page
from benchmarks.arena.asked import asked_table
from benchmarks.arena.default import default_table
from benchmarks.arena.records import Records
from benchmarks.image_tables import numeric_table, other_images_table, rows_table
from benchmarks.page_tables import (
    blind_table,
    constraints_sentence,
    coverage_table,
    federated_table,
    learned_sentences,
    plan_sentence,
    plan_table,
    referees_table,
    relations_table,
    why_lines,
)
from benchmarks.peers import JOB_DISTANCE, JOB_SECONDS, JOB_SPEED
from benchmarks.scoreboard import RESULTS
from understudy_studies.seven import ENTROPY

ROOT = Path(__file__).parents[1]

Record = dict[str, Any]

FIELDS = (
    "benchmark", "size", "command", "date", "machine", "load", "versions", "seconds", "lines",
    "left_out", "details",
)  # fmt: skip

_TITLES = {
    "adult": "Adult",
    "cmc": "Contraceptive choice",
    "generated": "a generated network",
    "poker": "Poker hands",
    "diabetes": "Diabetes",
}
_METHODS = ("nist", "privbayes", "independent")
_EPSILONS = ("0.1", "1", "10")
# Their numbers stand in tables of their own.
_ELSEWHERE = (
    *("peers", "growth", "utility", "cross_entropy", "plan_populations"),
    *("gan_rows", "images", "numeric_moments"),
)


def records(folder: Path = RESULTS) -> dict[str, Record]:
    """All results on record, by name of benchmark; the runs of the arena are its details."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    if "arena" in found:
        found["arena"]["details"] = list(Records(folder / "arena").all())
    return found


def measured_table(found: dict[str, Record]) -> str:
    """Every number that has a target or compares with another tool, and what it was measured on."""
    rows = ["| measured | | target | `NAME` |", "|---|---|---|---|"]
    # The arena grows run by run, and has a page of its own.
    found = {name: record for name, record in found.items() if name != "arena"}
    for name, record in found.items():
        shown = [] if name in _ELSEWHERE else record["lines"]
        rows += [
            f"| {_escaped(line['what'])} | {_number(line)} | {_target(line)} | `{name}` |"
            for line in shown
        ]
    runs = [run for record in found.values() for run in _runs(record)]
    return "\n".join([*rows, "", *_machines(runs), *_versions(runs)])


def _runs(record: Record) -> list[Record]:
    """The runs that a record is of: one, or one for each size that says what it was measured on."""
    name = f"`{record['benchmark']}`"
    sizes = [size for size in record["details"] if {"size", "machine", "versions"} <= size.keys()]
    return [size | {"named": f"{name} ({size['size']})"} for size in sizes] or [
        record | {"named": name}
    ]


def _versions(runs: list[Record]) -> list[str]:
    """For each version, the benchmarks whose records are of it."""
    by: dict[str, list[str]] = {}
    for run in runs:
        by.setdefault(run["versions"]["understudy"], []).append(run["named"])
    return [f"Version {version}: {', '.join(names)}." for version, names in sorted(by.items())]


def _escaped(text: str) -> str:
    """A text for a cell of a table, whose bars are not borders."""
    return text.replace("|", "\\|")


def peers_table(found: dict[str, Record]) -> str:
    """The Adult job of every tool: what it takes, how near it comes, how much faster ours is."""
    record, ours = found["peers"], ("privbayes", "nist")
    lines = {line["what"]: line for line in record["lines"]}
    heads = " | ".join(f"`{method}` is faster by" for method in ours)
    rows = [f"| tool | CPU seconds | 3-way distance | {heads} |", "|---" * 5 + "|"]
    for tool in (detail["tool"] for detail in record["details"]):
        seconds, distance = lines[JOB_SECONDS.format(tool)], lines[JOB_DISTANCE.format(tool)]
        numbers = [_number(seconds), f"{distance['measured']:.3f}"]
        faster = [_compared(lines.get(JOB_SPEED.format(method, tool))) for method in ours]
        name = f"`{tool}`" if tool in ours else tool
        rows.append(f"| {name} | {' | '.join([*numbers, *faster])} |")
    return "\n".join([*rows, "", _when(record)])


def _compared(line: Record | None) -> str:
    if line is None:
        return ""
    target = _target(line)
    return f"{_number(line)} ({target})" if target else _number(line)


def growth_table(found: dict[str, Record]) -> str:
    """The exponents of CPU time, over all points and between the last two."""
    rows = ["| CPU time of | over | exponent | between the last two |", "|---|---|---|---|"]
    curves = [detail for detail in found["growth"]["details"] if "curve" in detail]
    for detail in curves:
        span = f"{detail['axis']}: {detail['over'][0]:,} to {detail['over'][-1]:,}"
        exponents = f"{detail['exponent']:.2f} | {detail['last_exponent']:.2f}"
        rows.append(f"| {detail['curve']} | {span} | {exponents} |")
    return "\n".join([*rows, "", _when(found["growth"])])


def _number(line: Record) -> str:
    return f"{_digits(line['measured'])} {line['unit']}".strip()


def _target(line: Record) -> str:
    if line["target"] is None:
        return ""
    bound = f"{'≤' if line['at_most'] else '≥'} {line['target']:g}"
    return bound if line["met"] else f"{bound}, missed"


def _digits(number: float) -> str:
    """Three digits that count, never in powers of ten."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _machines(shown: list[Record]) -> list[str]:
    """A sentence for each machine, with the dates, and the load that runs met."""
    groups: dict[str, list[Record]] = {}
    for record in shown:
        machine = record["machine"]
        named = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB"
        groups.setdefault(named, []).append(record)
    return [
        f"Measured {_span([r['date'] for r in group])} on {named}; the load was "
        f"{_span([r['load'] for r in group])}."
        for named, group in groups.items()
    ]


def _span(values: list[Any]) -> str:
    least, most = min(values), max(values)
    return f"{least}" if least == most else f"{least} to {most}"


def utility_table(found: dict[str, Record]) -> str:
    """Mean 3-way distances of every table, method and budget, worst table first."""
    details = found["utility"]["details"]
    distances = {(d["table"], d["method"], d["epsilon"]): d["3-way"] for d in details}
    heads = [f"`{m}` {'ε = ' if m == 'nist' else ''}{_EPSILONS[0]}" for m in _METHODS]
    columns = " | ".join(f"{head} | 1 | 10" for head in heads)
    shapes = {d["table"]: f"{d['rows']:,} × {d['columns']}" for d in details}
    worst_first = sorted(shapes, key=lambda name: -distances[name, "nist", "1"])
    rows = [f"| table | {columns} |", "|---" * 10 + "|"]
    for name in worst_first:
        cells = [f"{distances[name, m, e]:.3f}" for m in _METHODS for e in _EPSILONS]
        rows.append(f"| {_TITLES[name]}, {shapes[name]} | {' | '.join(cells)} |")
    return "\n".join([*rows, "", _when(found["utility"])])


def _when(record: Record) -> str:
    """Say of which day and version a record is."""
    return f"Measured on {record['date']} with version {record['versions']['understudy']}."


def bits_sentence(found: dict[str, Record]) -> str:
    """Say how many bits a held-out row of the fixed network costs at ε = 1."""
    details = found["cross_entropy"]["details"]
    bits = {(d["table"], d["method"], d["epsilon"]): d["bits"] for d in details}
    nist = bits["seven attributes", "nist", "1"]
    alone = bits["seven attributes", "no privacy, independent", None]
    return (
        f"On held-out rows of a network of {ENTROPY} bits, `nist` needs {nist:.2f} bits at ε = 1 "
        f"and independent columns {alone:.2f} (`{found['cross_entropy']['command']}`).\n"
        f"{_when(found['cross_entropy'])}"
    )


Make = Callable[[dict[str, Record]], str]


def _of_arena(make: Callable[[list[Record]], str]) -> Make:
    """A block of a page that is made from the runs of the arena."""
    return lambda found: make(found["arena"]["details"])


DOCUMENTS: dict[str, dict[str, Make]] = {
    "README.md": {"why": why_lines},
    "docs/benchmarks.md": {
        "measured": measured_table,
        "peers": peers_table,
        "growth": growth_table,
        "utility": utility_table,
        "bits": bits_sentence,
    },
    "docs/arena.md": {
        "summary": _of_arena(page.summary_table),
        "default": _of_arena(default_table),
        "asked": _of_arena(asked_table),
        "finished": _of_arena(page.counts_table),
        "results": _of_arena(page.results_tables),
        "parities": _of_arena(page.parity_table),
        "settings": _of_arena(page.settings_table),
        "referee": _of_arena(page.referee_sentence),
    },
    "docs/explanation/choosing_epsilon.md": {"curve": _of_arena(curves.epsilon_table)},
    "docs/explanation/which_method.md": {"distances": _of_arena(curves.methods_table)},
    "docs/releases/version_0_2_0.md": {"gain": _of_arena(curves.gain_sentence)},
    "docs/guides/constraints.md": {"measured": constraints_sentence},
    "docs/guides/federated.md": {"measured": federated_table},
    "docs/guides/images.md": {
        "other images": other_images_table,
        "rows": rows_table,
        "numbers": numeric_table,
    },
    "docs/reference/evaluation.md": {"referees": referees_table},
    "docs/promise.md": {"relations": relations_table},
    "docs/guides/questions.md": {"coverage": coverage_table},
    "docs/guides/planning.md": {
        "measured": plan_table,
        "kept": plan_sentence,
        "blind": blind_table,
        "learned": learned_sentences,
    },
}


def texts(found: dict[str, Record]) -> dict[Path, str]:
    """Every document that shows results, as it must read."""
    return {
        ROOT / name: filled(
            (ROOT / name).read_text(encoding="utf-8"),
            {block: make(found) for block, make in blocks.items()},
        )
        for name, blocks in DOCUMENTS.items()
    }


def filled(text: str, blocks: dict[str, str]) -> str:
    """Return a document with the text between each pair of markers made again."""
    for name, made in blocks.items():
        start, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        before, rest = text.split(start, 1)
        after = rest.split(end, 1)[1]
        text = f"{before}{start}{made}{end}{after}"
    return text
