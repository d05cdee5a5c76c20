"""Tables and sentences of the pages in docs, made from the results on record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.arena.page import Results, grouped
from benchmarks.arena.processes import Limits
from benchmarks.plan import CLAIMED, DEFAULT_FACTOR, FACTOR, WAYS, left_out
from benchmarks.utility import DEFAULT

Record = dict[str, Any]

_TITLES = {
    "adult": "Adult",
    "cmc": "Contraceptive choice",
    "diabetes": "Diabetes",
    "poker": "Poker hands",
    "heart": "Heart disease",
    "generated": "generated",
    "nltcs": "NLTCS",
    "br2000": "BR2000",
}
# Tables that had no part in the choice of the populations; the shift knows them, too.
_HELD_OUT = ("generated", "nltcs", "br2000")
_PROTOCOLS = ("statistics", "votes", "model", "union of models")
_WORLDS = ("ε = 1, replace", "ε = 1, δ = 10⁻⁹, add-remove")
_METHODS = ("adaptive", "nist", "privbayes", "independent")
_OURS, _AIM, _MST, _DATASYNTHESIZER = "adaptive", "dpmm-aim-30", "dpmm-mst", "datasynthesizer"
_WHOLE_AIM = "dpmm-aim"
_CENSUS = "662,000 × 98"
# What a released table answers, by the names of the benchmark.
_ASKED = {
    "cells": "cells",
    "numbers": "counts and means",
    "conditions": "under a condition",
    "quantiles": "quantiles",
}
_AUDITS = Path(__file__).parents[1] / "docs" / "audit.jsonl"


def _measured(record: Record) -> dict[str, float]:
    return {line["what"]: line["measured"] for line in record["lines"]}


def learned_sentences(found: dict[str, Record]) -> str:
    """How plans of a learned schema fared when they were last measured, and what they took."""
    record = found["plan_learned"]
    measured = _measured(record)
    errors = {
        what: next(int(n) for name, n in measured.items() if what in name)
        for what in ("80 % range", "95 % range", "factor of 1.3")
    }
    ratios = [1 / cell["ratio"] for run in record["details"] for cell in _ways(run)]
    fit, memory = ("Diabetes: seconds of a fit, ", "Diabetes: memory of both, ")
    plan = next(n for name, n in measured.items() if name.endswith("a plan with its curve, CPU"))
    wall = next(n for name, n in measured.items() if "curve, wall" in name)
    return "\n".join(
        [
            f"On record (`python -m benchmarks plan_learned`), of {len(ratios)} measured errors "
            f"{errors['80 % range']} lie in the range of four in five and "
            f"{errors['95 % range']} in that of nineteen in twenty, and "
            f"{errors['factor of 1.3']} are within a factor of 1.3.",
            f"Measured errors were {min(ratios):.1f} to {max(ratios):.1f} times those that were "
            "expected.",
            *_outside(record["details"]),
            f"The plan with its curve took {plan:.0f} CPU seconds and {wall:.0f} seconds of wall "
            f"time at a load of {record['load']:.0f} on two processors.",
            "The aim is 10 seconds of wall time where nothing else runs; no record shows that it "
            "is kept.",
            f"It expected {measured[fit + 'planned']:.0f} seconds for the fit where "
            f"{measured[fit + 'measured']:.0f} passed, and {measured[memory + 'planned']:.0f} MiB "
            f"where {measured[memory + 'measured']:.0f} were held.",
        ]
    )


def _outside(details: list[Record]) -> list[str]:
    """The errors outside the wide range, each by name."""
    return [
        f"Outside the latter is the {way} error at ε = {run['epsilon']}: it was "
        f"{run[way]['measured']:.4f}, and the range {run[way]['lowest']:.4f} to "
        f"{run[way]['highest']:.4f}."
        for run in details
        for way in WAYS
        if way in run and not run[way]["in outer band"]
    ]


def coverage_table(found: dict[str, Record]) -> str:
    """How many intervals held the truth, by table and method, and of how many."""
    heads = " | ".join(_ASKED.values())
    rows = [f"| table | method | {heads} |", "|---" * (2 + len(_ASKED)) + "|"]
    for line in found["coverage"]["details"]:
        cells = " | ".join(_covered(line.get(kind)) for kind in _ASKED)
        rows.append(f"| {_TITLES[line['table']]} | `{line['method']}` | {cells} |")
    return "\n".join(rows)


def _covered(tally: Record | None) -> str:
    if tally is None:
        return "–"
    return f"{100 * tally['held'] / tally['asked']:.1f} of {tally['asked']:,}"


def _ways(run: Record) -> list[Record]:
    return [run[f"{way}-way"] for way in (1, 2, 3) if f"{way}-way" in run]


def why_lines(found: dict[str, Record]) -> str:
    """Five reasons to use understudy, each with a measured number beside that of others."""
    times = [n for what, n in _measured(found["noise"]).items() if "OpenDP" in what]
    planted = _planted_faults()
    return "\n".join(
        f"- **{word}:** {sentence}"
        for word, sentence in {
            **_compared_on_adult(grouped(found["arena"]["details"])),
            "Large": _large(found),
            "Exact": "noise is drawn on integers, without floating point, "
            f"{min(times):.0f} to {max(times):.0f} times as fast as by OpenDP "
            f"({_version(found, 'noise')}).",
            "Audited": f"{len(planted)} privacy faults were planted in copies of the source, and "
            f"`understudy audit` found {sum(planted)} of them.",
        }.items()
    )


def _compared_on_adult(arena: Results) -> dict[str, str]:
    """How near and how fast the default is on Adult at ε = 1, beside other tools."""
    cells = {name: arena["adult", name, "1"] for name in (_OURS, _AIM, _MST, _DATASYNTHESIZER)}
    distance = {name: f"{cell.mean('3-way'):.3f}" for name, cell in cells.items()}
    seconds = {name: f"{cell.mean('cpu_seconds'):.0f}" for name, cell in cells.items()}
    floor = arena["adult", "resampled", "none"].mean("3-way")
    return {
        "Accurate": "on Adult at ε = 1, δ = 10⁻⁹, the mean 3-way distance is "
        f"{distance[_OURS]} by `adaptive`, the default, and {floor:.3f} for real rows that are "
        f"resampled.\n  It is {distance[_AIM]} by dpmm's AIM, cut to 30 rounds "
        f"({_about_aim(arena)}), {distance[_MST]} by its MST, and {distance[_DATASYNTHESIZER]} by "
        "DataSynthesizer (δ = 0, spends 2ε).",
        "Fast": f"that takes {seconds[_OURS]} CPU seconds, the start of Python included; AIM so "
        f"reduced takes {seconds[_AIM]}, MST {seconds[_MST]}, and DataSynthesizer "
        f"{seconds[_DATASYNTHESIZER]}.",
    }


def _about_aim(arena: Results) -> str:
    """How often the reduced AIM ran, and whether one with more rounds finished."""
    runs = len(arena["adult", _AIM, "1"].runs)
    said = "one run" if runs == 1 else f"{runs} runs"
    whole = arena.get(("adult", _WHOLE_AIM, "1"))
    if whole is None or whole.finished:
        return said
    rounds = whole.runs[0]["facts"]["settings"]["rounds"]
    return f"{said}; {rounds} did not finish in {Limits().cpu_seconds // 60} CPU minutes"


def _large(found: dict[str, Record]) -> str:
    """How large tables can be, and with which version that was measured."""
    census, blocks = (_measured(found[name]) for name in ("census", "blocks"))
    job = f"adaptive fit and as many sampled rows, {_CENSUS}"
    return (
        f"`adaptive` fits and samples a table of {_CENSUS} in "
        f"{census[f'{job}, CPU']:.0f} CPU seconds and {census[f'{job}, peak memory']:.1f} GB "
        f"({_version(found, 'census')}).\n"
        "  A fit of 100 million rows in blocks takes "
        f"{blocks['peak memory of 100,000,000 rows, times that of 10,000,000']:.2f} times the "
        f"memory of 10 million ({_version(found, 'blocks')})."
    )


def _version(found: dict[str, Record], *names: str) -> str:
    """The versions that some records are of."""
    versions = dict.fromkeys(found[name]["versions"]["understudy"] for name in names)
    return f"measured with version {' and '.join(versions)}"


def _planted_faults() -> list[bool]:
    """Whether the audit found each fault that was planted in the source."""
    entries = [json.loads(line) for line in _AUDITS.read_text(encoding="utf-8").splitlines()]
    ways = ("replay", "by_laws", "without", "noise")
    return [any(entry[way] for way in ways) for entry in entries if entry["part"] == "faults"]


def constraints_sentence(found: dict[str, Record]) -> str:
    """How much longer rows take under constraints."""
    record = found["sampling"]
    times = _measured(record)["forward sampling under five constraints, times slower"]
    return (
        "Rows of 15 attributes drawn forward under five constraints on ten of them take "
        f"{times:.2f} times as long as without (`{record['command']}`, {record['date']})."
    )


def _dated(record: Record) -> str:
    """The day of a record and the version that it is of."""
    return f"{record['date']}, version {record['versions']['understudy']}"


def relations_table(found: dict[str, Record]) -> str:
    """Mean 3-way distances of `privbayes` under both relations."""
    record = found["utility"]
    distances = {(d["table"], d["method"], d["epsilon"]): d["3-way"] for d in record["details"]}
    ways = ("privbayes", "privbayes, replace at 2ε", "privbayes, replace")
    heads = (
        "add-remove at ε | replace at 2ε: what add-remove at ε implies "
        "| replace at ε: the stronger promise"
    )
    rows = [f"| table | ε | {heads} |", "|---" * 5 + "|"]
    for table in dict.fromkeys(d["table"] for d in record["details"]):
        for epsilon in ("0.1", "1", "10"):
            cells = [f"{distances[table, way, epsilon]:.3f}" for way in ways]
            rows.append(f"| {_TITLES[table]} | {epsilon} | {' | '.join(cells)} |")
    return "\n".join(
        [*rows, "", f"Means of five runs each (`{record['command']}`, {_dated(record)})."]
    )


def referees_table(found: dict[str, Record]) -> str:
    """Distances and attacks of outside referees beside ours."""
    record = found["referees"]
    rows = ["| referee | measure | largest difference |", "|---|---|---|"]
    for line in record["lines"]:
        tool, _, rest = line["what"].partition(", ")
        if tool in ("SDMetrics", "SDNist"):
            rows.append(f"| {tool} | {rest.partition(':')[0]} | {line['measured']:.1e} |")
    rows += ["", "| attack | with | tool | real rows | held-out rows | risk |", "|---" * 6 + "|"]
    attacks = [detail for detail in record["details"] if "attack" in detail]
    rows += [line for detail in attacks for line in _attack_lines(detail)]
    return "\n".join(rows)


def _attack_lines(detail: Record) -> list[str]:
    """Success rates and risk of one attack by Anonymeter and by ours."""
    theirs, ours = detail["Anonymeter"], detail["ours"]
    rates = {
        "Anonymeter": [theirs[k] / theirs["guesses"] for k in ("successes", "control_successes")],
        "ours": [ours["real"], ours["control"]],
    }
    risks = {"Anonymeter": theirs["risk"], "ours": ours["risk"]}
    return [
        f"| {detail['attack']} | {detail['with']} | {tool} | "
        f"{' | '.join(f'{rate:.3f}' for rate in (*rates[tool], risks[tool]))} |"
        for tool in rates
    ]


def federated_table(found: dict[str, Record]) -> str:
    """Mean 3-way distances of each protocol, improved and as in the theses, beside one holder."""
    numbers = _measured(found["federated"])
    # Tables chosen in rounds are shown from the first record that has them.
    rounds = "adaptive" if any(", adaptive, " in what for what in numbers) else None
    titles = ["", "one holder", "`statistics`", "`votes`", "`model`", "`union`"]
    titles += [f"`{rounds}`"] if rounds else []
    rows = [f"| {' | '.join(titles)} |".replace("|  |", "| |"), "|---" * len(titles) + "|"]
    for world in _WORLDS:
        centre = numbers[f"3-way total variation, one holder, {world}"]
        ours = [
            numbers[f"3-way total variation, 3 holders, {name}, {world}"]
            for name in (*_PROTOCOLS, *([rounds] if rounds else []))
        ]
        theirs = [numbers[f"the same as in the theses, {name}, {world}"] for name in _PROTOCOLS]
        rows.append(f"| {world} | {' | '.join(f'{n:.3f}' for n in (centre, *ours))} |")
        cells = " | ".join(f"{number:.3f}" for number in theirs)
        rows.append(f"| the same as in the theses, k = 1 | | {cells} |{' |' if rounds else ''}")
    return "\n".join(rows)


def plan_table(found: dict[str, Record]) -> str:
    """Expected over measured errors of every table, method and budget; misses are bold."""
    details = found["plan"]["details"]
    epsilons = list(dict.fromkeys(detail["epsilon"] for detail in details))
    heads = " | ".join(f"ε = {epsilon}" for epsilon in epsilons)
    rows = [f"| table | method | {heads} |", "|---" * (2 + len(epsilons)) + "|"]
    by_place = {(d["table"], d["method"], d["epsilon"]): d for d in details}
    for method in _METHODS:
        for table in _TITLES:
            cells = [_ratios(by_place[table, method, epsilon]) for epsilon in epsilons]
            held_out = " (held out of the ladder)" if table in _HELD_OUT else ""
            rows.append(f"| {_TITLES[table]}{held_out} | `{method}` | {' | '.join(cells)} |")
    return "\n".join(rows)


def _ratios(detail: Record) -> str:
    ratios = [detail[way]["ratio"] for way in WAYS]
    return " ".join(f"{r:.2f}" if 1 / FACTOR <= r <= FACTOR else f"**{r:.2f}**" for r in ratios)


def plan_sentence(found: dict[str, Record]) -> str:
    """How often plans kept the factor, and how often the band held the measured error."""
    details = [d for d in found["plan"]["details"] if d["table"] in CLAIMED]
    of = {m: [d[way] for d in details if d["method"] == m for way in WAYS] for m in _METHODS}
    near = {m: sum(1 / FACTOR <= each["ratio"] <= FACTOR for each in of[m]) for m in _METHODS}
    kept = ", ".join(f"{near[method]} of {len(of[method])} for `{method}`" for method in _METHODS)
    inside, nearly = (
        ", ".join(str(sum(bool(each[key]) for each in of[m])) for m in _METHODS)
        for key in ("in band", "in outer band")
    )
    *others, last = (_TITLES[name] for name in CLAIMED)
    close = sum(1 / DEFAULT_FACTOR <= each["ratio"] <= DEFAULT_FACTOR for each in of[DEFAULT])
    return (
        f"On {', '.join(others)} and {last} the factor of {FACTOR} is kept by {kept}.\n"
        f"`{DEFAULT}`, the default, keeps {DEFAULT_FACTOR} in {close}.\n"
        f"The measured error lies in the range of four in five in {inside} of "
        f"{len(of[DEFAULT])}, and in that of nineteen in twenty in {nearly}."
    )


def blind_table(found: dict[str, Record]) -> str:
    """How often ranges that know nothing of a table hold its measured errors, by method."""
    details = found["plan"]["details"]
    heads = " | ".join(f"`{method}`" for method in _METHODS)
    rows = [f"| table | of | {heads} |", "|---" * (2 + len(_METHODS)) + "|"]
    for table, title in _TITLES.items():
        bands = [list(left_out(_of_method(details, m), (table,))) for m in _METHODS]
        cells = " | ".join(
            f"{_inside(each, 'in band')}, {_inside(each, 'in outer band')}" for each in bands
        )
        rows.append(f"| {title} | {len(bands[0])} | {cells} |")
    return "\n".join(rows)


def _of_method(details: list[Record], method: str) -> list[Record]:
    return [detail for detail in details if detail["method"] == method]


def _inside(bands: list[Record], key: str) -> int:
    return sum(bool(band[key]) for band in bands)
