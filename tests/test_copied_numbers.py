"""Sentences that copy numbers from records say what the records say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import pytest

from support.documents import ROOT

RESULTS = ROOT / "benchmarks" / "results"
GUIDES = "docs/guides"
EPSILONS = ("0.1", "1", "10")
Sentences = Callable[[], list[str]]


def _record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _lines(name: str) -> dict[str, float]:
    return {line["what"]: line["measured"] for line in _record(name)["lines"]}


def _plans() -> dict[tuple[str, str], dict[str, Any]]:
    """Return what was planned and measured, by table and ε, and then by method."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for detail in _record("plan")["details"]:
        found.setdefault((detail["table"], detail["epsilon"]), {})[detail["method"]] = detail
    return found


def _measured(methods: Mapping[str, Any]) -> dict[str, float]:
    return {method: detail["3-way"]["measured"] for method, detail in methods.items()}


def _arena(table: str, method: str, epsilon: str) -> str:
    """Return the mean 3-way distance of the arena, in three digits."""
    path = RESULTS / "arena" / table / f"{method}.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return f"{fmean(run['3-way'] for run in runs if run['epsilon'] == epsilon):.3f}"


def _where_the_default_is_behind() -> list[str]:
    plans = {place: _measured(methods) for place, methods in _plans().items()}
    behind = {
        place for place, found in plans.items() if min(found, key=found.__getitem__) != "adaptive"
    }
    assert {("cmc", "0.1"), ("diabetes", "0.1")} == behind
    first, second = plans["cmc", "0.1"], plans["diabetes", "0.1"]
    return [
        "in all settings but two.",
        f"`independent` had {first['independent']:.3f} where `adaptive` had "
        f"{first['adaptive']:.3f} on Contraceptive choice, and {second['independent']:.4f} where "
        f"it had {second['adaptive']:.4f} on Diabetes.",
    ]


def _small_tables() -> list[str]:
    def of(method: str) -> tuple[str, str]:
        return _arena("heart", method, "0.1"), _arena("heart", method, "1")

    independent, nist, privbayes, adaptive = map(
        of, ("independent", "nist", "privbayes", "adaptive")
    )
    return [
        f"on Heart disease it had {independent[0]} at ε = 0.1, where they had {nist[0]} and "
        f"{privbayes[0]}, and {independent[1]} at ε = 1, where they had {nist[1]} and "
        f"{privbayes[1]} ([arena](../arena.md)).",
        f"it had {adaptive[0]} and {adaptive[1]} there.",
    ]


def _times_the_plan(method: str, *epsilons: str) -> str:
    plans = _plans()
    found = [
        1 / plans["nltcs", epsilon][method][way]["ratio"]
        for epsilon in epsilons
        for way in ("2-way", "3-way")
    ]
    return f"{min(found):.0f} to {max(found):.0f} times"


def _where_plans_miss() -> list[str]:
    return [
        f"the error of `independent` is {_times_the_plan('independent', *EPSILONS)} the expected "
        f"one, that of `privbayes` {_times_the_plan('privbayes', *EPSILONS)} (most at ε = 10), "
        f"and that of `nist` {_times_the_plan('nist', '0.1')} at ε = 0.1."
    ]


def _plan_seconds() -> list[str]:
    def seconds(table: str) -> tuple[int, int]:
        of = [methods["adaptive"]["plan CPU s"] for at, methods in _plans().items() if table in at]
        return round(min(of)), round(max(of))

    (least, most), diabetes = seconds("adult"), seconds("diabetes")
    assert least == most
    return [
        f"takes about {most} CPU seconds for Adult's 15 columns and {diabetes[0]} to {diabetes[1]} "
        "for Diabetes' 44"
    ]


def _modelled(method: str) -> str:
    found = _lines("coverage")
    what = "intervals that rest on the model hold the truth"
    return " and ".join(
        f"{found[f'{table}, {method}: {what}']:.0f}" for table in ("generated", "adult")
    )


def _intervals() -> list[str]:
    found = _lines("coverage")
    cells = [
        value for what, value in found.items() if what.endswith("released tables hold the truth")
    ]
    assert 8 == len(cells)
    pairs = {
        method: round(found[f"{method}: intervals of the distances of top 5 pairs hold the truth"])
        for method in ("adaptive", "nist", "privbayes", "independent")
    }
    assert 0 == pairs["independent"]
    return [
        f"the truth was in {int(min(cells) + 0.5) - 1} to {max(cells):.0f} of 100 such intervals",
        f"such intervals of `adaptive` held the truth in {_modelled('adaptive')} of 100 cases.",
        f"Those of `nist` held it in {_modelled('nist')}, those of `privbayes` in "
        f"{_modelled('privbayes')}, and those of `independent` in {_modelled('independent')}.",
        f"they held the truth in {pairs['adaptive']} of 100 cases for `adaptive`, {pairs['nist']} "
        f"for `nist`, {pairs['privbayes']} for `privbayes`, and never for `independent`",
    ]


def _replicate(method: str, what: str, how: str) -> str:
    return f"{_lines('replicate_coverage')[f'{method}: 95 % intervals of {what}, {how}']:.0f}"


