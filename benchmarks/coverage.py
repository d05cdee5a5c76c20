"""How often 95 % intervals of answers hold the truth, over fresh noise.

Answers inside a released table are compared with exact counts, cell by cell, and so are means,
counts, quantiles, and shares and means under a condition. Answers that rest on the model are those
for pairs and triples that no table holds, and the distances of the strongest pairs. Combined
estimates of several stand-ins are in `benchmarks/replicate_coverage.py`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.coverage_tally import Tally
from benchmarks.real_tables import SHARED, adult, generated
from benchmarks.scoreboard import Scoreboard
from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Independent, Nist, PrivBayes
from understudy.models.inference.question import Question
from understudy.models.intervals.interval import MEASURED
from understudy.models.model import Model
from understudy.models.query import PairsAnswer
from understudy.models.questions.noise import AnswerNoise, rows_counted
from understudy.models.questions.places import places_of
from understudy.models.questions.reading import ColumnQuestion, CountQuestion
from understudy.models.strengths import distance_from_independence
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Floats

TABLES: dict[str, Callable[[], tuple[Schema, Table]]] = {"generated": generated, "adult": adult}
METHODS: dict[str, Callable[[Schema], Any]] = {
    "adaptive": lambda schema: AdaptiveMarginals(schema, epsilon=1, delta=1e-6),
    "nist": lambda schema: Nist(schema, epsilon=1, delta=1e-6),
    "privbayes": lambda schema: PrivBayes(schema, epsilon=1),
    "independent": lambda schema: Independent(schema, epsilon=1, delta=1e-6),
}
RUNS = {"adaptive": 6, "nist": 20, "privbayes": 5, "independent": 30}
MODELLED_RUNS = 2
LOWEST, HIGHEST = 93.0, 97.0
SETS, TOP = 25, 5
CELLS, NUMBERS, QUANTILES, MODELLED, PAIRS = "cells", "numbers", "quantiles", "model", "pairs"
CONDITIONS = "conditions"
# What a released table answers, in words.
_HELD = {
    CELLS: "cells of released tables",
    NUMBERS: "counts and means",
    CONDITIONS: "shares and means under a condition",
}
_ROUNDED = (QUANTILES, "quantiles")


@dataclass
class Tallies:
    """The tallies of one table and method, by what was asked.

    Attributes:
        by_kind: the tallies.
        measured_on: the date where another run measured them.
    """

    by_kind: dict[str, Tally] = field(default_factory=dict)
    measured_on: str | None = None

    def of(self, kind: str) -> Tally:
        """The tally of a kind of question."""
        return self.by_kind.setdefault(kind, Tally())


def run(board: Scoreboard) -> None:
    """Every table and method; `--only adult/nist` measures a part, the rest is on record."""
    known = on_record(board.folder) if board.only else {}
    totals: dict[tuple[str, str], Tally] = {}
    for name in board.size.pick(("generated", "adult"), ("generated",)):
        if name == "adult" and not SHARED.exists():
            board.leave_out("coverage on adult", "the table is not there")
            continue
        for method in board.size.pick(tuple(METHODS), ("independent",)):
            before = None if f"{name}/{method}" in board.only else known.get((name, method))
            found = before or covered(name, method, board.size.pick(RUNS[method], 1))
            _report(board, name, method, found)
            for kind, tally in found.by_kind.items():
                totals.setdefault((kind, method), Tally()).join(tally)
    for method in METHODS:
        modelled = totals.get((MODELLED, method))
        if modelled is not None:
            what = f"{method}: intervals that rest on the model hold the truth"
            board.add(what, modelled.percent, "%")
        pairs = totals.get((PAIRS, method))
        if pairs is not None:
            what = f"{method}: intervals of the distances of top 5 pairs hold the truth"
            board.add(what, pairs.percent, "%")
    for kind, words in (*((each, _HELD[each]) for each in (NUMBERS, CONDITIONS)), _ROUNDED):
        for method in METHODS:
            whole = totals.get((kind, method))
            if whole is not None:
                what = f"{method}: 95 % intervals of {words} hold the truth"
                _within(board, what, whole, kind != QUANTILES)


def on_record(folder: Path | None) -> dict[tuple[str, str], Tallies]:
    """The tallies that the record has, by table and method."""
    if folder is None:
        return {}
    record = json.loads((folder / "coverage.json").read_text(encoding="utf-8"))
    return {
        (line["table"], line["method"]): Tallies(
            {kind: Tally(**each) for kind, each in line.items() if isinstance(each, dict)},
            line.get("measured on", record["date"]),
        )
        for line in record["details"]
    }


def _within(board: Scoreboard, what: str, tally: Tally, has_most: bool) -> None:
    """Compare with the least and, where ends are not rounded to values, the most allowed."""
    board.add(what, tally.percent, "%", LOWEST, at_most=False)
    if has_most:
        board.add(f"{what}, at most", tally.percent, "%", HIGHEST)


def _report(board: Scoreboard, name: str, method: str, found: Tallies) -> None:
    if tally := found.by_kind.get(CELLS):
        what = f"{name}, {method}: 95 % intervals of {_HELD[CELLS]} hold the truth"
        _within(board, what, tally, True)
    for kind, words in (*((each, _HELD[each]) for each in (NUMBERS, CONDITIONS)), _ROUNDED):
        if tally := found.by_kind.get(kind):
            what = f"{name}, {method}: 95 % intervals of {words} hold the truth"
            board.add(what, tally.percent, "%")
    if tally := found.by_kind.get(MODELLED):
        what = f"{name}, {method}: intervals that rest on the model hold the truth"
        board.add(what, tally.percent, "%")
    board.details.append(
        {"table": name, "method": method}
        | ({} if found.measured_on is None else {"measured on": found.measured_on})
        | {kind: {"held": t.held, "asked": t.asked} for kind, t in found.by_kind.items()}
    )


def covered(name: str, method: str, runs: int) -> Tallies:
    """Fit a table several times with fresh noise, and compare intervals with the truth."""
    schema, table = TABLES[name]()
    found = Tallies()
    for number in range(runs):
        model = METHODS[method](schema).fit(MemorySource(table), ledger=None).model_
        _compare(model, table, found, np.random.default_rng(number))
        if number < MODELLED_RUNS:
            _compare_modelled(model, table, found, first=number == 0)
    return found


def _compare(model: Model, table: Table, found: Tallies, generator: np.random.Generator) -> None:
    noise, source = AnswerNoise(model, lambda: model.refits), MemorySource(table)
    domain = model.domain
    held = [t.attributes for t in model.tables if not {*t.attributes} & {*domain.coarser}]
    sets = list(dict.fromkeys(tuple(sorted(names)) for names in held if names))
    for names in _some(sets, generator):
        _cells(noise, source, names, found)
        for name, condition in itertools.permutations(names[:2], 2):
            _conditions(noise, source, (name, condition), found)
    for name in domain:
        _numbers(noise, source, name, found)


def _compare_modelled(model: Model, table: Table, found: Tallies, *, first: bool) -> None:
    """Compare what rests on the model in a few runs: refitting takes most of the time."""
    noise, source = AnswerNoise(model, lambda: model.refits), MemorySource(table)
    for names in _some(_not_held(model), np.random.default_rng(1)) if first else ():
        _cells(noise, source, names, found)
    answer = model.ask(f"top {TOP} pairs")
    if isinstance(answer, PairsAnswer) and answer.interval.ends is not None:
        counts = [source.count([pair])[0].counts for pair in answer.pairs]
        truth = [distance_from_independence(each / each.sum()) for each in counts]
        found.of(PAIRS).add(*answer.interval.ends, np.array(truth))


def _some(sets: list[Attributes], generator: np.random.Generator) -> Iterator[Attributes]:
    for place in generator.permutation(len(sets))[:SETS]:
        yield sets[int(place)]


def _not_held(model: Model) -> list[Attributes]:
    """Pairs and triples that no released table holds."""
    domain = model.domain
    every = itertools.chain(*(itertools.combinations(domain, size) for size in (2, 3)))
    tables = [Axes(t.attributes) for t in model.tables]
    return [
        names
        for names in every
        if domain.cells(names) <= 2_000 and not any(axes.holds(names, domain) for axes in tables)
    ]


def _cells(noise: AnswerNoise, source: MemorySource, names: Attributes, found: Tallies) -> None:
    """Compare the shares of all cells of a table."""
    counts = source.count([names])[0].counts
    value = noise.model.law.project(names)
    interval = noise.interval(Question(names, {}, None), value)
    if interval.ends is not None:
        kind = CELLS if interval.basis == MEASURED else MODELLED
        found.of(kind).add(*interval.ends, counts / counts.sum())


def _conditions(
    noise: AnswerNoise, source: MemorySource, names: Attributes, found: Tallies
) -> None:
    """Compare the shares and the mean of one column among rows with half of another's values."""
    name, condition = names
    counts = source.count([names])[0].counts.astype(float)
    law, fits = noise.model.law.project(names), _half(counts.shape[1])
    if not law @ fits @ np.ones(len(law)) > 0 or not counts.sum(axis=0) @ fits > 0:
        return
    said, true = (each @ fits / (each @ fits).sum() for each in (law, counts))
    asked: Question | ColumnQuestion = Question((name,), {condition: fits}, None)
    interval = noise.interval(asked, said)
    if interval.ends is not None and interval.basis == MEASURED:
        found.of(CONDITIONS).add(*interval.ends, true)
    try:
        places = places_of(name, noise.model.schema.learned[name])
    except UsageError:
        return
    asked = ColumnQuestion(name, places, {name: places.present, condition: fits}, None)
    value, truth = (float(_shares(each, places.present) @ places.means) for each in (said, true))
    _add(found.of(CONDITIONS), noise, asked, value, truth)


