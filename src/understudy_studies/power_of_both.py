"""AAU section 6: the smoothed histogram and the private network on the same rows and tests.

Beside it is the picture that figure 3.1 has: a table, and stand-ins of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.evaluation.hypothesis import band, chi_squared, spearman
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.methods import Histogram, PrivBayes, Synthesizer
from understudy.models.pictures.charts import Line, Panel
from understudy.models.pictures.heat import HeatMap
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy.system.arrays import Array, Probabilities
from understudy.testing import seeded
from understudy_studies import copula, histogram_power
from understudy_studies.cells import CellValues, Results, Setting, Size, settings
from understudy_studies.guessed_records import guesses
from understudy_studies.study import JudgedClaim, Reproduction, Study, StudyTable
from understudy_studies.tables import DataFolder, integer_schema

HISTOGRAM, NETWORK = "histogram", "privbayes"
METHODS = (HISTOGRAM, NETWORK)
# Cells in which a record is guessed, beside those of both methods.
GUESSES = "guesses of a record"
COPULA, SQUARE = "copula", "square"
_BINS = 10
_LEVEL = 0.05
# Each row of the histogram costs its part of ε, so that few are released, as in AAU.
_ROWS_FOR_DRAW = 10


@dataclass(frozen=True)
class _DependenceTest:
    """Rows that are drawn dependent or independent, and a test of two of their columns."""

    schema: Schema
    drawn: Callable[[int, np.random.Generator, bool], Table]
    test: Callable[[Array, Array], float]
    pair: tuple[str, str]


def _of_copula(rows: int, generator: np.random.Generator, dependent: bool) -> Table:
    return (copula.correlated if dependent else copula.independent)(rows, generator)


def _of_square(rows: int, generator: np.random.Generator, dependent: bool) -> Table:
    both = histogram_power.correlated(rows, generator) if dependent else generator.random((2, rows))
    codes = np.minimum((both * _BINS).astype(np.uint8), _BINS - 1)
    return Table(Domain.of(_SQUARE), {"x": codes[0], "y": codes[1]}, rows)


_SQUARE = integer_schema({"x": _BINS, "y": _BINS})
QUESTIONS: Mapping[str, _DependenceTest] = {
    COPULA: _DependenceTest(
        integer_schema(dict.fromkeys(copula.NAMES, 2)), _of_copula, chi_squared, ("z1", "z5")
    ),
    SQUARE: _DependenceTest(_SQUARE, _of_square, spearman, ("x", "y")),
}


class PowerOfBoth(Study):
    """Power of a test on rows of two methods over ε, at the level that independence gives."""

    title = "The smoothed histogram and the private network on the same rows and tests"
    source = "AAU section 6, and figure 3.1"
    claim = (
        "Both methods lose power as ε falls; which of them loses more on the same rows and the "
        "same test is left to further investigation."
    )
    words = (
        "Two tables: five two-valued columns of AAU's copula with Pearson's test of z1 and z5, "
        "whose dependence is the weakest, and two numbers in a square of 100 cells with "
        "Spearman's test. Each run draws new rows, fits a method under replaced rows, draws "
        "synthetic rows and tests them. `histogram` releases a tenth as many rows as there are, "
        "since every one costs; `privbayes` as many as there are. Power is calibrated: the test "
        "rejects where its p-value is among the least twentieth of those of independent columns "
        "that went through the same method, so that noise that looks like dependence counts for "
        "nothing. The squares show the share of rows in each cell of one table and of its "
        "stand-ins, in hundredths. Guesses of a whole record (sections 1 and 5) are by someone "
        "who knows all other rows of the copula and sees the table of all five columns with "
        "Laplace noise at ε: the posterior is exact."
    )
    reduced = "200 runs for each setting"
    across = 2
    methods = METHODS

    def settings(self, size: Size) -> list[Setting]:
        """Return a setting for each table, method and ε."""
        epsilons = size.pick(
            smoke=["1"], quick=["0.1", "1"], full=["0.03", "0.1", "0.3", "1", "3", "10"]
        )
        runs = [size.pick(smoke=10, quick=40, full=200)]
        rows = [size.pick(smoke=500, quick=2_000, full=2_000)]
        methods, tables = [*METHODS], [COPULA, SQUARE]
        plan = settings(table=tables, method=methods, epsilon=epsilons, runs=runs, rows=rows)
        # Guesses come last, so that the seeds of the others are what they were without them.
        guessed = settings(
            table=[COPULA], method=[GUESSES], epsilon=epsilons, runs=[5 * runs[0]], rows=rows
        )
        return plan + [{**each, "seed": len(plan) + i} for i, each in enumerate(guessed)]

    def made_by(self, setting: Setting) -> Sequence[str]:
        """Return the method of a setting."""
        return [] if setting["method"] == GUESSES else [str(setting["method"])]

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Power and size as they are, power calibrated, and one table beside its stand-in."""
        del shelf
        if setting["method"] == GUESSES:
            given = {name: int(setting[name]) for name in ("rows", "runs", "seed")}
            return guesses(float(setting["epsilon"]), **given)
        asked = QUESTIONS[str(setting["table"])]
        found, null = (_chances(setting, asked, dependent=place == 0) for place in range(2))
        fair = copula.calibrated(found, null) <= _LEVEL
        low, high = band(int(fair.sum()), fair.size, confidence=0.95)
        return {
            "power": float((found <= _LEVEL).mean()),
            "size": float((null <= _LEVEL).mean()),
            "calibrated": {"share": float(fair.mean()), "low": low, "high": high},
            "pictures": _squares(setting, asked) if setting["table"] == SQUARE else [],
        }

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return whether power falls with ε, and which method keeps more of it."""
        tested = _tested(results)
        return [
            *(
                found
                for table in tested.values("table")
                for found in _judged(str(table), tested.where(table=table))
            ),
            *_of_guesses(results.where(method=GUESSES)),
        ]

    def sentence(self, results: Results) -> str:
        """Say which method keeps more power, for each table."""
        parts, results = [], _tested(results)
        for table in results.values("table"):
            powers = {m: _powers(results.where(table=table, method=m)) for m in METHODS}
            said = "; ".join(
                f"{m} {', '.join(f'{p:.2f} at {e}' for e, p in powers[m].items())}" for m in METHODS
            )
            parts.append(f"Calibrated power over ε on {table}: {said}.")
        return " ".join(parts)

    def summary(self, results: Results) -> StudyTable:
        """Return a line for each setting."""
        columns = ("table", "method", "ε", "power", "size", "calibrated power", "95 % band")
        lines = [
            (
                *(cell.setting[name] for name in ("table", "method", "epsilon")),
                cell.numbers["power"],
                cell.numbers["size"],
                cell.numbers["calibrated"]["share"],
                f"{cell.numbers['calibrated']['low']:.3f} to "
                f"{cell.numbers['calibrated']['high']:.3f}",
            )
            for cell in _tested(results)
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel | HeatMap]:
        """Power over ε for each table; then a table beside its stand-ins, as in figure 3.1."""
        tested, guessed = _tested(results), results.where(method=GUESSES)
        powers = (_panel(str(t), tested.where(table=t)) for t in tested.values("table"))
        return [*powers, *_guess_panel(guessed), *_pictures(tested.where(table=SQUARE))]


def _tested(results: Results) -> Results:
    """The cells of methods whose rows are tested."""
    return Results(tuple(cell for cell in results if cell.setting["method"] != GUESSES))


def _of_guesses(results: Results) -> list[JudgedClaim]:
    """Compare what a release says about a whole record with what was believed before."""
    if not results.cells:
        return []
    shown = "; ".join(
        f"ε = {c.setting['epsilon']}: {100 * c.numbers['chance before']['mean']:.1f} % before, "
        f"{100 * c.numbers['chance after']['mean']:.1f} % after, "
        f"{c.numbers['wrong before']['mean']:.2f} and {c.numbers['wrong after']['mean']:.2f} of "
        "five attributes wrong"
        for c in results
    )
    within = all(
        c.numbers["odds"]["most"] <= math.exp(float(c.setting["epsilon"])) * (1 + 1e-9)
        for c in results
    )
    return [
        JudgedClaim.judged(
            "A small ε keeps the posterior of a record close to what was believed before",
            f"chance that a guess of the whole record is right, {shown}; odds of two records "
            "never change by more than e^ε",
            within,
            otherwise="odds change by more than the promise allows",
        )
    ]


def _guess_panel(results: Results) -> list[Panel]:
    if not results.cells:
        return []
    across = [float(e) for e in results.values("epsilon")]
    lines = [
        Line(name, across, [float(n) for n in results.numbers(name, "mean")])
        for name in ("chance before", "chance after")
    ]
    return [Panel("a whole record guessed", "ε", "chance", lines, log_across=True)]


def _method(setting: Setting, schema: Schema) -> Synthesizer:
    epsilon = str(setting["epsilon"])
    if setting["method"] == HISTOGRAM:
        return Histogram(schema, epsilon=epsilon, rows=int(setting["rows"]) // _ROWS_FOR_DRAW)
    return PrivBayes(schema, epsilon=epsilon, neighbours="replace")


def _made(
    setting: Setting, asked: _DependenceTest, table: Table, generator: np.random.Generator
) -> Mapping[str, Array]:
    """Synthetic codes of a table."""
    seeds = generator.integers(2**62, size=2)
    method = seeded(_method(setting, asked.schema), int(seeds[0]))
    model = method.fit(MemorySource(table), ledger=None).model_
    return model.law.draw(model.rows, np.random.default_rng(int(seeds[1])))


def _chances(setting: Setting, asked: _DependenceTest, *, dependent: bool) -> Probabilities:
    """The p-values of all runs; what cannot be tested has p-value 1."""
    first, second = asked.pair
    found = []
    for run in range(int(setting["runs"])):
        generator = np.random.default_rng([int(setting["seed"]), run, int(dependent)])
        table = asked.drawn(int(setting["rows"]), generator, dependent)
        made = _made(setting, asked, table, generator)
        found.append(asked.test(made[first], made[second]))
    return np.asarray(np.nan_to_num(np.array(found), nan=1.0))


def _squares(setting: Setting, asked: _DependenceTest) -> list[list[list[float]]]:
    """The shares of all cells, in hundredths, of one table and of its stand-in."""
    generator = np.random.default_rng([1, 2, 3])
    table = asked.drawn(int(setting["rows"]), generator, True)
    made = _made(setting, asked, table, generator)
    return [_cells(each["x"], each["y"]) for each in (table.codes, made)]


def _cells(first: Array, second: Array) -> list[list[float]]:
    counts = np.zeros((_BINS, _BINS))
    np.add.at(counts, (_BINS - 1 - second.astype(int), first.astype(int)), 1)
    shares: list[list[float]] = (100 * counts / max(counts.sum(), 1)).round(2).tolist()
    return shares


def _powers(results: Results) -> dict[str, float]:
    return {
        str(cell.setting["epsilon"]): float(cell.numbers["calibrated"]["share"]) for cell in results
    }


def _judged(table: str, results: Results) -> list[JudgedClaim]:
    powers = {m: _powers(results.where(method=m)) for m in METHODS}
    shown = "; ".join(f"{m} {' '.join(f'{p:.2f}' for p in powers[m].values())}" for m in METHODS)
    ends = [[*powers[m].values()] for m in METHODS]
    falls = all(values[0] < values[-1] for values in ends)
    epsilons = ", ".join(powers[HISTOGRAM])
    return [
        JudgedClaim.judged(
            f"On {table} both methods lose power as ε falls",
            f"ε = {epsilons}: {shown}",
            falls,
            otherwise="one of them does not lose any between the ends",
        ),
        JudgedClaim(
            f"On {table} it is open which method keeps more power",
            f"more power: {more_power(results)}",
            Reproduction.NOT_COMPARABLE,
            "the paper leaves it to further work, and this is the answer on these rows",
        ),
    ]


def more_power(results: Results) -> str:
    """Say at which ε each method has more power, and where the bands of both overlap."""
    alike = "alike within chance"
    found: dict[str, list[str]] = {name: [] for name in (*METHODS, alike)}
    for epsilon in results.values("epsilon"):
        bands = {
            m: results.where(method=m, epsilon=epsilon).numbers("calibrated")[0] for m in METHODS
        }
        first, second = sorted(METHODS, key=lambda m: bands[m]["share"], reverse=True)
        apart = bands[first]["low"] > bands[second]["high"]
        found[first if apart else alike].append(str(epsilon))
    return "; ".join(f"{name} at ε = {', '.join(at)}" for name, at in found.items() if at)


def _panel(table: str, results: Results) -> Panel:
    lines = []
    for method in METHODS:
        cells = results.where(method=method)
        parts = [
            [float(cell.numbers["calibrated"][part]) for cell in cells]
            for part in ("share", "low", "high")
        ]
        lines.append(Line(method, [float(e) for e in cells.values("epsilon")], *parts))
    name = f"{table}: {'Pearson' if table == COPULA else 'Spearman'}"
    return Panel(name, "ε", "calibrated power", lines, log_across=True, between=(0.0, 1.0))


def _pictures(results: Results) -> list[HeatMap]:
    names = [f"{bin_}" for bin_ in range(_BINS - 1, -1, -1)]
    found: list[HeatMap] = []
    for cell in results.where(epsilon="1"):
        real, made = cell.numbers["pictures"]
        if not found:
            found.append(HeatMap("the table", names, real, 10.0))
        found.append(HeatMap(f"{cell.setting['method']}, ε = 1", names, made, 10.0))
    return found


STUDY = PowerOfBoth()
