"""Audits whose numbers are in docs/audit.md: kept in docs/audit.jsonl, and made into tables.

`scripts/audits found` attacks every method, `faults` the planted faults, and `repeated` cheap
methods a hundred times. What the record holds already is not run again. `tables` prints the page's.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.faults import FAULTS, audited, planted
from understudy.jobs.method import FitRequest, build
from understudy.jobs.reading import PersonRequest
from understudy.methods import registry
from understudy.methods.auditing import PERSON, audit, schema_for

RECORD = Path(__file__).parents[2] / "docs" / "audit.jsonl"

FOUND = (
    "random",
    "independent",
    "independent --neighbours replace",
    "independent --delta 1e-6",
    "independent --rows-per-person 3",
    "privbayes",
    "privbayes --structure pairwise",
    "privbayes --structure tree",
    "nist --delta 1e-6",
    "nist --delta 1e-6 --structure greedy",
    "nist --delta 1e-6 --structure tree",
    "nist --delta 1e-6 --rows-per-person 3",
    "adaptive",
    "adaptive --delta 1e-6",
    "adaptive --delta 1e-6 --rows-per-person 3",
    "histogram",
    "random --runs 10000",
    "independent --runs 10000",
    "histogram --runs 10000",
)
REPEATED = ("random", "independent", "independent --neighbours replace", "histogram")
FOUND_RUNS, REPEATED_RUNS, TIMES = 1_000, 100, 100
# Of a fault, so many; a network that is trained takes long, and so do rounds.
FAULT_RUNS, FAULT_RUNS_LONG = 2_000, 100

Entry = dict[str, Any]


def entries() -> list[Entry]:
    """What was recorded."""
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]


def _keep(entry: Entry) -> None:
    with RECORD.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def _audited(command: str, runs: int) -> tuple[Entry, float]:
    """An audit at ε = 1 by the words of the command line, and its processor seconds."""
    method, *given = shlex.split(command)
    said = dict(zip(given[::2], given[1::2], strict=True))
    most, runs = said.get("--rows-per-person"), int(said.get("--runs", runs))
    request = FitRequest(
        epsilon="1",
        delta=said.get("--delta", "0"),
        method=method,
        structure=said.get("--structure"),
        neighbours=said.get("--neighbours"),
        rows=1 if registry.abilities(method).releases_rows else None,
        people=PersonRequest(PERSON, int(most)) if most else PersonRequest(),
    )
    started = time.process_time()
    found = audit(
        build(request, schema_for(registry.abilities(method))), runs=runs, processes=1
    ).document()
    return found, time.process_time() - started


def _found(done: list[Entry]) -> Iterator[Entry]:
    for command in FOUND:
        if command not in [entry["command"] for entry in done]:
            found, seconds = _audited(command, FOUND_RUNS)
            yield {
                "command": command,
                "neighbours": found["neighbours"],
                "claimed": found["epsilon"],
                "by_laws": found["attack"]["lower_bound"],
                "without": max(box["lower_bound"] for box in found["black_box"]),
                "runs": found["runs"],
                "seconds": seconds,
                "reasons": found["reasons"],
            }


def _faults(done: list[Entry]) -> Iterator[Entry]:
    for name, fault in FAULTS.items():
        if name not in [entry["fault"] for entry in done]:
            abilities = fault.method().abilities
            long = abilities.is_trained or abilities.in_rounds
            runs = FAULT_RUNS_LONG if long else FAULT_RUNS
            with tempfile.TemporaryDirectory() as folder:
                found = audited(name, planted(fault, Path(folder)), runs=runs, confidence=0.99)
            yield {
                "fault": name,
                "runs": runs,
                "replay": len(found["replay"]) > 0,
                "by_laws": found["attack"]["lower_bound"] > found["epsilon"],
                "without": any(box["lower_bound"] > found["epsilon"] for box in found["black_box"]),
                "noise": len(found["noise"]["faults"]) > 0,
            }


def _repeated(done: list[Entry]) -> Iterator[Entry]:
    for turn in range(TIMES):
        for command in REPEATED:
            if not any((command, turn) == (entry["command"], entry["turn"]) for entry in done):
                found, _ = _audited(command, REPEATED_RUNS)
                yield {
                    "command": command,
                    "turn": turn,
                    "runs": found["runs"],
                    "reasons": found["reasons"],
                }


PARTS = {"found": _found, "faults": _faults, "repeated": _repeated}


def tables() -> str:
    """All tables of the page, from the record."""
    held = {part: [e for e in entries() if part == e["part"]] for part in PARTS}
    lines = [
        "| command | neighbours | runs | claimed ε | by laws | without laws | CPU seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `audit {e['command'].split(' --runs')[0]}` | {e['neighbours']} | {e['runs']:,} "
        f"| {e['claimed']:g} | {e['by_laws']:.2f} "
        f"| {e['without']:.2f} | {e['seconds']:.0f} |"
        for e in held["found"]
    ]
    lines += [
        "",
        "Lower bounds on ε at ε = 1 and confidence 0.99; 0.00 where so few runs show nothing.",
        "",
        "| planted fault | runs | replay | by laws | without laws | noise |",
        "|---|---|---|---|---|---|",
    ]
    for entry in held["faults"]:
        marks = (
            "found" if entry[part] else "–" for part in ("replay", "by_laws", "without", "noise")
        )
        lines.append(f"| {entry['fault']} | {entry['runs']:,} | {' | '.join(marks)} |")
    accused = sum(bool(entry["reasons"]) for entry in held["repeated"])
    lines += [
        "",
        f"Repeated audits of code without a planted fault: {len(held['repeated'])}, of "
        f"{len({name.split()[0] for name in REPEATED})} methods in {len(REPEATED)} settings, "
        f"{REPEATED_RUNS} runs each at confidence 0.99. "
        f"False alarms: {accused}.",
    ]
    return "\n".join(lines)


def main(part: str) -> None:
    """Run what is missing of a part, or print the tables."""
    if part == "tables":
        sys.stdout.write(tables() + "\n")
        return
    done = [entry for entry in entries() if part == entry["part"]]
    for entry in PARTS[part](done):
        _keep({"part": part} | entry)


if __name__ == "__main__":
    main(sys.argv[1])