def _half(size: int) -> Floats:
    """Return the first half of the codes."""
    return (np.arange(size) < max(size // 2, 1)).astype(float)


def _numbers(noise: AnswerNoise, source: MemorySource, name: str, found: Tallies) -> None:
    """Compare counts, the mean, and three quantiles of one column."""
    counts = source.count([(name,)])[0].counts.astype(float)
    chances, rows = noise.model.law.project((name,)), rows_counted(noise.model)
    half = {name: _half(counts.size)}
    numbers, fits = found.of(NUMBERS), half[name]
    _add(numbers, noise, CountQuestion(half), rows * float(chances @ fits), float(counts @ fits))
    try:
        places = places_of(name, noise.model.schema.learned[name])
    except UsageError:
        return
    given = {name: places.present}
    said, true = (_shares(each, places.present) for each in (chances, counts))
    mean = ColumnQuestion(name, places, given, None)
    _add(numbers, noise, mean, float(said @ places.means), float(true @ places.means))
    for share in (0.25, 0.5, 0.9):
        value, truth = (places.value(places.quantile(each, share)) for each in (said, true))
        asked = ColumnQuestion(name, places, given, share)
        _add(found.of(QUANTILES), noise, asked, value, truth)


def _shares(counts: Floats, present: Floats) -> Floats:
    """The shares of values that are not missing."""
    return np.asarray(counts * present / max(float(counts @ present), 1e-300))


def _add(tally: Tally, noise: AnswerNoise, asked: Any, value: float, truth: float) -> None:
    ends = noise.interval(asked, np.array(value)).ends
    if ends is not None:
        tally.add(*ends, np.array(truth))
