"""How often 95 % intervals of estimates on replicates, combined, hold the truth.

The real rows of every run are drawn from a known population, and a mean, a proportion and two
coefficients of one regression are estimated. Runs in which released tables hold every pair of
columns are counted apart from those in which a pair rests on the model.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.coverage_tally import Tally
from benchmarks.scoreboard import Scoreboard
from understudy.facts.axes import Axes
from understudy.facts.codes import code_type
from understudy.facts.domain import Attributes, Domain
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Nist
from understudy.models.intervals.combining import combine_replicates
from understudy.models.model import Model
from understudy.models.sampling import sample_codes
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Floats

METHODS: dict[str, Callable[[Schema], Any]] = {
    "adaptive": lambda schema: AdaptiveMarginals(schema, epsilon=1, delta=1e-6),
    "nist": lambda schema: Nist(schema, epsilon=1, delta=1e-6),
}
STAND_INS, LEAST = 10, 90
_ROWS = 4_000
_COLUMNS = {
    "x": {"kind": "integer", "min": 0, "max": 3},
    "z": {"kind": "integer", "min": 0, "max": 2},
    "y": {"kind": "integer", "min": 0, "max": 5},
}

Estimates = Mapping[str, tuple[float, float]]
"""Estimates and their variances, by name."""


def run(board: Scoreboard) -> None:
    """Every method."""
    for method in METHODS:
        _population_runs(board, method, board.size.pick(100, 2))


def holds(model: Model, names: Attributes) -> bool:
    """Whether a released table holds some attributes."""
    return any(Axes(table.attributes).holds(names, model.domain) for table in model.tables)


# --- a known population ---------------------------------------------------------------------------


def _population() -> Floats:
    """The chances of x, z and y together: y rises with both."""
    x, z, y = np.indices((4, 3, 6))
    weights = np.exp(-0.35 * (y - 0.8 * x - 0.6 * z - 0.5) ** 2 - 0.2 * x + 0.15 * x * z)
    return np.asarray(weights / weights.sum())


def estimates(codes: Any) -> Estimates:
    """A mean, a proportion, and the coefficients of the least-squares fit of y to x and z."""
    y = codes["y"].astype(float)
    design = np.stack([np.ones(len(y)), codes["x"].astype(float), codes["z"].astype(float)], axis=1)
    inverse = np.linalg.inv(design.T @ design)
    found = inverse @ (design.T @ y)
    residual = y - design @ found
    variance = float(residual @ residual) / (len(y) - 3)
    return {
        "a mean": _mean(y),
        "a proportion": _mean((y >= 3).astype(float)),
        "the regression coefficient of x": (float(found[1]), float(inverse[1, 1]) * variance),
        "the regression coefficient of z": (float(found[2]), float(inverse[2, 2]) * variance),
    }


def _mean(values: Floats) -> tuple[float, float]:
    return float(values.mean()), float(values.var(ddof=1) / len(values))


def _population_runs(board: Scoreboard, method: str, runs: int) -> None:
    """Real rows are drawn again in every run, so that the population is what is estimated."""
    truths = {name: value for name, (value, _) in estimates(_many()).items()}
    tallies: dict[tuple[str, str], Tally] = {}
    for number in range(runs):
        generator = np.random.default_rng(number)
        model = _fitted(method, generator)
        basis = _basis(all(holds(model, pair) for pair in itertools.combinations(_COLUMNS, 2)))
        found = [estimates(rows) for rows in _stand_ins(model, _ROWS, generator)]
        for name, truth in truths.items():
            _compare(tallies.setdefault((basis, name), Tally()), found, name, truth)
            value, variance = found[0][name]
            alone = tallies.setdefault(("alone", name), Tally())
            _add(alone, value - 1.96 * variance**0.5, value + 1.96 * variance**0.5, truth)
    for (basis, name), tally in sorted(tallies.items()):
        what = f"{method}: 95 % intervals of {name}"
        if basis == "alone":
            board.add(f"{what}, one stand-in taken for real rows", tally.percent, "%")
        else:
            _report(board, f"{what}, {STAND_INS} stand-ins combined", basis, tally)


def _fitted(method: str, generator: np.random.Generator) -> Model:
    """Draw real rows from the population, and fit them."""
    schema, law = Schema.parse({"columns": _COLUMNS}), _population()
    domain = Domain.of(schema)
    cells = generator.choice(law.size, _ROWS, p=law.ravel())
    codes = {name: held[cells].astype(code_type(domain[name])) for name, held in _grid().items()}
    source = MemorySource(Table(domain, codes, _ROWS))
    found = METHODS[method](schema).fit(source, ledger=None).model_
    assert isinstance(found, Model)
    return found


def _grid() -> dict[str, Any]:
    law = _population()
    return dict(zip(_COLUMNS, np.indices(law.shape).reshape(3, -1), strict=True))


def _many() -> dict[str, Any]:
    """As many rows of the population that their shares are its chances."""
    times = np.rint(_population().ravel() * 10**6).astype(int)
    return {name: np.repeat(held, times) for name, held in _grid().items()}


def _stand_ins(model: Model, rows: int, generator: np.random.Generator) -> Iterator[Any]:
    """Yield the rows of several replicates."""
    for each in model.replicates(STAND_INS, seed=int(generator.integers(2**31))):
        yield each.law.draw(rows, generator, sampler=sample_codes)


def _basis(held: bool) -> str:
    return "where released tables hold every pair" if held else "where a pair rests on the model"


def _compare(tally: Tally, found: list[Estimates], name: str, truth: float) -> None:
    both = combine_replicates([f[name][0] for f in found], [f[name][1] for f in found])
    _add(tally, both.low, both.high, truth)


def _add(tally: Tally, low: float, high: float, truth: float) -> None:
    tally.add(np.array(low), np.array(high), np.array(truth))


def _report(board: Scoreboard, what: str, basis: str, tally: Tally) -> None:
    target = LEAST if basis.endswith("every pair") else None
    board.add(f"{what}, {basis}", tally.percent, "%", target, at_most=False)
    board.details.append({"what": what, "basis": basis, "held": tally.held, "asked": tally.asked})
