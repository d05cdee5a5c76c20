"""AAU section 3.2: the power of Spearman's test on rows of the smoothed histogram."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from understudy.evaluation.hypothesis import Columns, power
from understudy.facts.schema import Schema
from understudy.methods import Histogram
from understudy.models.pictures.charts import Line, Panel
from understudy.privacy.mechanisms.histogram import smoothing_for
from understudy.system.arrays import Floats
from understudy.testing import seeded
from understudy_studies.cells import CellValues, Results, Setting, Size, settings
from understudy_studies.study import JudgedClaim, Study, StudyTable
from understudy_studies.tables import DataFolder

_BINS = 10
_NOISE = 0.1
_STEPS = tuple(f"{10 ** (exponent / 4):.4g}" for exponent in range(-6, 7))
# The ends of the fall that AAU reports: the square root of ten, and one over it.
_FROM, _TO = 10**0.5, 10**-0.5


class HistogramPower(Study):
    """Power over ε, and beside it the share of rejections where columns are independent."""

    title = "Power of Spearman's test on rows of the smoothed histogram"
    source = "AAU section 3.2, figure 3.2"
    claim = (
        "Power stays at about 100 % for ε above √10, drops between √10 and 1/√10, and levels off "
        "at about 0 % below."
    )
    words = (
        "Each run draws 10,000 rows of two dependent columns (Spearman's correlation 0.94), cuts "
        "the square into 100 cells, has `histogram` release 1,000 rows at ε, and tests them. ε is "
        "shared by the 1,000 rows, so that at ε = 1 about nine in ten of them come from anywhere. "
        "The same is done with independent columns, where the test should reject at its level of "
        "5 %; it does at every ε, because what the method adds is uniform and adds no dependence. "
        "Power can therefore not level off at 0: where nothing is left of the table, it is the "
        "level. The printed m = 1/100 is a slip for 100; with it nothing would be lost at "
        "these ε."
    )

    reduced = "13 ε from 0.03 to 32 for 21 from 0.001 to 1,000; runs and rows as in the paper"

    def settings(self, size: Size) -> list[Setting]:
        """Return a setting for each ε."""
        return settings(
            epsilon=size.pick(smoke=_STEPS[::6], quick=_STEPS[::2], full=_STEPS),
            runs=[size.pick(smoke=15, quick=400, full=10_000)],
            rows=[size.pick(smoke=1_000, quick=10_000, full=10_000)],
            draws=[size.pick(smoke=100, quick=1_000, full=1_000)],
        )

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Power, and size, each with its band."""
        found: dict[str, Any] = {"smoothing": float(_smoothing(setting))}
        for place, name in enumerate(("power", "size")):
            made = _Maker(setting, dependent=place == 0)
            shown = power(
                made, ("x", "y"), runs=int(setting["runs"]), seed=2 * int(setting["seed"]) + place
            )
            found[name] = {"share": shown.power, "low": shown.low, "high": shown.high}
        return found

    def sentence(self, results: Results) -> str:
        """Say which power there is at both ends, and where it falls."""
        above, below = _outside(results)
        least, most = min(above), max(below)
        fall = least > 0.95 and most < 0.5
        kept = "as in the paper" if least > 0.95 else "not as in the paper"
        size = results.numbers("size", "share")
        return (
            f"Power is at least {least:.3f} for ε from √10 on, {kept}, and at most {most:.3f} up "
            f"to 1/√10: the fall lies {'' if fall else 'not '}where the paper has it; at the least "
            f"ε it is {below[0]:.3f} beside a size of {size[0]:.3f}, "
            + (
                "so it levels off at the level of the test and not at 0."
                if below[0] > 0.025
                else "so it levels off below the level of the test."
            )
        )

    def findings(self, results: Results) -> Sequence[JudgedClaim]:
        """Return the two ends of the fall, and the floor."""
        above, below = _outside(results)
        size = results.numbers("size", "share")[0]
        return [
            JudgedClaim.judged(
                "Power stays at about 100 % for ε above √10",
                f"At least {min(above):.3f}",
                min(above) > 0.95,
                otherwise="it is lower",
            ),
            JudgedClaim.judged(
                "Power drops between √10 and 1/√10",
                f"From at least {min(above):.3f} to at most {max(below):.3f}",
                min(above) > 0.95 and max(below) < 0.5,
                otherwise="the fall lies elsewhere",
            ),
            JudgedClaim.judged(
                "Power levels off at about 0 % below",
                f"At {below[0]:.3f}, where independent columns are rejected in {size:.3f} of runs",
                below[0] <= 0.025,
                otherwise="it levels off at the level of the test, as in the paper's figure"
                if below[0] < 0.1
                else "it stays higher",
            ),
        ]

    def summary(self, results: Results) -> StudyTable:
        """Return a line for each ε."""
        columns = ("ε", "smoothing", "power", "95 % band", "size", "its band")
        lines = [
            (
                cell.setting["epsilon"],
                cell.numbers["smoothing"],
                cell.numbers["power"]["share"],
                _band(cell.numbers["power"]),
                cell.numbers["size"]["share"],
                _band(cell.numbers["size"]),
            )
            for cell in results
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """Power and size over ε."""
        over = [float(e) for e in results.values("epsilon")]
        lines = [
            Line(name, over, *(results.numbers(what, part) for part in ("share", "low", "high")))
            for what, name in (("power", "dependent columns"), ("size", "independent columns"))
        ]
        title = "Spearman's test on the smoothed histogram"
        return [
            Panel(title, "ε", "share rejected", lines, log_across=True, between=(0.0, 1.0)),
        ]


def _outside(results: Results) -> tuple[list[float], list[float]]:
    """Power from √10 on, and up to 1/√10, as ε grows; the ends where there is nothing beyond."""
    pairs = [(float(c.setting["epsilon"]), c.numbers["power"]["share"]) for c in results]
    above = [share for epsilon, share in pairs if epsilon >= _FROM * 0.99]
    below = [share for epsilon, share in pairs if epsilon <= _TO * 1.01]
    return above or [pairs[-1][1]], below or [pairs[0][1]]


def _band(share: CellValues) -> str:
    return f"{share['low']:.3f} to {share['high']:.3f}"


def _smoothing(setting: Setting) -> Fraction:
    return smoothing_for(
        Fraction(str(setting["epsilon"])),
        draws=int(setting["draws"]),
        cells=_BINS**2,
        table_rows=int(setting["rows"]),
    )


@cache
def _schema() -> Schema:
    column = {"kind": "float", "min": 0, "max": 1, "bins": _BINS}
    return Schema.parse({"columns": {"x": column, "y": column}})


class _Maker:
    """Makes synthetic tables: new real rows, fitted and drawn again."""

    def __init__(self, setting: Setting, *, dependent: bool) -> None:
        self._setting = setting
        self._dependent = dependent

    def __call__(self, generator: np.random.Generator) -> Columns:
        rows = int(self._setting["rows"])
        real = correlated(rows, generator) if self._dependent else generator.random((2, rows))
        method = Histogram(
            _schema(), epsilon=str(self._setting["epsilon"]), rows=int(self._setting["draws"])
        )
        seeds = generator.integers(2**62, size=2)
        fitted = seeded(method, int(seeds[0])).fit({"x": real[0], "y": real[1]}, ledger=None)
        made: Columns = fitted.sample(seed=int(seeds[1]))
        return made


def correlated(rows: int, generator: np.random.Generator) -> Floats:
    """A uniform column, and the same with noise, drawn again until it lies between 0 and 1.

    The paper's diag(1/10) is a standard deviation: as a variance it would not give its 0.94.
    """
    first = generator.random(rows)
    second = first + generator.normal(0, _NOISE, rows)
    while (outside := (second < 0) | (second > 1)).any():
        second[outside] = first[outside] + generator.normal(0, _NOISE, int(outside.sum()))
    return np.stack([first, second])


STUDY = HistogramPower()
