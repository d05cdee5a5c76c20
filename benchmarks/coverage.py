"""How often 95 % intervals of answers hold the truth, over fresh noise; and combined estimates.

Answers inside a released table are compared with exact counts, cell by cell, and so are means,
counts and quantiles; answers that rest on the model are those for pairs and triples that no table
holds. Combined estimates of several stand-ins are compared with the population that the real rows
of every run are drawn from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.real_tables import SHARED, adult, generated
from benchmarks.scoreboard import Scoreboard
from understudy.errors import UsageError
from understudy.facts.axes import Axes
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Independent, Nist, PrivBayes
from understudy.models.inference.question import Question
from understudy.models.intervals.combining import combine_replicates
from understudy.models.intervals.interval import MEASURED
from understudy.models.model import Model
from understudy.models.questions.noise import AnswerNoise
from understudy.models.questions.places import places_of
from understudy.models.questions.reading import ColumnQuestion, CountQuestion
from understudy.models.sampling import sample_codes
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
RUNS = {"adaptive": 5, "nist": 8, "privbayes": 8, "independent": 30}
LOWEST, HIGHEST = 93.0, 97.0
SETS, STAND_INS = 25, 10
CELLS, NUMBERS, QUANTILES, MODELLED = "cells", "numbers", "quantiles", "model"


@dataclass
class Tally:
    """How many intervals held the truth, and how many there were."""

    held: int = 0
    asked: int = 0

    def add(self, low: Floats, high: Floats, truth: Floats) -> None:
        """Compare intervals with what is true; rounding does not count as a miss."""
        near = 1e-9 * np.maximum(np.abs(truth), 1.0)
        self.held += int(((low <= truth + near) & (truth - near <= high)).sum())
        self.asked += int(np.size(truth))

    def join(self, other: Tally) -> None:
        """Add the numbers of another tally."""
        self.held, self.asked = self.held + other.held, self.asked + other.asked

    @property
    def percent(self) -> float:
        """The part that held the truth."""
        return 100 * self.held / max(self.asked, 1)


@dataclass
class Tallies:
    """The tallies of one table and method, by what was asked."""

    by_kind: dict[str, Tally] = field(default_factory=dict)

    def of(self, kind: str) -> Tally:
        """The tally of a kind of question."""
        return self.by_kind.setdefault(kind, Tally())


def run(board: Scoreboard) -> None:
    """Every table and method; then combined estimates."""
    totals: dict[tuple[str, str], Tally] = {}
    for name in board.size.pick(("generated", "adult"), ("generated",)):
        if name == "adult" and not SHARED.exists():
            board.leave_out("coverage on adult", "the table is not there")
            continue
        for method in board.size.pick(tuple(METHODS), ("independent",)):
            found = covered(name, method, board.size.pick(RUNS[method], 1))
            _report(board, name, method, found)
            for kind, tally in found.by_kind.items():
                totals.setdefault((kind, method), Tally()).join(tally)
    for method in METHODS:
        modelled = totals.get((MODELLED, method))
        if modelled is not None:
            what = f"{method}: intervals that rest on the model hold the truth"
            board.add(what, modelled.percent, "%")
    for kind, words in ((NUMBERS, "counts and means"), (QUANTILES, "quantiles")):
        whole = Tally()
        for (asked, _), tally in totals.items():
            whole.join(tally if asked == kind else Tally())
        _within(board, f"95 % intervals of {words} hold the truth", whole, kind == NUMBERS)
    _combined(board)


def _within(board: Scoreboard, what: str, tally: Tally, has_most: bool) -> None:
    """Compare with the least and, where values are not rounded, the most that is allowed."""
    board.add(what, tally.percent, "%", LOWEST, at_most=False)
    if has_most:
        board.add(f"{what}, at most", tally.percent, "%", HIGHEST)


def _report(board: Scoreboard, name: str, method: str, found: Tallies) -> None:
    if tally := found.by_kind.get(CELLS):
        what = f"{name}, {method}: 95 % intervals of cells of released tables hold the truth"
        _within(board, what, tally, True)
    if tally := found.by_kind.get(MODELLED):
        what = f"{name}, {method}: intervals that rest on the model hold the truth"
        board.add(what, tally.percent, "%")
    board.details.append(
        {"table": name, "method": method}
        | {kind: {"held": t.held, "asked": t.asked} for kind, t in found.by_kind.items()}
    )


def covered(name: str, method: str, runs: int) -> Tallies:
    """Fit a table several times with fresh noise, and compare intervals with the truth."""
    schema, table = TABLES[name]()
    found = Tallies()
    for number in range(runs):
        model = METHODS[method](schema).fit(MemorySource(table), ledger=None).model_
        _compare(model, table, found, np.random.default_rng(number))
        if number == 0:
            _compare_modelled(model, table, found)
    return found


def _compare(model: Model, table: Table, found: Tallies, generator: np.random.Generator) -> None:
    noise, source = AnswerNoise(model, lambda: model.refits), MemorySource(table)
    domain = model.domain
    held = [t.attributes for t in model.tables if not {*t.attributes} & {*domain.coarser}]
    sets = list(dict.fromkeys(tuple(sorted(names)) for names in held if names))
    for names in _some(sets, generator):
        _cells(noise, source, names, found)
    for name in domain:
        _numbers(noise, source, name, found)


def _compare_modelled(model: Model, table: Table, found: Tallies) -> None:
    """Compare what rests on the model, once: refitting takes most of the time."""
    noise, source = AnswerNoise(model, lambda: model.refits), MemorySource(table)
    for names in _some(_not_held(model), np.random.default_rng(1)):
        _cells(noise, source, names, found)


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


def _numbers(noise: AnswerNoise, source: MemorySource, name: str, found: Tallies) -> None:
    """Compare counts, the mean, and three quantiles of one column."""
    counts = source.count([(name,)])[0].counts.astype(float)
    half = {name: (np.arange(counts.size) < max(counts.size // 2, 1)).astype(float)}
    numbers = found.of(NUMBERS)
    _add(numbers, noise, CountQuestion(half), float(counts @ half[name]))
    try:
        places = places_of(name, noise.model.schema.learned[name])
    except UsageError:
        return
    given = {name: places.present}
    shares = counts * places.present / max(float(counts @ places.present), 1.0)
    _add(numbers, noise, ColumnQuestion(name, places, given, None), float(shares @ places.means))
    for share in (0.25, 0.5, 0.9):
        truth = places.value(places.quantile(shares, share))
        _add(found.of(QUANTILES), noise, ColumnQuestion(name, places, given, share), truth)


def _add(tally: Tally, noise: AnswerNoise, asked: Any, truth: float) -> None:
    ends = noise.interval(asked, np.array(truth)).ends
    if ends is not None:
        tally.add(*ends, np.array(truth))


# --- combined estimates ---------------------------------------------------------------------------

_ROWS = 4_000
_COLUMNS = {
    "x": {"kind": "integer", "min": 0, "max": 3},
    "z": {"kind": "integer", "min": 0, "max": 2},
    "y": {"kind": "integer", "min": 0, "max": 5},
}


def _population() -> Floats:
    """The chances of x, z and y together: y rises with both."""
    x, z, y = np.indices((4, 3, 6))
    weights = np.exp(-0.35 * (y - 0.8 * x - 0.6 * z - 0.5) ** 2 - 0.2 * x + 0.15 * x * z)
    return np.asarray(weights / weights.sum())


def slope(codes: Any) -> tuple[float, float]:
    """The coefficient of x in the least-squares fit of y to x and z, and its variance."""
    ones = np.ones(len(codes["x"]))
    design = np.stack([ones, codes["x"].astype(float), codes["z"].astype(float)], axis=1)
    y = codes["y"].astype(float)
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ (design.T @ y)
    residual = y - design @ found
    return float(found[1]), float(inverse[1, 1] * (residual @ residual) / (len(y) - 3))


def mean(codes: Any) -> tuple[float, float]:
    """The mean of y, and its variance."""
    y = codes["y"].astype(float)
    return float(y.mean()), float(y.var(ddof=1) / len(y))


def _combined(board: Scoreboard) -> None:
    """Real rows are drawn again in every run, so that the population is what is estimated."""
    runs = board.size.pick(100, 2)
    truths = {name: measure(_many())[0] for name, measure in ESTIMATES.items()}
    for method in ("adaptive", "nist"):
        combined, alone = ({name: Tally() for name in truths} for _ in range(2))
        for number in range(runs):
            stand_ins = _stand_ins(method, np.random.default_rng(number))
            for name, measure in ESTIMATES.items():
                found = [measure(rows) for rows in stand_ins]
                both = combine_replicates([f[0] for f in found], [f[1] for f in found])
                _compare_ends(combined[name], both.low, both.high, truths[name])
                value, margin = found[0][0], 1.96 * found[0][1] ** 0.5
                _compare_ends(alone[name], value - margin, value + margin, truths[name])
        for name in truths:
            what = f"{method}: 95 % intervals of {name}"
            percent = combined[name].percent
            board.add(f"{what}, {STAND_INS} stand-ins combined", percent, "%", 90, at_most=False)
            board.add(f"{what}, one stand-in taken for real rows", alone[name].percent, "%")
            board.details.append({"method": method, "estimate": name, "runs": runs})


def _compare_ends(tally: Tally, low: float, high: float, truth: float) -> None:
    tally.add(np.array(low), np.array(high), np.array(truth))


def _grid() -> dict[str, Any]:
    law = _population()
    return dict(zip(_COLUMNS, np.indices(law.shape).reshape(3, -1), strict=True))


def _many() -> dict[str, Any]:
    """As many rows of the population that their shares are its chances."""
    times = np.rint(_population().ravel() * 10**6).astype(int)
    return {name: np.repeat(held, times) for name, held in _grid().items()}


def _stand_ins(method: str, generator: np.random.Generator) -> list[Any]:
    """Draw real rows from the population, fit them, and draw the rows of several replicates."""
    schema, law = Schema.parse({"columns": _COLUMNS}), _population()
    domain = Domain.of(schema)
    cells = generator.choice(law.size, _ROWS, p=law.ravel())
    codes = {name: held[cells].astype(code_type(domain[name])) for name, held in _grid().items()}
    source = MemorySource(Table(domain, codes, _ROWS))
    model = METHODS[method](schema).fit(source, ledger=None).model_
    replicates = model.replicates(STAND_INS)
    return [each.law.draw(_ROWS, generator, sampler=sample_codes) for each in replicates]


ESTIMATES: dict[str, Callable[[Any], tuple[float, float]]] = {
    "a mean": mean,
    "a regression coefficient": slope,
}
