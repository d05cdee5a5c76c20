"""AAU section 4.2.2: the power of Pearson's test over β, the share of ε spent on the network."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.models.pictures.charts import Line, Panel
from understudy_studies.cells import CellValues, Results, Setting, Size, settings
from understudy_studies.copula import METHODS, PAIRS, half_band, means, power_of
from understudy_studies.study import Study, StudyTable
from understudy_studies.tables import DataFolder

EPSILONS = ("0.1", "1", "10", "100")
_BETAS = tuple(f"{n / 20:g}" for n in range(2, 19))
_PAPER = "U-shaped at 0.1, lower for large β at 1, lower for small β at 10 and 100"


class PowerOverMixture(Study):
    """Power of four pairs over β, and how often independent columns are rejected."""

    title = "Power of Pearson's test over the share of ε spent on the network"
    source = "AAU section 4.2.2, figures 4.3 to 4.6"
    claim = (
        "Where ε is large (10, 100), power is low for β near 0: the network matters more. At ε = 1 "
        "it decreases for β near 1: the tables matter more. At ε = 0.1 it is U-shaped in β. "
        "Overall it increases with ε."
    )
    words = (
        "Each run draws 1,000 rows of AAU's copula, has AAU's PrivBayes make as many, and tests "
        "the first column against each other one. The same is done with independent columns; the "
        "share rejected there is the size of the test, which should be 5 %. Where it is as high "
        "as the power, rejections say nothing about the rows: noise in the tables was taken for "
        "dependence. Runs in which a column came out constant are left out of both, as the paper's "
        "program does, whose test fails on them. Two versions are run. *As printed* is the "
        "paper's listing, which adds noise to conditional probabilities as if a row moved them by "
        "2/n; it is not private, and its tables are far less noisy than they should be. *Mended* "
        "puts the noise on joint counts, which is private, and takes up to eight times as much "
        "noise for a family of three parents. Compare the paper's figures with the first, and "
        "expect the second."
    )
    reduced = "17 values of β for the paper's 100, 500 runs each as there"

    def settings(self, size: Size) -> list[Setting]:
        """A setting for each version, ε and β."""
        return settings(
            method=list(METHODS),
            epsilon=size.pick(smoke=("1",), quick=EPSILONS, full=EPSILONS),
            beta=size.pick(smoke=("0.1", "0.5", "0.9"), quick=("0.1", "0.5", "0.9"), full=_BETAS),
            runs=[size.pick(smoke=10, quick=60, full=500)],
            rows=[size.pick(smoke=200, quick=1000, full=1000)],
        )

    def measure(self, setting: Setting, shelf: DataFolder) -> CellValues:
        """Power, size and calibrated power of every pair."""
        return power_of(setting)

    def sentence(self, results: Results) -> str:
        """For every version the shape of power over β at each ε, beside the paper's."""
        said = [_about(results.where(method=method)) for method in results.values("method")]
        return f"{' '.join(said)} The paper: {_PAPER}."

    def summary(self, results: Results) -> StudyTable:
        """A line for each ε and β."""
        columns = (
            "version",
            "ε",
            "β",
            *(f"power {a}-{b}" for a, b in PAIRS),
            "mean size",
            "mean calibrated",
            "runs kept",
        )
        lines = [
            (
                *(cell.setting[name] for name in ("method", "epsilon", "beta")),
                *(cell.numbers[f"{a}-{b}"]["power"]["share"] for a, b in PAIRS),
                means(Results((cell,)), "size")[0],
                means(Results((cell,)), "calibrated")[0],
                cell.numbers["kept"]["dependent"],
            )
            for cell in results
        ]
        return StudyTable(columns, lines)

    def panels(self, results: Results) -> Sequence[Panel]:
        """A panel for each ε and version."""
        return [
            panel(results.where(epsilon=e, method=m), "beta", "power", f"ε = {e}, {m}")
            for e in results.values("epsilon")
            for m in results.values("method")
        ]


def _about(results: Results) -> str:
    """One version: the shape of power over β at every ε."""
    parts = [_at(results.where(epsilon=epsilon)) for epsilon in results.values("epsilon")]
    return f"{results.values('method')[0].capitalize()}, mean power over β is {', '.join(parts)}."


def _at(results: Results) -> str:
    """The shape at one ε, and the size of the test where it is as high as the power."""
    power, size = means(results, "power"), means(results, "size")
    near = max(half_band(cell) for cell in results)
    said = f"{shape(power, near)} at ε = {results.values('epsilon')[0]} ({power[0]:.2f} at β = "
    said += f"{results.values('beta')[0]}, {max(power):.2f} at best, {power[-1]:.2f} at "
    said += f"{results.values('beta')[-1]}"
    top = power.index(max(power))
    if power[top] - size[top] < half_band(results.cells[top]):
        return f"{said}; independent columns are rejected as often, {size[top]:.2f})"
    return f"{said})"


def shape(power: Sequence[float], near: float) -> str:
    """How numbers run, those nearer than this counting as equal.

    Example:
        >>> shape([0.9, 0.5, 0.8], 0.1), shape([0.2, 0.8, 0.9], 0.1)
        ('U-shaped', 'lower for small β')
    """
    first, last, least, most = power[0], power[-1], min(power), max(power)
    if min(first, last) > least + near:
        return "U-shaped"
    if max(first, last) < most - near:
        return "highest in between"
    if first < last - near:
        return "lower for small β"
    if last < first - near:
        return "lower for large β"
    return "flat"


def panel(results: Results, over: str, what: str, title: str, *, log: bool = False) -> Panel:
    """One of power or calibrated power for every pair, and the mean size, over a setting."""
    across = [float(value) for value in results.values(over)]
    lines = [
        Line(
            f"z1 and {b}",
            across,
            *(results.numbers(f"{a}-{b}", what, part) for part in ("share", "low", "high")),
        )
        for a, b in PAIRS
    ]
    lines.append(Line("independent columns, mean of four pairs", across, means(results, "size")))
    name = {"beta": "β", "epsilon": "ε"}[over]
    shown = lines if what == "power" else lines[:-1]
    return Panel(title, name, "share rejected", shown, log_across=log, between=(0.0, 1.0))


STUDY = PowerOverMixture()