def _replicates() -> list[str]:
    combined = "10 stand-ins combined, where released tables hold every pair"
    one = "one stand-in taken for real rows"
    rows = [
        "| {} | {} % | {} % | {} %, {} % |".format(
            what,
            *(_replicate(method, what, combined) for method in ("adaptive", "nist")),
            *(_replicate(method, what, one) for method in ("adaptive", "nist")),
        )
        for what in ("a mean", "a proportion")
    ]
    ends = [
        " and ".join(
            f"{_replicate(method, f'the regression coefficient of {name}', how)} %"
            for name in ("x", "z")
        )
        for how in (combined, one)
        for method in ("adaptive", "nist")
    ]
    rest = "10 stand-ins combined, where a pair rests on the model"
    first, second = (
        _replicate("nist", f"the regression coefficient of {name}", rest) for name in ("x", "z")
    )
    return [
        *rows,
        f"| a regression coefficient, of two | {ends[0]} | {ends[1]} | {ends[2]}, {ends[3]} |",
        f"held the truth in {first} and {second} % of them",
    ]


def _sketch_errors() -> list[str]:
    path = ROOT / "docs" / "studies" / "tuc1-sketches.json"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    users = [cell for cell in cells if cell["setting"].get("bits") == 16_384]

    def errors(way: str) -> dict[int, float]:
        return {cell["setting"]["seen"]: cell["numbers"][way]["error"] for cell in users}

    sketch, hashed = errors("Flajolet and Martin"), errors("bits of hashed users")
    off = [error for seen, error in sketch.items() if seen >= 1000]
    assert hashed[10_000] < sketch[10_000]
    return [
        f"it is {100 * min(off):.0f} to {100 * max(off):.0f} % [from 1,000 users on]",
        f"and is {100 * hashed[500_000]:.0f} % off with 500,000.",
    ]


def _replicates_elsewhere() -> list[str]:
    rest = "10 stand-ins combined, where a pair rests on the model"
    first, second = (
        _replicate("nist", f"the regression coefficient of {name}", rest) for name in ("x", "z")
    )
    asked = {
        detail["asked"]
        for detail in _record("replicate_coverage")["details"]
        if detail["what"].startswith("nist: 95 % intervals of the regression coefficient")
        and detail["basis"] == "where a pair rests on the model"
    }
    assert 1 == len(asked)
    return [f"held the truth in only {first} and {second} % of {asked.pop()} runs of `nist`"]


def _holders() -> list[str]:
    found = _lines("federated")
    worlds = ("ε = 1, δ = 10⁻⁹, add-remove", "ε = 1, replace")
    adaptive, votes = (
        [f"{found[f'3-way total variation, 3 holders, {name}, {world}']:.3f}" for world in worlds]
        for name in ("adaptive", "votes")
    )
    return [
        f"its mean 3-way total variation is {adaptive[0]}, and that of `votes` {votes[0]}; under "
        f"pure ε and `replace` it is {adaptive[1]}, worse than the {votes[1]} of `votes`"
    ]


def _changes() -> list[str]:
    plans = {place: _measured(methods) for place, methods in _plans().items()}

    def three(table: str, method: str) -> str:
        first, second, third = (f"{plans[table, epsilon][method]:.3f}" for epsilon in EPSILONS)
        return f"{first}, {second} and {third}"

    return [
        f"{three('adult', 'adaptive')} at ε = 0.1, 1 and 10, where `nist` has "
        f"{three('adult', 'nist')}",
        f"at ε = 0.1, 1 and 10: {three('nltcs', 'nist')}.",
    ]


COPIED: dict[str, tuple[str, Sentences]] = {
    "where the default is behind": (f"{GUIDES}/methods.md", _where_the_default_is_behind),
    "small tables": (f"{GUIDES}/methods.md", _small_tables),
    "where plans miss": (f"{GUIDES}/planning.md", _where_plans_miss),
    "seconds of plans": (f"{GUIDES}/planning.md", _plan_seconds),
    "errors of sketches": (f"{GUIDES}/stream.md", _sketch_errors),
    "intervals": (f"{GUIDES}/questions.md", _intervals),
    "replicates": (f"{GUIDES}/questions.md", _replicates),
    "replicates elsewhere": ("docs/coming_from/synthpop.md", _replicates_elsewhere),
    "holders": (f"{GUIDES}/federated.md", _holders),
    "changes": ("CHANGELOG.md", _changes),
}


@pytest.mark.parametrize("about", COPIED)
def test_sentences_copy_the_records(about: str) -> None:
    """What a page says outside of its generated parts is what the record says."""
    page, sentences = COPIED[about]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [] == [sentence for sentence in sentences() if sentence not in text]


def test_a_number_that_changed_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: with another record the page lacks the sentence."""
    found = {what: value + 0.1 for what, value in _lines("federated").items()}
    monkeypatch.setitem(_holders.__globals__, "_lines", lambda name: found)
    text = (ROOT / GUIDES / "federated.md").read_text(encoding="utf-8")
    assert [] == [sentence for sentence in _holders() if sentence in text]
